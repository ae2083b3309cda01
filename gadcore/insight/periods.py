"""Periods of time as text, and how a stretch of time is cut into the bars of a timeline.

"2025", "2025-03", "2025-03-04", "2025-03-04 14", "2025-03-04 14:05" and "2025-03-04 14:05:09" name a year,
month, day, hour, minute and second. Where times are counted in steps, a number names a step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from gadcore.errors import InputError
from gadcore.graph import LinkMeaning
from gadcore.graph.link_words import period_text
from gadcore.graph.links import CLOCK, DATES, DAY, STEPS, Numbers, Rows

MOST_BARS = 92  # days of a quarter
_DATE = re.compile(r"-?\d{4,6}(-\d\d(-\d\d([ T]\d\d(:\d\d(:\d\d)?)?)?)?)?")
_MONDAY = 3  # days from the Monday before 1970 to its first day
_CALENDAR = (
    ("s", 1, "second"), ("s", 10, "10 seconds"), ("m", 1, "minute"), ("m", 10, "10 minutes"),
    ("h", 1, "hour"), ("h", 6, "6 hours"), ("D", 1, "day"), ("D", 7, "week"), ("M", 1, "month"),
    ("M", 3, "quarter"), ("Y", 1, "year"),
)  # fmt: skip
_FIRST_OF_DATES = 6  # what is shorter than a day says nothing of times without a clock


def begin(text: str, precision: str) -> float:
    """The first second of what a text names."""
    if precision == STEPS:
        return _step(text) * DAY
    return _seconds(_named(text))


def end(text: str, precision: str) -> float:
    """The first second after what a text names."""
    if precision == STEPS:
        step = _step(text)
        return (step + 1) * DAY if step.is_integer() else float(np.nextafter(step * DAY, np.inf))
    return _seconds(_named(text) + 1)


def moment(seconds: float, precision: str) -> str:
    """A time as text that ``begin`` reads; "" where it is unknown."""
    if not np.isfinite(seconds):
        return ""
    if precision == STEPS:
        return f"{seconds / DAY:.12g}"
    text = _text(np.datetime64(int(seconds // 1), "s"))
    return text.removesuffix(":00") if precision == CLOCK else text[:-9]


@dataclass(frozen=True)
class Ruler:
    """Cuts time into bars of one length: so many units, or steps where there is no unit."""

    unit: str
    size: int
    word: str

    def place(self, times: Numbers) -> Rows:
        """The bar of each time, counted from some fixed one."""
        if not self.unit:
            return np.floor(times / DAY / self.size).astype(np.int64)
        whole = np.floor(times).astype("datetime64[s]").astype(f"datetime64[{self.unit}]").astype(np.int64)
        return (whole + self._shift) // self.size

    def ends(self, bar: int) -> tuple[str, str]:
        """The first and the last unit of a bar, as text."""
        a = bar * self.size - self._shift
        b = a + self.size - 1
        if not self.unit:
            return str(a), str(b)
        first, last = np.array([a, b]).astype(f"datetime64[{self.unit}]")
        return _text(first), _text(last)

    def words(self, bar: int, meaning: LinkMeaning) -> str:
        """The period of a bar as people say it."""
        first, last = self.ends(bar)
        a, b = begin(first, meaning.precision), end(last, meaning.precision)
        if self.unit in ("", "D", "M", "Y"):
            return period_text(a, b - DAY, meaning if not self.unit else replace(meaning, precision=DATES))
        return period_text(a, b - (60 if self.unit == "h" else 1), meaning)

    @property
    def _shift(self) -> int:
        return _MONDAY if self.word == "week" else 0


def ruler(first: float, last: float, precision: str) -> Ruler:
    """The finest one that needs at most ``MOST_BARS`` bars from the first time to the last."""
    for each in _rulers(precision):
        a, b = each.place(np.array([first, last]))
        if b - a < MOST_BARS:
            return each
    raise AssertionError("bars grow without end")


def _rulers(precision: str) -> Iterator[Ruler]:
    if precision == STEPS:
        for power in count():
            for digit in (1, 2, 5):
                size = digit * 10**power
                yield Ruler("", size, "step" if size == 1 else f"{size:,} steps")
    yield from (Ruler(*each) for each in _CALENDAR[0 if precision == CLOCK else _FIRST_OF_DATES :])
    yield from (Ruler("Y", 10**power, f"{10**power:,} years") for power in count(1))


def _named(text: str) -> np.datetime64:
    try:
        if not _DATE.fullmatch(text.strip()):
            raise ValueError
        return np.datetime64(text.strip().replace(" ", "T"))
    except ValueError:
        raise InputError(
            f"{text!r} names no time",
            "a year, month, day or time of day: 2025, 2025-03, 2025-03-04, 2025-03-04 14:05",
        ) from None


def _step(text: str) -> float:
    try:
        step = float(text)
    except ValueError:
        step = np.nan
    if not np.isfinite(step):
        raise InputError(f"{text!r} names no step", "a number: times are counted in steps here")
    return step


def _seconds(at: np.datetime64) -> float:
    return float(at.astype("datetime64[s]").astype(np.int64))


def _text(at: np.datetime64) -> str:
    return str(at).replace("T", " ")
