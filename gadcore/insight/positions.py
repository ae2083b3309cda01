"""Positions for a neighbourhood: rings by hop around the centre, read from the graph alone.

A batch that is *complete* (every neighbour is shown) is put in an order where connected nodes are close and
is spread evenly. A batch that was *cut* gives each node a home slot on the ring, taken from a min-hash of its
own neighbours: nodes that share neighbours stand close, and which others were chosen hardly matters.
Nodes of later batches go around those of earlier ones, which never move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, ceil, cos, hypot, pi, sin, tau
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee

from gadcore.graph import Graph

RING = 170.0  # canvas units between rings
LANE = 78.0  # between the lanes of a crowded ring
SPACING = 46.0  # between neighbours on a lane
SPARE = 1.3  # slots for each node of a ring that was cut
WIDER = 1.3  # panes are wider than high, and so are names
_GOLDEN = pi * (3 - 5**0.5)
_PROBES = 160  # places tried for a node of an expanded batch
_SKETCH = 64  # neighbours read for a min-hash

Point = tuple[float, float]


@dataclass(frozen=True)
class Batch:
    """Nodes that came into view together, in ascending order, each with the node it was reached from."""

    rows: Sequence[int]
    parents: Sequence[int]
    hop: int
    ring: bool  # a whole hop; otherwise the neighbours of one expanded node
    complete: bool  # nothing was cut, so the set does not depend on scores or labels
    aside: bool = False  # pinned: they stand in a column of their own


def positions(graph: Graph, centre: int, batches: Sequence[Batch]) -> dict[int, Point]:
    """(x, y) of every row; those of the first batches do not depend on the later ones."""
    place: dict[int, Point] = {centre: (0.0, 0.0)}
    outer = 0.0
    for batch in batches:
        if batch.ring:
            ring = _Ring.outside(outer, batch)
            outer = ring.radius + ring.lanes * LANE
            place.update(_on_ring(graph, centre, batch, ring, place))
        elif batch.aside:
            place.update(_column(batch, outer))
        else:
            _around(batch, place)
    return {row: (round(x * WIDER, 1), round(y, 1)) for row, (x, y) in place.items()}


@dataclass(frozen=True)
class _Ring:
    """Slots at equal angles; with several lanes, neighbouring slots take turns from the inside out."""

    radius: float  # of the innermost lane
    lanes: int
    slots: int

    @classmethod
    def outside(cls, radius: float, batch: Batch) -> _Ring:
        """The smallest ring around a radius that holds a batch; a cut batch gets slots to spare."""
        wanted = len(batch.rows) if batch.complete and batch.hop == 1 else ceil(SPARE * len(batch.rows))
        least, needed = radius + RING, SPACING * wanted / tau
        lanes = min(3, ceil(needed / least))
        inner = max(least, needed / lanes)
        return cls(inner, lanes, max(wanted, int(tau * inner / SPACING) * lanes))

    def point(self, slot: float, lane: int) -> Point:
        angle = tau * slot / self.slots - pi / 2
        radius = self.radius + lane * LANE
        return radius * cos(angle), radius * sin(angle)


def _on_ring(
    graph: Graph, centre: int, batch: Batch, ring: _Ring, place: dict[int, Point]
) -> dict[int, Point]:
    n = len(batch.rows)
    if batch.hop == 1 and batch.complete:
        rank = np.empty(n, dtype=np.int64)
        rank[_side_by_side(graph, batch.rows)] = np.arange(n)
        spread = ring.slots / n
        return {r: ring.point(k * spread, k % ring.lanes) for r, k in zip(batch.rows, rank.tolist())}
    slots = _free_slots(_home_angles(graph, centre, batch, place), ring.slots)
    return {r: ring.point(s, s % ring.lanes) for r, s in zip(batch.rows, slots)}


def edges_among(graph: Graph, rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ...]:
    """Source, target (positions in ``rows``) and weight of the edges between the rows, in both directions."""
    order = np.argsort(rows)
    wanted = rows[order]
    parts = [(order[:0], order[:0], np.zeros(0, np.float32))]
    for i, row in enumerate(rows.tolist()):
        nodes, weights = graph.neighbours(row)
        # search the shorter list in the longer: a hub's row is never walked
        if len(nodes) > len(wanted):
            at = np.searchsorted(nodes, wanted)
            at[at == len(nodes)] = 0
            hit = nodes[at] == wanted
            parts.append((np.full(hit.sum(), i), order[hit], weights[at[hit]]))
        else:
            at = np.searchsorted(wanted, nodes)
            at[at == len(wanted)] = 0
            hit = wanted[at] == nodes
            parts.append((np.full(hit.sum(), i), order[at[hit]], weights[hit]))
    return tuple(np.concatenate(column) for column in zip(*parts))


def _side_by_side(graph: Graph, rows: Sequence[int]) -> npt.NDArray[Any]:
    """Order in which connected rows stand close together (reverse Cuthill-McKee of their subgraph)."""
    a, b, _ = edges_among(graph, np.asarray(rows))
    within = sp.csr_array((np.ones(len(a), np.int8), (a, b)), shape=(len(rows), len(rows)))
    return np.asarray(reverse_cuthill_mckee(sp.csr_matrix(within), symmetric_mode=True))


def _home_angles(graph: Graph, centre: int, batch: Batch, place: dict[int, Point]) -> list[float]:
    """Where each node wants to stand: hop 1 by its min-hash, later hops near its parent's direction."""
    sketch = _sketches(graph, batch.rows, centre).tolist()
    if batch.hop == 1:
        return [tau * s for s in sketch]
    ways = [atan2(y, x) for x, y in map(place.__getitem__, batch.parents)]
    return [way + pi / 2 + 0.5 * (s - 0.5) for way, s in zip(ways, sketch)]


def _sketches(graph: Graph, rows: Sequence[int], centre: int) -> npt.NDArray[np.float64]:
    """Min-hash in [0, 1) of each node and its neighbours without the centre, which all of them share."""
    closed = [np.append(graph.neighbours(row)[0][:_SKETCH], row) for row in rows]
    starts = np.cumsum([0] + [len(part) for part in closed[:-1]])
    nodes = np.concatenate(closed)
    mixed = _mix(nodes)
    mixed[nodes == centre] = np.iinfo(np.uint64).max
    return np.asarray(_mix(np.minimum.reduceat(mixed, starts)) / 2.0**64)


def _mix(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """splitmix64: the same spread-out number for the same row on every machine."""
    z = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def _free_slots(angles: Sequence[float], slots: int) -> list[int]:
    """The nearest free slot of each angle, in the given order."""
    taken = np.zeros(slots, dtype=bool)
    out = []
    for angle in angles:
        want = int(angle / tau * slots) % slots
        step = 0
        while taken[(want + step) % slots]:
            step = -step if step > 0 else 1 - step
        out.append((want + step) % slots)
        taken[out[-1]] = True
    return out


def _column(batch: Batch, outer: float) -> dict[int, Point]:
    """Pinned nodes to the left of all rings, one below the other and in turn further out.

    In one line an edge between two of them would run behind a third.
    """
    top = -LANE * (len(batch.rows) - 1) / 2
    return {row: (-outer - LANE * (1 + 0.8 * (i % 2)), top + i * LANE) for i, row in enumerate(batch.rows)}


def _around(batch: Batch, place: dict[int, Point]) -> None:
    """Put an expanded node's neighbours on a sunflower spiral beyond it, where nothing stands yet."""
    k = np.arange(_PROBES * ceil(1 + len(batch.rows) / 50))
    spiral = 0.72 * SPACING * np.sqrt(k)[:, None] * np.c_[np.cos(k * _GOLDEN), np.sin(k * _GOLDEN)]
    px, py = place[batch.parents[0]]
    far = hypot(px, py)
    outward = (px / far, py / far) if far else (0.0, -1.0)
    probes = spiral + (np.array([px, py]) + 0.8 * RING * np.array(outward))
    stand = np.array(list(place.values()))
    free = ((probes[:, None, :] - stand[None, :, :]) ** 2).sum(-1).min(1) >= (0.8 * SPACING) ** 2
    spots = probes[free] if free.sum() >= len(batch.rows) else probes
    for row, (x, y) in zip(batch.rows, spots.tolist()):
        place[row] = (x, y)
