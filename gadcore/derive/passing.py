"""What a node passes on: how much of what comes in goes out again within a day, and how soon.

Amounts above 0 are followed. What came in first goes out first, and what is older than a day is no longer
passed on.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.sides import Mask, Side, percent
from gadcore.derive.words import IN, OUT, day_word
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import DAY, Numbers


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    if meaning.time is None:
        return
    day, words = day_word(meaning), meaning.words
    if meaning.amount is not None:
        yield DerivedColumn(
            "passed_on", f"passed on within a {day}", "passing",
            f"Share of what comes in that goes out again within a {day}, first in first out.",
            "%", told=f"passes {{value}} on within a {day}",
        )  # fmt: skip
    yield DerivedColumn(
        "rest", f"time from {words} in to out", "passing",
        f"Median time from one of its {words} in to its next one out.",
        f"{day}s", told=f"{{value}} from {words} in to the next one out",
    )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    time = np.asarray(links.time)
    moving = np.isfinite(time) & (links.source != links.target)
    yield "rest", _rest(links, time, moving)
    if links.amount is not None:
        amount = np.asarray(links.amount)
        yield "passed_on", _passed_on(links, time, amount, moving & (np.nan_to_num(amount, nan=0.0) > 0))


def _rest(links: Links, time: Numbers, moving: Mask) -> Values:
    from gadcore.derive.group_loops import waits

    gone, got = (Side.of(links, name, moving) for name in (OUT, IN))
    return np.asarray(waits(gone.start, time[gone.rows], got.start, time[got.rows]) / DAY)


def _passed_on(links: Links, time: Numbers, amount: Numbers, moving: Mask) -> Values:
    """% of what came in."""
    from gadcore.derive.group_loops import passed_on

    out, into = (Side.of(links, name, moving) for name in (OUT, IN))
    came = amount[into.rows]
    passed = passed_on(out.start, time[out.rows], amount[out.rows], into.start, time[into.rows], came, DAY)
    return percent(passed, into.total(came))
