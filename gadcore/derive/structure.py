"""How a node's counterparties are linked with each other, and on which cycles its links are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.derive.column import DerivedColumn, Values
from gadcore.derive.pairs import Pairs
from gadcore.derive.sides import Groups, Mask
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import Rows

REACH = 100  # counterparties, in or out, up to which a node is followed through to cycles of four
CORNER = 64  # counterparties of more links than its own with which a node is looked at for triangles
_WAYS = 20  # ways of two links that are followed for each link, at most

_CYCLES = (("cycles_3", "three", "a → b → c → a"), ("cycles_4", "four", "a → b → c → d → a"))


def offered(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    yield DerivedColumn(
        "triangles", "triangles", "structure",
        f"Pairs of its counterparties that have {meaning.words} with each other; "
        "some are left out in very dense parts of the graph.",
        told="{value} pairs of its counterparties linked with each other",
    )  # fmt: skip
    yield DerivedColumn(
        "partners_of_partners", "counterparties of counterparties", "structure",
        "Number of counterparties, in and out, that its own counterparties have on average.",
        told="its counterparties have {value} counterparties on average",
    )  # fmt: skip
    yield from _cycles(meaning)


def _cycles(meaning: LinkMeaning) -> Iterator[DerivedColumn]:
    order = " in time order" if meaning.time is not None else ""
    limits = (
        "",
        f"; hubs (more than {REACH} counterparties, fewer in dense graphs) are not followed through",
    )
    for (key, count, arrows), limit in zip(_CYCLES, limits):
        yield DerivedColumn(
            key, f"{meaning.words} on cycles of {count}", "structure",
            f"Number of its {meaning.words} out that are part of a cycle {arrows}{order}{limit}.",
            told=f"{{value}} {meaning.words} on cycles of {count}",
        )  # fmt: skip


def values(links: Links) -> Iterator[tuple[str, Values]]:
    pairs = Pairs.of(links)
    yield from _counterparties(pairs)
    yield "cycles_4", _sent(pairs, _on_four(pairs, _WAYS * len(pairs.time)))


def _counterparties(pairs: Pairs) -> Iterator[tuple[str, Values]]:
    """What is said of them: also triangles and, on the same way, links on cycles of three."""
    from gadcore.derive.triangles import triangles

    linked = pairs.linked()
    degree = np.diff(linked.start)
    every = Groups(np.repeat(np.arange(pairs.n, dtype=np.int32), degree), pairs.n)
    yield "partners_of_partners", every.mean(degree[linked.ends[:, 0]])
    found, change = triangles(*linked, pairs.out.times, pairs.begin, pairs.time, CORNER)
    yield "triangles", found
    yield "cycles_3", _sent(pairs, change)


def _on_four(pairs: Pairs, most: int) -> Rows:
    from gadcore.derive.cycles import on_four

    return np.asarray(on_four(*pairs.out, *pairs.into, pairs.begin, pairs.time, followed(pairs, most)))


def followed(pairs: Pairs, most: int) -> Mask:
    """(n,) nodes that are followed through.

    Those with the fewest counterparties come first, REACH each way at most, as long as there are not more
    than ``most`` ways through all of them.
    """
    some = pairs.counts > 0
    sizes = np.column_stack(
        [np.bincount(end[some], minlength=pairs.n) for end in (pairs.target, pairs.source)]
    )
    largest = sizes.max(axis=1, initial=0)
    ways = np.bincount(largest, sizes.prod(axis=1)).cumsum()  # by size, of nodes up to it
    reach = min(REACH, int(np.searchsorted(ways, most, side="right")) - 1)
    return np.asarray(largest <= reach)


def _sent(pairs: Pairs, change: Rows) -> Values:
    """(n,) links out of each node that a stretch covers; ``change``: stretches more than the link before."""
    sender = np.repeat(pairs.source, pairs.counts)
    return np.bincount(sender[np.cumsum(change[:-1]) > 0], minlength=pairs.n).astype(np.float64)
