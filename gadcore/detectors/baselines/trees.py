"""``xgb-graph``: gradient-boosted trees on [X, ÂX, Â²X], strong where attributes are few and dense.

Saved: booster.ubj (xgboost's own format); model.safetensors: scores (N,) and, where known, out_of_fold (N,).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import xgboost

from gadcore.detectors.arrays import load_arrays, propagate, save_arrays
from gadcore.detectors.base import BOTH, Detector, OnEpoch
from gadcore.detectors.baselines.linear import spread_out, usable
from gadcore.detectors.held_out import fold_auc, label_folds
from gadcore.detectors.logistic import balanced
from gadcore.detectors.progress import Reporter
from gadcore.errors import ModelError
from gadcore.graph import Features, FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

BOOSTER_FILE = "booster.ubj"
CHUNK = 4096  # rows scored at once: the stacked attributes are never held for all nodes
CHECK_EVERY = 20  # rounds between looks at the validation AUC
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


class XgbGraph(Detector):
    """Boosted trees on attributes and their one- and two-hop averages."""

    name = "xgb-graph"
    needs = BOTH

    def __init__(
        self,
        seed: int = 0,
        hops: int = 2,
        rounds: int = 200,
        depth: int = 4,
        learning_rate: float = 0.05,
        columns: float = 0.5,
        rows: float = 0.8,
        folds: int = 5,
        threads: int = 1,
    ) -> None:
        self.seed = seed
        self.hops = hops
        self.rounds = rounds
        self.depth = depth
        self.learning_rate = learning_rate
        self.columns = columns
        self.rows = rows
        self.folds = folds
        self.threads = threads

    def fit(
        self,
        graph: Graph,
        labels: Labels,
        *,
        validation: Labels | None = None,
        on_epoch: OnEpoch | None = None,
        warm_start: Detector | None = None,
    ) -> Self:
        self.basis_ = self.check_labels(labels)
        powers = propagate(graph, self.hops)
        nodes, y = labels.indices, labels.targets
        weight = labels.weights
        self.sparse_ = any(sp.issparse(z) for z in powers)
        rows = stacked(powers, nodes, self.sparse_)
        held = _Held.make(powers, validation, self.sparse_)
        fold = label_folds(y, self.folds, self.seed) if held is None else None
        n_folds = 0 if fold is None else int(fold.max()) + 1
        report = Reporter(on_epoch, self.rounds * (1 + n_folds) // CHECK_EVERY)
        self.auc_, self.out_of_fold_ = None, None
        if fold is not None:
            out = np.empty(len(y))
            for f in range(n_folds):
                rest = fold != f
                booster = self._boost(rows[rest], y[rest], balanced(y[rest], weight[rest]), None, report)[0]
                out[~rest] = margins(booster, rows[~rest])
            self.auc_ = fold_auc(y, out, fold)
            self.out_of_fold_ = spread_out(graph.n_nodes, nodes, out)
        self.booster_, best = self._boost(rows, y, balanced(y, weight), held, report)
        self.auc_ = best if held is not None else self.auc_
        self.scores_ = self._score(powers)
        self.history_ = report.history
        return self

    def score_new(self, graph: Graph) -> FloatArray:
        powers = propagate(graph, self.hops)
        expected = self.booster_.num_features()
        if expected != graph.n_features * (self.hops + 1):
            raise ModelError(
                f"The model was trained on {expected // (self.hops + 1)} attributes; this graph has "
                f"{graph.n_features}. Read the new nodes with the columns of the first graph, or retrain."
            )
        return self._score(powers)

    def _boost(
        self,
        rows: Features,
        y: npt.NDArray[Any],
        weight: npt.NDArray[Any],
        held: _Held | None,
        report: Reporter,
    ) -> tuple[xgboost.Booster, float | None]:
        """Boost in blocks of rounds; with validation the block with the best AUC is kept."""
        matrix = xgboost.DMatrix(rows, label=y, weight=weight)
        booster, best, best_at = None, -1.0, self.rounds
        for done in range(CHECK_EVERY, self.rounds + 1, CHECK_EVERY):
            seen: dict[str, dict[str, list[float]]] = {}
            booster = xgboost.train(
                self._settings(),
                matrix,
                num_boost_round=CHECK_EVERY,
                xgb_model=booster,
                evals=[(matrix, "train")],
                evals_result=seen,
                verbose_eval=False,
            )
            value = None if held is None else held.auc(booster)
            if value is not None and value > best:
                best, best_at = value, done
            report.step(seen["train"]["logloss"][-1], value)
        if booster is None:
            raise ModelError(f"rounds={self.rounds}. Expected: at least {CHECK_EVERY}.")
        return (booster, None) if held is None else (booster[:best_at], best)

    def _settings(self) -> dict[str, Any]:
        return {
            **SETTINGS,
            "max_depth": self.depth,
            "eta": self.learning_rate,
            "colsample_bytree": self.columns,
            "subsample": self.rows,
            "seed": self.seed,
            "nthread": self.threads,
        }

    def _score(self, powers: Sequence[Features]) -> FloatArray:
        n = powers[0].shape[0]
        parts = [
            margins(self.booster_, stacked(powers, np.arange(a, min(a + CHUNK, n)), self.sparse_))
            for a in range(0, n, CHUNK)
        ]
        return np.concatenate(parts)

    def _write(self, folder: Path) -> dict[str, Any]:
        self.booster_.save_model(folder / BOOSTER_FILE)
        arrays = {"scores": self.scores_}
        if self.out_of_fold_ is not None:
            arrays["out_of_fold"] = self.out_of_fold_
        save_arrays(folder, arrays)
        return {"sparse": self.sparse_, "auc": self.auc_, "basis": self.basis_}

    def _read(self, folder: Path, state: dict[str, Any]) -> None:
        arrays = load_arrays(folder)
        self.booster_ = read_booster(folder / BOOSTER_FILE)
        self.scores_, self.out_of_fold_ = arrays["scores"], arrays.get("out_of_fold")
        self.sparse_, self.auc_, self.basis_ = state["sparse"], state["auc"], state["basis"]
        self.history_ = []


class _Held:
    """Validation rows and their truth."""

    def __init__(self, matrix: xgboost.DMatrix, y: npt.NDArray[Any]) -> None:
        self.matrix, self.y = matrix, y

    @classmethod
    def make(cls, powers: Sequence[Features], validation: Labels | None, sparse: bool) -> _Held | None:
        if not usable(validation):
            return None
        return cls(xgboost.DMatrix(stacked(powers, validation.indices, sparse)), validation.targets)

    def auc(self, booster: xgboost.Booster) -> float:
        return auc(self.y, booster.predict(self.matrix, output_margin=True))


def stacked(powers: Sequence[Features], nodes: IntArray, sparse: bool) -> Features:
    """Rows of [X, ÂX, …] side by side; kept sparse or dense as in training, since absent means missing."""
    if sparse:
        return sp.hstack([sp.csr_array(z[nodes]) for z in powers], format="csr")
    return np.hstack([np.asarray(z[nodes].toarray() if sp.issparse(z) else z[nodes]) for z in powers])


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
    matrix = xgboost.DMatrix(rows, label=y, weight=weight)
    settings = {**SETTINGS, "eta": learning_rate, "colsample_bytree": columns, "seed": seed}
    return xgboost.train(settings, matrix, num_boost_round=rounds)


def as_matrix(rows: Features) -> xgboost.DMatrix:
    """Rows as xgboost reads them, for several boosters to score."""
    return xgboost.DMatrix(rows)


def margins(booster: xgboost.Booster, rows: Features | xgboost.DMatrix) -> FloatArray:
    """Log-odds of each row."""
    matrix = rows if isinstance(rows, xgboost.DMatrix) else as_matrix(rows)
    return np.asarray(booster.predict(matrix, output_margin=True), dtype=np.float32)


def read_booster(path: Path) -> xgboost.Booster:
    """A booster from xgboost's own format; ModelError when it is missing or damaged."""
    try:
        return xgboost.Booster(model_file=path)
    except (OSError, xgboost.core.XGBoostError) as error:
        raise ModelError(f"{path} cannot be read ({error}). Train the model again.") from error
