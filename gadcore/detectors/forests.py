"""Extremely randomised trees (Geurts et al. 2006): scikit-learn grows them, numpy says why.

    p(v) = mean over trees of the share of anomalous labels, by weight, in the leaf of v

Each tree sees a bootstrap of the labels, so that a label has a score from the trees that did not see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from gadcore.detectors.flat_trees import Array, FlatTrees, Tree
from gadcore.graph import FloatArray

if TYPE_CHECKING:
    from sklearn.ensemble import ExtraTreesClassifier

TREES = 200
CHUNK = 4096  # rows that walk down the trees at once
ARRAYS = ("roots", "left", "right", "column", "threshold", "value")


@dataclass(frozen=True)
class Forest:
    """Grown trees as arrays."""

    flat: FlatTrees

    def scores(self, rows: FloatArray) -> FloatArray:
        """(n,) p of each row, walked by numpy."""
        parts = [self.flat.down(rows[a : a + CHUNK])[0] for a in range(0, len(rows), CHUNK)]
        return np.concatenate(parts).astype(np.float32) if parts else np.zeros(0, np.float32)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        small = {"value": np.float32, "threshold": np.float32}
        return {name: getattr(self.flat, name).astype(small.get(name, np.int32)) for name in ARRAYS}

    @classmethod
    def of_arrays(cls, arrays: dict[str, npt.NDArray[Any]], depth: int) -> Self:
        roots, left, right, column = (arrays[name].astype(np.int64) for name in ARRAYS[:4])
        value, missing = arrays["value"].astype(np.float64), np.zeros(len(left), dtype=bool)
        return cls(FlatTrees(roots, left, right, column, arrays["threshold"], value, missing, depth))


@dataclass(frozen=True)
class GrownForest:
    """A forest as scikit-learn grew it."""

    grown: ExtraTreesClassifier
    held: Array  # (n,) p of each training row by the trees that did not see it

    def scores(self, rows: FloatArray) -> Array:
        """(n,) p of each row, as ``predict_proba`` has it; chunks stay in the processor's cache."""
        trees = [(tree.tree_, tree.tree_.value[:, 0, 1].copy()) for tree in self.grown.estimators_]
        found = np.zeros(len(rows))
        for start in range(0, len(rows), CHUNK):
            part, total = rows[start : start + CHUNK], found[start : start + CHUNK]
            for tree, value in trees:
                total += value[tree.apply(part)]
        found /= len(trees)
        return found

    def forest(self) -> Forest:
        trees = [_tree(estimator.tree_, len(self.grown.estimators_)) for estimator in self.grown.estimators_]
        return Forest(FlatTrees.of(trees))


def grow(rows: FloatArray, y: npt.NDArray[Any], weight: Array, *, seed: int) -> GrownForest:
    """A forest of rows with labels of both classes."""
    from sklearn.ensemble import ExtraTreesClassifier

    grown = ExtraTreesClassifier(TREES, bootstrap=True, random_state=seed)
    grown.fit(rows, y, sample_weight=weight)
    return GrownForest(grown, _held(grown, rows))


def _held(grown: ExtraTreesClassifier, rows: FloatArray) -> Array:
    """Mean p of each row over the trees whose bootstrap left it out; of all trees where none did."""
    trees = [tree.tree_ for tree in grown.estimators_]
    each = np.stack([tree.value[tree.apply(rows), 0, 1] for tree in trees])  # (T, n)
    left_out = np.ones(each.shape, dtype=bool)
    for t, drawn in enumerate(grown.estimators_samples_):
        left_out[t, drawn] = False
    left_out[:, ~left_out.any(axis=0)] = True
    return np.asarray((each * left_out).sum(axis=0) / left_out.sum(axis=0))


def _tree(tree: Any, trees: int) -> Tree:
    """A tree of scikit-learn's, its values divided by the number of trees."""
    value = tree.value[:, 0, 1] / np.maximum(tree.value[:, 0, :].sum(axis=1), 1e-12) / trees
    return Tree(
        tree.children_left,
        tree.children_right,
        np.maximum(tree.feature, 0),
        _just_above(tree.threshold),
        value,
        np.zeros(len(value), dtype=bool),
    )


def _just_above(threshold: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The least float32 t with x < t wherever a float32 x is at most the threshold."""
    near = threshold.astype(np.float32)
    near = np.where(near > threshold, np.nextafter(near, np.float32(-np.inf)), near)
    return np.asarray(np.nextafter(near, np.float32(np.inf)), dtype=np.float32)
