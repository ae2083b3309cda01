"""Training: one run to its result.

    graph and labels → fit (warm from the run in use where that is sound) → artefacts → in use

Labels are never touched.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from inspect import signature

import numpy as np

from gadcore import __version__
from gadcore.detectors import detector_class, load_detector, make_detector
from gadcore.detectors.base import Detector, Progress
from gadcore.errors import ModelError, RunError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.jobs.kind import Job, Kind
from gadcore.jobs.layout import draw
from gadcore.loop.calibrate import probabilities
from gadcore.loop.order import Scored, work_out
from gadcore.loop.strategies import diversity_basis
from gadcore.records import RunInfo
from gadcore.store import Offer
from gadcore.store.artefacts import arrays_of, versions, write_array, write_run


class TrainKind(Kind):
    """A training run; it has the id of its job, and it ends its job itself."""

    name = "train"
    work = "training"
    lane = "train"
    first = True
    lighter = "Use a smaller width or K, or a machine with more memory."

    def do(self, job: Job) -> None:
        _Fit(job, job.store.runs.get(job.id)).carry_out()


@dataclass
class _Fit:
    job: Job
    info: RunInfo

    def __post_init__(self) -> None:
        self.store, self.settings, self.memory = self.job.store, self.job.settings, self.job.memory

    def carry_out(self) -> None:
        self.job.pulse.tell(stage="loading")
        graph, labels = self._inputs()
        warm = self._warm_start(graph, labels)
        detector = self._detector()
        detector.fit(graph, labels, on_epoch=self._on_epoch, warm_start=warm[1] if warm else None)
        self.job.stop_if_asked()
        self._keep(graph, labels, detector, warm[0] if warm else None)

    def _on_epoch(self, progress: Progress) -> bool:
        """Report an epoch; True when the run was asked to stop."""
        told = asdict(progress) | {"loss": finite(progress.loss), "auc": finite(progress.auc)}
        self.job.pulse.tell(told, **{key: told[key] for key in told if key != "auc" or told[key] is not None})
        self.job.listen(progress)
        return self.job.pulse.stopping

    def _inputs(self) -> tuple[Graph, Labels]:
        project = self.info.project
        folder = self.job.graph_folder
        graph = self.memory.graphs.get(self.info.graph_fingerprint, lambda: Graph.load(folder))
        labels = self.store.events(project).view().labels(graph)
        self.store.runs.snapshot(self.info.id, labels, labels.hash(graph))
        return graph, labels

    def _detector(self) -> Detector:
        known = signature(detector_class(self.info.model)).parameters
        device = self.settings.device if self.info.device == "auto" else self.info.device
        given = {"seed": self.info.seed, "device": device, "threads": self.settings.threads}
        params = {key: value for key, value in given.items() if key in known} | self.info.params
        try:
            return make_detector(self.info.model, **params)
        except (TypeError, ValueError) as error:
            raise ModelError(
                f"The model {self.info.model!r} cannot be made with {params}: {error}."
            ) from error

    def _warm_start(self, graph: Graph, labels: Labels) -> tuple[RunInfo, Detector] | None:
        """The run in use and its model, when starting from it leaves no trace of what no longer holds."""
        used = self.store.projects.run_in_use(self.info.project)
        if used is None or not self.job.payload["warm"]:
            return None
        before = self.store.runs.get(used)
        same = ("model", "params", "seed", "graph_fingerprint")
        if any(getattr(before, key) != getattr(self.info, key) for key in same) or not before.basis:
            return None
        result = self.job.result_of(before.id)
        if not result.labels.items() <= label_words(graph, labels).items():
            return None  # a label was taken back or reversed: begin anew
        return before, self.memory.models.get(before.id, lambda: load_detector(result.model_folder))

    def _keep(self, graph: Graph, labels: Labels, detector: Detector, warm: RunInfo | None) -> None:
        info = self.info
        self.job.pulse.tell(stage="writing")
        arrays = arrays_of(detector)
        if detector.embedding_ is not None:
            arrays["layout_pca"] = draw(self.store, info, "pca", detector.embedding_)
        arrays["probability"], reason = probabilities(detector.scores_, detector.out_of_fold_, labels)
        device = _device_of(detector)
        used = {"ringfence": __version__, **versions()}
        outcome = {"basis": detector.basis_, "versions": used, "device": device}
        document = {
            "run": info.id,
            "number": info.number,
            "model": info.model,
            "params": detector.get_params(),
            "auc": detector.auc_,
            "warm_start": warm.id if warm else None,
            "probability_reason": reason,
            "graph_fingerprint": graph.fingerprint,
            "label_hash": labels.hash(graph),
            **outcome,
        }
        documents = {
            "result": document,
            "labels": label_words(graph, labels),
            "label_weights": {str(graph.node_ids[node]): each for node, each in labels.weight.items()},
            "history": detector.history_,
        }
        folder = self.store.folders.run(info.project, info.id)
        write_run(folder, detector, arrays, documents)
        so_far = {"auc": detector.auc_, "stage": "done"}
        if detector.history_:
            last = detector.history_[-1]
            so_far |= {"epoch": last.epoch, "epochs": last.epochs, "loss": finite(last.loss)}
        plan = self._first_cases(graph, detector)
        with self.store.database.writing():
            ended = self.store.runs.finish(info.id, so_far, **outcome)
            if ended:
                plan()
        if not ended:
            shutil.rmtree(folder, ignore_errors=True)  # deleted or given up meanwhile: leave no trace
            raise RunError(f"Run {info.number} was given up by another process before it ended.")
        self.memory.models.get(info.id, lambda: detector)

    def _first_cases(self, graph: Graph, detector: Detector) -> Callable[[], bool]:
        """Work out the first cases, so that no page waits for them; what is returned keeps them."""
        info, store = self.info, self.store
        choice = store.projects.choice(info.project)
        view = store.events(info.project).view()  # verdicts given during the run too
        queries = work_out(
            graph,
            Scored(info.id, info.seed, detector.basis_, detector.scores_, detector.embedding_),
            view.labels(graph),
            view.current.values(),
            choice,
            directions=self._directions(graph),
            moment=view.last_id,
        )
        order = [
            Offer(str(graph.node_ids[q.node]), q.strategy, q.reason, q.inclusion_probability, q.drawn_after)
            for q in queries
        ]
        return partial(store.offers.plan, info.project, info.id, choice.key, order, moment=view.last_id)

    def _directions(self, graph: Graph) -> FloatArray:
        """The basis of the graph for diverse queries, worked out and kept at the first run."""
        path = self.store.folders.basis(self.info.project)
        if not path.exists():
            write_array(path, diversity_basis(graph), self.job.id)
        found: FloatArray = np.load(path, allow_pickle=False)
        return found


def _device_of(detector: Detector) -> str:
    """Where a fitted detector has worked."""
    asked = str(detector.get_params().get("device", "cpu"))
    if asked != "auto":
        return asked
    if "torch" not in sys.modules:
        return "cpu"
    from gadcore.detectors.nn.devices import pick_device

    return str(pick_device(asked))


def label_words(graph: Graph, labels: Labels) -> dict[str, str]:
    """Node id -> "normal" or "anomalous": what a model can learn from."""
    parts = (("normal", labels.normal), ("anomalous", labels.anomalous))
    return {str(graph.node_ids[node]): word for word, nodes in parts for node in nodes}


def finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
