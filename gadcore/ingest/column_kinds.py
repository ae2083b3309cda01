"""What kind of values a raw column holds, and its values in the form that the encoders take.

| kind       | a column is of this kind when …                                    | parsed to      |
| boolean    | its values are one pair: true/false, yes/no, y/n, t/f, 0/1         | float, NaN     |
| number     | 95 % of its values are numbers, none with a leading zero (00123)   | float, NaN     |
| date       | every value is a date in one of the usual notations                | float (s), NaN |
| tags       | it holds lists, or texts such as ``a|b|c`` whose parts recur       | list of str    |
| text       | many values are different and have several words                   | str, None      |
| category   | values recur                                                       | str, None      |
| identifier | values do not recur (e-mail addresses, hashes): shown, no attribute | –             |
| constant, empty | one value, or none: shown, no attribute                       | –              |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.errors import InputError
from gadcore.ingest.graph_parts import counted

ENCODED = ("boolean", "number", "date", "tags", "text", "category")
_MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?", "#n/a")
_BOOLEANS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("1", "0"), ("1.0", "0.0"))
_TRUE = {pair[0] for pair in _BOOLEANS}
_DAY_FORMATS = ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d %Y")
_TIME_SUFFIXES = ("", " %H:%M", " %H:%M:%S")
_DATE_HINT = re.compile(r"^\s*\d{1,4}[-/. ](\d{1,2}|[A-Za-z]{3})[-/. ]\d{1,4}|^\s*[A-Za-z]{3} \d{1,2} \d{4}")
_DECIMAL_COMMA = re.compile(r"^\s*[+-]?\d+(,\d+)?\s*$")
_CODE = re.compile(r"^0\d")
_SEPARATORS = ("|", ";", ",")
_NUMERIC_SHARE = 0.95
_TEXT_WORDS = 3.0
_SAMPLE = 5_000

Place = Callable[[int], str]
Texts = npt.NDArray[np.object_]  # of str, None where there is none
Values = Any  # ndarray of float, of str/None, or a list of lists


@dataclass
class Parsed:
    """A column understood: kind, values as the encoders take them, and how they were read."""

    kind: str
    values: Values
    how: dict[str, Any] = field(default_factory=dict)  # kept in the encoder state for later nodes
    notes: list[str] = field(default_factory=list)


def understand(series: pd.Series, name: str, place: Place, separator: str | None = None) -> Parsed:
    """Find out the kind of a raw column and parse it; with a separator it is known to hold lists."""
    if separator is not None:
        return Parsed("tags", parse_tags(series, separator), {"separator": separator})
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(series.dtype):
        words = series.astype("object").map(lambda v: None if pd.isna(v) else str(bool(v)))
        return _settled(Parsed("boolean", parse_boolean(words)))
    if pd.api.types.is_numeric_dtype(series.dtype):
        return _typed_number(series, name, place)
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _settled(Parsed("date", seconds(series), {"format": "typed"}))
    listed = () if isinstance(series.dtype, pd.StringDtype) else series.head(_SAMPLE)
    if any(isinstance(v, (list, tuple, np.ndarray)) for v in listed):
        return Parsed("tags", parse_tags(series, "|"), {"separator": "|"})
    return _from_text(as_text(series), name, place)


def as_text(series: pd.Series) -> Texts:
    """Values as written; None where there is none."""
    if isinstance(series.dtype, pd.StringDtype):
        values = series.to_numpy(dtype=object, na_value=None)
    else:
        values = np.array([_plain(v) for v in series], dtype=object)
    values[values == ""] = None
    return np.asarray(values, dtype=object)


def _plain(value: object) -> str | None:
    if value is None or (not isinstance(value, (list, dict)) and pd.isna(value)):
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)


class _Words:
    """A text column: its values (None = missing), those present, and the distinct ones."""

    def __init__(self, text: Texts, name: str, place: Place) -> None:
        self.text, self.name, self.place = text, name, place
        self.present = text[np.array([v is not None for v in text], dtype=bool)]
        self.distinct = pd.unique(self.present)


def _from_text(text: Texts, name: str, place: Place) -> Parsed:
    words = _Words(text, name, place)
    if not len(words.present):
        return Parsed("empty", text)
    for attempt in (_as_boolean, _as_number, _as_date, _as_tags):
        parsed = attempt(words)
        if parsed is not None:
            return _settled(parsed)
    return _settled(Parsed(_word_kind(words), text))


def _settled(parsed: Parsed) -> Parsed:
    """One value everywhere says nothing: constant. A constant with holes still says where it is."""
    values = parsed.values
    if parsed.kind in ("number", "date", "boolean"):
        known = values[~np.isnan(values)]
        if not len(known):
            return Parsed("empty", values)
        constant = len(known) == len(values) and bool((known == known[0]).all())
    else:
        constant = parsed.kind != "tags" and len(set(values)) == 1
    return Parsed("constant", values, parsed.how, parsed.notes) if constant else parsed


def _as_boolean(words: _Words) -> Parsed | None:
    values = {str(v).strip().lower() for v in words.distinct[:13]} - set(_MISSING)
    if len(words.distinct) <= 12 and any(values and values <= set(pair) for pair in _BOOLEANS):
        return Parsed("boolean", parse_boolean(pd.Series(words.text, dtype=object)))
    return None


def parse_boolean(series: pd.Series) -> npt.NDArray[np.float64]:
    """1, 0 or NaN for the words of the known pairs; anything else is NaN."""
    known = {word: float(word in _TRUE) for pair in _BOOLEANS for word in pair}
    codes, words = pd.factorize(series)
    values = [*(known.get(str(w).strip().lower(), np.nan) for w in words), np.nan]
    table: npt.NDArray[np.float64] = np.array(values)
    return np.asarray(table[codes])  # a missing value has code -1: the last of the table


def _typed_number(series: pd.Series, name: str, place: Place) -> Parsed:
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    _refuse_infinite(values, name, place)
    known = values[~np.isnan(values)]
    if set(np.unique(known)) == {0.0, 1.0}:
        return Parsed("boolean", values)
    return _settled(Parsed("number", values))


def _as_number(words: _Words) -> Parsed | None:
    if any(_CODE.match(str(v).strip()) for v in words.distinct[:_SAMPLE]):
        return None
    decimal, values = ".", parse_number(words.text, ".")
    if not _mostly_numbers(values, words.present):
        decimal = ","
        if all(_DECIMAL_COMMA.match(str(v)) or _is_missing(v) for v in words.distinct):
            values = parse_number(words.text, decimal)
        if not _mostly_numbers(values, words.present):
            return None
    _refuse_infinite(values, words.name, words.place)
    odd = [i for i in np.flatnonzero(np.isnan(values)) if not _is_missing(words.text[i])]
    notes = [
        f"Column {words.name!r}: {len(odd):,} values are not numbers and count as missing "
        f"({words.place(int(i))}: {words.text[i]!r})."
        for i in odd[:1]
    ]
    return Parsed("number", values, {"decimal": decimal}, notes)


def _mostly_numbers(values: npt.NDArray[np.float64], present: npt.NDArray[Any]) -> bool:
    known = len(values) - int(np.isnan(values).sum())
    holes = sum(_is_missing(v) for v in present) if known < len(present) else 0
    return known > 0 and known >= _NUMERIC_SHARE * (len(present) - holes)


def _is_missing(value: object) -> bool:
    return value is None or str(value).strip().lower() in _MISSING


def parse_number(text: Texts, decimal: str) -> npt.NDArray[np.float64]:
    """Numbers of a text column, NaN where there is none."""
    series = pd.Series(text, dtype=object)
    if decimal == ",":
        series = series.map(lambda v: v.replace(",", ".") if isinstance(v, str) else v)
    return np.asarray(pd.to_numeric(series, errors="coerce"), dtype=np.float64)


def _refuse_infinite(values: npt.NDArray[np.float64], name: str, place: Place) -> None:
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        raise InputError(
            f"{place(int(bad[0]))}: column {name!r} holds an infinite number ({counted(len(bad), 'row')})",
            "finite numbers",
            "replace it, or leave the cell empty for a missing value",
        )


def _as_date(words: _Words) -> Parsed | None:
    dates = [str(v) for v in words.distinct if not _is_missing(v)]
    if not dates or not all(_DATE_HINT.match(v) for v in dates[:50]):
        return None
    time = _TIME_SUFFIXES[min(dates[0].count(":"), 2)]
    for date_format in ("ISO8601", *(day + time for day in _DAY_FORMATS)):
        if np.isnan(parse_date(np.array(dates[:_SAMPLE], dtype=object), date_format)).any():
            continue
        values = parse_date(words.text, date_format)
        if all(_is_missing(words.text[i]) for i in np.flatnonzero(np.isnan(values))):
            unsure = date_format.startswith("%d/%m") and not any(int(v[:2].strip("/")) > 12 for v in dates)
            note = f"Column {words.name!r}: dates are read as day/month/year; the values allow both orders."
            return Parsed("date", values, {"format": date_format}, [note] if unsure else [])
    return None


def parse_date(text: Texts, date_format: str) -> npt.NDArray[np.float64]:
    """Seconds since 1970 (UTC), NaN where there is no date."""
    series = pd.Series([None if _is_missing(v) else v for v in text], dtype=object)
    if date_format == "typed":
        date_format = "ISO8601"
    return seconds(pd.to_datetime(series, format=date_format, errors="coerce", utc=True))


def seconds(series: pd.Series) -> npt.NDArray[np.float64]:
    if getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy(dtype="datetime64[s]")
    numbers: npt.NDArray[np.float64] = values.astype(np.int64).astype(np.float64)
    numbers[np.isnat(values)] = np.nan
    return numbers


def _as_tags(words: _Words) -> Parsed | None:
    """A list column: most values hold the separator (or are ``[…]``) and parts recur."""
    sample = [str(v) for v in words.present[:_SAMPLE]]
    bracketed = np.mean([v.startswith("[") and v.endswith("]") for v in sample]) > 0.9
    for separator in _SEPARATORS:
        share = np.mean([separator in v for v in sample])
        if not bracketed and share < (0.2 if separator == "|" else 0.5):
            continue
        parts = [split_tags(v, separator) for v in sample]
        every = [tag for tags in parts for tag in tags]
        short = np.mean([len(tag.split()) <= 3 for tag in every]) if every else 0.0
        least = 1.5 if separator == "|" else 2.0
        recur = len(every) >= least * len(set(every)) or len(words.distinct) < len(words.present)
        if every and short > 0.95 and (bracketed or (recur and max(map(len, parts)) > 1)):
            return Parsed("tags", [split_tags(v, separator) for v in words.text], {"separator": separator})
    return None


def split_tags(value: object, separator: str) -> list[str]:
    """Tags of one cell: a list, a JSON or Python list as text, or parts between separators."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return []
    if isinstance(value, (list, tuple, np.ndarray)):
        items = [str(v) for v in value if v is not None]
    else:
        text = str(value).strip()
        if text.startswith("[") and text.endswith("]"):
            text, separator = text[1:-1], separator if separator in text else ","
        items = text.split(separator)
    return [tag for tag in (item.strip().strip("'\"").strip() for item in items) if tag]


def parse_tags(series: pd.Series, separator: str) -> list[list[str]]:
    return [split_tags(v, separator) for v in series]


def _word_kind(words: _Words) -> str:
    length = float(np.mean([len(str(v).split()) for v in words.present[:_SAMPLE]]))
    share = len(words.distinct) / len(words.present)
    if length >= _TEXT_WORDS and share > 0.3 and len(words.distinct) > 5:
        return "text"
    return "identifier" if len(words.present) > 20 and share > 0.9 else "category"
