"""Boosted trees on [X, ÂX, …]: xgboost fits and scores, numpy says why.

What the columns add to a margin is told by flat_trees.py. Columns are [X, ÂX, …]: what ÂʰX adds is shared
among the nodes by their part r_u x_ud of the average.

Saved as xgboost's JSON, which explanations read without xgboost. Earlier versions wrote .ubj, which xgboost
turns into JSON. Two sets of trees on amazon_fraud: 89 and 98 kB of JSON, 105 and 111 kB as .ubj.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.accounts import Account, Accountable, dense_row
from gadcore.detectors.arrays import dense
from gadcore.detectors.flat_trees import FlatTrees, Tree, means
from gadcore.detectors.surroundings import Array, Variants
from gadcore.errors import ModelError
from gadcore.graph import Features, FloatArray, IntArray

if TYPE_CHECKING:
    import xgboost

SETTINGS: dict[str, Any] = {
    "objective": "binary:logistic",
    "eval_metric": "logloss",
    "max_depth": 4,
    "colsample_bytree": 0.5,
    "subsample": 0.8,
    "tree_method": "hist",
    "nthread": 1,
    "verbosity": 0,
}


class BoostedTrees(Accountable):
    """Fitted trees, from xgboost's booster or from its JSON; the other is made when it is needed."""

    def __init__(
        self, hops: int, sparse: bool, *, booster: xgboost.Booster | None = None, source: bytes = b""
    ) -> None:
        self.hops, self.sparse = hops, sparse  # sparse: absent attributes are missing, not 0
        self.__dict__ |= {"booster": booster} if booster is not None else {"source": source}

    @classmethod
    def read(cls, path: Path, hops: int, *, sparse: bool) -> Self:
        """Trees of a saved model; ModelError when the file is missing or damaged."""
        try:
            if path.suffix == ".ubj":
                return cls(hops, sparse, booster=_booster(path))
            found = cls(hops, sparse, source=path.read_bytes())
            _ = found.flat
        except (OSError, KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(
                f"{path} cannot be read ({error!r}). Expected: trees saved by xgboost. Train the model again."
            ) from error
        return found

    @cached_property
    def booster(self) -> xgboost.Booster:
        return _booster(bytearray(self.source))

    @cached_property
    def source(self) -> bytes:
        """xgboost's JSON."""
        return bytes(self.booster.save_raw("json"))

    @cached_property
    def flat(self) -> FlatTrees:
        """The trees as arrays."""
        learner = json.loads(self.source)["learner"]
        start = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
        trees = learner["gradient_booster"]["model"]["trees"]
        return FlatTrees.of([_tree(tree) for tree in trees], float(np.log(start / (1 - start))))

    def margins(self, rows: Features | xgboost.DMatrix) -> FloatArray:
        """Log-odds of each row."""
        matrix = as_matrix(rows) if isinstance(rows, np.ndarray) or sp.issparse(rows) else rows
        return np.asarray(self.booster.predict(matrix, output_margin=True), dtype=np.float32)

    def raw(self, variants: Variants) -> Array:
        return self.flat.down(self._stacked(variants))[0] + self.flat.start

    def account(self, variants: Variants) -> Account:
        margin, added = self.flat.down(self._stacked(variants)[:1])
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
        return Account(own, nodes, float(margin[0] - added.sum() + self.flat.start))

    def _stacked(self, variants: Variants) -> npt.NDArray[np.float32]:
        rows = np.hstack([variants.z(hop) for hop in range(self.hops + 1)]).astype(np.float32)
        # Thresholds are values of training nodes: one bit more or less would lead down another way.
        rows[0] = np.concatenate([variants.as_trained(hop) for hop in range(self.hops + 1)])
        return np.where(rows == 0, np.nan, rows) if self.sparse else rows


def _tree(tree: dict[str, Any]) -> Tree:
    """A tree of xgboost's JSON."""
    left, right = (np.asarray(tree[f"{side}_children"]) for side in ("left", "right"))
    threshold = np.asarray(tree["split_conditions"], dtype=np.float32)  # JSON has its decimals
    cover = np.asarray(tree["sum_hessian"], dtype=np.float32)
    column, missing = np.asarray(tree["split_indices"]), np.asarray(tree["default_left"]).astype(bool)
    return Tree(left, right, column, threshold, means(left, right, threshold, cover), missing)


def stacked(powers: Sequence[Features], nodes: IntArray | slice, sparse: bool) -> Features:
    """Rows of [X, ÂX, …] side by side; kept sparse or dense as in training, since absent means missing."""
    if sparse:
        return sp.hstack([sp.csr_array(z[nodes]) for z in powers], format="csr")
    return np.hstack([dense(z[nodes]) for z in powers])


def boosted(
    rows: Features,
    y: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    *,
    seed: int,
    rounds: int,
    learning_rate: float,
    columns: float = 0.5,
) -> xgboost.Booster:
    """Trees with the default settings and a fixed number of rounds."""
    import xgboost

    matrix = xgboost.DMatrix(rows, label=y, weight=weight)
    settings = {**SETTINGS, "eta": learning_rate, "colsample_bytree": columns, "seed": seed}
    return xgboost.train(settings, matrix, num_boost_round=rounds)


def as_matrix(rows: Features) -> xgboost.DMatrix:
    """Rows as xgboost reads them, for several boosters to score."""
    import xgboost

    return xgboost.DMatrix(rows)


def _booster(source: Path | bytearray) -> xgboost.Booster:
    import xgboost

    return xgboost.Booster(model_file=source)
