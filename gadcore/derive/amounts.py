"""How much a node sends and receives. Links whose amount is unknown are left out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.sides import Mask, Side, percent, ratio
from gadcore.derive.words import IN, OUT, Direction, amount_word, directions
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import Numbers


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    if meaning.amount is None:
        return
    for direction in directions(meaning):
        yield from _sizes(meaning, direction)
        yield from _habits(meaning, direction)
    yield DerivedColumn(
        "in_per_out", "total in ÷ out", "amounts",
        "What comes in for each unit that goes out; empty where nothing goes out or a total is below 0.",
        "×", told="takes in {value} what goes out",
    )  # fmt: skip
    yield DerivedColumn(
        "returned", "returned by counterparties", "amounts",
        "Share of what goes out that the same counterparties send back, before or after.",
        "%", told="gets {value} of what goes out back from the same counterparties",
    )  # fmt: skip


def _sizes(meaning: LinkMeaning, d: Direction) -> Iterator[DerivedColumn]:
    word, words, unit = amount_word(meaning), meaning.words, meaning.unit
    yield DerivedColumn(
        f"total_{d.side}", f"total {d.side}", "amounts", f"Sum over all {words} {d.side}.",
        unit, told=f"{d.did} {{value}} in total" if d.did != "has" else f"total {d.side} {{value}}",
    )  # fmt: skip
    for key in ("mean", "largest", "smallest"):
        yield DerivedColumn(
            f"{key}_{d.side}", f"{key} {word} {d.side}", "amounts",
            f"{key.capitalize()} {word} over all {words} {d.side}.",
            unit, told=f"{key} {word} {d.side} {{value}}",
        )  # fmt: skip


def _habits(meaning: LinkMeaning, d: Direction) -> Iterator[DerivedColumn]:
    word, words = amount_word(meaning), meaning.words
    yield DerivedColumn(
        f"equal_most_{d.side}", f"most {words} of equal {word} {d.end} one counterparty", "amounts",
        f"Largest number of {words} of exactly the same {word} {d.end} the same counterparty.",
        told=f"{{value}} {words} of equal {word} {d.end} one counterparty",
    )  # fmt: skip
    yield DerivedColumn(
        f"round_{d.side}", f"round {word} share {d.side}", "amounts",
        f"Share of {words} {d.side} over a multiple of ten with at most two digits before its zeros, "
        "such as 50, 1,200 or 45,000.",
        "%", told=f"{{value}} of {words} {d.side} are round",
    )  # fmt: skip
    yield DerivedColumn(
        f"negative_{d.side}", f"negative {word} share {d.side}", "amounts",
        f"Share of {words} {d.side} whose {word} is below 0.",
        "%", told=f"{{value}} of {words} {d.side} are negative",
    )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    amount = np.asarray(links.amount)
    known = np.isfinite(amount)
    rounded = is_round(amount)
    totals = {}
    for name in (IN, OUT):
        side = Side.of(links, name, known)
        own = amount[side.rows]
        totals[name] = side.total(own)
        yield f"total_{name}", totals[name]
        yield f"mean_{name}", side.mean(own)
        yield f"largest_{name}", side.largest(own)
        yield f"smallest_{name}", side.smallest(own)
        yield f"equal_most_{name}", _most_equal(side, own)
        yield f"round_{name}", percent(side.total(rounded[side.rows]), side.counts)
        yield f"negative_{name}", percent(side.total(own < 0), side.counts)
    yield "in_per_out", np.where(totals[IN] >= 0, ratio(totals[IN], totals[OUT]), np.nan)
    yield "returned", _returned(links, amount, known)


def _most_equal(side: Side, own: Numbers) -> Values:
    """Most links with the same counterparty and amount."""
    from gadcore.derive.group_loops import most_equal

    return np.asarray(most_equal(side.start, side.other, own))


def is_round(amount: Numbers) -> Mask:
    """At most two digits before the zeros, and a multiple of ten."""
    size = np.abs(amount)
    power = 10.0 ** np.maximum(np.floor(np.log10(np.maximum(size, 1.0))) - 1, 1)
    return np.asarray((size > 0) & (np.abs(size / power - np.round(size / power)) < 1e-9))


def _returned(links: Links, amount: Numbers, known: Mask) -> Values:
    """% of what a node sends that its counterparties send to it; sums of a pair below 0 count as 0."""
    from gadcore.derive.group_loops import returned

    apart = known & (links.source != links.target)
    sent, got = (Side.of(links, name, apart) for name in (OUT, IN))
    flows = returned(*(part for side in (sent, got) for part in (side.start, side.other, amount[side.rows])))
    return percent(flows[:, 0], flows[:, 1])
