"""What is seen of a node beyond its card: surroundings, ring, reasons; and maps of all nodes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from gadcore import worker
from gadcore.errors import InputError, RunError
from gadcore.insight.explain import explain as why
from gadcore.insight.groups import propose_ring
from gadcore.insight.neighbourhood import neighbourhood as around
from gadcore.records import Explanation, Neighbourhood, ProposedRing, QueueRow
from gadcore.runs import LAYOUTS, Result
from gadcore.store import is_held
from gadcore.workspace.project import Project

LIVE = ("queued", "running")
WAIT = 0.02  # seconds between looks at a job


def neighbourhood(
    project: Project, node_id: str, hops: int, cap: int, expanded: tuple[str, ...]
) -> Neighbourhood:
    """The nodes around a node, chosen by suspicion and weight."""
    result = project.result()
    return around(
        project.graph,
        result.percentile if result else None,
        project.verdicts(),
        project.node(node_id),
        hops=hops,
        cap=cap,
        expanded=[project.node(other) for other in expanded],
        scores=result.scores if result else None,
    )


def explain(project: Project, node_id: str) -> Explanation:
    """Why a node stands where it stands in the run in use."""
    result = result_in_use(project)
    labels, node = project.labels(), project.node(node_id)
    return why(project.graph, result.model_folder, result.scores, labels, node, project.basis())


def result_in_use(project: Project) -> Result:
    """The result in use; RunError when there is none."""
    result = project.result()
    if result is None:
        raise RunError(
            f"The project {project.name!r} has no scores yet. "
            "Train first: press Retrain, or run: python -m gadcore train --project NAME."
        )
    return result


def request_layout(project: Project, kind: str, run_id: str | None) -> None:
    """Queue a map for the layout worker, once."""
    if kind not in LAYOUTS:
        raise InputError(f"a map of kind {kind!r}", f"one of {', '.join(LAYOUTS)}")
    result = project.result(run_id) or result_in_use(project)
    if result.layout(kind) is not None:
        return
    _end_lost_jobs(project, "layout", "layout")
    project.store.jobs.add(project.id, "layout", {"kind": kind, "run": result.info.id})
    worker.start(project.settings, "layout")
    worker.wake(project.settings, "layout")


def layout_state(project: Project, kind: str, run_id: str | None) -> tuple[str, str]:
    """How far a map is, and why it failed."""
    result = project.result(run_id)
    if result is None:
        return "none", ""
    if result.layout(kind) is not None:
        return "done", ""
    _end_lost_jobs(project, "layout", "layout")
    wanted = {"kind": kind, "run": result.info.id}
    for row in project.store.jobs.of_project(project.id, "layout"):
        if row.payload == wanted:
            if row.status == "queued":
                worker.start(project.settings, "layout")
            return str(row.status), str(row.message)
    return "none", ""


def _end_lost_jobs(project: Project, kind: str, role: str) -> None:
    running = project.store.jobs.running(kind)
    if running and not is_held(worker.worker_lock(project.settings, role)):
        for row in running:
            project.store.jobs.finish(row.id, "failed", message="The worker process ended; ask again.")


def score_new(project: Project, path: Path, edges: Path | None, in_worker: bool) -> list[QueueRow]:
    """Rows of the nodes that the stored graph does not have; by the worker, which holds torch, or here."""
    result = result_in_use(project)
    if not in_worker:
        from gadcore.runs.scoring import score_new as score

        return score(project.graph, result, path, edges)
    files = {"path": str(path.absolute()), "edges": str(edges.absolute()) if edges else None}
    job = project.store.jobs.add(project.id, "score", {"run": result.info.id, **files})
    worker.start(project.settings)
    worker.wake(project.settings)
    return [QueueRow(**row) for row in _result_of(project, job)]


def _result_of(project: Project, job: str) -> Any:
    """Wait for a job of the training worker; RunError with its reason when it fails."""
    while (row := project.store.jobs.get(job)).status in LIVE:
        if row.status == "running":
            _end_lost_jobs(project, "score", "train")
        else:
            worker.start(project.settings)
        time.sleep(WAIT)
    project.store.jobs.remove(job)
    if row.status != "done":
        raise RunError(row.message)
    return row.result


def ring(project: Project, node_id: str) -> ProposedRing:
    """The group around a node, itself first, and what ties it together."""
    result, graph = project.result(), project.graph
    scores = result.scores if result else None
    found = propose_ring(graph, project.node(node_id), project.labels(), scores)
    return ProposedRing([str(graph.node_ids[node]) for node in found.nodes], found.reason)
