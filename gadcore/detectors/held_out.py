"""Held-out labels: which labels a model is fitted without, and how well it ranks them.

Folds by node id stay the same from run to run, so that no warm member saw the labels that judge it.
"""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, midranks


def label_folds(y: npt.NDArray[Any], folds: int, seed: int) -> IntArray | None:
    """(n,) fold of each label, each class spread evenly; None when a class has fewer than two labels."""
    counts = [int((y == value).sum()) for value in (0, 1)]
    if min(counts) < 2:
        return None
    rng = np.random.default_rng(seed)
    fold = np.empty(len(y), dtype=np.int64)
    for value in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == value))
        fold[rows] = np.arange(len(rows)) % min(folds, *counts)
    return fold


def usable(validation: Labels | None) -> TypeGuard[Labels]:
    """Whether validation labels can select anything: both classes are there."""
    return validation is not None and len(validation.normal) > 0 and len(validation.anomalous) > 0


def fold_auc(y: npt.NDArray[Any], scores: npt.NDArray[Any], fold: IntArray) -> float:
    """AUC over pairs within a fold: scores of different folds come from different models."""
    total = pairs = 0.0
    for f in np.unique(fold):
        rows = fold == f
        weight = float((y[rows] == 1).sum()) * float((y[rows] == 0).sum())
        if weight:
            total += weight * auc(y[rows], scores[rows])
            pairs += weight
    return total / pairs if pairs else float("nan")


def on_own_scale(
    scores: npt.NDArray[Any], of_folds: npt.NDArray[Any], nodes: IntArray, fold: IntArray
) -> FloatArray:
    """(N,) scores of labels by models that did not see them, on the scale of ``scores``; nan elsewhere.

    A model fitted to fewer labels has another scale. Each label gets the value that has, among ``scores``,
    the rank which the model of its fold, a row of ``of_folds`` (F, N), gave it among all nodes.
    """
    out = np.full(len(scores), np.nan, dtype=np.float32)
    own = np.sort(scores)
    for f, held in enumerate(of_folds):
        mine = nodes[fold == f]
        out[mine] = own[midranks(held)[mine].astype(np.int64) - 1]
    return out


def spread_out(n: int, nodes: IntArray, values: npt.NDArray[Any]) -> FloatArray:
    """(n,) with ``values`` at ``nodes`` and nan elsewhere."""
    out = np.full(n, np.nan, dtype=np.float32)
    out[nodes] = values
    return out


def assign_folds(
    graph: Graph,
    labels: Labels,
    folds: int,
    *,
    seed: int,
    one_class: bool = False,
    previous: dict[str, int] | None = None,
) -> dict[str, int]:
    """Node id -> fold, each class spread evenly; {} when labels do not suffice for two folds.

    Labels of ``previous`` keep their fold; new ones go to the fold that has fewest of their class. When
    there are labels for twice as many folds, all are dealt anew.
    """
    scarce = len(labels.normal) if one_class else min(len(labels.normal), len(labels.anomalous))
    count = min(folds, scarce)
    if count < 2:
        return {}
    before = previous if previous and count < 2 * fold_count(previous) else {}
    count = fold_count(before) or count
    rng = np.random.default_rng(seed)
    found: dict[str, int] = {}
    for part in (labels.normal, labels.anomalous):
        names = [str(graph.node_ids[node]) for node in rng.permutation(part)]
        kept = {name: before[name] for name in names if name in before}
        sizes = np.bincount(np.array(list(kept.values()), dtype=np.int64), minlength=count)
        found |= kept
        for name in names:
            if name not in kept:
                found[name] = int(np.argmin(sizes))
                sizes[found[name]] += 1
    return found if _usable(graph, labels, found, count, one_class) else {}


def fold_count(assigned: dict[str, int]) -> int:
    return 1 + max(assigned.values()) if assigned else 0


def folds_of(graph: Graph, labels: Labels, assigned: dict[str, int]) -> IntArray:
    """Fold of each label, in the order of ``labels.indices``."""
    return np.array([assigned[str(graph.node_ids[node])] for node in labels.indices], dtype=np.int64)


def _usable(graph: Graph, labels: Labels, found: dict[str, int], count: int, one_class: bool) -> bool:
    """Every fold holds out, and leaves, at least one label of each class that counts."""
    parts = (labels.normal,) if one_class else (labels.normal, labels.anomalous)
    return all(len({found[str(graph.node_ids[node])] for node in part}) == count for part in parts)
