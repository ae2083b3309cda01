"""Accounts: a raw score as a sum over the node's own attributes, other nodes and a base.

    raw(v) = base + Σ_d own_d + Σ_{u≠v} node_u                      exact for every kind of member below

linear, standard, background   z·w + b with z = r X: x_ud counts r_u w_d x_ud, against the mean node
smoothed                       Σ_u π_u (f_u − f̄): node u counts by its own linear score
diffused                       z·w + b, z the unit row of Σ_u π_u x_u / ||x_u||, columns weighted; as linear
propagation                    share of anomalous mass: every labelled node counts by the mass it sends
attributes, residual           squared distance, column by column
neighbourhood                  ||e − ē||² with e linear in z: gradient form, from the zero baseline
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.graph import IntArray
from gadcore.insight.explain.view import Array, GraphView, Variants


@dataclass
class Account:
    """Parts of a raw score."""

    own: Array  # (D,) by attribute of the node itself
    nodes: Array  # (N,) by other node; 0 at the node itself
    base: float

    @property
    def total(self) -> float:
        return float(self.base + self.own.sum() + self.nodes.sum())

    def scaled(self, factor: float) -> Account:
        return Account(self.own * factor, self.nodes * factor, self.base * factor)


class Accountable(Protocol):
    """A part of a model that can say what its score is made of."""

    def raw(self, variants: Variants) -> Array:
        """(1 + edges,) raw score of the node in every variant; (1,) where edges could not be tried."""

    def account(self, variants: Variants) -> Account:
        """Parts of the raw score in the graph as it is."""


@dataclass(frozen=True)
class Linear:
    """f(v) = w·z + b on ÂᵏX, of unit rows or plain."""

    hops: int
    unit: bool
    weights: Array  # (D,)
    intercept: float

    def raw(self, variants: Variants) -> Array:
        z = variants.z(self.hops)
        return np.asarray(z @ self.weights * self._inverse(z) + self.intercept)

    def account(self, variants: Variants) -> Account:
        row = variants.rows(self.hops)[:, 0].astype(np.float64)
        scale = float(self._inverse(variants.z(self.hops)[:1])[0])
        usual = variants.view.mean(self.hops, unit=self.unit)
        return linear_account(variants, row, self.weights * scale, self.weights * usual, self.intercept)

    def everywhere(self, view: GraphView) -> Array:
        """(N,) f of every node."""
        f = np.asarray(view.graph.x @ self.weights, dtype=np.float64).ravel()
        for _ in range(self.hops):
            f = view.adjacency @ f
        return np.asarray(f * view.inverse_norms(self.hops) if self.unit else f) + self.intercept

    def in_variants(self, variants: Variants) -> Array:
        """(N, 1 + edges) f of every node in every variant; lengths of rows but the node's own stay."""
        view = variants.view
        f = np.asarray(view.graph.x @ self.weights, dtype=np.float32).reshape(-1, 1)
        f = np.repeat(f, variants.count, axis=1)
        for _ in range(self.hops):
            f = variants.step(f)
        scale = view.inverse_norms(self.hops)[:, None] if self.unit else 1.0
        found: Array = np.asarray(f * scale + self.intercept, dtype=np.float64)
        found[variants.node] = self.raw(variants)
        return found

    def _inverse(self, z: Array) -> Array:
        if not self.unit:
            return np.ones(len(z))
        norm = np.linalg.norm(z, axis=1)
        inverse: Array = np.divide(1.0, norm, out=np.zeros_like(norm), where=norm > 0)
        return inverse


def linear_account(
    variants: Variants,
    row: Array,
    weights: Array,
    usual: Array,
    intercept: float,
    reach: Array | None = None,
) -> Account:
    """Parts of Σ_u row_u x_u·weights + intercept, each against its share of the usual value (D,).

    Shares are those of ``reach`` (N,) where rows of x were scaled before they were averaged, else of ``row``.
    """
    x, node = variants.view.graph.x, variants.node
    reach = row if reach is None else reach
    reached = np.flatnonzero(reach)
    nodes = np.zeros(len(row))
    share = reach / reach.sum() if reach.sum() > 0 else reach
    nodes[reached] = row[reached] * np.asarray(x[reached] @ weights).ravel() - share[reached] * usual.sum()
    nodes[node] = 0.0
    own = row[node] * dense_row(x, node) * weights - share[node] * usual
    return Account(own, nodes, float(intercept + usual.sum()))


@dataclass(frozen=True)
class Smoothed:
    """Π (f − f̄) of a linear member."""

    source: Linear
    offset: float
    alpha: float
    steps: int

    def raw(self, variants: Variants) -> Array:
        walk = variants.even_walk(self.alpha, self.steps)
        if walk.shape[1] == 1:
            return np.asarray(walk.T @ (self.source.everywhere(variants.view) - self.offset))
        return np.asarray(np.einsum("nc,nc->c", walk, self.source.in_variants(variants) - self.offset))

    def account(self, variants: Variants) -> Account:
        walk = variants.even_walk(self.alpha, self.steps)[:, 0]
        stay = float(walk[variants.node])
        inner = self.source.account(variants).scaled(stay)
        nodes = walk * (self.source.everywhere(variants.view) - self.offset) + inner.nodes
        nodes[variants.node] = 0.0
        return Account(inner.own, nodes, inner.base - stay * self.offset)


@dataclass(frozen=True)
class Diffused:
    """f(v) = w·z + b, z the unit row of diffused attributes with weighted columns."""

    even: bool
    weights: Array  # (D,)
    columns: Array  # (D,) weights of the attributes
    usual: Array  # (D,) mean z
    intercept: float
    alpha: float
    steps: int

    def raw(self, variants: Variants) -> Array:
        _, _, z = variants.diffused(self.alpha, self.steps, even=self.even)
        return np.asarray(unit_rows(z * self.columns) @ self.weights + self.intercept)

    def account(self, variants: Variants) -> Account:
        walk, rows, z = variants.diffused(self.alpha, self.steps, even=self.even)
        scale = self.columns / (float(np.linalg.norm(z[0] * self.columns)) or 1.0)
        usual = self.weights * self.usual
        return linear_account(
            variants, rows[:, 0], self.weights * scale, usual, self.intercept, reach=walk[:, 0]
        )


@dataclass(frozen=True)
class Propagation:
    """Share of anomalous mass that reaches the node from labelled ones."""

    labelled: IntArray
    signed: Array  # balanced label weights, negative for normal
    alpha: float
    steps: int
    trace: float = 1e-3

    def raw(self, variants: Variants) -> Array:
        walk = variants.walk(self.alpha, self.steps)[self.labelled]
        traces = self._traces(variants.view)
        anomalous = np.maximum(self.signed, 0) @ walk + traces[1]
        normal = np.maximum(-self.signed, 0) @ walk + traces[0]
        return np.asarray(anomalous / (anomalous + normal))

    def account(self, variants: Variants) -> Account:
        mass = variants.walk(self.alpha, self.steps)[self.labelled, 0] * self.signed
        traces = self._traces(variants.view)
        total = 2.0 * (np.abs(mass).sum() + traces.sum())
        n, d = variants.view.graph.n_nodes, variants.view.graph.n_features
        nodes = np.zeros(n)
        nodes[self.labelled] = mass / total
        own_verdict = float(nodes[variants.node])
        nodes[variants.node] = 0.0
        return Account(np.zeros(d), nodes, 0.5 + float(traces[1] - traces[0]) / total + own_verdict)

    def _traces(self, view: GraphView) -> Array:
        """Mass of both classes, normal first, that every node has from the start."""
        sent = view.total_mass(self.alpha, self.steps)[self.labelled] * self.signed
        return np.array([-sent[sent < 0].sum(), sent[sent > 0].sum()]) * self.trace / view.graph.n_nodes


@dataclass(frozen=True)
class Unusual:
    """Squared distance of the attributes to their mean, or to those of the neighbours."""

    against_neighbours: bool
    unit: bool
    shift: Array
    spread: Array
    fallback: float  # score of nodes without neighbours

    def raw(self, variants: Variants) -> Array:
        if not self.against_neighbours:
            return np.full(variants.count, self.account(variants).total)
        ends, weights = variants.view.graph.neighbours(variants.node)
        kept = np.vstack([np.ones((1, len(ends))), ends[None, :] != variants.removed[:, None]]) * weights
        away = self._row(variants, [variants.node])[0] - self._average(variants, ends, kept)
        return np.asarray(np.where(kept.sum(axis=1) > 0, np.square(away).sum(axis=1), self.fallback))

    def account(self, variants: Variants) -> Account:
        n, node = variants.view.graph.n_nodes, variants.node
        ends, weights = variants.view.graph.neighbours(node)
        own = self._row(variants, [node])[0]
        if self.against_neighbours and not len(ends):
            return Account(np.zeros_like(own), np.zeros(n), self.fallback)
        away = own - (
            self._average(variants, ends, weights[None, :])[0] if self.against_neighbours else self._middle()
        )
        return Account(np.square(away), np.zeros(n), 0.0)

    def _middle(self) -> Array:
        """The mean z: standardised columns have 0."""
        return self.shift if self.unit else np.zeros_like(self.shift)

    def _row(self, variants: Variants, nodes: Any) -> Array:
        x = variants.view.graph.x[nodes]
        x = np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float64)
        return unit_rows(x) if self.unit else np.asarray((x - self.shift) / self.spread)

    def _average(self, variants: Variants, ends: IntArray, weights: npt.NDArray[Any]) -> Array:
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
        return np.asarray(weights @ self._row(variants, ends) / total)


@dataclass(frozen=True)
class Directions:
    """||e − ē||² with e = z·components, z the unit row of ÂᵏX."""

    hops: int
    components: Array  # (D, r)
    centre: Array  # (r,)

    def raw(self, variants: Variants) -> Array:
        away = unit_rows(variants.z(self.hops)) @ self.components - self.centre
        return np.asarray(np.square(away).sum(axis=1))

    def account(self, variants: Variants) -> Account:
        z = variants.z(self.hops)[:1]
        norm = float(np.linalg.norm(z)) or 1.0
        e = (z / norm @ self.components)[0]
        gradient = self.components @ (e - 2 * self.centre)
        row = variants.rows(self.hops)[:, 0].astype(np.float64)
        zero = np.zeros(len(gradient))
        return linear_account(variants, row, gradient / norm, zero, float(self.centre @ self.centre))


def dense_row(x: Any, node: int) -> Array:
    """Attributes of one node."""
    row = x[[node]]
    dense: Array = np.asarray(row.toarray() if sp.issparse(row) else row, dtype=np.float64)
    return dense.ravel()


def unit_rows(x: Array) -> Array:
    """Rows of Euclidean length 1; zero rows stay zero."""
    norm = np.linalg.norm(x, axis=1, keepdims=True)
    unit: Array = np.divide(x, norm, out=np.zeros_like(x), where=norm > 0)
    return unit
