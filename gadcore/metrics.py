"""Ranking metrics in numpy, with ties handled exactly. Higher score = more anomalous."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]


def midranks(scores: Array, order: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.float64]:
    """Ranks 1..n, ties share their mean rank. ``order`` is that of falling scores, if it is known."""
    if order is None:
        order = np.argsort(scores, kind="stable")[::-1]
    rising = np.asarray(scores)[order[::-1]]
    first = np.flatnonzero(np.r_[True, rising[1:] != rising[:-1]][: len(rising)])
    count = np.diff(np.r_[first, len(rising)])
    found = np.empty(len(rising))
    found[order[::-1]] = np.repeat(first + (count + 1) / 2, count)
    return found


def percentile_ranks(scores: Array, order: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.float64]:
    """Midranks scaled to (0, 1)."""
    return (midranks(scores, order) - 0.5) / max(1, len(scores))


def rank_levels(scores: Array) -> tuple[Array, npt.NDArray[np.float64]]:
    """Distinct scores, ascending, and the percentile rank of each."""
    levels, place = np.unique(scores, return_inverse=True)
    found = np.zeros(len(levels))
    found[place] = percentile_ranks(scores)
    return levels, found


def ranks(scores: Array, order: npt.NDArray[np.int64] | None = None) -> npt.NDArray[np.int64]:
    """(N,) 1 = highest score; ties as they stand. ``order`` is that of falling scores, if it is known."""
    order = np.argsort(-np.asarray(scores), kind="stable") if order is None else order
    rank = np.empty(len(scores), dtype=np.int64)
    rank[order] = np.arange(1, len(rank) + 1)
    return rank


def auc(truth: npt.ArrayLike, scores: Array, weight: Array | None = None) -> float:
    """P(anomalous above normal) + ½ P(tie), nodes drawn by weight; nan when one class is absent."""
    y = np.asarray(truth).astype(bool)
    positive, negative = int(y.sum()), int((~y).sum())
    if positive == 0 or negative == 0:
        return float("nan")
    if weight is not None:
        return _weighted_auc(y, scores, weight)
    return float((midranks(scores)[y].sum() - positive * (positive + 1) / 2) / (positive * negative))


def _weighted_auc(y: npt.NDArray[np.bool_], scores: Array, weight: Array) -> float:
    level = np.unique(scores, return_inverse=True)[1]
    normal = np.bincount(level, weights=np.where(y, 0.0, weight))
    below = np.cumsum(normal) - normal / 2  # normal weight under each level, ties half
    own = np.asarray(weight, dtype=np.float64)[y]
    return float(own @ below[level[y]] / (own.sum() * normal.sum()))


def auc_error(value: float, anomalous: float, normal: float) -> float:
    """Standard error of an AUC from so many labels of each class (Hanley and McNeil 1982)."""
    a = min(max(value, 0.5), 0.995)
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    variance = a * (1 - a) + (anomalous - 1) * (q1 - a * a) + (normal - 1) * (q2 - a * a)
    return float(np.sqrt(variance / (anomalous * normal)))


def average_precision(truth: npt.ArrayLike, scores: Array) -> float:
    """Σ (R_k − R_{k−1}) P_k over distinct thresholds; nan without a positive."""
    y = np.asarray(truth).astype(bool)
    if not y.any():
        return float("nan")
    order = np.argsort(-np.asarray(scores), kind="stable")
    ordered, hits = np.asarray(scores)[order], np.cumsum(y[order])
    ends = np.r_[np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1]
    precision = hits[ends] / (ends + 1)
    recall = hits[ends] / hits[-1]
    return float(np.sum(np.diff(np.r_[0.0, recall]) * precision))


def precision_at(truth: npt.ArrayLike, scores: Array, k: int) -> float:
    """Share of anomalies among the k highest scores."""
    y = np.asarray(truth).astype(bool)
    top = np.argsort(-np.asarray(scores), kind="stable")[: max(1, k)]
    return float(y[top].mean())
