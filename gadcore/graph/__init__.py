"""The nouns: the attributed graph, and the verdicts on its nodes (``labels``)."""

from __future__ import annotations

from gadcore.graph.graph import Features, FloatArray, Graph, IntArray, Truth, make_graph, symmetric_csr

__all__ = ["Features", "FloatArray", "Graph", "IntArray", "Truth", "make_graph", "symmetric_csr"]
