"""Ringfence: teach a graph anomaly detector by labelling nodes.

The public API is loaded on first use, so that ``import gadcore`` stays light and never imports torch:

    graph = gadcore.read_graph("demo")
    labels = gadcore.Labels.from_indices(graph, normal=[...], anomalous=[...])
    detector = gadcore.make_detector("an+", seed=0).fit(graph, labels)
    detector.scores_, detector.embedding_
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_PUBLIC = {
    "GadError": "gadcore.errors",
    "Graph": "gadcore.graph",
    "Labels": "gadcore.graph.labels",
    "Verdict": "gadcore.graph.labels",
    "Workspace": "gadcore.workspace",
    "load_detector": "gadcore.detectors",
    "make_detector": "gadcore.detectors",
    "make_graph": "gadcore.graph",
    "read_graph": "gadcore.ingest",
}

__all__ = list(_PUBLIC)

if TYPE_CHECKING:
    from gadcore.detectors import load_detector as load_detector
    from gadcore.detectors import make_detector as make_detector
    from gadcore.errors import GadError as GadError
    from gadcore.graph import Graph as Graph
    from gadcore.graph import make_graph as make_graph
    from gadcore.graph.labels import Labels as Labels
    from gadcore.graph.labels import Verdict as Verdict
    from gadcore.ingest import read_graph as read_graph
    from gadcore.workspace import Workspace as Workspace


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'gadcore' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
