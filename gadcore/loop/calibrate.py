"""Scores become probabilities: out-of-fold Platt scaling, weighted so that labels stand for the whole graph.

    P(anomalous | v) = min(σ(a · logit p(v) + b), (n₊ + 1)/(n₊ + 2)),   p(v) percentile among all nodes

a and b maximise the weighted likelihood of the labels, each at the percentile that a model gave it which did
not see it; there are none when a ≤ 0. A label chosen by a query stands for itself. One of the m_h labels that
the audit drew from stratum h stands also for its share of the M_h unlabelled nodes there, 1 + M_h/m_h labels,
and is counted as at most MOST: while draws are few, an anomalous one would decide alone otherwise.
Over 240 simulated sessions on three graphs 5 was the largest of 3, 5, 10, 20 and no limit that was nowhere
clearly worse than equal weights, and had most of what the others gain. n₊ anomalous labels vouch for no more
than the rule of succession allows: the top of the ranking lies beyond the labels that the line was fitted to,
where it would promise certainty. Labels of a group count by their weight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import FloatArray
from gadcore.graph.labels import Labels
from gadcore.loop.strategies.sampling import stratum_of, stratum_sizes

Array = npt.NDArray[np.float64]

LEAST = 5  # verdicts of each class; labels of a group together count by their weight
MOST = 5.0  # labels that one draw may count as
PULL = 1e-2  # strength of the prior a = 1: keeps the fit finite when the classes do not overlap
BANDS = ((0.05, "under 5 %"), (0.2, "5–20 %"), (0.5, "20–50 %"), (0.8, "50–80 %"), (1.01, "over 80 %"))


@dataclass(frozen=True)
class Evidence:
    """Labels of one kind, and how many verdicts they count as."""

    labels: int
    weight: float

    @property
    def missing(self) -> int:
        """Verdicts short of what a probability needs."""
        return max(0, ceil(LEAST - self.weight - 1e-9))  # weights of a group add up with a rounding error

    def said(self, word: str) -> str:
        """E.g. "6 anomalous", or "6 anomalous (some given with a group: they count as 1)"."""
        if abs(self.labels - self.weight) < 0.05:
            return f"{self.labels} {word}"
        return f"{self.labels} {word} (some given with a group: they count as {round(self.weight, 1):g})"


def evidence(labels: Labels, target: int, known: Any = slice(None)) -> Evidence:
    """Labels of one class (1 anomalous, 0 normal), of those that a mask of all labels lets through."""
    own = labels.weights[known][labels.targets[known] == target]
    return Evidence(len(own), float(own.sum()))


def probabilities(
    scores: npt.NDArray[Any], out_of_fold: npt.NDArray[Any] | None, labels: Labels
) -> tuple[FloatArray | None, str]:
    """(N,) probabilities and what they rest on, or None and the reason why there are none."""
    known = slice(None) if out_of_fold is None else np.isfinite(np.asarray(out_of_fold)[labels.indices])
    nodes, y = labels.indices[known], labels.targets[known]
    anomalous, normal = (evidence(labels, k, known) for k in (1, 0))
    if anomalous.missing or normal.missing:
        return None, _more_needed(anomalous, normal)
    if out_of_fold is None:
        return None, "No probability: this model does not tell how it ranks verdicts that it has not seen."
    held = _logit(_percentile(scores, np.asarray(out_of_fold)[nodes], len(scores)), len(scores))
    slope, intercept = _platt(held, y, _weights(labels, nodes, len(scores)))
    if slope <= 0:
        return None, (
            "No probability yet: the ranking does not put anomalous verdicts above normal ones, so that it "
            "would mislead. More verdicts, then a new run, may change that."
        )
    every = _logit(_percentile(scores, scores, len(scores)), len(scores))
    highest = (anomalous.weight + 1) / (anomalous.weight + 2)
    found = np.minimum(_sigmoid(slope * every + intercept), highest)
    drawn = len(labels.inclusion.keys() & set(nodes.tolist()))
    return found.astype(np.float32), _basis(drawn, anomalous, normal)


def band(probability: float) -> str:
    """The band to show instead of decimals."""
    return next(text for limit, text in BANDS if probability < limit)


def calibration_error(truth: npt.ArrayLike, probability: npt.NDArray[Any], bins: int = 10) -> float:
    """Expected calibration error: mean |rate − probability| over bins with equally many cases."""
    y, p = np.asarray(truth, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    parts = np.array_split(np.argsort(p, kind="stable"), bins)
    return float(sum(abs(y[part].sum() - p[part].sum()) for part in parts) / len(y))


def _weights(labels: Labels, nodes: npt.NDArray[np.int64], n: int) -> Array:
    """How many nodes each label stands for, times its own weight, with mean 1."""
    n_open = n - len(labels) - len(labels.unsure)
    # Strata shrink as labels come; half way is near enough to tell by its probability where a draw was from.
    stratum = {
        node: stratum_of(labels.inclusion[node], (n + n_open) // 2)
        for node in nodes.tolist()
        if node in labels.inclusion
    }
    drawn, sizes = Counter(stratum.values()), stratum_sizes(n_open)
    stands_for = [1 + sizes[h] / drawn[h] if drawn[h] else 1.0 for h in range(len(sizes))]
    counts = [min(MOST, stands_for[stratum[v]]) if v in stratum else 1.0 for v in nodes.tolist()]
    weights = np.array(counts) * [labels.weight.get(v, 1.0) for v in nodes.tolist()]
    return np.asarray(weights / weights.mean())


def _platt(x: Array, y: npt.NDArray[Any], weight: Array) -> tuple[float, float]:
    """Newton's method for a and b, with Platt's targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2)."""
    positive, negative = float(weight[y == 1].sum()), float(weight[y == 0].sum())
    target = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    design = np.column_stack([x, np.ones(len(x))])
    p = np.array([1.0, np.log((positive + 1) / (negative + 1)) - float(np.average(x, weights=weight))])
    value = _loss(design, target, weight, p)
    for _ in range(100):
        fitted = _sigmoid(design @ p)
        gradient = design.T @ (weight * (fitted - target)) + PULL * (p - [1.0, 0.0]) * [1.0, 0.0]
        bend = (design * (weight * fitted * (1 - fitted))[:, None]).T @ design + np.diag([PULL, 1e-9])
        step, scale = np.linalg.solve(bend, gradient), 1.0
        while scale > 1e-6 and _loss(design, target, weight, p - scale * step) > value:
            scale /= 2
        p = p - scale * step
        value = _loss(design, target, weight, p)
        if np.abs(scale * step).max() < 1e-8:
            break
    return float(p[0]), float(p[1])


def _loss(design: Array, target: Array, weight: Array, p: Array) -> float:
    f = design @ p
    return float(weight @ (np.logaddexp(0.0, f) - target * f)) + 0.5 * PULL * float((p[0] - 1.0) ** 2)


def _percentile(scores: npt.NDArray[Any], values: npt.NDArray[Any], n: int) -> Array:
    """Share of nodes that score below each value, ties half."""
    ordered = np.sort(np.asarray(scores))
    values = np.asarray(values, dtype=ordered.dtype)
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(below / (2 * n))


def _logit(share: Array, n: int) -> Array:
    inside = np.clip(share, 0.5 / n, 1 - 0.5 / n)
    return np.asarray(np.log(inside / (1 - inside)))


def _sigmoid(x: Array) -> Array:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


def _more_needed(anomalous: Evidence, normal: Evidence) -> str:
    """How many verdicts of which kind are missing."""
    short = {"anomalous": anomalous.missing, "normal": normal.missing}
    missing = " and ".join(f"{count} more {word}" for word, count in short.items() if count)
    return (
        f"No probability yet: needs {missing} verdict{'s' * (sum(short.values()) != 1)} ({LEAST} of each "
        f"kind; this run had {anomalous.said('anomalous')} and {normal.said('normal')})."
    )


def _basis(drawn: int, anomalous: Evidence, normal: Evidence) -> str:
    text = f"From {anomalous.said('anomalous')} and {normal.said('normal')} verdicts, each judged by a model "
    text += "that had not seen it"
    if drawn:
        return f"{text}; {drawn} of them drawn at random stand for the cases without a verdict."
    return f"{text}; none of them drawn at random, so that it may be too high for cases far down the list."
