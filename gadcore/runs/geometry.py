"""Geometry that outlives a run: maps that keep still, and the basis of the graph for diverse queries."""

from __future__ import annotations

import numpy as np

from gadcore.graph import FloatArray, Graph
from gadcore.loop.strategies import diversity_basis
from gadcore.records import RunInfo
from gadcore.runs.artefacts import write_array
from gadcore.runs.result import Result
from gadcore.store import Store


def draw(store: Store, run: RunInfo, kind: str, embedding: FloatArray) -> FloatArray:
    """Map of a run's embedding, close to the one of the run before."""
    from gadcore.insight.layout import layout

    return layout(kind, embedding, previous=_previous(store, run, kind), seed=run.seed)


def directions(store: Store, project: str, graph: Graph) -> FloatArray:
    """The basis of the graph for diverse queries, worked out and kept at the first run."""
    path = store.folders.basis(project)
    if not path.exists():
        write_array(path, diversity_basis(graph))
    found: FloatArray = np.load(path, allow_pickle=False)
    return found


def _previous(store: Store, run: RunInfo, kind: str) -> FloatArray | None:
    """The same kind of map of the latest earlier run that has one."""
    for earlier in store.runs.of_project(run.project, "done"):
        if earlier.number < run.number and earlier.graph_fingerprint == run.graph_fingerprint:
            found = Result(earlier, store.folders.run(run.project, earlier.id)).layout(kind)
            if found is not None:
                return found
    return None
