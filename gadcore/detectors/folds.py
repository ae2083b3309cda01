"""Label folds that stay the same from run to run, so that no warm member saw the labels that judge it."""

from __future__ import annotations

import numpy as np

from gadcore.graph import Graph, IntArray
from gadcore.graph.labels import Labels


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
    if previous and count < 2 * fold_count(previous):
        count = fold_count(previous)
    else:
        previous = None
    rng = np.random.default_rng(seed)
    found: dict[str, int] = {}
    for part in (labels.normal, labels.anomalous):
        sizes, fresh = np.zeros(count, dtype=np.int64), []
        for node in rng.permutation(part):
            name = str(graph.node_ids[node])
            if previous and name in previous:
                found[name] = previous[name]
                sizes[previous[name]] += 1
            else:
                fresh.append(name)
        for name in fresh:
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
