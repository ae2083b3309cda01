"""Training: one run to its result.

    graph and labels → fit (warm from the run in use where that is sound) → artefacts → in use, unless doubted

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
from pathlib import Path
from typing import Any

import numpy as np

from gadcore import __version__
from gadcore.derive.views import Views
from gadcore.detectors import detector_class, load_detector, make_detector
from gadcore.detectors.base import Detector, Progress
from gadcore.detectors.plus.graph_cache import cache_of
from gadcore.detectors.plus.members.loud import views_in
from gadcore.engine import engine_at
from gadcore.errors import ModelError, RunError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.insight.contradictions import (
    Judged,
    contradictions,
    keeps_its_place,
    pairs_text,
    trouble,
    unseen_scores,
)
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
        with engine_at(job.settings.engine):
            RunWork(job, job.store.runs.get(job.id)).carry_out()


@dataclass
class RunWork:
    """A run that is under way."""

    job: Job
    info: RunInfo

    def __post_init__(self) -> None:
        self.store, self.settings, self.memory = self.job.store, self.job.settings, self.job.memory

    def carry_out(self) -> None:
        self.job.pulse.tell(stage="loading")
        graph = self.graph()
        labels = self.store.events(self.info.project).view().labels(graph)
        self.store.runs.snapshot(self.info.id, labels, labels.hash(graph))
        warm = self._warm_start(graph, labels)
        detector = self._detector()
        detector.fit(graph, labels, on_epoch=self._on_epoch, warm_start=warm[1] if warm else None)
        self.job.stop_if_asked()
        self.keep(graph, labels, detector, warm_start=warm[0].id if warm else None)

    def _on_epoch(self, progress: Progress) -> bool:
        """Report an epoch; True when the run was asked to stop."""
        told = asdict(progress) | {"loss": finite(progress.loss), "auc": finite(progress.auc)}
        self.job.pulse.tell(told, **{key: told[key] for key in told if key != "auc" or told[key] is not None})
        self.job.listen(progress)
        return self.job.pulse.stopping

    def graph(self) -> Graph:
        """The version of the graph that the run is to see."""
        folder = self.job.graph_folder(self.info.version)
        found: Graph = self.memory.graphs.get(self.info.graph_fingerprint, lambda: Graph.load(folder))
        return found

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
        if result.seen and result.seen["names"] != list(graph.feature_names):
            return None  # it was carried here from a version with other attributes
        return before, self.memory.models.get(before.id, lambda: load_detector(result.model_folder))

    def keep(self, graph: Graph, labels: Labels, detector: Detector, **beside: Any) -> None:
        """Write what was found; ``beside`` has more to say of it, a ``seen`` document is kept apart."""
        info, seen = self.info, beside.pop("seen", None)
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
            "probability_reason": reason,
            "graph_fingerprint": graph.fingerprint,
            "label_hash": labels.hash(graph),
            **beside,
            **outcome,
        }
        documents = {
            "result": document,
            "labels": label_words(graph, labels),
            "label_weights": {str(graph.node_ids[node]): each for node, each in labels.weight.items()},
            "history": detector.history_,
        } | ({"seen": seen} if seen else {})
        folder = self.store.folders.run(info.project, info.id)
        write_run(folder, detector, arrays, documents)
        so_far = {"auc": detector.auc_, "stage": "done"}
        if detector.history_:
            last = detector.history_[-1]
            so_far |= {"epoch": last.epoch, "epochs": last.epochs, "loss": finite(last.loss)}
        plan = self._first_cases(graph, detector)
        message, use = self._doubted(graph, labels, detector)
        moved = self._watched_ranks(graph) if use and info.for_use else []
        with self.store.database.writing():
            ended = self.store.runs.finish(info.id, so_far, message=message, use=use, **outcome)
            if ended:
                plan()
                for told in moved:
                    self.store.jobs.tell_of_rise(info.project, run=info.id, **told)
        if not ended:
            shutil.rmtree(folder, ignore_errors=True)  # deleted or given up meanwhile: leave no trace
            raise RunError(f"Run {info.number} was given up by another process before it ended.")
        self.memory.models.get(info.id, lambda: detector)

    def _watched_ranks(self, graph: Graph) -> list[dict[str, Any]]:
        """Watched nodes, with their ranks in the run in use and in this one."""
        project = self.info.project
        used, watched = self.store.projects.run_in_use(project), self.store.watchlist.nodes(project)
        if used is None or not watched:
            return []
        before, after = self.job.result_of(used), self.job.result_of(self.info.id)
        same = before.info.version == self.info.version
        old = graph if same else Graph.load(self.job.graph_folder(before.info.version))
        return [
            {
                "node_id": node,
                "before": before.rank_of(old.index_of(node)),
                "rank": after.rank_of(graph.index_of(node)),
            }
            for node in watched
            if node in graph and node in old
        ]

    def _doubted(self, graph: Graph, labels: Labels, detector: Detector) -> tuple[str, bool]:
        """What is wrong with the run, and whether it is put in use all the same."""
        used = self._run_in_use()
        held = detector.out_of_fold_
        new = Judged(self.info.number, detector.auc_, held)
        found = trouble(labels, new, used)
        if not found:
            return "", True
        pairs = [] if held is None else contradictions(labels, held, self._directions(graph))
        keep = keeps_its_place(labels, new, used)
        kept = f", so run {used.number} was kept in use" if used and keep else ", and is in use all the same"
        named = f" Verdicts that contradict each other most: {pairs_text(graph, pairs)}." if pairs else ""
        return f"{found}{kept}.{named} See Second look.", not keep

    def _run_in_use(self) -> Judged | None:
        """The run in use; None without one, or where it is of another graph."""
        used = self.store.projects.run_in_use(self.info.project)
        before = self.store.runs.get(used) if used else None
        if before is None or before.graph_fingerprint != self.info.graph_fingerprint:
            return None
        result = self.job.result_of(before.id)
        return Judged(before.number, before.auc, unseen_scores(result.scores, result.out_of_fold))

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
            views=self._views(graph),
            moment=view.last_id,
        )
        order = [
            Offer(str(graph.node_ids[q.node]), q.strategy, q.reason, q.inclusion_probability, q.drawn_after)
            for q in queries
        ]
        return partial(store.offers.plan, info.project, info.id, choice.key, order, moment=view.last_id)

    def _directions(self, graph: Graph) -> FloatArray:
        """The basis of the graph for diverse queries, worked out and kept at the first run."""
        return self._kept(self.store.folders.basis(*self._seen), lambda: diversity_basis(graph))

    def _views(self, graph: Graph) -> Views:
        """The views of the graph, likewise."""
        path = self.store.folders.views(*self._seen)
        return Views(self._kept(path, lambda: views_in(cache_of(graph)).rarity))

    @property
    def _seen(self) -> tuple[str, int]:
        """The project and the version of its graph that the run sees."""
        return self.info.project, self.info.version

    def _kept(self, path: Path, make: Callable[[], FloatArray]) -> FloatArray:
        if not path.exists():
            write_array(path, make(), self.job.id)
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
