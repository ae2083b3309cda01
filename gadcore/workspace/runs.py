"""Runs of a project: start, follow, compare, use, delete; and the maps of their embeddings."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadcore.detectors import REGISTRY, specs
from gadcore.detectors.base import Progress
from gadcore.errors import InputError, RunError, UsageError
from gadcore.graph import FloatArray
from gadcore.jobs import ask, workers
from gadcore.jobs.lost import end_lost
from gadcore.jobs.runner import carry_out
from gadcore.metrics import midranks
from gadcore.records import QueueRow, RunComparison, RunInfo
from gadcore.settings import known_device
from gadcore.store import LAYOUTS, Result
from gadcore.workspace.project import Project
from gadcore.workspace.queue_rows import positive, rows

DEFAULT_MODEL = "an+"


@dataclass(frozen=True)
class Request:
    """A run that somebody asks for."""

    model: str
    params: dict[str, Any] | None = None
    device: str = "auto"
    seed: int = 0
    warm: bool = True
    use: bool = True  # False: its scores are shown only if no other run's are

    def __post_init__(self) -> None:
        if self.model not in REGISTRY:
            raise UsageError(f"There is no model {self.model!r}. Expected one of: {', '.join(REGISTRY)}.")
        specs.check(self.model, {**(self.params or {}), "seed": self.seed})
        known_device(self.device)

    @property
    def identity(self) -> dict[str, Any]:
        """Columns in which a waiting run must agree to stand for this one."""
        same = {"model": self.model, "seed": self.seed, "device": self.device}
        return {**same, "params": self.params or {}, "for_use": self.use}

    def columns(self, project: Project) -> dict[str, Any]:
        """Columns of the new run; the labels are counted now, and again when it starts."""
        labels = project.labels()
        counts = {name: len(getattr(labels, name)) for name in ("normal", "anomalous", "unsure")}
        trained_on: dict[str, Any] = {
            "graph_fingerprint": project.fingerprint,
            "label_hash": labels.hash(project.graph),
        }
        trained_on |= {"version": project.version}
        return {**self.identity, **trained_on, **counts}


class Runs:
    """What learnt from the verdicts, and what it found."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def start(self, model: str = DEFAULT_MODEL, **asked: Any) -> RunInfo:
        """Queue a run for the worker process; returns at once. What may be asked for is in ``Request``.

        A run that waits and would do the same is returned instead.
        """
        run = self._queued(Request(model, **asked))
        workers.call(self._project.settings, "train")
        return run

    def _queued(self, request: Request) -> RunInfo:
        project = self._project
        for run in project.store.runs.of_project(project.id, "queued"):
            same = {**request.identity, "version": project.version}
            learns = project.store.jobs.get(run.id).kind == "train"
            if learns and all(getattr(run, key) == value for key, value in same.items()):
                return run  # it reads the labels when it starts, so it will know the latest
        by = project.analyst(None)
        return project.store.runs.add(project.id, request.columns(project), warm=request.warm, by=by)

    def train(
        self,
        model: str = DEFAULT_MODEL,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        **asked: Any,
    ) -> RunInfo:
        """Carry out a run in this process and wait for its end; a failed run is returned, not raised."""
        project, request, run_id = self._project, Request(model, **asked), uuid.uuid4().hex
        values = request.columns(project)

        def begin() -> RunInfo:
            by = project.analyst(None)
            return project.store.runs.add(project.id, values, warm=request.warm, job_id=run_id, by=by)

        carry_out(project.store, project.settings, run_id, begin=begin, listen=on_progress)
        return project.store.runs.get(run_id)

    def ensure_ranked(self) -> RunInfo | None:
        """Start the first run when there is none, so that a ranked queue exists before any label.

        A first run that failed is not tried again by itself.
        """
        if self._project.result() is not None:
            return None
        tried = any(run.version == self._project.version for run in self.all())
        return self.active() or (None if tried else self.start())

    def all(self) -> list[RunInfo]:
        """All runs, newest first; those whose process is gone are marked as failed first."""
        end_lost(self._project.store, self._project.id)
        return self._project.store.runs.of_project(self._project.id)

    def get(self, run_id: str) -> RunInfo:
        """A run by id or number; NotFound otherwise."""
        end_lost(self._project.store, self._project.id)
        return self._served(self._run(run_id))

    def active(self) -> RunInfo | None:
        """The run that is under way, else the one that waits, else None."""
        run = self._project.active_run()
        return self._served(run) if run else None

    def in_use(self) -> RunInfo | None:
        """The run whose scores are shown."""
        used = self._project.run_in_use()
        return self._project.store.runs.get(used) if used else None

    def latest(self) -> RunInfo | None:
        """The newest finished run that was meant for use; with a ``message`` where it is in trouble."""
        done = self._project.store.runs.of_project(self._project.id, "done")
        return next((run for run in done if run.for_use), None)

    def cancel(self, run_id: str) -> None:
        """Ask a run to stop; it does so within one epoch."""
        self._project.store.jobs.cancel(self._project.own_run(run_id))

    def use(self, run_id: str) -> RunInfo:
        """Show the scores of another run that is done (roll back, or forward again)."""
        project, run = self._project, self._run(run_id)
        if run.status != "done":
            raise RunError(f"Run {run.number} is {run.status} and has no scores. Choose a run that is done.")
        if run.graph_fingerprint != project.fingerprint:
            raise RunError(
                f"Run {run.number} saw version {run.version} of the graph, not version {project.version}. "
                "Go to that version, or retrain."
            )
        project.store.projects.use_run(project.id, run.id, by=project.analyst(None))
        return project.store.runs.get(run.id)

    def delete(self, run_id: str) -> None:
        """Remove a run that is not under way; if it was in use, the latest other one takes its place."""
        project, run, by = self._project, self._run(run_id), self._project.analyst(None)
        if run.live:
            raise RunError(f"Run {run.number} is {run.status}. Cancel it before deleting it.")
        if run.in_use:
            others = [
                id for id in project.store.runs.done_ids(project.id, project.fingerprint) if id != run.id
            ]
            project.store.projects.use_run(project.id, others[-1] if others else None, by=by)
        project.store.runs.remove(run.id, by=by)
        shutil.rmtree(project.store.folders.run(project.id, run.id), ignore_errors=True)

    def history(self, run_id: str) -> list[dict[str, Any]]:
        """Reported epochs of a run, live or ended: epoch, epochs, loss, auc, stage."""
        run_id = self._project.own_run(run_id)
        result = self._project.result(run_id)
        return result.history if result else self._project.store.runs.progress_of(run_id)

    def result(self, run_id: str | None = None) -> Result | None:
        """Scores and more of a run, else of the run in use; None when there is none yet."""
        return self._project.result(self._project.own_run(run_id) if run_id else None)

    def compare(self, before_id: str, after_id: str, k: int = 100) -> RunComparison:
        """Two runs side by side: who rose and fell most, who entered and left the top ``k``."""
        k = positive(k, "k")
        before, after = self._done(before_id), self._done(after_id)
        if before.info.graph_fingerprint != after.info.graph_fingerprint:
            raise RunError(
                "The two runs saw different versions of the graph, so their ranks cannot be compared."
            )
        moved = before.rank - after.rank  # > 0: risen
        ids, top_before, top_after = self._project.graph.node_ids, before.order[:k], after.order[:k]
        return RunComparison(
            before=before.info,
            after=after.info,
            risen=self._moved(after, moved, np.argsort(-moved, kind="stable")[:k]),
            fallen=self._moved(after, moved, np.argsort(moved, kind="stable")[:k]),
            entered=[str(ids[i]) for i in top_after[~np.isin(top_after, top_before)]],
            left=[str(ids[i]) for i in top_before[~np.isin(top_before, top_after)]],
            k=k,
            correlation=float(np.corrcoef(midranks(before.scores), midranks(after.scores))[0, 1]),
            before_scores=before.percentile,
            after_scores=after.percentile,
        )

    def layout(self, kind: str = "pca", run_id: str | None = None) -> FloatArray | None:
        """(N, 2) positions on the map of a run (of the one in use), or None while they are not made."""
        result = self.result(run_id)
        return result.layout(kind) if result else None

    def request_layout(self, kind: str, run_id: str | None = None) -> None:
        """Have a map drawn by the layout worker, once; ask ``layout`` until it is there."""
        if kind not in LAYOUTS:
            raise InputError(f"a map of kind {kind!r}", f"one of {', '.join(LAYOUTS)}")
        project = self._project
        result = project.result(run_id) or project.result_in_use()
        if result.layout(kind) is not None:
            return
        end_lost(project.store, project.id)
        ask.ask(project.settings, "layout", {"kind": kind, "run": result.info.id}, project.id)

    def layout_state(self, kind: str, run_id: str | None = None) -> tuple[str, str]:
        """("done" | "queued" | "running" | "failed" | "none", why it failed)."""
        project, result = self._project, self._project.result(run_id)
        if result is None:
            return "none", ""
        if result.layout(kind) is not None:
            return "done", ""
        wanted = {"kind": kind, "run": result.info.id}
        for row in project.store.jobs.of_project(project.id, "layout"):
            if row.payload == wanted:
                row = ask.look(project.settings, row.id)
                return str(row.status), str(row.message)
        return "none", ""

    def start_worker(self) -> None:
        """Have the training process warm up in the background."""
        workers.start(self._project.settings)

    def worker_state(self) -> dict[str, Any]:
        """alive, device, pid of the training process."""
        return workers.state(self._project.settings)

    def _run(self, run_id: str) -> RunInfo:
        return self._project.store.runs.get(self._project.own_run(run_id))

    def _served(self, run: RunInfo) -> RunInfo:
        """The run; one that waits while its worker is gone gets a new worker."""
        if run.status == "queued":
            workers.start(self._project.settings)
        return run

    def _done(self, run_id: str) -> Result:
        result = self.result(run_id)
        if result is None:
            run = self._run(run_id)
            raise RunError(f"Run {run.number} is {run.status} and has no scores. Choose a run that is done.")
        return result

    def _moved(self, after: Result, moved: Any, nodes: Any) -> list[QueueRow]:
        kept = nodes[moved[nodes] != 0]
        lines = [f"{'up' if moved[i] > 0 else 'down'} {abs(int(moved[i])):,} places" for i in kept]
        return rows(self._project, kept, result=after, reasons=lines, moved=moved[kept])
