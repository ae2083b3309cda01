"""Work other than training: maps of a run, scores of nodes that arrived later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gadcore.cases import as_json
from gadcore.errors import RunError
from gadcore.graph import FloatArray, Graph
from gadcore.runs import Result
from gadcore.runs.artefacts import write_array
from gadcore.runs.scoring import score_new
from gadcore.store import Store


def draw_layout(store: Store, row: Any) -> None:
    """Draw the map that a job asks for, close to the one of the run before."""
    from gadcore.layout import layout

    kind, run = str(row.payload["kind"]), store.runs.get(row.payload["run"])
    result = _result(store, run.project, run.id)
    if result.embedding is None:
        raise RunError(f"The model {run.model!r} of run {run.number} has no embedding, so there is no map.")
    if result.layout(kind) is None:
        drawn = layout(kind, result.embedding, previous=_previous(store, result, kind), seed=run.seed)
        write_array(result.folder / f"layout_{kind}.npy", drawn)


def score_new_nodes(store: Store, row: Any) -> list[dict[str, Any]]:
    """Score nodes that arrived after training; queue rows as JSON."""
    run, edges = store.runs.get(row.payload["run"]), row.payload["edges"]
    graph = Graph.load(store.folders.graph(run.project))
    result = _result(store, run.project, run.id)
    rows = score_new(graph, result, Path(row.payload["path"]), Path(edges) if edges else None)
    found: list[dict[str, Any]] = as_json(rows)
    return found


def _result(store: Store, project: str, run_id: str) -> Result:
    return Result(store.runs.get(run_id), store.folders.run(project, run_id))


def _previous(store: Store, result: Result, kind: str) -> FloatArray | None:
    """The same kind of map of the latest earlier run that has one."""
    info = result.info
    for run in store.runs.of_project(info.project, "done"):
        if run.number < info.number and run.graph_fingerprint == info.graph_fingerprint:
            found = _result(store, run.project, run.id).layout(kind)
            if found is not None:
                return found
    return None
