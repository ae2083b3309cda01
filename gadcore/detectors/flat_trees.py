"""Grown trees as flat arrays: numpy walks them, scores rows and says what each column added.

The value of an inner node is the mean of its leaves, weighted by cover. Going down a tree, the change of
value at a split is what the split's column adds; changes, roots and the start add up to the score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class Tree(NamedTuple):
    """One tree by its nodes, children after their parent; ``left`` and ``right`` are below 0 for a leaf."""

    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    column: npt.NDArray[Any]
    threshold: npt.NDArray[np.float32]  # smaller values go left
    value: Array  # of a leaf, or the mean below
    missing_left: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class FlatTrees:
    """All trees as arrays of their nodes, one tree after the other; leaves point to themselves."""

    roots: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float32]
    value: Array  # leaf value, or the mean below
    missing_left: npt.NDArray[np.bool_]
    depth: int
    start: float = 0.0  # score before the first tree

    @classmethod
    def of(cls, trees: Sequence[Tree], start: float = 0.0) -> Self:
        roots = np.cumsum([0, *(len(tree.left) for tree in trees[:-1])])
        parts = [tree._replace(left=_from(tree.left, root), right=_from(tree.right, root))
                 for tree, root in zip(trees, roots)]  # fmt: skip
        joined = Tree(*map(np.concatenate, zip(*parts)))
        return cls(np.asarray(roots), *joined, max(map(_depth, trees)), start)

    def down(self, rows: npt.NDArray[np.float32]) -> tuple[Array, Array]:
        """Scores (B,) without the start value, and what each column added in the first row."""
        place = np.repeat(self.roots[None, :], len(rows), axis=0)
        added = np.zeros(rows.shape[1])
        line = np.arange(len(rows))[:, None]
        for _ in range(self.depth):
            column = self.column[place]
            value = rows[line, column]
            goes_left = np.where(np.isnan(value), self.missing_left[place], value < self.threshold[place])
            below = np.where(goes_left, self.left[place], self.right[place])
            np.add.at(added, column[0], self.value[below[0]] - self.value[place[0]])
            place = below
        return self.value[place].sum(axis=1), added


def means(
    left: npt.NDArray[Any], right: npt.NDArray[Any], leaf_value: npt.NDArray[Any], cover: npt.NDArray[Any]
) -> Array:
    """Values of all nodes of a tree from those of its leaves."""
    value = leaf_value.astype(np.float64)
    for i in range(len(left) - 1, -1, -1):
        if left[i] >= 0:
            a, b = left[i], right[i]
            total = cover[a] + cover[b]
            value[i] = (value[a] * cover[a] + value[b] * cover[b]) / total if total > 0 else 0.0
    return value


def _from(children: npt.NDArray[Any], root: int) -> npt.NDArray[Any]:
    """Children as places among all nodes; those of a leaf are the leaf itself."""
    return np.where(children < 0, np.arange(len(children)), children) + root


def _depth(tree: Tree) -> int:
    below = np.zeros(len(tree.left), dtype=np.int64)
    for i in range(len(below) - 1, -1, -1):
        if tree.left[i] >= 0:
            below[i] = 1 + max(below[tree.left[i]], below[tree.right[i]])
    return int(below[0])
