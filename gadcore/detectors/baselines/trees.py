"""``xgb-graph``: gradient-boosted trees on [X, ÂX, Â²X], strong where attributes are few and dense.

Saved: booster.json (boosters.py); model.safetensors: scores (N,) and, where known, out_of_fold (N,).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.accounts import Share
from gadcore.detectors.arrays import SavedModel, check_columns, propagate
from gadcore.detectors.base import BOTH, Detector, Given, Reporter
from gadcore.detectors.boosters import SETTINGS, BoostedTrees, as_matrix, stacked
from gadcore.detectors.held_out import fold_auc, label_folds, spread_out, usable
from gadcore.detectors.logistic import balanced
from gadcore.errors import ModelError
from gadcore.graph import Features, FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

if TYPE_CHECKING:
    import xgboost

FILE, EARLIER_FILE = "booster.json", "booster.ubj"
CHUNK = 4096  # rows scored at once: the stacked attributes are never held for all nodes
CHECK_EVERY = 20  # rounds between looks at the validation AUC


@dataclass(eq=False, repr=False)
class XgbGraph(Detector):
    """Boosted trees on attributes and their one- and two-hop averages."""

    name: ClassVar[str] = "xgb-graph"
    needs: ClassVar[str] = BOTH

    seed: int = 0
    hops: int = 2
    rounds: int = 200
    depth: int = 4
    learning_rate: float = 0.05
    columns: float = 0.5
    rows: float = 0.8
    folds: int = 5
    threads: int = 1
    trees_: BoostedTrees = field(init=False)

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = self.check_labels(labels)
        powers = propagate(graph, self.hops)
        nodes, y, weight = labels.indices, labels.targets, labels.weights
        sparse = any(sp.issparse(z) for z in powers)
        rows = stacked(powers, nodes, sparse)
        held: Callable[[xgboost.Booster], float] | None = None
        if usable(given.validation):
            truth, matrix = (
                given.validation.targets,
                as_matrix(stacked(powers, given.validation.indices, sparse)),
            )
            held = lambda booster: auc(truth, booster.predict(matrix, output_margin=True))  # noqa: E731
        fold = label_folds(y, self.folds, self.seed) if held is None else None
        n_folds = 0 if fold is None else int(fold.max()) + 1
        report = Reporter(given.on_epoch, self.rounds * (1 + n_folds) // CHECK_EVERY)
        self.auc_, self.out_of_fold_ = None, None
        if fold is not None:
            out = np.empty(len(y))
            for f in range(n_folds):
                rest = fold != f
                booster = self._boost(rows[rest], y[rest], balanced(y[rest], weight[rest]), None, report)[0]
                out[~rest] = BoostedTrees(self.hops, sparse, booster=booster).margins(rows[~rest])
            self.auc_ = fold_auc(y, out, fold)
            self.out_of_fold_ = spread_out(graph.n_nodes, nodes, out)
        booster, best = self._boost(rows, y, balanced(y, weight), held, report)
        self.trees_ = BoostedTrees(self.hops, sparse, booster=booster)
        self.auc_ = best if held is not None else self.auc_
        self.scores_ = self._score(powers)
        self.history_ = report.history

    def score_new(self, graph: Graph) -> FloatArray:
        check_columns(self.trees_.booster.num_features() // (self.hops + 1), graph.n_features)
        return self._score(propagate(graph, self.hops))

    def _boost(
        self,
        rows: Features,
        y: npt.NDArray[Any],
        weight: npt.NDArray[Any],
        held: Callable[[xgboost.Booster], float] | None,
        report: Reporter,
    ) -> tuple[xgboost.Booster, float | None]:
        """Boost in blocks of rounds; with validation the block with the best AUC is kept."""
        import xgboost

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
            value = None if held is None else held(booster)
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
            self.trees_.margins(stacked(powers, np.arange(a, min(a + CHUNK, n)), self.trees_.sparse))
            for a in range(0, n, CHUNK)
        ]
        return np.concatenate(parts)

    def _write(self, saved: SavedModel) -> None:
        (saved.folder / FILE).write_bytes(self.trees_.source)
        saved.state.update(sparse=self.trees_.sparse, booster=FILE)

    def _read(self, saved: SavedModel) -> None:
        self.trees_ = _read_trees(saved)


def shares(saved: SavedModel) -> list[Share]:
    """The score of a saved model is the margin of its trees."""
    return [Share(_read_trees(saved), 1.0, saved.arrays["scores"])]


def _read_trees(saved: SavedModel) -> BoostedTrees:
    path = saved.folder / saved.state.get("booster", EARLIER_FILE)
    return BoostedTrees.read(path, saved.state["params"]["hops"], sparse=saved.state["sparse"])
