"""What ``an+`` computes from a graph alone: every fit on the same graph shares it.

    Â, P                adjacency as the paper normalises it, and a step of a random walk
    X, ÂX, Â²X, Â³X     what heads are fitted on
    kept                whatever else a member computes from the graph

Each part is made when it is first asked for. ``cache_of`` keeps those of the last graph, so that a retrain, a
cold one too, does not make them again.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

from gadcore.detectors.arrays import compact, normalised_adjacency
from gadcore.detectors.heads import FeatureTable
from gadcore.detectors.plus.walks import random_walk
from gadcore.graph import Features, Graph
from gadcore.shelf import Shelf


class GraphCache:
    """Of one graph; see above."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._tables = [FeatureTable(graph.x)]
        self.kept = Shelf(sys.maxsize).get

    @cached_property
    def adjacency(self) -> Any:
        """Â."""
        return normalised_adjacency(self.graph)

    @cached_property
    def walk(self) -> Any:
        """P."""
        return random_walk(self.adjacency, self.graph)

    def table(self, hops: int) -> FeatureTable:
        """ÂᵏX as heads see it."""
        while len(self._tables) <= hops:
            self._tables.append(FeatureTable(compact(self.adjacency @ self._tables[-1].z)))
        return self._tables[hops]

    def powers(self, hops: int) -> list[Features]:
        """[X, …, ÂᵏX]."""
        return [self.table(k).z for k in range(hops + 1)]


_LAST = Shelf(1)


def cache_of(graph: Graph) -> GraphCache:
    """The cache of this graph; that of the last graph when it is equal."""
    return _LAST.get(graph.fingerprint, lambda: GraphCache(graph))
