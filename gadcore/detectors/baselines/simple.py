"""What every graph model must beat: attributes without edges, and edges without attributes.

``isolation-forest``   random axis cuts on X isolate rare rows early (Liu et al. 2008); no labels, no edges.
``label-propagation``  F ← α Â F + (1 − α) Y with class-balanced Y (Zhou et al. 2004); no attributes.

Saved (model.safetensors): scores (N,), out_of_fold (N,) where there is one; the forest also its trees, all
nodes of all trees one after the other: root (T,), left, right, feature (int32), threshold, length (float32;
path length that ends in this leaf, already divided by the expected one, 0 inside).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.arrays import SavedModel, check_columns, dense, normalised_adjacency
from gadcore.detectors.base import BOTH, NO_LABELS, Detector, Given, Reporter
from gadcore.detectors.held_out import fold_auc, label_folds, on_own_scale, usable
from gadcore.detectors.logistic import fold_weights
from gadcore.graph import Features, FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

CHUNK = 2048  # rows made dense at once
EULER = 0.5772156649
TRACE = 1e-3  # share of the mean mass that every node has of both classes
ALPHAS = (0.5, 0.8, 0.9, 0.95)  # how far verdicts travel


@dataclass(eq=False, repr=False)
class IsolationForest(Detector):
    """Rows that random cuts isolate early score high: 2^(−mean path length / expected)."""

    name: ClassVar[str] = "isolation-forest"
    needs: ClassVar[str] = NO_LABELS

    seed: int = 0
    trees: int = 200
    sample: int = 256

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        """Grow the trees on all nodes; no label and no weight is used, so the AUC on labels is honest."""
        from sklearn.ensemble import IsolationForest as Forest

        self.basis_ = NO_LABELS
        size = min(self.sample, graph.n_nodes)
        forest = Forest(n_estimators=self.trees, max_samples=size, random_state=self.seed)
        forest.fit(_small_indices(graph.x))
        self.forest_ = _flatten([tree.tree_ for tree in forest.estimators_], size)
        self.n_features_ = graph.n_features
        report = Reporter(given.on_epoch, -(-graph.n_nodes // CHUNK))
        self.scores_ = self._score(graph.x, report)
        both = len(labels.normal) and len(labels.anomalous)
        self.auc_ = auc(labels.targets, self.scores_[labels.indices]) if both else None
        self.history_ = report.history

    def score_new(self, graph: Graph) -> FloatArray:
        check_columns(self.n_features_, graph.n_features)
        return self._score(graph.x, Reporter(None, 0))

    def _score(self, x: Features, report: Reporter) -> FloatArray:
        parts = []
        for a in range(0, x.shape[0], CHUNK):
            rows = dense(x[a : a + CHUNK], np.float32)
            parts.append(np.exp2(-_mean_length(self.forest_, rows)))
            report.step(float(parts[-1].mean()), stage="scoring")
        return np.concatenate(parts).astype(np.float32)

    def _write(self, saved: SavedModel) -> None:
        saved.arrays.update(self.forest_)
        saved.state["n_features"] = self.n_features_

    def _read(self, saved: SavedModel) -> None:
        self.forest_, self.n_features_ = saved.own, saved.state["n_features"]


@dataclass(eq=False, repr=False)
class LabelPropagation(Detector):
    """Verdicts spread along edges; the score is the share of anomalous mass that arrives."""

    name: ClassVar[str] = "label-propagation"
    needs: ClassVar[str] = BOTH
    fitted: ClassVar[tuple[str, ...]] = ("weights_", "alpha_", "labelled_")

    seed: int = 0
    alphas: Sequence[float] | None = None
    steps: int = 50
    folds: int = 5

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = self.check_labels(labels)
        nodes, y = labels.indices, labels.targets
        held = given.validation if usable(given.validation) else None
        fold = None if held else label_folds(y, self.folds, self.seed)
        weights = fold_weights(y, labels.weights, fold)
        adjacency = normalised_adjacency(graph)
        alphas = ALPHAS if self.alphas is None else self.alphas
        report = Reporter(given.on_epoch, len(alphas))
        best = -1.0
        for alpha in alphas:
            shares = propagated_shares(adjacency, nodes, y, weights, alpha, self.steps)
            quality: float | None = None
            if held is not None:
                quality = auc(held.targets, shares[held.indices, 0])
            elif fold is not None:
                quality = fold_auc(y, shares[nodes, 1 + fold], fold)
            report.step(_loss(shares[nodes, 0], y), quality)
            if best < (quality or 0.0):
                best, self.auc_ = quality or 0.0, quality
                self.alpha_, self.scores_ = float(alpha), shares[:, 0].astype(np.float32)
                of_folds = None if fold is None else on_own_scale(shares[:, 0], shares[:, 1:].T, nodes, fold)
                self.out_of_fold_ = of_folds
        self.labelled_ = [str(graph.node_ids[i]) for i in nodes]
        self.weights_ = np.where(y == 1, 1.0, -1.0) * weights[:, 0]
        self.history_ = report.history

    def score_new(self, graph: Graph) -> FloatArray:
        """Spread the same verdicts over the edges of the grown graph."""
        nodes = graph.indices_of(self.labelled_)
        y, weight = (self.weights_ > 0).astype(np.int8), np.abs(self.weights_)[:, None]
        adjacency = normalised_adjacency(graph)
        shares = propagated_shares(adjacency, nodes, y, weight, self.alpha_, self.steps)
        return shares[:, 0].astype(np.float32)


def propagated_shares(
    adjacency: Any,
    nodes: IntArray,
    y: npt.NDArray[Any],
    weights: npt.NDArray[np.float64],
    alpha: float,
    steps: int,
) -> npt.NDArray[np.float64]:
    """(N, M) share of anomalous mass for M weightings (n, M) of the labels; ½ where nothing arrives."""
    n, m = adjacency.shape[0], weights.shape[1]
    start = np.zeros((n, 2 * m))
    start[nodes] = np.hstack([weights * (y == 0)[:, None], weights * (y == 1)[:, None]])
    mass, stays = start, (1 - alpha) * start
    step = adjacency.astype(np.float64)  # once, or every product would do it
    for _ in range(steps):
        mass = step @ mass
        mass *= alpha
        mass += stays
    # A trace of both classes: a node that hardly any mass reaches stays near ½ instead of at an extreme.
    trace = TRACE * mass.sum(axis=0, keepdims=True) / n
    normal, anomalous = np.split(mass + trace, 2, axis=1)
    return np.asarray(anomalous / (normal + anomalous))


def _loss(share: npt.NDArray[Any], y: npt.NDArray[Any]) -> float:
    right = np.where(y == 1, share, 1.0 - share)
    return float(-np.log(np.maximum(right, 1e-12)).mean())


def _small_indices(x: Features) -> Features:
    """CSR with int32 indices, the only ones that scikit-learn's trees take."""
    if not sp.issparse(x):
        return x
    return sp.csr_matrix((x.data, x.indices.astype(np.int32), x.indptr.astype(np.int32)), shape=x.shape)


def _expected_length(size: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """c(n): mean path length of an unsuccessful search among n points."""
    n = np.asarray(size, dtype=np.float64)
    large = 2.0 * (np.log(np.maximum(n - 1.0, 1.0)) + EULER) - 2.0 * (n - 1.0) / np.maximum(n, 1.0)
    return np.where(n > 2, large, np.where(n == 2, 1.0, 0.0))


def _flatten(trees: Sequence[Any], sample: int) -> dict[str, npt.NDArray[Any]]:
    """All trees as flat arrays; leaves point to themselves, so that a fixed number of steps ends in them."""
    parts: list[tuple[npt.NDArray[Any], ...]] = []
    roots, offset = [], 0
    norm = float(_expected_length(np.array(max(sample, 2)))) * len(trees)
    for tree in trees:
        leaf = tree.children_left < 0
        sides = (np.where(leaf, np.arange(len(leaf)), s) for s in (tree.children_left, tree.children_right))
        length = np.where(leaf, _depths(tree) + _expected_length(tree.n_node_samples), 0.0) / norm
        feature, threshold = np.where(leaf, 0, tree.feature), np.where(leaf, np.inf, tree.threshold)
        parts.append((*(side + offset for side in sides), feature, threshold, length))
        roots.append(offset)
        offset += tree.node_count
    names, types = ("left", "right", "feature", "threshold", "length"), (np.int32,) * 3 + (np.float32,) * 2
    flat = {name: np.concatenate(p).astype(kind) for name, p, kind in zip(names, zip(*parts), types)}
    return {"root": np.array(roots, dtype=np.int32), **flat}


def _depths(tree: Any) -> npt.NDArray[np.float64]:
    depth = np.zeros(tree.node_count)
    for node in range(tree.node_count):  # parents come before their children
        if tree.children_left[node] >= 0:
            depth[[tree.children_left[node], tree.children_right[node]]] = depth[node] + 1
    return depth


def _mean_length(forest: dict[str, npt.NDArray[Any]], rows: FloatArray) -> npt.NDArray[np.float64]:
    """Mean path length over trees, divided by the expected one, of dense rows."""
    total = np.zeros(len(rows))
    every = np.arange(len(rows))
    for root in forest["root"]:
        node = np.full(len(rows), root)
        while True:
            goes_left = rows[every, forest["feature"][node]] <= forest["threshold"][node]
            following = np.where(goes_left, forest["left"][node], forest["right"][node])
            if np.array_equal(following, node):
                break
            node = following
        total += forest["length"][node]
    return total
