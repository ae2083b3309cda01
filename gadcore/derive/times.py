"""When a node is active. Links whose time is unknown are left out; with steps for times a day is one step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.sides import Mask, Side, changes, percent
from gadcore.derive.words import IN, OUT, Direction, day_word, directions
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import CLOCK, DAY, Numbers

WEEK = 7  # days
NIGHT = 6 * 3_600  # seconds after midnight


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    if meaning.time is None:
        return
    yield from _overall(meaning)
    for direction in directions(meaning):
        yield from _by_direction(meaning, direction)


def _overall(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    day, words = day_word(meaning), meaning.words
    yield DerivedColumn(
        "active_days", f"active {day}s", "times", f"Number of {day}s with {words}, in or out.",
        f"{day}s", told="active on {value}",
    )  # fmt: skip
    yield DerivedColumn(
        "busiest_day", f"{words} on the busiest {day}", "times",
        f"Largest number of {words}, in and out, on one {day}.",
        told=f"{{value}} {words} on its busiest {day}",
    )  # fmt: skip
    yield DerivedColumn(
        "median_gap", f"median gap between {words}", "times",
        f"Median time from one of its {words}, in or out, to the next.",
        f"{day}s", told=f"{{value}} between its {words}",
    )  # fmt: skip
    for key in ("first", "last"):
        yield DerivedColumn(
            f"{key}_seen", f"{key} seen", "times",
            f"Time of its {key} {meaning.word}, in or out, counted from the first {meaning.word} of all.",
            f"{day}s", told=f"{key} seen after {{value}}",
        )  # fmt: skip


def _by_direction(meaning: LinkMeaning, d: Direction) -> Iterator[DerivedColumn]:
    day, words = day_word(meaning), meaning.words
    yield DerivedColumn(
        f"day_most_{d.side}", f"most {words} {d.end} one counterparty on one {day}", "times",
        f"Largest number of {words} {d.end} the same counterparty on one {day}.",
        told=f"{{value}} {words} {d.end} one counterparty on one {day}",
    )  # fmt: skip
    yield DerivedColumn(
        f"week_partners_{d.side}", f"most counterparties {d.side} within {WEEK} {day}s", "times",
        f"Largest number of different nodes that {words} {'go' if d.side == OUT else 'come'} {d.end} "
        f"within any {WEEK} {day}s.",
        told=f"{words} {d.end} {{value}} counterparties within {WEEK} {day}s",
    )  # fmt: skip
    if meaning.precision == CLOCK:
        yield DerivedColumn(
            f"night_{d.side}", f"night share {d.side}", "times",
            f"Share of {words} {d.side} between midnight and 6 o'clock.",
            "%", told=f"{{value}} of {words} {d.side} are at night",
        )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    time = np.asarray(links.time)
    known = np.isfinite(time)
    begin = float(time[known].min()) if known.any() else 0.0
    yield from _overall_values(links, time, known, begin)
    for name in (IN, OUT):
        side = Side.of(links, name, known)
        own = time[side.rows]
        yield f"day_most_{name}", side.longest_run(side.new_pair | changes(days(own)))
        yield f"week_partners_{name}", _most_partners(side, own)
        if links.meaning.precision == CLOCK:
            yield f"night_{name}", percent(side.total(own % DAY < NIGHT), side.counts)


def _overall_values(links: Links, time: Numbers, known: Mask, begin: float) -> Iterator[tuple[str, Values]]:
    from gadcore.derive.group_loops import days_of

    sent = Side.of(links, OUT, known)
    got = Side.of(links, IN, known & (links.source != links.target))  # one to itself counts once
    found = days_of(sent.start, time[sent.rows], got.start, time[got.rows], DAY).T
    yield "active_days", found[0]
    yield "busiest_day", found[1]
    yield "median_gap", found[2] / DAY
    yield "first_seen", (found[3] - begin) / DAY
    yield "last_seen", (found[4] - begin) / DAY


def days(time: Numbers) -> Numbers:
    return np.asarray(np.floor(time / DAY))


def _most_partners(side: Side, time: Numbers) -> Values:
    """Most different counterparties within a week."""
    from gadcore.derive.group_loops import most_partners

    return np.asarray(most_partners(side.start, side.other, time, WEEK * DAY))
