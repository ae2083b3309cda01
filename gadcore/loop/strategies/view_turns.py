"""Turns of the views: cases that the structure of the graph asks for, whatever the ranking says.

Each view that is loud somewhere (derive/views.py) is tried on its loudest nodes until a verdict hits or
enough have missed. After a hit, the ranking that learns from it takes over. So the first verdicts raise a
view or turn it away, and no kind of trouble waits until all of another kind are found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, zip_longest

import numpy as np

from gadcore.derive.views import NAMES, STAR, Views
from gadcore.graph import IntArray
from gadcore.loop.pool import Pool

TRIES = 3  # misses at loud nodes after which a view is not tried again
# Most hubs are honest. On Cora one star at the start cost finds: 64 anomalies with 100 labels, not 71, in the
# mean of six development seeds.
NO_TURN = (STAR,)
EVERY = 3  # one of so many cases is a turn, once a ranking is followed


def view_turns(pool: Pool) -> IntArray:
    """Open nodes to try, in turns of the views: the loudest view first."""
    if pool.views is None:
        return np.zeros(0, dtype=np.int64)
    turns = zip_longest(*(nodes for _, nodes in sorted(_tries(pool, pool.views))))
    found = (node for turn in turns for node in turn if node is not None)
    return np.array(list(dict.fromkeys(found)), dtype=np.int64)


def _tries(pool: Pool, views: Views) -> Iterator[tuple[float, list[int]]]:
    """Of each view that waits for a hit: its place among the views, least first, and the nodes to try."""
    anomalous, normal = set(pool.labels.anomalous.tolist()), set(pool.labels.normal.tolist())
    for row, name in enumerate(NAMES):
        nodes = views.candidates(name)
        seen = nodes.tolist()
        if name in NO_TURN or not anomalous.isdisjoint(seen):
            continue
        loud = int((views.rarity[row, nodes] > views.line).sum())
        left = min(TRIES, max(1, loud)) - len(normal.intersection(seen))
        nodes = nodes[pool.free[nodes]][: max(0, left)]
        if len(nodes):
            yield -float(views.rarity[row, nodes[0]]), nodes.tolist()


def every(turn: int, due: IntArray, others: list[int]) -> list[int]:
    """Both in one row, each node once: one of ``due`` in every ``turn`` cases, from the first on."""
    found: list[int] = []
    rest = iter([other for other in others if other not in due])
    for node in due.tolist():
        found += [node, *islice(rest, turn - 1)]
    return [*found, *rest]
