"""Runs of a project: start, follow, compare, use, delete."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadcore.detectors import REGISTRY
from gadcore.errors import ModelError, RunError
from gadcore.metrics import midranks
from gadcore.records import QueueRow, RunComparison, RunInfo
from gadcore.runs import OnProgress, Result, end_lost_runs, perform_new
from gadcore.workspace.project import Project
from gadcore.workspace.queue_rows import rows

LIVE = ("queued", "running")


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
            raise ModelError(f"There is no model {self.model!r}. Expected one of: {', '.join(REGISTRY)}.")

    @property
    def identity(self) -> dict[str, Any]:
        """Columns in which a waiting run must agree to stand for this one."""
        return {
            "model": self.model,
            "params": self.params or {},
            "seed": self.seed,
            "device": self.device,
            "for_use": self.use,
        }

    def columns(self, project: Project) -> dict[str, Any]:
        """Columns of the new run; the labels are counted now, and again when it starts."""
        labels = project.labels()
        return {
            **self.identity,
            "warm": self.warm,
            "graph_fingerprint": project.fingerprint,
            "label_hash": labels.hash(project.graph),
            "normal": len(labels.normal),
            "anomalous": len(labels.anomalous),
            "unsure": len(labels.unsure),
        }


def queue_run(project: Project, request: Request) -> RunInfo:
    """Put a run into the queue; one that waits and would do the same is returned instead."""
    for run in project.store.runs.of_project(project.id, "queued"):
        if all(getattr(run, key) == value for key, value in request.identity.items()):
            return run  # it reads the labels when it starts, so it will know the latest
    return project.store.runs.add(project.id, request.columns(project))


def run_here(project: Project, request: Request, on_progress: OnProgress | None = None) -> RunInfo:
    """Carry out a run in this process and return it as it ended."""
    return perform_new(project.store, project.settings, project.id, request.columns(project), on_progress)


def runs(project: Project) -> list[RunInfo]:
    """All runs, newest first; those whose process is gone are marked as failed first."""
    end_lost_runs(project.store, project.id)
    return project.store.runs.of_project(project.id)


def active_run(project: Project) -> RunInfo | None:
    """The run that is under way, else the one that waits, else None."""
    end_lost_runs(project.store, project.id)
    live = project.store.runs.of_project(project.id, *LIVE)
    running = [run for run in live if run.status == "running"]
    return running[0] if running else live[-1] if live else None


def unranked(project: Project) -> str:
    """What is said of a node while there is no finished run."""
    return "not ranked yet: " + ("the first run is under way" if active_run(project) else "train first")


def use_run(project: Project, run_id: str) -> RunInfo:
    """Show the scores of another run that is done (roll back, or forward again)."""
    run = project.store.runs.get(project.own_run(run_id))
    if run.status != "done":
        raise RunError(f"Run {run.number} is {run.status} and has no scores. Choose a run that is done.")
    if run.graph_fingerprint != project.fingerprint:
        raise RunError(f"Run {run.number} was trained on another version of the graph. Retrain instead.")
    project.store.projects.use_run(project.id, run.id)
    return project.store.runs.get(run.id)


def delete_run(project: Project, run_id: str) -> None:
    """Remove a run and its folder; when it was in use, the latest other run that is done takes its place."""
    run = project.store.runs.get(project.own_run(run_id))
    if run.live:
        raise RunError(f"Run {run.number} is {run.status}. Cancel it before deleting it.")
    if run.in_use:
        others = [other for other in project.store.runs.of_project(project.id, "done") if other.id != run.id]
        project.store.projects.use_run(project.id, others[0].id if others else None)
    project.store.runs.remove(run.id)
    shutil.rmtree(project.store.folders.run(project.id, run.id), ignore_errors=True)


def history_of(project: Project, run_id: str) -> list[dict[str, Any]]:
    """Reported epochs of a run, live or ended: epoch, epochs, loss, auc, stage."""
    run_id = project.own_run(run_id)
    result = project.result(run_id)
    return result.history if result else project.store.runs.progress_of(run_id)


def compare(project: Project, before_id: str, after_id: str, k: int) -> RunComparison:
    """Two runs side by side: who rose and fell most, who entered and left the top ``k``."""
    before, after = _done(project, before_id), _done(project, after_id)
    if len(before.scores) != len(after.scores):
        raise RunError("The two runs were trained on different graphs, so their ranks cannot be compared.")
    moved = before.rank - after.rank  # > 0: risen
    ids, top_before, top_after = project.graph.node_ids, before.order[:k], after.order[:k]
    return RunComparison(
        before=before.info,
        after=after.info,
        risen=_moved(project, after, moved, np.argsort(-moved, kind="stable")[:k]),
        fallen=_moved(project, after, moved, np.argsort(moved, kind="stable")[:k]),
        entered=[str(ids[i]) for i in top_after[~np.isin(top_after, top_before)]],
        left=[str(ids[i]) for i in top_before[~np.isin(top_before, top_after)]],
        k=k,
        correlation=float(np.corrcoef(midranks(before.scores), midranks(after.scores))[0, 1]),
        before_scores=before.percentile,
        after_scores=after.percentile,
    )


def _moved(project: Project, after: Result, moved: Any, nodes: Any) -> list[QueueRow]:
    kept = nodes[moved[nodes] != 0]
    lines = [f"{'up' if moved[i] > 0 else 'down'} {abs(int(moved[i])):,} places" for i in kept]
    return rows(project, kept, result=after, reasons=lines, moved=moved[kept])


def _done(project: Project, run_id: str) -> Result:
    run_id = project.own_run(run_id)
    result = project.result(run_id)
    if result is None:
        run = project.store.runs.get(run_id)
        raise RunError(f"Run {run.number} is {run.status} and has no scores. Choose a run that is done.")
    return result
