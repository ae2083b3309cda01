"""Equal periods that times are counted in: of a round length, at most 120 of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil, floor, log10

import numpy as np
import numpy.typing as npt

from gadcore.graph import IntArray, LinkMeaning
from gadcore.graph.link_words import time_text
from gadcore.graph.links import CLOCK, DATES, DAY, STEPS

MOST = 120
_MINUTE, _HOUR = 60.0, 3600.0
_LENGTHS = (
    *(1.0, 5.0, 15.0),
    *(_MINUTE * n for n in (1, 5, 15)),
    *(_HOUR * n for n in (1, 3, 6, 12)),
    *(DAY * n for n in (1, 2, 7, 14, 30, 91, 182, 365)),
)

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Periods:
    """``n`` periods of ``width`` seconds from ``first`` on; n = 0: nothing has a time."""

    first: float = 0.0
    width: float = DAY
    n: int = 0
    least: float = 1.0  # seconds between two times that the data can tell apart

    def of(self, time: Values) -> IntArray:
        """(T,) number of the period of each time; -1 where it is unknown."""
        at = np.floor((time - self.first) / self.width)
        return np.where(np.isfinite(time), np.clip(np.nan_to_num(at), 0, self.n - 1), -1).astype(np.int64)

    def texts(self, meaning: LinkMeaning) -> tuple[list[str], list[str]]:
        """First and last moment of each period, in words."""
        if self.width >= DAY and meaning.precision == CLOCK:
            meaning = replace(meaning, precision=DATES)
        starts = [self.first + i * self.width for i in range(self.n)]
        ends = [start + self.width - min(self.least, self.width) for start in starts]
        return [time_text(t, meaning) for t in starts], [time_text(t, meaning) for t in ends]


def periods(time: Values, meaning: LinkMeaning) -> Iterator[Periods]:
    """Periods that cover all times, the shortest first; the last are one or two."""
    known = time[np.isfinite(time)]
    if not len(known):
        yield Periods()
        return
    low, high = float(known.min()), float(known.max())
    least = DAY if not np.any(known % DAY) else 1.0
    for width in _widths(max(least, (high - low) / MOST), meaning):
        first = floor(low / width) * width if width < DAY or meaning.precision == STEPS else low // DAY * DAY
        n = floor((high - first) / width) + 1
        if n <= MOST:
            yield Periods(first, width, n, least)
        if width > high - low:
            return


def _widths(shortest: float, meaning: LinkMeaning) -> Iterator[float]:
    """Round lengths from a shortest one on, without end."""
    if meaning.precision == STEPS:
        exponent = floor(log10(shortest / DAY))
        while True:
            yield from (w for f in (1, 2, 5) if (w := f * 10.0**exponent * DAY) >= shortest * (1 - 1e-9))
            exponent += 1
    yield from (width for width in _LENGTHS if width >= shortest)
    years = max(2, ceil(shortest / _LENGTHS[-1]))
    while True:
        yield years * _LENGTHS[-1]
        years *= 2
