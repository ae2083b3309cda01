"""Members become one score: percentile ranks, weighted by how well each member ranks labels it did not see.

    score(v) = Σ_m ω_m p_m(v),   p_m(v) ∈ (0, 1) percentile of member m's score of v among all nodes
    ω_m ∝ exp((AUC_m − max AUC) / τ),   τ = softness · standard error of the best AUC

The standard error (Hanley and McNeil 1982) is large with few labels, so that the weights then stay near the
prior, and small with many, so that members that are clearly worse drop out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

SOFT, SOFTER = 0.5, 1.0  # with validation labels; with out-of-fold ranks, which are scarcer and noisier
LEAST_TEMPERATURE = 0.003
NEGLIGIBLE = 0.01  # members below this weight are dropped


def percentile_among(reference: npt.NDArray[Any], values: npt.NDArray[Any]) -> Array:
    """Share of ``reference`` below each value, ties half."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(below / (2 * len(ordered)))


def auc_error(value: float, anomalous: int, normal: int) -> float:
    """Standard error of an AUC from so many labels of each class (Hanley and McNeil)."""
    a = min(max(value, 0.5), 0.995)
    q1, q2 = a / (2 - a), 2 * a * a / (1 + a)
    variance = a * (1 - a) + (anomalous - 1) * (q1 - a * a) + (normal - 1) * (q2 - a * a)
    return float(np.sqrt(variance / (anomalous * normal)))


def member_weights(
    quality: npt.NDArray[np.float64], prior: Sequence[float], y: npt.NDArray[Any], softness: float
) -> Array:
    """(M,) weights that add up to 1; ``prior`` where no quality is known."""
    base = np.asarray(prior, dtype=np.float64)
    if np.isnan(quality).all():
        return np.asarray(base / base.sum())
    best = float(np.nanmax(quality))
    anomalous = int((y == 1).sum())
    error = auc_error(best, anomalous, len(y) - anomalous)
    gap = np.nan_to_num(quality, nan=-1.0) - best
    weights = base * np.exp(gap / max(LEAST_TEMPERATURE, softness * error))
    weights /= weights.sum()
    weights[weights < NEGLIGIBLE] = 0.0
    return np.asarray(weights / weights.sum())


def weighted_mean(weights: Array, ranks: npt.NDArray[Any]) -> Array:
    """Σ_m ω_m p_m over the first axis."""
    return np.asarray(weights @ ranks, dtype=np.float64)


def weighted_spread(weights: Array, ranks: npt.NDArray[Any]) -> Array:
    """Weighted standard deviation of the members' ranks: how much they disagree."""
    mean = weights @ ranks
    return np.asarray(np.sqrt(np.maximum(weights @ np.square(ranks - mean), 0.0)))
