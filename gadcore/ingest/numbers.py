"""Numbers as people write them: "1.234,50 €", "(1,234)", "1 234,56", "12 %", "3.4k".

One column is written in one way, which all of its cells together decide. A number may carry a currency, a
percent sign, a power of ten (k, Mio, bn) and a sign before or behind it; brackets mean less than zero. A
percentage stays a percentage: "12 %" is 12. The distinct cells are read, in Arrow, not each cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gadcore.ingest.cells import Cells, as_cells, floats, mask, without_missing

SYMBOLS = {
    "€": "EUR", "£": "GBP", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₪": "ILS", "zł": "PLN",
    "₿": "BTC", "euro": "EUR", "euros": "EUR", "us$": "USD", "r$": "BRL", "$": "$", "¥": "¥",
    "kr": "kr", "kr.": "kr", "fr.": "CHF", "sfr.": "CHF", "kč": "CZK", "ft": "HUF", "rs": "INR", "rs.": "INR",
    "a$": "AUD", "c$": "CAD", "hk$": "HKD", "nz$": "NZD", "s$": "SGD",
}  # fmt: skip
CURRENCIES = (
    "AED", "ARS", "AUD", "BGN", "BRL", "BTC", "CAD", "CHF", "CLP", "CNY", "COP", "CZK", "DKK", "EGP", "ETH",
    "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "JPY", "KRW", "MXN", "MYR", "NGN", "NOK", "NZD", "PHP",
    "PLN", "QAR", "RON", "RUB", "SAR", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "USDT", "VND", "ZAR",
)  # fmt: skip
MONEY = {*CURRENCIES, *SYMBOLS.values()}
_SCALES = {
    "k": 1e3, "tsd": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "mill": 1e6, "million": 1e6,
    "millions": 1e6, "millionen": 1e6, "bn": 1e9, "mrd": 1e9, "md": 1e9, "billion": 1e9, "milliarden": 1e9,
}  # fmt: skip
_SCALE = r"k|K|M|(?i:tsd|thousand|mn|mio|mill|millions?|millionen|bn|mrd|md|billion|milliarden)"


def _either(words: Any) -> str:
    """A pattern of any of these words, the longest first."""
    escaped = (w.replace("$", r"\$").replace(".", r"\.") for w in sorted(words, key=len, reverse=True))
    return f"(?i:{'|'.join(escaped)})"


_CURRENCY = _either((*SYMBOLS, *CURRENCIES))
_NUMBER = (
    rf"^(?P<open>\()? ?(?P<sign>[+-])? ?(?P<before>{_CURRENCY})? ?(?P<inner>[+-])? ?"
    rf"(?P<digits>\d[\d.,' ]*\d|\d[.,]?|[.,]\d+|(?i:inf(?:inity)?))(?P<power>[eE][+-]?\d{{1,3}})?"
    rf" ?(?:(?P<scale>{_SCALE})\.?)? ?(?P<behind>{_CURRENCY})? ?(?P<percent>%|(?i:percent|prozent|pct))?"
    r" ?(?P<last>-)? ?\)?$"
)
_GROUPS = r"(?: \d{3})+|(?:'\d{3})+"
_GRAMMAR = {  # of the digits, by the decimal mark; Indian groups of two are fine between commas
    ".": rf"^(?:\d+|[1-9]\d{{0,2}}(?:(?:,\d{{2,3}})*,\d{{3}}|{_GROUPS}))(?:\.\d*)?$|^\.\d+$|^(?i:inf)",
    ",": rf"^(?:\d+|[1-9]\d{{0,2}}(?:(?:\.\d{{3}})+|{_GROUPS}))(?:,\d*)?$|^,\d+$|^(?i:inf)",
}
_GROUP_MARKS = {".": "[,' ]", ",": "[.' ]"}
_ODD_SPACES = "[\u00a0\u202f\u2009\u2007]"
_ODD_MINUS = "[\u2212\u2013]"
_NO_CENTS = r"(\d)[.,]-+"  # "1.000,- €", "5.--"
_MANY = 50  # cells "1.234" beside plain ones below 1000, and none "1.2": thousands, not three decimals

Numbers = npt.NDArray[np.float64]
_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class NumberColumn:
    """A column read as numbers, and how."""

    values: Numbers  # nan where there is none
    unread: npt.NDArray[np.int64]  # cells that say something, but no number
    decimal: str = "."
    unit: str = ""  # "EUR", "%"; "" where there is none or several
    written: str = ""  # what there is to say of the notation: "decimal comma, EUR"
    doubt: str = ""  # what may be wrong with it, in a sentence
    currency: Cells | None = None  # of each cell, where a column has several

    @property
    def share(self) -> float:
        """Numbers among the cells that say something."""
        known = int((~np.isnan(self.values)).sum())
        return known / max(known + len(self.unread), 1)


def numbers_of(series: pd.Series, decimal: str | None = None) -> NumberColumn:
    """Read a raw column, typed or written."""
    if not is_typed_number(series):
        return read_numbers(as_cells(series), decimal)
    return NumberColumn(series.to_numpy(dtype=np.float64, na_value=np.nan), np.zeros(0, np.int64))


def is_typed_number(series: pd.Series) -> bool:
    """Whether a column holds numbers as such, from Parquet or an array."""
    return pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)


def read_numbers(cells: Cells, decimal: str | None = None) -> NumberColumn:
    """Read a column; ``decimal`` is the mark that an earlier part of the column was read with."""
    plain = _written_by_program(cells, decimal)
    if plain is not None:
        return plain
    coded = cells.dictionary_encode()
    distinct = without_missing(coded.dictionary)
    found = _written_by_program(distinct, decimal) or _written_by_people(distinct, decimal)
    codes = np.asarray(pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    values = np.append(found.values, np.nan)[codes]
    unsaid = np.append(~mask(distinct.is_valid()), True)
    unread = np.flatnonzero(np.isnan(values) & ~unsaid[codes])
    currency = None if found.currency is None else found.currency.take(coded.indices)
    return NumberColumn(values, unread, found.decimal, found.unit, found.written, found.doubt, currency)


def _written_by_program(cells: Cells, decimal: str | None) -> NumberColumn | None:
    """A column of plain numbers, read at once; None for any other."""
    plain = None if decimal == "," else _plain(cells)
    if plain is None or (decimal is None and _maybe_thousands(cells)):
        return None
    return NumberColumn(plain, _NOTHING)


def _written_by_people(cells: Cells, decimal: str | None) -> NumberColumn:
    text = pc.replace_substring_regex(cells, _ODD_SPACES, " ")
    text = pc.replace_substring_regex(pc.replace_substring(text, "\u2019", "'"), _ODD_MINUS, "-")
    text = pc.replace_substring_regex(text, _NO_CENTS, r"\1")
    parts = pc.extract_regex(text, _NUMBER)
    digits = pc.struct_field(parts, "digits")
    signed = mask(pc.or_(_has(parts, "last"), _has(parts, "open")))
    codes = _currencies(parts)
    doubt = ""
    if decimal is None:
        money = bool(signed.any()) or codes.null_count < len(codes)
        decimal, doubt = _decimal_mark(digits, money)
    values = _values(parts, decimal)
    unit, said = _unit(parts, codes, ~np.isnan(values))
    several = codes if len(pc.unique(codes.drop_null())) > 1 else None
    doubts = " ".join(filter(None, (doubt, said)))
    return NumberColumn(values, _NOTHING, decimal, unit, _notation(digits, decimal, unit), doubts, several)


def _plain(cells: Cells) -> Numbers | None:
    """The numbers of a column that a program wrote; None if any cell is written otherwise."""
    try:
        return floats(cells.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None


def _maybe_thousands(cells: Cells) -> bool:
    """Whether every cell with a dot has exactly three digits behind it, and none begins with 0."""
    odd = r"\.(?:\d{0,2}|\d{4,})(?:$|\D)|^[+-]?0?\.|[eEnN]"
    if bool(mask(pc.match_substring_regex(cells.slice(0, 1000), odd)).any()):
        return False
    return bool(mask(pc.match_substring(cells, ".")).any()) and not bool(
        mask(pc.match_substring_regex(cells, odd)).any()
    )


def _has(parts: Any, name: str) -> Any:
    return pc.greater(pc.binary_length(pc.struct_field(parts, name)), 0)


def _decimal_mark(digits: Any, money: bool) -> tuple[str, str]:
    """The decimal mark that explains most cells, and the doubt that is left."""
    fits = {mark: mask(pc.match_substring_regex(digits, g)) for mark, g in _GRAMMAR.items()}
    more = int(fits["."].sum()) - int(fits[","].sum())
    if more:
        return "." if more > 0 else ",", ""
    if (fits["."] != fits[","]).any():
        return ".", "As many are written with a decimal point as with a decimal comma; read with a point."
    dots, commas = (mask(pc.match_substring(digits, mark)) for mark in ".,")
    if not dots.any() and not commas.any():
        return ".", ""
    example = digits[int(np.argmax(dots | commas))].as_py()
    if commas.any():
        return ".", f"{example!r} could be decimals or thousands; read as thousands."
    whole = len(digits) - digits.null_count - int(dots.sum())
    thousands = money or (dots.sum() >= _MANY and whole > 0)
    read = "thousands" if thousands else "decimals"
    return "," if thousands else ".", f"{example!r} could be decimals or thousands; read as {read}."


def _values(parts: Any, decimal: str) -> Numbers:
    digits = pc.struct_field(parts, "digits")
    fits = pc.match_substring_regex(digits, _GRAMMAR[decimal])
    bare = pc.replace_substring_regex(digits, _GROUP_MARKS[decimal], "")
    bare = pc.replace_substring(bare, ",", ".") if decimal == "," else bare
    power = pc.struct_field(parts, "power")
    text = pc.if_else(fits, _joined(bare, power), pa.scalar(None, pa.large_string()))
    minus = pc.equal(pc.struct_field(parts, "sign"), "-")
    for other in (pc.equal(pc.struct_field(parts, "inner"), "-"), _has(parts, "last"), _has(parts, "open")):
        minus = pc.or_(minus, other)
    values = floats(text.cast(pa.float64())) * np.where(mask(minus), -1.0, 1.0)
    return np.asarray(values * _by_word(pc.struct_field(parts, "scale"), _SCALES))


def _joined(first: Any, second: Any) -> Any:
    return pc.binary_join_element_wise(first, second, pa.scalar("", pa.large_string()))


def _by_word(words: Any, worth: dict[str, float]) -> Numbers:
    """The worth of each word; 1 for none."""
    coded = pc.fill_null(pc.utf8_lower(words), "").dictionary_encode()
    table = np.array([worth.get(word, 1.0) for word in coded.dictionary.to_pylist()])
    return np.asarray(table[coded.indices.to_numpy()]) if len(table) else np.ones(len(words))


def _currencies(parts: Any) -> Any:
    """Currency code of each cell, null where it names none."""
    said = pc.if_else(_has(parts, "behind"), *(pc.struct_field(parts, n) for n in ("behind", "before")))
    coded = pc.fill_null(pc.utf8_lower(said), "").dictionary_encode()
    codes = [SYMBOLS.get(word, word.upper()) or None for word in coded.dictionary.to_pylist()]
    return pa.array(codes, pa.large_string()).take(coded.indices)


def _unit(parts: Any, codes: Any, known: npt.NDArray[np.bool_]) -> tuple[str, str]:
    """Unit of the column, and what to say where its cells do not agree."""
    found = [str(code) for code in pc.unique(codes.drop_null()).to_pylist()]
    percent = mask(_has(parts, "percent")) & known
    if len(found) > 1:
        return "", f"{len(found)} currencies ({', '.join(sorted(found)[:6])}); numbers are kept as written."
    if found:
        return found[0], ""
    if percent.any() and not percent[known].all():
        return "", "Some values are percentages and some are not; numbers are kept as written."
    return ("%", "") if percent.any() else ("", "")


def _notation(digits: Any, decimal: str, unit: str) -> str:
    """How the numbers are written: 'decimal comma, EUR'."""
    words = {".": "decimal point", ",": "decimal comma"}
    marks = {",": "comma between thousands", ".": "dot between thousands", " ": "space between thousands",
             "'": "' between thousands"}  # fmt: skip
    grouped = [word for mark, word in marks.items() if mark != decimal and _occurs(digits, mark)]
    used = [words[decimal]] if _occurs(digits, decimal) else []
    return ", ".join([*used, *grouped, *([unit] if unit else [])])


def _occurs(digits: Any, mark: str) -> bool:
    return bool(mask(pc.match_substring(digits, mark)).any())
