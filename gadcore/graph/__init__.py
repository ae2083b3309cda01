"""The nouns: the attributed graph, the links behind its edges, and the verdicts on its nodes (``labels``)."""

from __future__ import annotations

from gadcore.graph.graph import (
    MERGES,
    Features,
    FloatArray,
    Graph,
    IntArray,
    Truth,
    make_graph,
    symmetric_csr,
)
from gadcore.graph.links import LinkMeaning, Links
from gadcore.graph.node_ids import NodeIds
from gadcore.graph.node_table import NodeTable

__all__ = [
    "MERGES",
    "Features",
    "FloatArray",
    "Graph",
    "IntArray",
    "LinkMeaning",
    "Links",
    "NodeIds",
    "NodeTable",
    "Truth",
    "make_graph",
    "symmetric_csr",
]
