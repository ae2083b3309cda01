"""Small files and comparisons that the ingest tests share."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np

from gadcore.graph import Graph

IDS = ["007", " a b ", "NA", "1e5", "Zoë", "🦊", "x,y", 'say "hi"', "nan", "0"]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def club() -> nx.Graph:
    """The karate club with awkward string ids, weights, and attributes of several kinds."""
    plain = nx.karate_club_graph()
    graph = nx.relabel_nodes(plain, {n: f"0{n} é" for n in plain})
    for k, node in enumerate(graph):
        graph.nodes[node].update(
            age=20 + k, score=k / 7, active=k % 3 == 0, town=["Lyon", "Köln", "Łódź"][k % 3]
        )
    return graph


def edge_weights(graph: Graph) -> dict[frozenset[str], float]:
    coo = graph.adjacency.tocoo()
    return {
        frozenset((graph.node_ids[a], graph.node_ids[b])): float(w)
        for a, b, w in zip(coo.row, coo.col, coo.data)
    }


def networkx_weights(graph: nx.Graph) -> dict[frozenset[str], float]:
    return {frozenset((str(a), str(b))): float(w) for a, b, w in graph.edges(data="weight", default=1.0)}


def own_features(graph: Graph) -> tuple[str, ...]:
    """Features that come from the node table, not from the links."""
    return tuple(name for name in graph.feature_names if name not in graph.derived)


def assert_well_formed(graph: Graph) -> None:
    """What every reader promises: symmetric, positive, no diagonal, finite attributes in [0, 1]."""
    a = graph.adjacency
    assert abs(a - a.T).nnz == 0
    assert a.nnz == 0 or a.data.min() > 0
    assert not a.diagonal().any()
    assert a.dtype == np.float32
    x = graph.x.toarray() if hasattr(graph.x, "toarray") else np.asarray(graph.x)
    assert x.dtype == np.float32
    assert np.isfinite(x).all()
    assert x.size == 0 or (x.min() >= 0 and x.max() <= 1)
    assert len(graph.feature_names) == len(graph.feature_columns) == graph.n_features
    assert len(set(graph.feature_names)) == graph.n_features
    assert len(set(graph.node_ids)) == graph.n_nodes
    assert all(type(i) is str for i in graph.node_ids)
