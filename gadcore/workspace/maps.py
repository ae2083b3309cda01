"""What is seen of a node beyond its card: surroundings, ring, reasons; and maps of all nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gadcore import worker
from gadcore.cases import Explanation, Neighbourhood, QueueRow
from gadcore.errors import InputError, RunError
from gadcore.metrics import percentile_ranks
from gadcore.runs import LAYOUTS, Result, ranks
from gadcore.store import is_held
from gadcore.workspace.project import Project


def neighbourhood(
    project: Project, node_id: str, hops: int, cap: int, expanded: tuple[str, ...]
) -> Neighbourhood:
    """The nodes around a node, chosen by suspicion and weight."""
    from gadcore.neighbourhood import neighbourhood as around

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
    from gadcore.explain import explain as why

    result = result_in_use(project)
    return why(project.graph, result.model_folder, result.scores, project.labels(), project.node(node_id))


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


def score_new(project: Project, path: Path, edges: Path | None) -> list[QueueRow]:
    """Rows of the nodes that the stored graph does not have, ranked among all nodes."""
    from gadcore.runs.scoring import score_new as score

    grown, scores = score(project.graph, result_in_use(project), path, edges)
    fresh = np.array(
        [i for i, node in enumerate(grown.node_ids) if node not in project.graph], dtype=np.int64
    )
    rank, percentile = ranks(scores), percentile_ranks(scores) * 100
    return [
        QueueRow(
            node_id=str(grown.node_ids[node]),
            name=grown.display_name(node),
            rank=int(rank[node]),
            moved=None,
            score=float(scores[node]),
            percentile=float(percentile[node]),
            verdict=None,
            reason="arrived after training",
            strategy="",
        )
        for node in fresh[np.argsort(rank[fresh])]
    ]


def ring(project: Project, node_id: str) -> list[str]:
    """Ids of the group around a node, itself first."""
    project.node(node_id)
    return [node_id]
