"""A detector for tests of runs and workers: instant, without torch, and able to fail in every way."""

from __future__ import annotations

import sys
import time
from types import ModuleType, SimpleNamespace

import numpy as np

from gadcore.detectors import REGISTRY, Entry
from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import NO_LABELS, Detector, Given, Progress
from gadcore.detectors.specs import DEVICE, PARAMETERS, SEED, Parameter
from gadcore.errors import Cancelled, ModelError
from gadcore.graph import Graph, Truth
from gadcore.graph.labels import Labels

EPOCHS = 4


class Probe(Detector):
    """Scores = degree, anomalous labels on top, normal ones below; ``mode`` decides how a fit ends.

    ``auc`` is what it says of itself; with a poor one it ranks labels that are held out the wrong way round.
    well · error (GadError) · defect (KeyError) · memory (MemoryError) · forever (until it is asked to stop)
    """

    name = "probe"
    needs = NO_LABELS

    def __init__(
        self,
        seed: int = 0,
        device: str = "cpu",
        mode: str = "well",
        plain: bool = False,
        auc: float = 0.875,
    ) -> None:
        self.seed, self.device, self.mode, self.plain, self.auc = seed, device, mode, plain, auc

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.warm_from_ = given.warm_start
        self.basis_ = self.check_labels(labels)
        self.history_ = []
        epoch = 0
        while epoch < EPOCHS or self.mode == "forever":
            epoch += 1
            progress = Progress(epoch, EPOCHS, 1.0 / epoch, 0.5 if epoch == EPOCHS else None)
            self.history_.append(progress)
            if given.on_epoch is not None and given.on_epoch(progress):
                raise Cancelled(f"Stopped on request after epoch {epoch}.")
            self._fail()
        self._answer(graph, labels)

    def _fail(self) -> None:
        if self.mode == "error":
            raise ModelError("The probe was told to fail. Choose another mode.")
        if self.mode == "defect":
            raise KeyError("probe")
        if self.mode == "memory":
            raise MemoryError
        if self.mode == "forever":
            time.sleep(0.005)

    def _answer(self, graph: Graph, labels: Labels) -> None:
        rng = np.random.default_rng(self.seed)
        scores = graph.degree / max(1.0, float(graph.degree.max()))
        scores[labels.anomalous] += 2
        scores[labels.normal] -= 2
        self.scores_ = (scores + rng.normal(0, 1e-3, len(scores))).astype(np.float32)
        self.auc_ = self.auc
        if not self.plain:
            self.embedding_ = rng.normal(0, 1, (len(scores), 4)).astype(np.float32)
            self.centre_ = np.zeros(4, dtype=np.float32)
            self.spread_ = np.abs(self.scores_)
            self.out_of_fold_ = np.full(len(scores), np.nan, dtype=np.float32)
            own = self.scores_[labels.indices]
            self.out_of_fold_[labels.indices] = own if self.auc > 0.7 else -own

    def score_new(self, graph: Graph):
        return graph.degree.astype(np.float32)

    def _write(self, saved: SavedModel) -> None:
        """There is nothing beside the scores."""

    def _read(self, saved: SavedModel) -> None:
        """There is nothing beside the scores."""


def register() -> None:
    """Make ``probe`` a model that ``make_detector`` knows, in this process."""
    module = ModuleType("gadcore.detectors.probe")
    module.Probe = Probe
    sys.modules[module.__name__] = module
    PARAMETERS["probe"] = (
        *(SEED, DEVICE),
        Parameter("mode", "well", options=("well", "error", "defect", "memory", "forever")),
        Parameter("plain", False),
        Parameter("auc", 0.875),
    )
    REGISTRY["probe"] = Entry("probe", "probe:Probe", NO_LABELS, "Probe (tests)")


def unregister() -> None:
    REGISTRY.pop("probe", None)
    PARAMETERS.pop("probe", None)
    sys.modules.pop("gadcore.detectors.probe", None)


def reading(graph: Graph, y: np.ndarray | None = None) -> SimpleNamespace:
    """What ``Workspace.create`` needs of a Reading."""
    return SimpleNamespace(graph=graph, report={"notes": []}, truth=None if y is None else Truth(y))
