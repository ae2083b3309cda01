"""Members become one score: percentile ranks, weighted by how well each member ranks labels it did not see.

    score(v) = Σ_m ω_m p_m(v),   p_m(v) ∈ (0, 1) percentile of member m's score of v among all nodes
    soft_m ∝ prior_m exp((AUC_m − max AUC) / τ),   τ = softness · standard error of the best AUC
    validation   ω = (1 − s) soft + s greedy,   s = n_A / (n_A + 100),  n_A anomalous nodes that judge
    out of fold  ω = soft, with a higher softness

The standard error (Hanley and McNeil 1982) is large with few labels, so that the weights then stay near the
prior, and small with many, so that members that are clearly worse drop out. With many validation labels it
pays to ask which members complement each other: greedy ensemble selection (Caruana et al. 2004) on the same
ranks. Out of fold the judges are the verdicts of an analyst, most of them on cases that an earlier ranking
chose: they tell less of the rest of the graph, and the sharper choice loses there. A node judges by the
weight of its label, so that a verdict for a whole ring does not outvote all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import IntArray
from gadcore.metrics import auc, auc_error, rank_levels

Array = npt.NDArray[np.float64]

SOFT, SOFTER = 0.5, 2.0  # with validation labels; with out-of-fold ranks, which are scarcer and not random
LEAST_TEMPERATURE = 0.003
LEAST_PER_ANOMALY = 0.2  # τ is at least this divided by n_A: one node more or less moves the AUC by so much
NEGLIGIBLE = 0.01  # members below this weight are dropped
MANY = 100  # anomalous nodes at which greedy selection gets half of the weight
FIRST, ROUNDS = 3, 20  # greedy selection starts with the best three and adds twenty more


def percentile_among(reference: npt.NDArray[Any], values: npt.NDArray[Any]) -> Array:
    """Share of ``reference`` below each value, ties half."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(below / (2 * len(ordered)))


def percentile_between(reference: npt.NDArray[Any], values: npt.NDArray[Any]) -> Array:
    """The percentile ranks of ``reference``, interpolated: a value off by a rounding error keeps its rank."""
    return np.asarray(np.interp(values, *rank_levels(reference)))


def member_weights(
    ranks: Sequence[Array | None],
    prior: Sequence[float],
    y: npt.NDArray[Any],
    counts: Array | None = None,
    *,
    validated: bool = True,
) -> tuple[Array, Array]:
    """(M,) weights that add up to 1, and (M,) AUCs; the prior and nan where nothing judges.

    ``ranks`` are those of the judged nodes, whose truth is ``y``; a member without is given no weight beside
    members with. ``counts`` is how much each judged node counts, where not all count 1. ``validated``: the
    judged nodes are validation labels, not those of the training set out of fold.
    """
    base = np.asarray(prior, dtype=np.float64)
    judged = [i for i, own in enumerate(ranks) if own is not None]
    quality = np.full(len(base), np.nan)
    if not judged:
        return base / base.sum(), quality
    table = np.stack([own for own in ranks if own is not None])
    quality[judged] = [auc(y, own, counts) for own in table]
    each = np.ones(len(y)) if counts is None else counts
    anomalous, normal = float(each[y == 1].sum()), float(each[y != 1].sum())
    weights = np.zeros(len(base))
    weights[judged] = _soft(quality[judged], base[judged], anomalous, normal, SOFT if validated else SOFTER)
    if validated:
        share = anomalous / (anomalous + MANY)
        weights[judged] = (1 - share) * weights[judged] + share * greedy_selection(table, y, counts)
    weights[weights < NEGLIGIBLE] = 0.0
    return weights / weights.sum(), quality


def unseen_ranks(
    ranks: Sequence[Array | None],
    prior: Sequence[float],
    y: npt.NDArray[Any],
    fold: IntArray,
    counts: Array | None = None,
) -> Array:
    """(n,) combined ranks of the labels, those of each fold by weights that the other folds gave.

    A label neither trained the members that rank it here nor weighted them, so that what is told of the
    ensemble (its AUC, probabilities) does not flatter it.
    """
    known = [i for i, own in enumerate(ranks) if own is not None]
    table = np.stack([own for own in ranks if own is not None])
    base = np.asarray(prior, dtype=np.float64)[known]
    out = np.empty(len(y))
    for f in np.unique(fold):
        mine, others = fold == f, fold != f
        weights = base / base.sum()
        if 0 < int(y[others].sum()) < int(others.sum()):
            part = None if counts is None else counts[others]
            weights, _ = member_weights(
                list(table[:, others]), base.tolist(), y[others], part, validated=False
            )
        out[mine] = weights @ table[:, mine]
    return out


def greedy_selection(table: Array, y: npt.NDArray[Any], counts: Array | None = None) -> Array:
    """(M,) shares of a bag that grows by the member that raises its AUC most; the best bag seen."""
    start = np.argsort([-auc(y, own, counts) for own in table], kind="stable")[:FIRST]
    taken = np.bincount(start, minlength=len(table)).astype(np.float64)
    best, best_auc = taken.copy(), auc(y, taken @ table, counts)
    for _ in range(ROUNDS):
        bag = taken @ table
        found = [auc(y, bag + own, counts) for own in table]
        chosen = int(np.argmax(found))
        taken[chosen] += 1
        if found[chosen] >= best_auc:
            best, best_auc = taken.copy(), found[chosen]
    return np.asarray(best / best.sum())


def _soft(quality: Array, prior: Array, anomalous: float, normal: float, softness: float) -> Array:
    best = float(quality.max())
    error = auc_error(best, anomalous, normal)
    temperature = max(LEAST_TEMPERATURE, LEAST_PER_ANOMALY / anomalous, softness * error)
    weights = prior * np.exp((quality - best) / temperature)
    weights /= weights.sum()
    weights[weights < NEGLIGIBLE] = 0.0
    return np.asarray(weights / weights.sum())


def weighted_spread(weights: Array, ranks: npt.NDArray[Any]) -> Array:
    """Weighted standard deviation of the members' ranks: how much they disagree."""
    mean = weights @ ranks
    return np.asarray(np.sqrt(np.maximum(weights @ np.square(ranks - mean), 0.0)))
