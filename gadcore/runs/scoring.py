"""Scores of nodes and edges that arrived after training, by the model as it is."""

from __future__ import annotations

from pathlib import Path

from gadcore.detectors import load_detector
from gadcore.graph import FloatArray, Graph
from gadcore.runs.result import Result


def score_new(
    graph: Graph, result: Result, path: Path, edges: Path | None = None
) -> tuple[Graph, FloatArray]:
    """The graph grown by the files, and the scores of all its nodes; nothing is trained or stored."""
    from gadcore.ingest import read_more

    grown = read_more(graph, path, edges=edges)
    return grown, load_detector(result.model_folder).score_new(grown)
