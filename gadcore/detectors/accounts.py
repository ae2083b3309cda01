"""Accounts: a raw score as a sum over the node's own attributes, other nodes and a base.

    raw(v) = base + Σ_d own_d + Σ_{u≠v} node_u                      exact for everything that is Accountable

A model's score is a sum of shares. Where ranks are combined, a share is weight · percentile, and it is split
as the raw score is: with ref the raw score of the base, (p(raw) − p(ref)) / (raw − ref) turns raw parts into
percentile parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import dense
from gadcore.detectors.surroundings import Array, Variants


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


class Accountable:
    """A part of a model that can say what its score is made of."""

    steps: int = 0  # of the damped walk that it needs

    def raw(self, variants: Variants) -> Array:
        """(1 + edges,) raw score of the node in every variant; (1,) where edges could not be tried."""
        raise NotImplementedError

    def account(self, variants: Variants) -> Account:
        """Parts of the raw score in the graph as it is."""
        raise NotImplementedError


@dataclass(frozen=True)
class Share:
    """A member, its weight, its raw scores, and these as levels with their ranks where ranks are combined."""

    member: Accountable | None  # None: counts as a whole
    weight: float
    scores: npt.NDArray[Any]  # (N,)
    levels: tuple[npt.NDArray[Any], Array] | None = field(repr=False, default=None)

    def percentile(self, raw: Array) -> Array:
        """Percentile of raw scores, between levels as in scoring new nodes; without levels the raw scores."""
        return raw if self.levels is None else np.asarray(np.interp(raw, *self.levels))

    def parts(self, variants: Variants) -> Account:
        """The member's share of the score, split."""
        raw = np.array([float(self.scores[variants.node])])
        graph = variants.view.graph
        whole = Account(np.zeros(graph.n_features), np.zeros(graph.n_nodes), float(self.percentile(raw)[0]))
        if self.member is None:
            return whole.scaled(self.weight)
        account = self.member.account(variants)
        if self.levels is None:
            return account.scaled(self.weight)
        way = account.total - account.base
        if abs(way) < 1e-9 * max(1.0, abs(account.base)):
            return whole.scaled(self.weight)
        # To where the parts lead, not to the member's score: parts that miss it must show as a gap.
        start, end = self.percentile(np.array([account.base, account.total])).tolist()
        slope = (end - start) / way
        return Account(account.own * slope, account.nodes * slope, start).scaled(self.weight)

    def without_edges(self, variants: Variants) -> Array | None:
        """(edges,) change of the member's share when each edge is removed; None where that is not known."""
        raw = np.zeros(0) if self.member is None else self.member.raw(variants)
        if len(raw) != variants.count:
            return None
        shares = self.percentile(raw)
        return np.asarray(self.weight * (shares[1:] - shares[0]))


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


def dense_row(x: Any, node: int) -> Array:
    """Attributes of one node."""
    return dense(x[[node]], np.float64).ravel()
