"""Shortest ways through the graph: in hops, and along links in the order of their times.

Both searches move a whole frontier at a time through the memory-mapped rows, so that a hub costs one slice.
They read at most a given number of edge ends; what was cut short says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gadcore.graph import Graph, IntArray
from gadcore.graph.links import Links, Numbers, Rows

Starts = npt.NDArray[np.int64]


@dataclass
class Budget:
    """Edge ends that a search may still read."""

    left: int
    cut: bool = False

    def take(self, n: int) -> bool:
        """Whether n more may be read."""
        if n > self.left:
            self.cut = True
            return False
        self.left -= n
        return True


def spans(starts: Starts, nodes: IntArray) -> tuple[Rows, IntArray]:
    """Positions of the slices of these nodes, one after the other, and the length of each."""
    begin, length = starts[nodes], starts[nodes + 1] - starts[nodes]
    before = np.cumsum(length) - length
    return np.repeat(begin - before, length) + np.arange(int(length.sum())), length


def last_of_each(values: IntArray, slot: IntArray) -> IntArray:
    """Positions that hold each value once, at its last place; ``slot`` is scratch space, one per value."""
    at = np.arange(len(values), dtype=np.int64)
    slot[values] = at
    return np.flatnonzero(slot[values] == at)


# ---- hops -----------------------------------------------------------------------------------------------


@dataclass
class _Side:
    """The nodes reached from one end, and from where."""

    parent: IntArray  # (N,) -1: not reached
    frontier: IntArray

    @classmethod
    def at(cls, node: int, n: int) -> _Side:
        parent = np.full(n, -1, dtype=np.int64)
        parent[node] = node
        return cls(parent, np.array([node]))

    def back(self, node: int) -> list[int]:
        """The way from a node to this side's end."""
        way = [node]
        while self.parent[way[-1]] != way[-1]:
            way.append(int(self.parent[way[-1]]))
        return way


class HopSearch:
    """Ways between two nodes that share no node in between, fewest hops first.

    From both ends, the cheaper frontier by turns. Of nodes that could lead on, the one with the fewest
    neighbours does: a way through a hub says little.
    """

    def __init__(self, graph: Graph, budget: Budget) -> None:
        self.graph, self.budget = graph, budget
        self.starts = np.asarray(graph.adjacency.indptr, dtype=np.int64)
        self.blocked = np.zeros(graph.n_nodes, dtype=bool)
        self.slot = np.zeros(graph.n_nodes, dtype=np.int64)

    def ways(self, a: int, b: int, most: int) -> list[list[int]]:
        """Up to ``most`` ways from a to b."""
        found: list[list[int]] = []
        direct = b in self.graph.neighbours(a)[0]
        if direct:
            found.append([a, b])
        while len(found) < most and (way := self._shortest(a, b)):
            self.blocked[way[1:-1]] = True
            found.append(way)
        return found

    def _shortest(self, a: int, b: int) -> list[int] | None:
        """The shortest way that is not the direct edge."""
        n = self.graph.n_nodes
        near, far = _Side.at(a, n), _Side.at(b, n)
        while len(near.frontier) and len(far.frontier):
            side, other = (near, far) if self._cost(near) <= self._cost(far) else (far, near)
            if not self.budget.take(self._cost(side)):
                return None
            self._expand(side, (a, b))
            met = side.frontier[other.parent[side.frontier] >= 0]
            if len(met):
                at = int(met[np.argmin(self._degree(met))])
                return near.back(at)[::-1] + far.back(at)[1:]
        return None

    def _expand(self, side: _Side, ends: tuple[int, int]) -> None:
        frontier = side.frontier[np.argsort(-self._degree(side.frontier), kind="stable")]
        at, length = spans(self.starts, frontier)
        nodes = self.graph.adjacency.indices[at].astype(np.int64)
        parents = np.repeat(frontier, length)
        fresh = (side.parent[nodes] < 0) & ~self.blocked[nodes] & ~_direct(parents, nodes, ends)
        nodes, parents = nodes[fresh], parents[fresh]
        once = last_of_each(nodes, self.slot)
        side.parent[nodes[once]] = parents[once]
        side.frontier = nodes[once]

    def _degree(self, nodes: IntArray) -> IntArray:
        return self.starts[nodes + 1] - self.starts[nodes]

    def _cost(self, side: _Side) -> int:
        return int(self._degree(side.frontier).sum())


def _direct(a: IntArray, b: IntArray, ends: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Which edges are the one between the two ends."""
    found: npt.NDArray[np.bool_] = ((a == ends[0]) & (b == ends[1])) | ((a == ends[1]) & (b == ends[0]))
    return found


# ---- in the order of time -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Round:
    """Nodes that were reached, or reached earlier, by ways of one link more; and the link that did it."""

    nodes: IntArray  # sorted
    rows: Rows

    def row_into(self, node: int) -> int | None:
        at = int(np.searchsorted(self.nodes, node))
        return int(self.rows[at]) if at < len(self.nodes) and self.nodes[at] == node else None


@dataclass
class TimeSearch:
    """Ways along links, each not before the one before it, by rounds of one link more.

    After round r ``arrival`` is the earliest time at which a node can be reached with at most r links.
    """

    links: Links
    times: Numbers  # (L,) of the links
    source: int
    target: int
    budget: Budget
    rounds: list[_Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.arrival = np.full(self.links.n_nodes, np.inf)
        self.arrival[self.source] = -np.inf
        self.slot = np.zeros(self.links.n_nodes, dtype=np.int64)

    def ways(self) -> list[Rows]:
        """Rows of the way with the fewest links, the earliest of these; then of one that arrives before."""
        found: list[Rows] = []
        frontier = np.array([self.source])
        while len(frontier) and self.budget.take(self._cost(frontier)):
            before = self.arrival[self.target]
            frontier = self._advance(frontier)
            if self.arrival[self.target] < before:
                found = [*found[:1], self._way()]
        return found

    def _cost(self, frontier: IntArray) -> int:
        starts = self.links.out_start
        return int((starts[frontier + 1] - starts[frontier]).sum())

    def _advance(self, frontier: IntArray) -> IntArray:
        """Follow the links of the frontier that are in time; gives the nodes that are reached earlier now."""
        rows, length = spans(self.links.out_start, frontier)
        times, nodes = self.times[rows], self.links.target[rows].astype(np.int64)
        limit = np.minimum(self.arrival[nodes], self.arrival[self.target])  # later than there is of no use
        useful = (times >= np.repeat(self.arrival[frontier], length)) & (times < limit)
        rows, times, nodes = rows[useful], times[useful], nodes[useful]
        np.minimum.at(self.arrival, nodes, times)
        first = times == self.arrival[nodes]
        rows, nodes = rows[first], nodes[first]
        once = last_of_each(nodes, self.slot)
        once = once[np.argsort(nodes[once])]
        self.rounds.append(_Round(nodes[once], rows[once]))
        return self.rounds[-1].nodes

    def _way(self) -> Rows:
        """Back from the target, through the last round that reached each node before."""
        way, node = [], self.target
        for each in reversed(self.rounds):
            row = each.row_into(node)
            if row is not None:
                way.append(row)
                node = int(self.links.source[row])
        return np.array(way[::-1], dtype=np.int64)
