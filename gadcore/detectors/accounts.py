"""Accounts: a raw score as a sum over the node's own attributes, other nodes and a base.

    raw(v) = base + Σ_d own_d + Σ_{u≠v} node_u                      exact for everything that is Accountable

A model's score is a sum of shares. Where ranks are combined, a share is weight · percentile, and it is split
as the raw score is: with ref the raw score of the base, (p(raw) − p(ref)) / (raw − ref) turns raw parts into
percentile parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import dense
from gadcore.detectors.surroundings import Array, Variants
from gadcore.metrics import rank_levels

LEVELS = 50_001  # of a member's scores that stay in memory


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
    """A member, its weight and its raw scores."""

    member: Accountable | None  # None: counts as a whole
    weight: float
    scores: npt.NDArray[Any]  # (N,)
    ranked: bool = False  # whether ranks are combined, not raw scores

    @cached_property
    def levels(self) -> tuple[npt.NDArray[Any], Array]:
        """Raw scores, ascending, and the percentile rank of each; a part of them where there are many."""
        levels, ranks = rank_levels(self.scores)
        chosen = np.linspace(0, len(levels) - 1, min(len(levels), LEVELS)).round().astype(np.int64)
        return levels[chosen], ranks[chosen]

    def percentile(self, raw: Array) -> Array:
        """Percentile of raw scores, between levels as in scoring new nodes; raw scores where not ranked."""
        return np.asarray(np.interp(raw, *self.levels)) if self.ranked else raw

    def parts(self, variants: Variants) -> Account:
        """The member's share of the score, split."""
        raw = np.array([float(self.scores[variants.node])])
        graph = variants.view.graph
        whole = Account(np.zeros(graph.n_features), np.zeros(graph.n_nodes), float(self.percentile(raw)[0]))
        if self.member is None:
            return whole.scaled(self.weight)
        account = self.member.account(variants)
        if not self.ranked:
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
