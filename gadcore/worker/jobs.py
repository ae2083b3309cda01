"""Work other than training: maps of a run, scores of nodes that arrived later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gadcore.errors import RunError
from gadcore.graph import Graph
from gadcore.records import RunInfo, as_json
from gadcore.runs import Result
from gadcore.runs.artefacts import write_array
from gadcore.runs.geometry import draw
from gadcore.runs.scoring import score_new
from gadcore.store import Store


def draw_layout(store: Store, row: Any) -> None:
    """Draw the map that a job asks for."""
    kind, run = str(row.payload["kind"]), store.runs.get(row.payload["run"])
    result = _result(store, run)
    if result.embedding is None:
        raise RunError(f"The model {run.model!r} of run {run.number} has no embedding, so there is no map.")
    if result.layout(kind) is None:
        write_array(result.folder / f"layout_{kind}.npy", draw(store, run, kind, result.embedding))


def score_new_nodes(store: Store, row: Any) -> list[dict[str, Any]]:
    """Score nodes that arrived after training; queue rows as JSON."""
    run, edges = store.runs.get(row.payload["run"]), row.payload["edges"]
    graph = Graph.load(store.folders.graph(run.project))
    result = _result(store, run)
    rows = score_new(graph, result, Path(row.payload["path"]), Path(edges) if edges else None)
    found: list[dict[str, Any]] = as_json(rows)
    return found


def _result(store: Store, run: RunInfo) -> Result:
    return Result(run, store.folders.run(run.project, run.id))
