"""One training run to its result: ``perform`` in the worker, ``perform_new`` where a process trains itself.

    claim → graph and labels → fit (warm from the run in use where that is sound) → artefacts → in use

Whatever ends it, the row says how: done, cancelled, or failed with the reason. Labels are never touched.
"""

from __future__ import annotations

import shutil
import sys
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from types import TracebackType
from typing import Any, Self, TypeVar

from gadcore import __version__
from gadcore.detectors import detector_class, load_detector, make_detector
from gadcore.detectors.base import Detector
from gadcore.errors import Cancelled, GadError, ModelError, RunError
from gadcore.graph import Graph
from gadcore.graph.labels import Labels
from gadcore.loop.calibrate import probabilities
from gadcore.loop.order import Scored, work_out
from gadcore.records import RunInfo
from gadcore.runs.artefacts import arrays_of, history_of, versions, write_run
from gadcore.runs.geometry import directions, draw
from gadcore.runs.pulse import OnProgress, Pulse, finite
from gadcore.runs.result import Result
from gadcore.settings import Settings
from gadcore.store import FileLock, Offer, Store

KEPT_GRAPHS, KEPT_MODELS = 2, 2

T = TypeVar("T")


@dataclass
class Memory:
    """What a long-lived process keeps between runs: graphs by fingerprint, models by run id."""

    graphs: OrderedDict[str, Graph] = field(default_factory=OrderedDict)
    models: OrderedDict[str, Detector] = field(default_factory=OrderedDict)

    def graph(self, fingerprint: str, load: Callable[[], Graph]) -> Graph:
        return _recall(self.graphs, fingerprint, load, KEPT_GRAPHS)

    def model(self, run_id: str, load: Callable[[], Detector]) -> Detector:
        return _recall(self.models, run_id, load, KEPT_MODELS)


def _recall(kept: OrderedDict[str, T], key: str, load: Callable[[], T], size: int) -> T:
    if key not in kept:
        kept[key] = load()
    kept.move_to_end(key)
    while len(kept) > size:
        kept.popitem(last=False)
    return kept[key]


def perform(
    store: Store,
    settings: Settings,
    run_id: str,
    *,
    memory: Memory | None = None,
    on_progress: OnProgress | None = None,
) -> RunInfo:
    """Carry out a queued run. Returns its row as it ended; a failed or cancelled run does not raise.

    An error that is no GadError is a defect: the row says so, and the error goes on to the caller.
    """
    info = store.runs.get(run_id)
    with FileLock(store.folders.lock(f"run-{run_id}")) as lock:
        if lock.acquire() and store.runs.claim(run_id, info.device):
            _train(store, settings, info, memory or Memory(), on_progress)
    return store.runs.get(run_id)


def perform_new(
    store: Store,
    settings: Settings,
    project_id: str,
    values: dict[str, Any],
    on_progress: OnProgress | None = None,
) -> RunInfo:
    """Make a run and carry it out here, as ``perform`` does; it never waits, so no worker can take it."""
    run_id = uuid.uuid4().hex
    with FileLock(store.folders.lock(f"run-{run_id}")) as lock:
        lock.acquire()  # before the row is seen, or it would look like a run whose process is gone
        info = store.runs.add_claimed(project_id, run_id, values)
        _train(store, settings, info, Memory(), on_progress)
    return store.runs.get(run_id)


def _train(
    store: Store, settings: Settings, info: RunInfo, memory: Memory, on_progress: OnProgress | None
) -> None:
    with _Outcome(store, info.id), Pulse(store, info.id, on_progress) as pulse:
        _Fit(store, settings, info, memory, pulse).carry_out()


class _Outcome:
    """Turns what ended the run into the outcome on its row."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._runs, self._id = store.runs, run_id

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return True
        if isinstance(error, Cancelled):
            self._runs.finish(self._id, "cancelled", message=str(error))
        elif isinstance(error, GadError):
            self._runs.finish(self._id, "failed", message=str(error))
        elif isinstance(error, MemoryError):
            self._runs.finish(self._id, "failed", message=_OUT_OF_MEMORY)
        else:
            self._runs.finish(self._id, "failed", message=_unexpected(error))
        return isinstance(error, GadError | MemoryError)


_OUT_OF_MEMORY = (
    "There was not enough memory to train. Use a smaller width or K, or a machine with more memory; "
    "labels and earlier runs are untouched."
)


def _unexpected(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return (
            "The process that trained was stopped before the end. Start the run again; the labels are safe."
        )
    return (
        f"Unexpected error while training ({type(error).__name__}: {error}). "
        "This is a defect; worker.log in the workspace folder has the details. The labels are safe."
    )


@dataclass
class _Fit:
    store: Store
    settings: Settings
    info: RunInfo
    memory: Memory
    pulse: Pulse

    def carry_out(self) -> None:
        graph, labels = self._inputs()
        warm = self._warm_start(graph, labels)
        detector = self._detector()
        detector.fit(graph, labels, on_epoch=self.pulse.on_epoch, warm_start=warm[1] if warm else None)
        if self.pulse.stopping:
            raise Cancelled("Stopped on request after the last epoch; nothing was changed.")
        self._keep(graph, labels, detector, warm[0] if warm else None)

    def _inputs(self) -> tuple[Graph, Labels]:
        project = self.info.project
        folder = self.store.folders.graph(project)
        graph = self.memory.graph(self.info.graph_fingerprint, lambda: Graph.load(folder))
        view = self.store.events(project).view()
        labels = Labels.from_events(graph, view.current.values(), view.first)
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
        if used is None or not self.store.runs.row(self.info.id).warm:
            return None
        before = self.store.runs.get(used)
        same = ("model", "params", "seed", "graph_fingerprint")
        if any(getattr(before, key) != getattr(self.info, key) for key in same) or not before.basis:
            return None
        result = Result(before, self.store.folders.run(before.project, before.id))
        if not result.labels.items() <= label_words(graph, labels).items():
            return None  # a label was taken back or reversed: begin anew
        return before, self.memory.model(before.id, lambda: load_detector(result.model_folder))

    def _keep(self, graph: Graph, labels: Labels, detector: Detector, warm: RunInfo | None) -> None:
        info, runs = self.info, self.store.runs
        runs.describe(info.id, stage="writing")
        arrays = arrays_of(detector)
        if detector.embedding_ is not None:
            arrays["layout_pca"] = draw(self.store, info, "pca", detector.embedding_)
        arrays["probability"], reason = probabilities(detector.scores_, detector.out_of_fold_, labels)
        device = _device_of(detector)
        used = {"ringfence": __version__, **versions()}
        document = {
            "run": info.id,
            "number": info.number,
            "model": info.model,
            "params": detector.get_params(),
            "basis": detector.basis_,
            "auc": detector.auc_,
            "warm_start": warm.id if warm else None,
            "probability_reason": reason,
            "graph_fingerprint": graph.fingerprint,
            "label_hash": labels.hash(graph),
            "device": device,
            "versions": used,
        }
        documents = {
            "result": document,
            "labels": label_words(graph, labels),
            "label_weights": {str(graph.node_ids[node]): each for node, each in labels.weight.items()},
            "history": history_of(detector),
        }
        folder = self.store.folders.run(info.project, info.id)
        write_run(folder, detector, arrays, documents)
        self._plan(graph, detector)
        outcome = {"auc": detector.auc_, "basis": detector.basis_, "versions": used, "device": device}
        if detector.history_:
            last = detector.history_[-1]
            outcome |= {"epoch": last.epoch, "epochs": last.epochs, "loss": finite(last.loss)}
        if not runs.finish(info.id, "done", use_for=info.project, stage="done", **outcome):
            shutil.rmtree(folder, ignore_errors=True)  # deleted or given up meanwhile: leave no trace
            raise RunError(f"Run {info.number} was given up by another process before it ended.")
        self.memory.model(info.id, lambda: detector)

    def _plan(self, graph: Graph, detector: Detector) -> None:
        """Work out the first cases that the run asks for, so that no page waits for them."""
        info, store = self.info, self.store
        choice = store.projects.choice(info.project)
        view = store.events(info.project).view()  # verdicts given during the run too
        basis, scores, space = detector.basis_, detector.scores_, detector.embedding_
        queries = work_out(
            graph,
            Scored(info.id, info.seed, basis, scores, space, detector.spread_),
            Labels.from_events(graph, view.current.values(), view.first),
            view.current.values(),
            choice,
            directions=directions(store, info.project, graph),
            moment=view.last_id,
        )
        order = [
            Offer(str(graph.node_ids[q.node]), q.strategy, q.reason, q.inclusion_probability, q.drawn_after)
            for q in queries
        ]
        store.offers.plan(info.project, info.id, choice.key, order, moment=view.last_id)


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
