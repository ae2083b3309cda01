"""``sgc-lr``: class-balanced logistic regression on ÂᵏX, k and C chosen on validation or out of fold.

    f(v) = Σ_d w_d z_vd + b,    z_v = x⁽ᵏ⁾_v / ||x⁽ᵏ⁾_v||₂ (unit rows)  or  x⁽ᵏ⁾_v,    X⁽ᵏ⁾ = ÂᵏX

The score is a sum over attributes, and through Âᵏ a sum over neighbours, so that an explanation is exact.

Saved: detector.json holds {"hops": k, "unit": bool, "intercept": b, "strength": C}; model.safetensors holds
    coefficient   (D,) float32   w
    scores        (N,) float32   f of every node of the training graph
    out_of_fold   (N,) float32   on the scale of scores, nan where unlabelled; absent when labels were too few
                                 or validation was given
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gadcore.detectors.accounts import Share
from gadcore.detectors.arrays import SavedModel, propagate
from gadcore.detectors.base import BOTH, Detector, Given, Reporter
from gadcore.detectors.heads import FeatureTable, FittedHead, Head, HeadTask, fit_head, score_heads
from gadcore.detectors.held_out import label_folds, on_own_scale
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels


@dataclass(eq=False, repr=False)
class SgcLr(Detector):
    """Logistic regression on smoothed attributes."""

    name: ClassVar[str] = "sgc-lr"
    needs: ClassVar[str] = BOTH

    seed: int = 0
    max_hops: int = 3
    strengths: Sequence[float] | None = None
    folds: int = 5
    head_: Head = field(init=False)

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = self.check_labels(labels)
        tables = [FeatureTable(z) for z in propagate(graph, self.max_hops)]
        report = Reporter(given.on_epoch, len(tables))
        fold = label_folds(labels.targets, self.folds, self.seed)
        task = HeadTask.make(labels, given.validation, fold, self.strengths)
        found: list[FittedHead] = []
        for hops, table in enumerate(tables):
            found.append(fit_head(task, table, hops))
            report.step(found[-1].loss, _known(found[-1].auc))
        best = choose(found)
        self.head_ = best.head
        self.auc_ = _known(best.auc)
        table = tables[best.head.hops]
        self.scores_ = score_heads([best.head], table)[:, 0]
        self.out_of_fold_ = None
        if task.fold is not None:
            of_folds = score_heads(best.folds, table).T
            self.out_of_fold_ = on_own_scale(self.scores_, of_folds, labels.indices, task.fold)
        self.history_ = report.history

    def score_new(self, graph: Graph) -> FloatArray:
        return self.head_.scores(propagate(graph, self.head_.hops)[-1])

    def _write(self, saved: SavedModel) -> None:
        saved.arrays["coefficient"] = self.head_.coefficient
        saved.state.update(self.head_.state())

    def _read(self, saved: SavedModel) -> None:
        self.head_ = Head.from_state(saved.state, saved.arrays["coefficient"])


def shares(saved: SavedModel) -> list[Share]:
    """The score of a saved model is one linear head."""
    return [Share(Head.from_state(saved.state, saved.arrays["coefficient"]), 1.0, saved.arrays["scores"])]


def choose(found: Sequence[FittedHead]) -> FittedHead:
    """The head with the highest held-out AUC; without one, two hops."""
    quality = [f.auc for f in found]
    if all(np.isnan(q) for q in quality):
        return found[min(2, len(found) - 1)]
    return found[int(np.nanargmax(quality))]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
