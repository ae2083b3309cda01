"""Counts, amounts and times of links as people read them: the one place that words them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from math import isfinite, isnan
from typing import Any

import numpy as np

from gadcore.graph.links import CLOCK, DAY, STEPS, LinkMeaning

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_LARGE = 1e15  # from here on digits after the point mean nothing


def count_text(n: int, meaning: LinkMeaning) -> str:
    """So many links: "1 transfer", "1,200 transfers"."""
    return f"{n:,} {meaning.word if n == 1 else meaning.words}"


def number_text(value: float, places: int | None = None) -> str:
    """A number with thousands set apart: "2,944.37", "−4"; without ``places`` as many as it needs, at most 2.

    Empty where the number is unknown.
    """
    if not isfinite(value):
        return "" if isnan(value) else ("∞" if value > 0 else "−∞")
    size = abs(value)
    if size >= _LARGE or 0 < size < 0.005:
        text = f"{size:.3g}"
    elif places is None:
        text = f"{size:,.2f}".rstrip("0").rstrip(".")
    else:
        text = f"{size:,.{places}f}"
    return f"−{text}" if value < 0 and text.strip("0.") else text


def amount_text(value: float, meaning: LinkMeaning) -> str:
    """An amount with its unit: "3,410 EUR", "12.50 EUR", "−4"; empty where it is unknown."""
    return _with_unit(value, meaning.unit)


def amount_column(values: Sequence[float], meaning: LinkMeaning) -> list[str]:
    """Amounts one below the other: all with cents, or none; empty where one is unknown."""
    cents = any(isfinite(value) and abs(value) < _LARGE and round(value * 100) % 100 for value in values)
    unit = f" {meaning.unit}" if meaning.unit else ""
    return ["" if isnan(value) else f"{number_text(value, 2 if cents else 0)}{unit}" for value in values]


def _with_unit(value: float, unit: str) -> str:
    if not isfinite(value) or not unit:
        return number_text(value)
    cents = abs(value) < _LARGE and round(value * 100) % 100 != 0
    return f"{number_text(value, 2 if cents else 0 if abs(value) >= 0.005 else None)} {unit}"


def measure_text(value: float, unit: str) -> str:
    """A column derived from links: "96 %", "2.5 days", "3 hours", "1 in 1,200", "12.50 EUR"; "" for nan."""
    if not isfinite(value):
        return number_text(value)
    if unit == "1 in":
        return f"1 in {number_text(value, 0 if value >= 10 else 1).removesuffix('.0')}"
    if unit == "%":
        return f"{_short(value)} %"
    if unit == "days" and 0 < value < 2 and value != 1:
        return _hours_text(value * 24)
    if unit in ("days", "steps", "spreads", "×"):
        return _plural(_short(value), unit)
    return _with_unit(value, unit)


def _short(value: float) -> str:
    """As many digits as are worth reading: "96", "9.6", "0.04"."""
    if 0 < abs(value) < 0.1:
        return f"{value:.1g}"
    return number_text(value, 0 if abs(value) >= 20 else 1).removesuffix(".0")


def _hours_text(hours: float) -> str:
    if hours >= 1:
        return _plural(_short(hours), "hours")
    seconds = hours * 3600
    return _plural(_short(seconds / 60), "minutes") if seconds >= 60 else _plural(_short(seconds), "seconds")


def _plural(number: str, unit: str) -> str:
    return f"1 {unit.removesuffix('s')}" if number == "1" else f"{number} {unit}"


def time_text(seconds: float, meaning: LinkMeaning) -> str:
    """A time as exact as its file: "step 12", "3 March 2025", "3 March 2025, 14:05"; empty where unknown."""
    if not isfinite(seconds):
        return ""
    if meaning.precision == STEPS:
        return f"step {number_text(seconds / DAY)}"
    day = _day_text(seconds)
    return f"{day}, {_clock_text(seconds)}" if meaning.precision == CLOCK else day


def period_text(first: float, last: float, meaning: LinkMeaning) -> str:
    """From the first to the last time: "3–19 March 2025", "steps 3–19"; empty where both are unknown."""
    if not (isfinite(first) and isfinite(last)):
        return time_text(first if isfinite(first) else last, meaning)
    if meaning.precision == STEPS:
        return _steps_text(first, last)
    if first // DAY == last // DAY:
        return _within_a_day(first, last, meaning)
    return _days_text(_date(first), _date(last))


def _steps_text(first: float, last: float) -> str:
    a, b = number_text(first / DAY), number_text(last / DAY)
    return f"step {a}" if a == b else f"steps {a}–{b}"


def _within_a_day(first: float, last: float, meaning: LinkMeaning) -> str:
    text = time_text(first, meaning)
    if meaning.precision != CLOCK or _clock_text(first) == _clock_text(last):
        return text
    return f"{text}–{_clock_text(last)}"


def _days_text(a: datetime | Any, b: datetime | Any) -> str:
    """Two days with what they share said once."""
    if not isinstance(a, datetime) or not isinstance(b, datetime):
        return f"{_day(a)} – {_day(b)}"
    if (a.year, a.month) == (b.year, b.month):
        return f"{a.day}–{_day(b)}"
    if a.year == b.year:
        return f"{a.day} {_MONTHS[a.month - 1]} – {_day(b)}"
    return f"{_day(a)} – {_day(b)}"


def _date(seconds: float) -> datetime | Any:
    """A datetime, or beyond the years 1 to 9999 a numpy one."""
    at = np.datetime64(int(seconds // 1), "s")
    told = at.astype(datetime)
    return told if isinstance(told, datetime) else at


def _day(at: datetime | Any) -> str:
    if isinstance(at, datetime):
        return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
    return str(at.astype("datetime64[D]"))


def _day_text(seconds: float) -> str:
    return _day(_date(seconds))


def _clock_text(seconds: float) -> str:
    """Hours and minutes, and seconds where they are not 0."""
    within = int(seconds % DAY)
    text = f"{within // 3600:02d}:{within // 60 % 60:02d}"
    return f"{text}:{within % 60:02d}" if within % 60 else text
