"""Scores of nodes and edges that arrived after training, by the model as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gadcore.detectors import load_detector
from gadcore.graph import Graph
from gadcore.jobs.kind import Job, Kind
from gadcore.metrics import percentile_ranks, ranks
from gadcore.records import QueueRow, as_json
from gadcore.store import Result


class ScoreKind(Kind):
    """Queue rows of the nodes in the files ``payload["path"]`` and ``["edges"]``, by run ``["run"]``."""

    name = "score"
    work = "scoring"
    lane = "train"
    attempts = 2

    def do(self, job: Job) -> Any:
        path, edges = job.payload["path"], job.payload["edges"]
        result = job.result_of(job.payload["run"])
        graph = Graph.load(job.graph_folder(result.info.version))
        rows = score_new(graph, result, Path(path), Path(edges) if edges else None)
        job.stop_if_asked()
        return as_json(rows)


def score_new(graph: Graph, result: Result, path: Path, edges: Path | None = None) -> list[QueueRow]:
    """Rows of the nodes that the files add to the graph, ranked among all nodes, highest first.

    Nothing is trained or stored.
    """
    from gadcore.ingest import read_more

    grown = read_more(graph, path, edges=edges)
    scores = load_detector(result.model_folder).score_new(grown)
    rank, percentile = ranks(scores), percentile_ranks(scores) * 100
    fresh = np.flatnonzero(graph.node_ids.rows(grown.node_ids) < 0)
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
