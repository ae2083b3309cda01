"""When a model does not rank the verdicts: whether its run may be used, and which verdicts contradict.

    trouble         a run ranks its labels, each held out in turn, no better than chance, or clearly worse
                    than the run in use did
    contradictions  pairs of a normal and an anomalous node that look alike, the normal one ranked above;
                    each node is in one pair at most, the most alike first

A run in trouble leaves the run in use in its place. But the AUC of sound runs may fall by itself, when an
analyst comes to hard cases. So after a fall the two are asked about the same labels, and the new one is used
if it ranks them as well: what the run in use had not learnt, it ranks honestly too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import row_normalised
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, auc_error

CHANCE = 0.5
CLEARLY = 1.645  # standard errors of the difference
PAIRS = 3  # named in a sentence


@dataclass(frozen=True)
class Judged:
    """A run, by what it says of labels that it had not seen."""

    number: int
    auc: float | None
    held: npt.NDArray[Any] | None  # (N,) scores; of labelled nodes by models without their label


def unseen_scores(scores: npt.NDArray[Any], out_of_fold: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    """(N,) scores, of learnt labels by models that did not see them."""
    return scores if out_of_fold is None else np.where(np.isfinite(out_of_fold), out_of_fold, scores)


def trouble(labels: Labels, new: Judged, used: Judged | None) -> str:
    """What is wrong with a new run, in words; empty where nothing is."""
    if new.auc is None:
        return ""
    if new.auc <= CHANCE:
        return (
            f"It ranks verdicts that it had not seen no better than chance "
            f"(out-of-fold AUC {new.auc:.2f}; chance is 0.50)"
        )
    if used is None or used.auc is None or not _clearly_below(labels, new.auc, used.auc):
        return ""
    return (
        f"It ranks verdicts that it had not seen clearly worse than run {used.number} did "
        f"(out-of-fold AUC {new.auc:.2f} after {used.auc:.2f})"
    )


def keeps_its_place(labels: Labels, new: Judged, used: Judged | None) -> bool:
    """Whether the run in use stays there beside a new one in trouble: unless it does no better itself."""
    if used is None or used.auc is None or new.auc is None:
        return used is not None
    if new.auc <= CHANCE or new.held is None or used.held is None:
        return new.auc < used.auc
    y, now, then = labels.targets, new.held[labels.indices], used.held[labels.indices]
    return auc(y, then) > auc(y, now)


def _clearly_below(labels: Labels, now: float, before: float) -> bool:
    anomalous, normal = len(labels.anomalous), len(labels.normal)
    if not anomalous or not normal:
        return False
    error = np.hypot(auc_error(now, anomalous, normal), auc_error(before, anomalous, normal))
    return bool(before - now >= CLEARLY * error)


@dataclass(frozen=True)
class Contradiction:
    """A normal and an anomalous node that look alike, the normal one ranked above the other."""

    normal: int
    anomalous: int
    likeness: float  # −1..1


def contradictions(
    labels: Labels, held: npt.NDArray[Any], space: FloatArray | None, n: int = PAIRS
) -> list[Contradiction]:
    """The ``n`` pairs of verdicts that contradict each other most; ``space`` (N, r) tells who looks alike."""
    normal, anomalous = (own[np.isfinite(held[own])] for own in (labels.normal, labels.anomalous))
    wrong = held[normal][:, None] >= held[anomalous][None, :]
    alike = _likeness(normal, anomalous, space, held)
    order = np.argsort(-np.where(wrong, alike, -np.inf), axis=None, kind="stable")[: int(wrong.sum())]
    found: list[Contradiction] = []
    taken: set[int] = set()
    for i, j in zip(*np.unravel_index(order, wrong.shape)):
        pair = (int(normal[i]), int(anomalous[j]))
        if len(found) < n and taken.isdisjoint(pair):
            taken.update(pair)
            found.append(Contradiction(*pair, float(alike[i, j])))
    return found


def _likeness(
    normal: npt.NDArray[Any], anomalous: npt.NDArray[Any], space: FloatArray | None, held: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """(n, m) cosines around the middle of the space; without one, how far the order is wrong."""
    if space is None:
        return np.asarray(held[normal][:, None] - held[anomalous][None, :], dtype=np.float64)
    middle = np.asarray(space).mean(axis=0)
    z, w = (row_normalised(np.asarray(space[own] - middle, dtype=np.float64)) for own in (normal, anomalous))
    return np.asarray(z @ w.T)


def pairs_text(graph: Graph, found: Iterable[Contradiction]) -> str:
    """ "A12 (normal) and A57 (anomalous), …"."""
    ids = graph.node_ids
    return ", ".join(f"{ids[p.normal]} (normal) and {ids[p.anomalous]} (anomalous)" for p in found)
