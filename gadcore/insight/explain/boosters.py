"""Accounts of boosted trees, read from xgboost's own file (.ubj, universal binary JSON) without xgboost.

The value of an inner node is the mean of its leaves, weighted by cover. Going down a tree, the change of
value at a split is what the split's column adds; changes, roots and the start add up to the margin.
Columns are [X, ÂX, …]: what ÂʰX adds is shared among the nodes by their part r_u x_ud of the average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import ModelError
from gadcore.insight.explain.accounts import Account, dense_row
from gadcore.insight.explain.view import Array, Variants

_NUMBERS = {b"i": "i1", b"U": "u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_CONSTANTS = {b"T": True, b"F": False, b"Z": None}


@dataclass(frozen=True)
class Trees:
    """All trees as flat arrays; leaves point to themselves."""

    roots: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    column: npt.NDArray[np.int64]
    threshold: npt.NDArray[np.float32]
    missing_left: npt.NDArray[np.bool_]
    value: Array  # leaf value, or the mean below
    depth: int
    hops: int
    start: float = 0.0  # margin before the first tree
    sparse: bool = False  # absent attributes were missing in training, not 0

    def raw(self, variants: Variants) -> Array:
        return self._down(self._stacked(variants))[0] + self.start

    def account(self, variants: Variants) -> Account:
        stacked = self._stacked(variants)[:1]
        margin, added = self._down(stacked)
        graph, node = variants.view.graph, variants.node
        d = graph.n_features
        own, nodes = added[:d].copy(), np.zeros(graph.n_nodes)
        for hop in range(1, self.hops + 1):
            row = variants.rows(hop)[:, 0].astype(np.float64)
            part, z = added[hop * d : (hop + 1) * d], variants.z(hop)[0]
            rate = np.divide(part, z, out=np.zeros(d), where=z != 0)
            own += np.where(z == 0, part, row[node] * dense_row(graph.x, node) * rate)
            reached = np.flatnonzero(row)
            nodes[reached] += row[reached] * np.asarray(graph.x[reached] @ rate).ravel()
        nodes[node] = 0.0
        return Account(own, nodes, float(margin[0] - added.sum() + self.start))

    def _stacked(self, variants: Variants) -> npt.NDArray[np.float32]:
        rows = np.hstack([variants.z(hop) for hop in range(self.hops + 1)]).astype(np.float32)
        # Thresholds are values of training nodes: one bit more or less would lead down another way.
        rows[0] = np.concatenate([variants.as_trained(hop) for hop in range(self.hops + 1)])
        return np.where(rows == 0, np.nan, rows) if self.sparse else rows

    def _down(self, rows: npt.NDArray[np.float32]) -> tuple[Array, Array]:
        """Margins (B,) without the start value, and what each column added in the first row."""
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


def read_trees(path: Path, hops: int, *, sparse: bool = False) -> Trees:
    """Trees of a booster file; ModelError when it cannot be read."""
    try:
        document = _Reader(path.read_bytes()).value()
        learner = document["learner"]
        start = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
        flat = _flat(learner["gradient_booster"]["model"]["trees"], hops)
        return replace(flat, start=float(np.log(start / (1 - start))), sparse=sparse)
    except (OSError, KeyError, TypeError, ValueError, IndexError) as error:
        raise ModelError(f"{path} cannot be read ({error!r}). Expected: trees saved by xgboost.") from error


def _flat(trees: list[dict[str, Any]], hops: int) -> Trees:
    parts: dict[str, list[npt.NDArray[Any]]] = {
        key: [] for key in ("left", "right", "column", "threshold", "missing", "value")
    }
    roots, offset, depth = [], 0, 0
    for tree in trees:
        left, right = np.asarray(tree["left_children"]), np.asarray(tree["right_children"])
        leaf = left < 0
        own = np.arange(len(left))
        value, below = _means(
            left, right, np.asarray(tree["split_conditions"]), np.asarray(tree["sum_hessian"])
        )
        parts["left"].append(np.where(leaf, own, left) + offset)
        parts["right"].append(np.where(leaf, own, right) + offset)
        parts["column"].append(np.asarray(tree["split_indices"]))
        parts["threshold"].append(np.asarray(tree["split_conditions"]))
        parts["missing"].append(np.asarray(tree["default_left"]).astype(bool))
        parts["value"].append(value)
        roots.append(offset)
        offset += len(left)
        depth = max(depth, below)
    flat = {key: np.concatenate(arrays) for key, arrays in parts.items()}
    return Trees(
        np.array(roots, dtype=np.int64),
        flat["left"].astype(np.int64),
        flat["right"].astype(np.int64),
        flat["column"].astype(np.int64),
        flat["threshold"].astype(np.float32),
        flat["missing"],
        flat["value"].astype(np.float64),
        depth,
        hops,
    )


def _means(
    left: npt.NDArray[Any], right: npt.NDArray[Any], leaf_value: npt.NDArray[Any], cover: npt.NDArray[Any]
) -> tuple[Array, int]:
    """Values of all nodes, and the depth. Children come after their parent in the file."""
    value = leaf_value.astype(np.float64)
    below = np.zeros(len(left), dtype=np.int64)
    for i in range(len(left) - 1, -1, -1):
        if left[i] >= 0:
            a, b = left[i], right[i]
            total = cover[a] + cover[b]
            value[i] = (value[a] * cover[a] + value[b] * cover[b]) / total if total > 0 else 0.0
            below[i] = 1 + max(below[a], below[b])
    return value, int(below[0])


class _Reader:
    """The part of universal binary JSON that xgboost writes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def value(self, kind: bytes | None = None) -> Any:
        kind = self._take(1) if kind is None else kind
        if kind in _NUMBERS:
            return self._numbers(kind, 1)[0].item()
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind in (b"S", b"C"):
            return self._text() if kind == b"S" else self._take(1).decode()
        if kind == b"[":
            return self._array()
        if kind == b"{":
            return self._object()
        raise TypeError(f"unknown mark {kind!r} at byte {self.at}")

    def _take(self, n: int) -> bytes:
        if self.at + n > len(self.data):
            raise IndexError("the file ends early")
        self.at += n
        return self.data[self.at - n : self.at]

    def _numbers(self, kind: bytes, count: int) -> npt.NDArray[Any]:
        form = np.dtype(_NUMBERS[kind])
        return np.frombuffer(self._take(count * form.itemsize), dtype=form)

    def _text(self) -> str:
        return self._take(int(self.value())).decode()

    def _head(self) -> tuple[bytes | None, int | None]:
        """Type and count that may stand before the items of an array or object."""
        kind, count = None, None
        if self.data[self.at : self.at + 1] == b"$":
            self._take(1)
            kind = self._take(1)
        if self.data[self.at : self.at + 1] == b"#":
            self._take(1)
            count = int(self.value())
        return kind, count

    def _array(self) -> Any:
        kind, count = self._head()
        if kind is not None and kind in _NUMBERS and count is not None:
            return self._numbers(kind, count)
        items: list[Any] = []
        while len(items) != count and not (count is None and self._ends(b"]")):
            items.append(self.value(kind))
        return items

    def _object(self) -> dict[str, Any]:
        kind, count = self._head()
        found: dict[str, Any] = {}
        read = 0
        while read != count and not (count is None and self._ends(b"}")):
            key = self._text()
            found[key] = self.value(kind)
            read += 1
        return found

    def _ends(self, mark: bytes) -> bool:
        if self.data[self.at : self.at + 1] != mark:
            return False
        self.at += 1
        return True
