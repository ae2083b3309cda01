"""When the links were: one column of an edge table read as times, with what is said of zones and gaps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.graph.links import CLOCK, DATES, DAY, STEPS
from gadcore.ingest.cells import as_cells
from gadcore.ingest.column_kinds import Place, unread_note
from gadcore.ingest.dates import TimeColumn, read_clock, read_dates, read_time_numbers
from gadcore.ingest.graph_parts import counted
from gadcore.ingest.names import words_of
from gadcore.ingest.numbers import is_typed_number, numbers_of, read_numbers

_SAMPLE = 2_000  # cells that show whether a column holds numbers or dates
_STEP_WORDS = {"step", "steps", "tick", "round", "schritt", "etape", "paso"}

Numbers = npt.NDArray[np.float64]


@dataclass
class LinkTimes:
    """Times of all rows, and what is kept and said of them."""

    values: Numbers | None  # None: no value could be read
    precision: str = ""
    zone: str = ""
    told: str = ""  # how they were read: "dates, day first"
    how: dict[str, Any] = field(default_factory=dict)  # for links that arrive later
    notes: list[str] = field(default_factory=list)
    whole: bool = True  # the values say all that was written


def sampled(series: pd.Series, size: int = _SAMPLE) -> pd.Series:
    """Rows from all over a column."""
    rows = np.unique(np.linspace(0, len(series) - 1, min(size, len(series))).astype(np.int64))
    return series.iloc[rows]


def read_times(series: pd.Series, name: str, how: dict[str, Any] | None = None) -> TimeColumn:
    """A raw column read as times; ``how`` as an earlier part of it was read."""
    how = how or {}
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _typed(series)
    steps = bool(_STEP_WORDS & set(words_of(name)))
    if is_typed_number(series):
        return read_time_numbers(numbers_of(series).values, how.get("form"), steps=steps)
    head = as_cells(sampled(series))
    if read_numbers(head).share <= read_dates(head).share:
        return read_dates(as_cells(series), how.get("order"))
    found = read_numbers(as_cells(series))
    times = read_time_numbers(found.values, how.get("form"), steps=steps)
    unread = np.union1d(times.unread, found.unread)
    return TimeColumn(times.seconds, unread, times.zone, times.form, times.order, times.doubt)


def _typed(series: pd.Series) -> TimeColumn:
    """Times of a typed column, as the clock of its zone shows them."""
    zone = getattr(series.dt, "tz", None)
    wall = series.dt.tz_localize(None) if zone is not None else series
    stamps = wall.to_numpy(dtype="datetime64[us]")
    seconds = np.where(np.isnat(stamps), np.nan, stamps.astype(np.int64) / 1e6)
    east = np.full(len(seconds), np.nan)
    if zone is not None:
        utc = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
        east = np.where(np.isnat(utc), np.nan, seconds - utc.astype(np.int64) / 1e6)
    return TimeColumn(seconds, np.zeros(0, np.int64), east, f"typed {zone}" if zone is not None else "date")


def link_times(series: pd.Series, name: str, place: Place, how: dict[str, Any] | None = None) -> LinkTimes:
    """Times of the links from a raw column; cells that cannot be read are unknown, and said."""
    found = read_times(series, name, how)
    if np.isnan(found.seconds).all():
        return LinkTimes(None, notes=[f"Column {name!r}: none of its values can be read as a time."])
    seconds, zone, said = _one_zone(found, how)
    notes = [f"Column {name!r}: {text}" for text in (found.doubt, said) if text]
    if len(found.unread):
        notes.append(unread_note(as_cells(series), found.unread, name, "times", place))
    precision = STEPS if found.form == "steps" else _precision(seconds)
    kept = {"form": found.form, "order": found.order, "zone": zone}
    whole = not len(found.unread) and not said
    return LinkTimes(seconds, precision, zone, _told(found, precision, zone), kept, notes, whole)


def _precision(seconds: Numbers) -> str:
    return CLOCK if bool(np.any(seconds[~np.isnan(seconds)] % DAY)) else DATES


def _told(found: TimeColumn, precision: str, zone: str) -> str:
    words = {"steps": "steps, one counts as a day", "years": "years"}
    first = words.get(found.form, "dates and times" if precision == CLOCK else "dates")
    if found.form.endswith("seconds"):
        first = f"{found.form} since 1970"
    return ", ".join(word for word in (first, found.order, zone) if word)


def _one_zone(found: TimeColumn, how: dict[str, Any] | None) -> tuple[Numbers, str, str]:
    """(times by one clock, its zone, what was changed): the wall clock of one zone, or UTC for several."""
    if found.form.startswith("typed"):
        return found.seconds, found.form.removeprefix("typed "), ""
    if how is not None:
        east = np.where(np.isnan(found.zone) | (how["zone"] == ""), found.zone, _east(how["zone"]))
        return found.utc + np.nan_to_num(east), how["zone"], ""
    known = ~np.isnan(found.seconds)
    zones = np.unique(found.zone[known & ~np.isnan(found.zone)])
    bare = int((known & np.isnan(found.zone)).sum())
    if not len(zones):
        return found.seconds, "", ""
    zone = zone_name(float(zones[0])) if len(zones) == 1 else "UTC"
    without = (
        f"{counted(bare, 'time')} without a zone {'is' if bare == 1 else 'are'} taken as {zone}." * bool(bare)
    )
    if len(zones) == 1:
        return found.seconds, zone, without
    names = ", ".join(zone_name(float(z)) for z in zones[:4])
    return found.utc, zone, f"Times of {len(zones)} zones ({names}) were brought to UTC. {without}".strip()


def zone_name(east: float) -> str:
    """A zone by its seconds east of Greenwich: "UTC", "+01:00"."""
    if not east:
        return "UTC"
    hours, minutes = divmod(round(abs(east) / 60), 60)
    return f"{'-' if east < 0 else '+'}{hours:02d}:{minutes:02d}"


def _east(zone: str) -> float:
    """Seconds east of Greenwich of a zone that ``zone_name`` named; 0 for any other."""
    if zone[:1] not in ("+", "-"):
        return 0.0
    return (int(zone[1:3]) * 3600.0 + int(zone[4:]) * 60.0) * (-1 if zone[0] == "-" else 1)


def with_clock(times: LinkTimes, clock: pd.Series, name: str, date: str) -> bool:
    """Add the time of day of a second column to times that are days alone; whether it is one."""
    seconds = read_clock(as_cells(clock))
    if times.values is None or seconds is None:
        return False
    times.values = times.values + np.nan_to_num(seconds)
    times.precision = _precision(times.values)
    times.told += f", with the time of day in {name!r}"
    times.how["clock"] = name
    return True
