"""A node seen from its surroundings: rows of Âᵏ, also for the graph without one of the node's edges.

    r⁽ᵏ⁾ = e_v Âᵏ            how much every node counts at v after k averages; z⁽ᵏ⁾_v = r⁽ᵏ⁾ X
    π   = e_v Π_S            the same for S damped steps, of Â or of a random walk

Without the edge (v, u) of weight w, Â' = S (Â − E) S, where E holds the two entries of the edge and S
rescales v and u by √((d+1)/(d+1−w)). So all variants are columns of one product.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import dense, inverse_norms, normalised_adjacency, one_hop, sum_of
from gadcore.engine import each, kept_all, part_of, row_blocks
from gadcore.graph import Features, FloatArray, Graph, IntArray
from gadcore.shelf import Shelf

Array = npt.NDArray[np.float64]

KEPT = 4  # graphs whose products stay in memory
SCORES = 8  # of all nodes, by the parts of models, that stay with a graph
DENSE_LIMIT = 2e8  # entries of ÂᵏX up to which norms and means of all rows are worked out
EDGE_BUDGET = 6e7  # multiplications spent on the variants of a damped walk
STOP = 10  # steps: members walk 10, 20 or 30, and a walk is kept at each such stop


class GraphView:
    """What every explanation on one graph shares, worked out when first needed."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._norms: list[Array] = []
        self._means: list[Sequence[Array]] = []  # of plain and of unit rows
        self._z = graph.x  # ÂᵏX of the last k that was looked at
        self._walked: dict[tuple[float, int], Array] = {}
        self.kept = Shelf(SCORES).get

    @cached_property
    def adjacency(self) -> Any:
        return normalised_adjacency(self.graph)

    @property
    def small(self) -> bool:
        """Whether sums over all rows of ÂᵏX are affordable."""
        return self.graph.n_nodes * self.graph.n_features <= DENSE_LIMIT

    def inverse_norms(self, hops: int) -> Array:
        """(N,) 1 / ||z⁽ᵏ⁾||."""
        self._prepare(hops)
        return self._norms[hops]

    def mean(self, hops: int, *, unit: bool) -> Array:
        """(D,) mean of z⁽ᵏ⁾ over all nodes; zero where it is not affordable or X is sparse and mostly 0."""
        if not self.small:
            return np.zeros(self.graph.n_features)
        self._prepare(hops)
        return self._means[hops][int(unit)]

    def total_mass(self, alpha: float, steps: int) -> Array:
        """(N,) mass that a unit at each node leaves in the whole graph after a damped walk."""
        key = (alpha, steps)
        if key not in self._walked:
            start = mass = np.ones(self.graph.n_nodes)
            for _ in range(steps):
                mass = alpha * (self.adjacency @ mass) + (1 - alpha) * start
            self._walked[key] = mass
        return self._walked[key]

    def _prepare(self, hops: int) -> None:
        while (hop := len(self._norms)) <= hops:
            if hop:
                self._z = one_hop(self.graph, self.adjacency, self._z, hop)
            names = (f"x{hop}-inverse", f"x{hop}-mean", f"x{hop}-unit-mean")
            inverse, *means = kept_all(self.graph, names, partial(_length_and_means, self._z))
            self._norms.append(inverse)
            self._means.append(means)


class Variants:
    """A node in its graph (column 0) and in the graph without each of some of its edges (columns 1…)."""

    def __init__(self, view: GraphView, node: int, removed: IntArray) -> None:
        self.view, self.node, self.removed = view, node, removed
        self._rows: list[FloatArray] = []
        self._z, self._diffused = Shelf(sys.maxsize), Shelf(sys.maxsize)
        self._walks: dict[tuple[float, int], Array] = {}
        self._on_the_way: dict[tuple[float, bool], tuple[int, FloatArray, FloatArray]] = {}

    @property
    def count(self) -> int:
        return 1 + len(self.removed)

    @cached_property
    def edge(self) -> tuple[Array, Array, Array]:
        """Â_vu of each removed edge, and the rescaling of v and of u."""
        graph = self.view.graph
        ends, weights = graph.neighbours(self.node)
        weight = weights[np.searchsorted(ends, self.removed)].astype(np.float64)
        own = graph.degree[self.node] + 1.0
        other = graph.degree[self.removed] + 1.0
        entry = weight / np.sqrt(own * other)
        return entry, np.sqrt(own / (own - weight)), np.sqrt(other / (other - weight))

    def step(self, mass: Any) -> Any:
        """Â' times each column of ``mass`` (N, 1 + edges)."""
        if mass.shape[1] == 1:
            return self.view.adjacency @ mass
        entry, own, other = self.edge
        columns = np.arange(1, mass.shape[1])
        mass = mass.copy()
        mass[self.node, 1:] *= own
        mass[self.removed, columns] *= other
        out = self.view.adjacency @ mass
        out[self.node, 1:] -= entry * mass[self.removed, columns]
        out[self.removed, columns] -= entry * mass[self.node, 1:]
        out[self.node, 1:] *= own
        out[self.removed, columns] *= other
        return out

    def rows(self, hops: int) -> FloatArray:
        """(N, 1 + edges): r⁽ᵏ⁾ of every variant."""
        if not self._rows:
            start = np.zeros((self.view.graph.n_nodes, self.count), dtype=np.float32)
            start[self.node] = 1.0
            self._rows.append(start)
        while len(self._rows) <= hops:
            self._rows.append(np.asarray(self.step(self._rows[-1]), dtype=np.float32))
        return self._rows[hops]

    def z(self, hops: int) -> Array:
        """(1 + edges, D): z⁽ᵏ⁾_v of every variant."""
        return self._z.get(hops, lambda: self._sums(self.rows(hops)))

    def nested(self, hops: int) -> tuple[list[IntArray], list[Any]]:
        """Node sets around v, ``nodes[0]`` the widest, and ``blocks[ℓ]`` = Â[nodes[ℓ+1], nodes[ℓ]]."""
        nodes: list[IntArray] = [np.array([self.node])]
        blocks: list[Any] = []
        for _ in range(hops):
            rows = self.view.adjacency[nodes[0]]
            nodes.insert(0, np.unique(rows.indices).astype(np.int64))
            blocks.insert(0, rows[:, nodes[0]])
        return nodes, blocks

    def as_trained(self, hops: int) -> FloatArray:
        """(D,) z⁽ᵏ⁾_v of the graph as it is, summed in the order of ``propagate``: equal to the last bit."""
        nodes, blocks = self.nested(hops)
        z = self.view.graph.x[nodes[0]]
        for block in blocks:
            z = block @ z
        return dense(z, np.float32).ravel()

    def walk(self, alpha: float, steps: int) -> Array:
        """(N, 1 + edges) π of every variant; column 0 only where the edges do not fit the budget."""
        if (alpha, steps) not in self._walks:
            self._walk_on(alpha, steps, many=steps * self.view.adjacency.nnz * self.count <= EDGE_BUDGET)
        return self._walks[alpha, steps]

    def _walk_on(self, alpha: float, steps: int, *, many: bool) -> None:
        """π_S = (1 − α) Σ_{t<S} αᵗ rₜ + αˢ r_S: a longer walk goes on where the one before stopped."""
        start = self.rows(0) if many else self.rows(0)[:, :1]
        done, row, total = self._on_the_way.get((alpha, many), (0, start, np.zeros_like(start)))
        if done > steps:
            done, row, total = 0, start, np.zeros_like(start)
        for step in range(done, steps):
            total = total + np.float32((1 - alpha) * alpha**step) * row
            row = self.step(row)
            if (step + 1) % STOP == 0 or step + 1 == steps:
                reached = (total + np.float32(alpha ** (step + 1)) * row).astype(np.float64)
                self._walks.setdefault((alpha, step + 1), reached)
        self._on_the_way[alpha, many] = steps, row, total

    def even_walk(self, alpha: float, steps: int) -> Array:
        """(N, 1 + edges) the same on P = D̃⁻¹(A + I), which is D̃^-½ Â D̃^½: columns add up to 1."""
        walk = self.walk(alpha, steps)
        root = np.sqrt(self.view.graph.degree + 1.0)
        rows: Array = walk * root[:, None] / root[self.node]
        if walk.shape[1] > 1:  # both ends of an edge lose its weight from their degrees with it
            _, own, other = self.edge
            rows[:, 1:] *= own
            rows[self.node, 1:] /= own
            rows[self.removed, np.arange(1, walk.shape[1])] /= other
        return rows

    def diffused(self, alpha: float, steps: int, *, even: bool) -> tuple[Array, Array, Array]:
        """π (N, 1 + edges), π_u / ||x_u|| and (1 + edges, D) Σ_u π_u x_u / ||x_u||, of the variants in π."""

        def found() -> tuple[Array, Array, Array]:
            walk = self.even_walk(alpha, steps) if even else self.walk(alpha, steps)
            rows = walk * self.view.inverse_norms(0)[:, None]
            return walk, rows, self._sums(rows)

        return self._diffused.get((alpha, steps, even), found)

    def _sums(self, rows: npt.NDArray[Any]) -> Array:
        """(1 + edges, D) Σ_u row_u x_u."""
        reached = np.flatnonzero(rows.any(axis=1))
        return np.asarray(self.view.graph.x[reached].T @ rows[reached], dtype=np.float64).T


def affordable_edges(view: GraphView, steps: int, most: int, least: int) -> int:
    """How many edges walks of so many steps can be tried without; ``most`` where not even ``least`` can."""
    if not steps or not view.adjacency.nnz:
        return most
    fit = int(EDGE_BUDGET / (view.adjacency.nnz * steps)) - 1
    return min(most, fit) if fit >= least else most


_VIEWS = Shelf(KEPT)


def view_of(graph: Graph) -> GraphView:
    """The view of a graph, kept for the next explanation."""
    return _VIEWS.get(graph.fingerprint, lambda: GraphView(graph))


def _length_and_means(z: Features) -> tuple[Array, Array, Array]:
    """(N,) inverse length of each row, (D,) mean of plain and of unit rows."""
    inverse, blocks = inverse_norms(z), row_blocks(z.shape[0])
    plain, unit = (sum_of(each(_sums, blocks, z, own)) for own in (np.ones(len(inverse)), inverse))
    return inverse, plain / len(inverse), unit / len(inverse)


def _sums(block: slice, z: Features, weights: Array) -> Array:
    return np.asarray(part_of(z, block).T @ weights[block], dtype=np.float64).ravel()
