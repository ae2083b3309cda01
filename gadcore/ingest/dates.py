"""Dates and times as people write them, to seconds since 1970.

| notation                                            | example                                          |
| ISO, with T, zone and fractions of a second         | 2025-01-31T10:15:00.250Z, 2025-01-31 10:15+01:00 |
| day and month in either order, decided by all cells | 31.01.2025, 31/01/2025 10:15, 1/31/25 10:15 PM   |
| month names in seven languages of Europe            | 31 Jan 2025, März 3, 2025, 3 de mayo de 2025     |
| without marks                                       | 20250131, 20250131T101500                        |
| numbers since 1970                                  | seconds, milliseconds, microseconds, nanoseconds |
| any other numbers                                   | years, or steps: one step counts as a day        |

Times are the wall clock of the file. Zones are told beside them, in seconds east of Greenwich.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gadcore.ingest.cells import Cells, floats, mask, without_missing

Numbers = npt.NDArray[np.float64]

DAY_FIRST, MONTH_FIRST = "day first", "month first"
STEP = 86_400.0  # seconds

_REST = r"(?P<rest>\D.*)?$"
_NAME = r"(?P<name>\pL{3,10})\.?"
_DATES = (  # groups y, m or name, d, rest; a and b where the order is open
    rf"^(?P<y>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_REST}",
    rf"^(?P<a>\d{{1,2}})(?P<mark>[-/.])(?P<b>\d{{1,2}})[-/.](?P<y>\d{{4}}){_REST}",
    rf"^(?P<a>\d\d)(?P<mark>[-/.])(?P<b>\d\d)[-/.](?P<y>\d\d){_REST}",
    rf"^(?P<a>\d{{1,2}})(?P<mark>/)(?P<b>\d{{1,2}})/(?P<y>\d\d){_REST}",
    r"^(?P<y>(?:19|20)\d\d)(?P<m>\d\d)(?P<d>\d\d)(?P<rest>[T_ ]?\d{4}(?:\d\d)?.*)?$",
    rf"^(?:\pL+\.?,? +)?(?P<d>\d{{1,2}})(?:st|nd|rd|th|er|\.)?[- ]+(?:de +)?{_NAME},?[- ]+(?:de +)?"
    rf"(?P<y>\d{{4}}|\d\d){_REST}",
    rf"^(?:\pL+\.?,? +)?{_NAME} +(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,? +(?P<y>\d{{4}}){_REST}",
    rf"^\pL{{3}} {_NAME} +(?P<d>\d{{1,2}}) (?P<rest>\d\d:\d\d:\d\d(?: [+-]\d{{4}}| [A-Z]{{3,4}})?)"
    r" (?P<y>\d{4})$",
    r"^(?P<y>\d{4})-(?P<m>\d\d)$",
)
_CLOCK = (
    r"^[T_, ]*(?:(?P<H>\d{1,2})[:h]?(?P<M>\d\d)(?::?(?P<S>\d\d)(?:[.,](?P<F>\d{1,9}))?)?(?: ?(?i:uhr|h))?"
    r" ?(?P<half>[AaPp]\.?[Mm]\.?)?)? ?(?P<zone>Z|[+-]\d\d(?::?\d\d)?|[A-Z]{3,4})?(?:\[[^\]]*\])?$"
)
_MONTHS = {
    1: "jan january januar janner jaen janvier janv enero ene gennaio gen janeiro januari",
    2: "feb february februar fevrier fevr fev febrero febbraio fevereiro februari",
    3: "mar march marz maerz mrz mars marzo marco maart mrt",
    4: "apr april avril avr abril abr aprile", 5: "may mai mayo maggio mag maio mei",
    6: "jun june juni juin junio giugno giu junho",
    7: "jul july juli juillet juil julio luglio lug julho",
    8: "aug august aout agosto ago augustus",
    9: "sep sept september septembre septiembre settembre setembro set",
    10: "oct october oktober okt octobre octubre ottobre ott outubro out",
    11: "nov november novembre noviembre novembro",
    12: "dec december dezember dez decembre diciembre dic dicembre dezembro",
}  # fmt: skip
_MONTH_OF = {name: month for month, names in _MONTHS.items() for name in names.split()}
_HOURS_EAST = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "CET": 1, "MEZ": 1, "BST": 1, "CEST": 2, "MESZ": 2, "EET": 2,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9,
}  # fmt: skip
_SINCE_1970 = (("seconds", 1.0), ("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))
_SECONDS = (5e8, 4.2e9)  # 1985 to 2103: numbers in between are taken as seconds since 1970
_MOST = 0.9  # of the numbers must be since 1970 before the column is
_YEARS = (1900, 2100)
_FAR = 1e15  # numbers beyond are no step and no digits of a date
_NOTHING = np.zeros(0, np.int64)
_NO_TEXT = pa.scalar(None, pa.large_string())


@dataclass(frozen=True)
class TimeColumn:
    """A column read as times, and how."""

    seconds: Numbers  # wall clock, seconds since 1970 (or STEP times the step); nan where there is none
    unread: npt.NDArray[np.int64]  # cells that say something, but no time
    zone: Numbers  # seconds east of Greenwich of each cell; nan where it says none
    form: str = "date"  # "date", "years", "steps", or the unit of numbers since 1970
    order: str = ""  # DAY_FIRST or MONTH_FIRST, where dates are written so
    doubt: str = ""  # what may be wrong, in a sentence

    @property
    def share(self) -> float:
        """Times among the cells that say something."""
        known = int((~np.isnan(self.seconds)).sum())
        return known / max(known + len(self.unread), 1)

    @property
    def utc(self) -> Numbers:
        """Seconds since 1970 in Greenwich; times without a zone are taken as they are."""
        return np.asarray(self.seconds - np.nan_to_num(self.zone))


def read_dates(cells: Cells, order: str | None = None) -> TimeColumn:
    """Read a column of written dates; ``order`` is how an earlier part of the column was read."""
    plain = _iso(cells)
    if plain is not None:
        return plain
    coded = without_missing(cells).dictionary_encode()
    found = _read_distinct(coded.dictionary, order)
    codes = np.asarray(pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    seconds, zone = (np.append(v, np.nan)[codes] for v in (found.seconds, found.zone))
    unread = np.flatnonzero(np.isnan(seconds) & (codes >= 0))
    return TimeColumn(seconds, unread, zone, order=found.order, doubt=found.doubt)


def read_time_numbers(values: Numbers, form: str | None = None, *, steps: bool = False) -> TimeColumn:
    """Read numbers as times; ``form`` as an earlier part of the column was read, ``steps``: by its name."""
    given = ~np.isnan(values)
    form = form or ("steps" if steps else _form(values[given & np.isfinite(values)]))
    worth = dict(_SINCE_1970)
    limits = (_SECONDS[0] * worth[form], _SECONDS[1] * worth[form]) if form in worth else (-_FAR, _FAR)
    values = np.where((values >= limits[0]) & (values <= limits[1]), values, np.nan)
    found = _times_of_numbers(values, form)
    return replace(found, unread=np.flatnonzero(given & np.isnan(found.seconds)))


def _times_of_numbers(values: Numbers, form: str) -> TimeColumn:
    none = np.full(len(values), np.nan)
    worth = dict(_SINCE_1970)
    if form in worth:
        return TimeColumn(values / worth[form], _NOTHING, np.where(np.isnan(values), np.nan, 0.0), form)
    if form == "years":
        whole = np.nan_to_num(values, nan=1970.0).astype(np.int64)
        days = _days(whole, np.ones_like(whole), np.ones_like(whole))
        return TimeColumn(np.where(np.isnan(values), np.nan, days * STEP), _NOTHING, none, form)
    if form == "date":
        known = ~np.isnan(values)
        text = pa.array(
            np.where(known, values, 0).astype(np.int64).astype(str), pa.large_string(), mask=~known
        )
        return read_dates(text)
    return TimeColumn(values * STEP, _NOTHING, none, "steps")


def read_clock(cells: Cells) -> Numbers | None:
    """Seconds of the day of a column that holds nothing but times of the day; None for any other."""
    coded = without_missing(cells).dictionary_encode()
    clock, _, _ = _clock(coded.dictionary)
    marked = mask(pc.match_substring_regex(coded.dictionary, r"^\d{1,2}[:h]\d\d"))
    if not len(clock) or np.isnan(clock).any() or not marked.all():
        return None
    codes = np.asarray(pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return np.append(clock, np.nan)[codes]


def _form(known: Numbers) -> str:
    """What numbers count: digits of a date, seconds since 1970, years or steps."""
    if not len(known):
        return "steps"
    if _digits(known):
        return "date"
    for unit, worth in _SINCE_1970:
        within = (known >= _SECONDS[0] * worth) & (known <= _SECONDS[1] * worth)
        if within.mean() >= _MOST:  # the others, 0 most often, say that there is no time
            return unit
    low, high = float(known.min()), float(known.max())
    whole = bool((known % 1 == 0).all())
    return "years" if whole and _YEARS[0] <= low and high <= _YEARS[1] else "steps"


def _digits(known: Numbers) -> bool:
    """Whether the numbers are dates without marks: 20250131, 202501311015 or 20250131101500."""
    low, high = float(known.min()), float(known.max())
    wide = [w for w in (1.0, 1e4, 1e6) if 19_000_101 * w <= low and high < 21_010_101 * w]
    if not wide or (known % 1).any():
        return False
    day = known // wide[0]
    month = day // 100 % 100
    return bool(((month >= 1) & (month <= 12) & (day % 100 >= 1) & (day % 100 <= 31)).all())


class _Found:
    """What the patterns found in the distinct cells: year, month, day, and the text of the clock."""

    def __init__(self, cells: Cells) -> None:
        n = len(cells)
        self.year, self.month, self.day = (np.full(n, np.nan) for _ in range(3))
        self.open = np.zeros(n, dtype=bool)  # the order is open; ``day`` holds the first number
        self.dotted = True  # all of these are written with dots, which puts the day first
        self.rest: Any = pa.nulls(n, pa.large_string())
        left = mask(pc.match_substring_regex(cells, r"\d"))  # every date has a digit
        worded = mask(pc.match_substring_regex(cells, r"[A-Za-z]|[^\x00-\x7f]"))
        for pattern in _DATES:
            # The patterns with names of months take long to prepare: not where no cell can have one.
            tried = left & worded if _NAME in pattern else left
            if tried.any():
                left &= ~self._take(pc.if_else(pa.array(tried), cells, _NO_TEXT), pattern)

    def _take(self, cells: Cells, pattern: str) -> npt.NDArray[np.bool_]:
        """Take in the cells that a pattern fits; where it does."""
        parts = pc.extract_regex(cells, pattern)
        hit = mask(pc.is_valid(parts))
        given = {field.name: pc.struct_field(parts, field.name) for field in parts.type}
        if not hit.any():
            return hit
        self.year[hit] = _full_years(floats(given["y"]))[hit]
        if "a" in given:
            self.open |= hit
            self.dotted &= bool(mask(pc.equal(given["mark"], "."))[hit].all())
        self.day[hit] = _day_numbers(given)[hit]
        self.month[hit] = (_months(given["name"]) if "name" in given else floats(_first(given, "m", "b")))[
            hit
        ]
        if "rest" in given:
            self.rest = pc.if_else(pa.array(hit), given["rest"], self.rest)
        return hit


def _first(given: dict[str, Any], *names: str) -> Any:
    return next(given[name] for name in names if name in given)


def _day_numbers(given: dict[str, Any]) -> Numbers:
    """Day of each cell; where only year and month are written, the first."""
    if "d" not in given and "a" not in given:
        return np.ones(len(given["y"]))
    return floats(_first(given, "d", "a"))


def _full_years(years: Numbers) -> Numbers:
    """Years of two digits are those from 1970 to 2069."""
    return np.where(years < 70, years + 2000, np.where(years < 100, years + 1900, years))


def _months(names: Any) -> Numbers:
    coded = pc.fill_null(names, "").dictionary_encode()
    table = np.array([_MONTH_OF.get(_bare(name), np.nan) for name in coded.dictionary.to_pylist()])
    return np.asarray(table[coded.indices.to_numpy()])


def _bare(name: str) -> str:
    """Lower case, without accents."""
    return unicodedata.normalize("NFD", name.lower()).encode("ascii", "ignore").decode()


def _iso(cells: Cells) -> TimeColumn | None:
    """Times of a column that a program wrote, all in Greenwich or none with a zone; None for any other."""
    greenwich = len(cells) > 0 and bool(mask(pc.ends_with(cells, "Z")).all())
    try:
        stamps = (pc.utf8_rtrim(cells, "Z") if greenwich else cells).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    seconds = floats(stamps.cast(pa.int64()).cast(pa.float64(), safe=False)) / 1e6  # year 9999: to 16 ms
    return TimeColumn(seconds, _NOTHING, np.full(len(cells), 0.0 if greenwich else np.nan), order="")


def _read_distinct(cells: Cells, order: str | None) -> TimeColumn:
    plain = _iso(cells)
    if plain is not None:
        return plain
    found = _Found(cells)
    clock, zone, halves = _clock(found.rest)
    order, doubt = _order(found, order, halves)
    swapped = found.open & (order == MONTH_FIRST)
    month, day = np.where(swapped, found.day, found.month), np.where(swapped, found.month, found.day)
    seconds = _days(found.year, month, day) * STEP + clock
    return TimeColumn(seconds, _NOTHING, np.where(np.isnan(seconds), np.nan, zone), order=order, doubt=doubt)


def _order(found: _Found, given: str | None, halves: bool) -> tuple[str, str]:
    """Which of two numbers is the day, by all cells together, and the doubt that is left."""
    if not found.open.any():
        return given or "", ""
    if given:
        return given, ""
    first, second = int((found.day[found.open] > 12).sum()), int((found.month[found.open] > 12).sum())
    if first != second:
        both = " Some dates fit the other order only." if min(first, second) else ""
        return (DAY_FIRST if first > second else MONTH_FIRST), both.strip()
    if found.dotted:
        return DAY_FIRST, ""
    order, words = (MONTH_FIRST, "month/day/year") if halves else (DAY_FIRST, "day/month/year")
    why = "the values allow both orders" if not first else "as many fit the other order only"
    return order, f"Dates are read as {words}; {why}."


def _clock(rest: Any) -> tuple[Numbers, Numbers, bool]:
    """Seconds of the day, seconds east of Greenwich, and whether the clock has twelve hours.

    A cell with something behind its date that is no clock has nan seconds.
    """
    parts = pc.extract_regex(pc.fill_null(rest, ""), _CLOCK)
    hour, minute, second = (floats(_number(parts, name)) for name in "HMS")
    fraction = np.nan_to_num(floats(_decimals(pc.struct_field(parts, "F"))))
    half = pc.utf8_lower(pc.struct_field(parts, "half"))
    late, early = (mask(pc.starts_with(half, letter)) for letter in "pa")
    bad = (hour > 24) | (minute > 59) | (second > 60) | ((late | early) & ((hour < 1) | (hour > 12)))
    hour = np.where(late | early, hour % 12 + 12 * late, hour)
    clock = np.nan_to_num(hour) * 3600 + np.nan_to_num(minute) * 60 + np.nan_to_num(second) + fraction
    zone, odd = _zones(pc.struct_field(parts, "zone"))
    unfit = bad | odd | ~mask(pc.is_valid(parts)) | (clock > STEP)
    return np.where(unfit, np.nan, clock), zone, bool((late | early).any())


def _number(parts: Any, name: str) -> Any:
    """A group of digits; null where it is empty."""
    text = pc.struct_field(parts, name)
    return pc.if_else(pc.equal(text, ""), _NO_TEXT, text)


def _decimals(digits: Any) -> Any:
    return pc.binary_join_element_wise(
        pa.scalar("0.", pa.large_string()), digits, pa.scalar("", pa.large_string())
    )


def _zones(words: Any) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Seconds east of Greenwich, nan where no zone is named; and where a name is not known."""
    coded = pc.fill_null(words, "").dictionary_encode()
    known = [_east(word) for word in coded.dictionary.to_pylist()]
    odd = np.array([east is None for east in known], dtype=bool)
    table = np.array([np.nan if east is None else east for east in known], dtype=np.float64)
    codes = coded.indices.to_numpy()
    return table[codes], odd[codes]


def _east(word: str) -> float | None:
    """Seconds east of Greenwich; nan for no word, None for one that is not known."""
    if not word:
        return float("nan")
    if word[0] in "+-":
        hours, minutes = int(word[1:3]), int(word[3:].lstrip(":") or 0)
        return (hours * 3600.0 + minutes * 60.0) * (-1 if word[0] == "-" else 1)
    return _HOURS_EAST[word] * 3600.0 if word in _HOURS_EAST else None


def _days(year: Any, month: Any, day: Any) -> Numbers:
    """Days since 1970; nan where there is no such day."""
    known = ~(np.isnan(year) | np.isnan(month) | np.isnan(day)) & (month >= 1) & (month <= 12) & (day >= 1)
    y, m, d = (np.where(known, v, 1).astype(np.int64) for v in (year, month, day))
    months = ((y - 1970) * 12 + m - 1).astype("datetime64[M]")
    date = months.astype("datetime64[D]") + (d - 1)
    known &= date.astype("datetime64[M]") == months
    return np.where(known, date.astype(np.int64), np.nan)
