"""Members of ``an+`` while no node is known to be anomalous: what is unusual. No label is used.

attributes      ||z_v − z̄||²            z: standardised columns of dense X, unit rows of sparse X
residual        ||z_v − z̄_N(v)||²       against the mean of the neighbours (isolated nodes: the median);
                                         not where links give attributes
neighbourhood   ||e_v − ē||²             e: leading whitened directions of Â²X (graph_cache.py)

Parts of the first two are squares, column by column; of the third, by its gradient from the zero baseline.

Saved with the model: unit, shift (D,) and spread_of_columns (D,) of the scale; directions (their hops),
directions (D, r) and directions.centre (r,).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.accounts import Account, linear_account
from gadcore.detectors.arrays import (
    check_columns,
    column_moments,
    dense,
    inverse,
    inverse_norms,
    row_normalised,
    row_squares,
)
from gadcore.detectors.base import NO_LABELS, NORMAL_ONLY
from gadcore.detectors.plus.bench import Bench, Judge
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.graph_cache import Directions, GraphCache
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot
from gadcore.detectors.plus.members.linear import SOME
from gadcore.detectors.surroundings import Variants
from gadcore.engine import Csr, fill, kept, part_of, row_blocks, rows_of
from gadcore.graph import Features, FloatArray, Graph, IntArray

LINKED = 3.0  # how much the attributes count beside the neighbourhood, where links give attributes


@dataclass(frozen=True)
class Scale:
    """How raw attributes become z: fixed at fit, so that nodes that arrive later are measured alike."""

    unit: bool
    shift: FloatArray  # (D,); for unit rows the mean z̄, else the column means
    spread: FloatArray  # (D,); ones for unit rows

    @classmethod
    def of(cls, graph: Graph) -> Scale:
        if not sp.issparse(graph.x):
            mean, deviation = column_moments(graph.x)
            return cls(False, mean.astype(np.float32), deviation.astype(np.float32))
        middle = np.asarray(_unit(graph.x).mean(axis=0), dtype=np.float32).ravel()
        return cls(True, middle, np.ones(graph.n_features, dtype=np.float32))

    def rows(self, x: Features) -> Features:
        """z of rows of X; the mean of unit rows is subtracted only where distances are taken."""
        check_columns(len(self.shift), x.shape[1])
        return _unit(sp.csr_array(x)) if self.unit else (dense(x) - self.shift) / self.spread

    def everywhere(self, graph: Graph) -> Features:
        """z of every node."""
        if self.unit:
            return self.rows(graph.x)
        name = f"scaled-{zlib.crc32(self.shift.tobytes() + self.spread.tobytes()):08x}"
        blocks, shape = row_blocks(graph.n_nodes), graph.x.shape
        return kept(graph, name, shape, np.float32, lambda out: fill(out, _scaled, blocks, graph.x, self))


def _scaled(block: slice, x: Features, scale: Scale) -> Features:
    return scale.rows(part_of(x, block))


def attribute_distance(scale: Scale, graph: Graph) -> FloatArray:
    """(N,) squared distance of z to its mean."""
    found = np.empty(graph.n_nodes, dtype=np.float32)
    fill(found, _distances, row_blocks(graph.n_nodes), graph.x, scale)
    return found


def _distances(block: slice, x: Features, scale: Scale) -> npt.NDArray[Any]:
    z = scale.rows(part_of(x, block))
    if not scale.unit:
        return np.asarray(np.einsum("nd,nd->n", z, z))
    product = np.asarray(z @ scale.shift).ravel()
    return np.asarray(row_squares(z) - 2 * product + float(scale.shift @ scale.shift))


def neighbour_residual(scale: Scale, graph: Graph) -> FloatArray:
    """(N,) squared distance of z to the weighted mean of the neighbours."""
    degree, z = graph.degree.astype(np.float64), scale.everywhere(graph)
    distance = np.empty(graph.n_nodes)
    fill(distance, _residuals, row_blocks(graph.n_nodes), graph.adjacency, z, degree)
    linked = degree > 0
    if linked.any():
        distance = np.where(linked, distance, np.median(distance[linked]))
    return np.asarray(distance, dtype=np.float32)


def _residuals(block: slice, adjacency: Csr, z: Features, degree: Array) -> Array:
    own = part_of(z, block)
    share = sp.diags_array(inverse(degree[block]).astype(np.float32))
    around = share @ (rows_of(adjacency, block) @ z)
    if not sp.issparse(own):
        return np.asarray(np.square(own - around).sum(axis=1, dtype=np.float64))
    cross = np.asarray(own.multiply(around).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(row_squares(own) - 2 * cross + row_squares(around))


@dataclass(frozen=True, kw_only=True)
class Unusual(Member):
    """What the three share."""

    bases: ClassVar[tuple[str, ...]] = (NO_LABELS, NORMAL_ONLY)

    counts: float = 1.0  # beside the other two; while fitting

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """Beside normal labels less the more of them there are."""
        return self.counts * (SOME / (SOME + labels) / 3 if basis == NORMAL_ONLY else 1.0)


@dataclass(frozen=True, kw_only=True)
class Attributes(Unusual):
    """Squared distance of the attributes to their mean."""

    kind: ClassVar[str] = "attributes"

    scale: Scale

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        return [PlannedFit(_fit_unusual)]

    def score_new(self, cache: GraphCache) -> FloatArray:
        return attribute_distance(self.scale, cache.graph)

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.saved.state["unit"] = self.scale.unit
        slot.saved.arrays.update(shift=self.scale.shift, spread_of_columns=self.scale.spread)

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        arrays = slot.saved.arrays
        return {"scale": Scale(slot.saved.state["unit"], arrays["shift"], arrays["spread_of_columns"])}

    def raw(self, variants: Variants) -> Array:
        return np.full(variants.count, self.account(variants).total)

    def account(self, variants: Variants) -> Account:
        own = self._row(variants, [variants.node])[0]
        middle = self.scale.shift.astype(float) if self.scale.unit else 0.0  # standardised columns have 0
        return Account(np.square(own - middle), np.zeros(variants.view.graph.n_nodes), 0.0)

    def _row(self, variants: Variants, nodes: Any) -> Array:
        x = dense(variants.view.graph.x[nodes], np.float64)
        return (
            row_normalised(x) if self.scale.unit else np.asarray((x - self.scale.shift) / self.scale.spread)
        )


@dataclass(frozen=True, kw_only=True)
class Residual(Attributes):
    """Squared distance of the attributes to the mean of the neighbours."""

    kind: ClassVar[str] = "residual"

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        return []  # with the attributes

    def score_new(self, cache: GraphCache) -> FloatArray:
        return neighbour_residual(self.scale, cache.graph)

    def raw(self, variants: Variants) -> Array:
        ends, weights = variants.view.graph.neighbours(variants.node)
        kept = np.vstack([np.ones((1, len(ends))), ends[None, :] != variants.removed[:, None]]) * weights
        away = self._row(variants, [variants.node])[0] - self._average(variants, ends, kept)
        alone = self._score_alone(variants.view.graph)
        return np.asarray(np.where(kept.sum(axis=1) > 0, np.square(away).sum(axis=1), alone))

    def account(self, variants: Variants) -> Account:
        graph = variants.view.graph
        ends, weights = graph.neighbours(variants.node)
        own, none = self._row(variants, [variants.node])[0], np.zeros(graph.n_nodes)
        if not len(ends):
            return Account(np.zeros_like(own), none, self._score_alone(graph))
        return Account(np.square(own - self._average(variants, ends, weights[None, :])[0]), none, 0.0)

    def _average(self, variants: Variants, ends: IntArray, weights: npt.NDArray[Any]) -> Array:
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
        return np.asarray(weights @ self._row(variants, ends) / total)

    def _score_alone(self, graph: Graph) -> float:
        """Score of nodes without neighbours."""
        alone = np.flatnonzero(graph.degree == 0)
        return float(self.scores[alone[0]]) if len(alone) else 0.0


@dataclass(frozen=True, kw_only=True)
class UnusualNeighbourhood(Unusual):
    """Squared distance to the centre in leading directions of the neighbourhood's attributes."""

    kind: ClassVar[str] = "neighbourhood"

    directions: Directions
    centre: FloatArray  # (r,)

    def score_new(self, cache: GraphCache) -> FloatArray:
        away = self.directions.embed(cache.table(self.directions.hops).z) - self.centre
        return np.asarray(np.square(away).sum(axis=1), dtype=np.float32)

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.saved.state["directions"] = self.directions.hops
        slot.saved.arrays["directions"] = self.directions.components
        slot.saved.arrays["directions.centre"] = self.centre

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        arrays = slot.saved.arrays
        directions = Directions(slot.saved.state["directions"], arrays["directions"])
        return {"directions": directions, "centre": arrays["directions.centre"]}

    def raw(self, variants: Variants) -> Array:
        z = row_normalised(variants.z(self.directions.hops))
        return np.asarray(np.square(z @ self._components() - self.centre.astype(float)).sum(axis=1))

    def account(self, variants: Variants) -> Account:
        z, components = variants.z(self.directions.hops)[:1], self._components()
        centre = self.centre.astype(float)
        norm = float(np.linalg.norm(z)) or 1.0
        gradient = components @ ((z / norm @ components)[0] - 2 * centre)
        row = variants.rows(self.directions.hops)[:, 0].astype(np.float64)
        zero = np.zeros(len(gradient))
        return linear_account(variants, row, gradient / norm, zero, float(centre @ centre))

    def _components(self) -> Array:
        return self.directions.components.astype(float)


def _fit_unusual(bench: Bench, done: Sequence[Member]) -> list[Member]:
    """All of them; any label may judge them, for none was used."""
    cache, judge = bench.cache, bench.judge
    if bench.directions is None or bench.embedding is None or bench.centre is None:
        return []
    scale = cache.kept("scale", lambda: Scale.of(cache.graph))
    third = np.square(bench.embedding - bench.centre).sum(axis=1).astype(np.float32)
    bench.report.step(float(np.mean(third)), stage="unusual nodes")
    own: dict[str, Any] = {"directions": bench.directions, "centre": bench.centre}
    around = UnusualNeighbourhood(name="neighbourhood", scores=third, ranks=judge.ranks(third, ()), **own)
    return [*_by_attributes(cache, judge, scale), around]


def _by_attributes(cache: GraphCache, judge: Judge, scale: Scale) -> list[Member]:
    """The distances. By what it pays and gets, a shop is not like its customers, and need not be."""
    first = cache.kept("attributes", lambda: attribute_distance(scale, cache.graph))
    alone = Attributes(name="attributes", scores=first, ranks=judge.ranks(first, ()), scale=scale)
    if cache.graph.derived:
        return [replace(alone, counts=LINKED)]
    second = cache.kept("residual", lambda: neighbour_residual(scale, cache.graph))
    return [alone, Residual(name="residual", scores=second, ranks=judge.ranks(second, ()), scale=scale)]


def _unit(x: Any) -> Any:
    return sp.csr_array(sp.diags_array(inverse_norms(x).astype(np.float32)) @ x)
