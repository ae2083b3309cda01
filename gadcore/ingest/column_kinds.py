"""What kind of values a raw column holds, and its values in the form that the encoders take.

| kind       | a column is of this kind when …                                    | parsed to      |
| boolean    | its values are one pair: true/false, yes/no, y/n, t/f, 0/1         | float, NaN     |
| number     | 95 % of its values are numbers (numbers.py), none like 00123       | float, NaN     |
| date       | every value is a date in one of the usual notations (times.py)     | float (s), NaN |
| tags       | it holds lists, or texts such as ``a|b|c`` whose parts recur       | list of str    |
| text       | many values are different and have several words                   | Arrow cells    |
| category   | values recur                                                       | Arrow cells    |
| identifier | values do not recur (e-mail addresses, hashes): shown, no attribute | –             |
| constant, empty | one value, or none: shown, no attribute                       | –              |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.compute as pc

from gadcore.errors import InputError
from gadcore.ingest import spellings
from gadcore.ingest.cells import MISSING, Cells, as_cells, coded
from gadcore.ingest.dates import DAY_FIRST, MONTH_FIRST, read_dates
from gadcore.ingest.graph_parts import counted
from gadcore.ingest.numbers import NumberColumn, read_numbers

ENCODED = ("boolean", "number", "date", "tags", "text", "category")
_BOOLEANS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("1", "0"), ("1.0", "0.0"))
_TRUE = {pair[0] for pair in _BOOLEANS}
_CODE = r"^0\d"
_SEPARATORS = ("|", ";", ",")
_NUMERIC_SHARE = 0.95
_TEXT_WORDS = 3.0
_SAMPLE = 5_000
_FEW_WORDS = 12  # different ones up to which a column may be one of truth values
_FIRST = 50  # values that show whether a column may hold dates

Place = Callable[[int], str]
Values = Any  # ndarray of float, an Arrow array of texts (null: missing), or a list of lists


@dataclass
class Parsed:
    """A column understood: kind, values as the encoders take them, and how they were read."""

    kind: str
    values: Values
    how: dict[str, Any] = field(default_factory=dict)  # kept in the encoder state for later nodes
    notes: list[str] = field(default_factory=list)
    whole: bool = True  # the values say all that was written


def understand(
    series: pd.Series,
    name: str,
    place: Place,
    separator: str | None = None,
    kind: str | None = None,
    merge: bool = False,
) -> Parsed:
    """Find out the kind of a raw column, unless it is given, and parse it.

    With a separator it is known to hold lists. ``merge`` makes one category of spellings of it.
    """
    found = _understood(series, name, place, separator) if kind is None else _said(series, name, place, kind)
    return _spelt(found, name, merge) if found.kind == "category" else found


def _spelt(found: Parsed, name: str, merge: bool) -> Parsed:
    """A category without words for "not known", and with its spellings merged, or named in a note."""
    cells = spellings.known(found.values)
    unknown = cells.null_count - found.values.null_count
    notes, others = list(found.notes), spellings.variants(cells)
    if unknown:
        verb = "counts" if unknown == 1 else "count"
        notes.append(
            f"Column {name!r}: {counted(unknown, 'value')} such as '-' or 'unknown' {verb} as missing."
        )
    if others:
        notes.append(spellings.variants_note(name, others, merge))
    merged = others if merge else {}
    return _settled(
        Parsed("category", spellings.merged(cells, merged), {**found.how, "merged": merged}, notes)
    )


def _said(series: pd.Series, name: str, place: Place, kind: str) -> Parsed:
    """A column that is said to be of a kind; values that are not of it count as missing."""
    words = _Words(as_cells(series), name, place)
    if not len(words.present):
        return Parsed("empty", words.cells)
    if kind == "number":
        return _settled(_numbers(words))
    if kind == "date":
        dates = read_dates(words.cells)
        notes = [unread_note(words.cells, dates.unread, name, "dates", place)] if len(dates.unread) else []
        return _settled(Parsed("date", dates.utc, {"format": dates.order or "ISO8601"}, notes))
    if kind == "boolean":
        return _settled(Parsed("boolean", parse_boolean(words.cells)))
    if kind == "tags":
        separator = next((s for s in _SEPARATORS if any(s in v for v in words.sample)), _SEPARATORS[0])
        return Parsed("tags", parse_tags(series, separator), {"separator": separator})
    return _settled(Parsed(kind, words.cells))


def _understood(series: pd.Series, name: str, place: Place, separator: str | None = None) -> Parsed:
    if separator is not None:
        return Parsed("tags", parse_tags(series, separator), {"separator": separator})
    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(series.dtype):
        return _settled(Parsed("boolean", series.to_numpy(dtype=np.float64, na_value=np.nan)))
    if pd.api.types.is_numeric_dtype(series.dtype):
        return _typed_number(series, name, place)
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _settled(Parsed("date", seconds(series), {"format": "typed"}))
    listed = () if isinstance(series.dtype, pd.StringDtype) else series.head(_SAMPLE)
    if any(isinstance(v, (list, tuple, np.ndarray)) for v in listed):
        return Parsed("tags", parse_tags(series, "|"), {"separator": "|"})
    return _from_text(as_cells(series), name, place)


class _Words:
    """A text column: its cells (null = missing), those present, and the distinct ones."""

    def __init__(self, cells: Cells, name: str, place: Place) -> None:
        self.cells, self.name, self.place = cells, name, place
        self.present = cells.drop_null()

    def first_distinct(self, n: int) -> Cells:
        """Up to ``n`` different values, in the order in which they come."""
        head = self.present.slice(0, 4 * n).unique()
        return (head if len(head) >= n else self.present.unique()).slice(0, n)

    @cached_property
    def n_distinct(self) -> int:
        return int(pc.count_distinct(self.present).as_py())

    @cached_property
    def sample(self) -> list[str]:
        found: list[str] = self.present.slice(0, _SAMPLE).to_pylist()
        return found


def _from_text(cells: Cells, name: str, place: Place) -> Parsed:
    words = _Words(cells, name, place)
    if not len(words.present):
        return Parsed("empty", cells)
    for attempt in (_as_boolean, _as_number, _as_date, _as_tags):
        parsed = attempt(words)
        if parsed is not None:
            return _settled(parsed)
    return _settled(Parsed(_word_kind(words), cells))


def _settled(parsed: Parsed) -> Parsed:
    """One value everywhere says nothing: constant. A constant with holes still says where it is."""
    values = parsed.values
    if parsed.kind in ("number", "date", "boolean"):
        known = values[~np.isnan(values)]
        if not len(known):
            return Parsed("empty", values)
        constant = len(known) == len(values) and bool((known == known[0]).all())
    elif parsed.kind == "tags":
        constant = False
    else:
        constant = not values.null_count and len(values.unique()) == 1
    return replace(parsed, kind="constant") if constant else parsed


def _as_boolean(words: _Words) -> Parsed | None:
    few = words.first_distinct(_FEW_WORDS + 1).to_pylist()
    values = {v.strip().lower() for v in few} - set(MISSING)
    if len(few) <= _FEW_WORDS and any(values and values <= set(pair) for pair in _BOOLEANS):
        return Parsed("boolean", parse_boolean(words.cells))
    return None


def parse_boolean(cells: Cells) -> npt.NDArray[np.float64]:
    """1, 0 or NaN for the words of the known pairs; anything else is NaN."""
    known = {word: float(word in _TRUE) for pair in _BOOLEANS for word in pair}
    codes, words = coded(cells)
    values = [*(known.get(word.strip().lower(), np.nan) for word in words), np.nan]
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
    head = pc.utf8_trim_whitespace(words.first_distinct(_SAMPLE))
    if pc.any(pc.match_substring_regex(head, _CODE)).as_py():
        return None
    found = read_numbers(words.cells)
    if np.isnan(found.values).all() or found.share < _NUMERIC_SHARE:
        return None
    return _numbers(words, found)


def _numbers(words: _Words, found: NumberColumn | None = None) -> Parsed:
    found = found or read_numbers(words.cells)
    _refuse_infinite(found.values, words.name, words.place)
    how = {"decimal": found.decimal} | ({"unit": found.unit} if found.unit else {})
    notes = [f"Column {words.name!r}: {said}" for said in (found.doubt, _sentence(found.written)) if said]
    if len(found.unread):
        notes.append(unread_note(words.cells, found.unread, words.name, "numbers", words.place))
    return Parsed("number", found.values, how, notes, not len(found.unread) and found.currency is None)


def _sentence(written: str) -> str:
    return f"numbers are read with {written}." if written else ""


def unread_note(cells: Any, unread: npt.NDArray[np.int64], name: str, what: str, place: Place) -> str:
    """The line about cells that could not be read: how many, and the first one with its place."""
    first = int(unread[0])
    return (
        f"Column {name!r}: {counted(len(unread), 'value')} could not be read as {what}, and "
        f"{'counts' if len(unread) == 1 else 'count'} as missing ({place(first)}: {str(cells[first])!r})."
    )


def parse_number(cells: Cells, decimal: str) -> npt.NDArray[np.float64]:
    """Numbers of a text column, NaN where there is none."""
    return read_numbers(cells, decimal).values


def _refuse_infinite(values: npt.NDArray[np.float64], name: str, place: Place) -> None:
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        raise InputError(
            f"{place(int(bad[0]))}: column {name!r} holds an infinite number ({counted(len(bad), 'row')})",
            "finite numbers",
            "replace it, or leave the cell empty for a missing value",
        )


def _as_date(words: _Words) -> Parsed | None:
    if len(read_dates(words.first_distinct(_FIRST)).unread):
        return None
    found = read_dates(words.cells)
    if len(found.unread) or np.isnan(found.seconds).all():
        return None
    notes = [f"Column {words.name!r}: {found.doubt}"] if found.doubt else []
    return Parsed("date", found.utc, {"format": found.order or "ISO8601"}, notes)


def parse_date(cells: Cells, form: str) -> npt.NDArray[np.float64]:
    """Seconds since 1970 (UTC), NaN where there is no date; ``form`` is an order or a strptime pattern."""
    order = MONTH_FIRST if form == MONTH_FIRST or form.startswith("%m") else DAY_FIRST
    return read_dates(cells, order).utc


def seconds(series: pd.Series) -> npt.NDArray[np.float64]:
    if getattr(series.dt, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy(dtype="datetime64[s]")
    numbers: npt.NDArray[np.float64] = values.astype(np.int64).astype(np.float64)
    numbers[np.isnat(values)] = np.nan
    return numbers


def _as_tags(words: _Words) -> Parsed | None:
    """A list column: most values hold the separator (or are ``[…]``) and parts recur."""
    sample = words.sample
    bracketed = np.mean([v.startswith("[") and v.endswith("]") for v in sample]) > 0.9
    for separator in _SEPARATORS:
        share = np.mean([separator in v for v in sample])
        if not bracketed and share < (0.2 if separator == "|" else 0.5):
            continue
        parts = [split_tags(v, separator) for v in sample]
        every = [tag for tags in parts for tag in tags]
        short = np.mean([len(tag.split()) <= 3 for tag in every]) if every else 0.0
        least = 1.5 if separator == "|" else 2.0
        recur = len(every) >= least * len(set(every)) or words.n_distinct < len(words.present)
        if every and short > 0.95 and (bracketed or (recur and max(map(len, parts)) > 1)):
            return Parsed(
                "tags", [split_tags(v, separator) for v in words.cells.to_pylist()], {"separator": separator}
            )
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
    length = float(np.mean([len(v.split()) for v in words.sample]))
    share = words.n_distinct / len(words.present)
    if length >= _TEXT_WORDS and share > 0.3 and words.n_distinct > 5:
        return "text"
    return "identifier" if len(words.present) > 20 and share > 0.9 else "category"
