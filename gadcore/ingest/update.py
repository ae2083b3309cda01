"""Nodes and edges that arrived after a graph was read, encoded as the graph's own were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.graph import Graph, NodeIds, NodeTable, symmetric_csr
from gadcore.ingest import attribute_encoders as encoders
from gadcore.ingest.archives import PathLike
from gadcore.ingest.assemble import display
from gadcore.ingest.column_kinds import Parsed
from gadcore.ingest.formats.file_format import explained
from gadcore.ingest.graph_parts import Parts, shown
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.more_links import derived_again, edges_of_links, grown_links
from gadcore.ingest.read import read_parts
from gadcore.settings import Settings


def read_more(
    graph: Graph,
    path: PathLike,
    edges: PathLike | None = None,
    *,
    mapping: Mapping | None = None,
    settings: Settings | None = None,
) -> Graph:
    """The graph grown by the nodes and edges of a file: old nodes first, in their order and unchanged.

    Edges may join old and new nodes. Nodes that the graph has already keep their attributes; new ones are
    encoded with the graph's encoders, so a model trained before can score them. A node known from edges alone
    counts as one whose attributes are all missing. Where X = I, new nodes have no attribute of their own.
    New links join the graph's links; what is derived from links, and A, is made anew for all nodes.
    """
    settings = settings or Settings.from_env()
    with explained(Path(path).name):
        return grown(graph, read_parts(Path(path), edges, None, mapping or Mapping(), settings, graph))


def grown(graph: Graph, parts: Parts) -> Graph:
    """The graph and the parts of a file that adds to it; see ``read_more``."""
    fresh = np.flatnonzero(graph.node_ids.rows(parts.ids) < 0)
    ids = np.concatenate([np.asarray(graph.node_ids), parts.ids[fresh]])
    block = _own_block(graph, parts, fresh)
    frame = pd.concat([graph.node_table.frame(), _new_rows(graph, parts, fresh)], ignore_index=True)
    table = NodeTable.of(frame[list(graph.node_table)])
    if graph.links is None:
        edges = _grown_edges(graph, parts, ids)
        x = _with_rows(graph.x, block)
        return replace(graph, node_ids=NodeIds.of(ids), node_table=table, adjacency=edges, x=x)
    links = grown_links(graph.links, parts, pd.Index(ids).get_indexer(parts.lookup()), len(ids))
    derived = derived_again(graph, links)
    edges = edges_of_links(links, Mapping.from_json(graph.extra.get("mapping") or {}))
    x = _with_derived(graph, _with_rows(graph.x[:, : block.shape[1]], block), derived)
    table = table.with_columns({name: pd.Series(values) for name, values in derived.items()})
    return replace(graph, node_ids=NodeIds.of(ids), node_table=table, adjacency=edges, x=x, links=links)


def _grown_edges(graph: Graph, parts: Parts, ids: Any) -> Any:
    """Old and new edges together; an edge that both know keeps the larger weight."""
    position = pd.Index(ids).get_indexer(parts.lookup())
    old = sp.triu(graph.adjacency, format="coo")
    rows = np.concatenate([old.row, position[parts.rows]]).astype(np.int64)
    cols = np.concatenate([old.col, position[parts.cols]]).astype(np.int64)
    weights = np.concatenate([old.data, parts.weights]).astype(np.float32)
    return symmetric_csr(rows, cols, weights, len(ids))


def _new_rows(graph: Graph, parts: Parts, fresh: Any) -> pd.DataFrame:
    """Raw columns of the new nodes, in the types of the old ones."""
    table = parts.table.iloc[fresh]
    own = [name for name in graph.feature_names if name not in graph.derived]
    if parts.x is not None and [c for c in graph.node_table if c not in graph.derived] == own:
        raw = parts.x[fresh]
        table = pd.DataFrame(raw.toarray() if sp.issparse(raw) else raw, columns=own)
    columns = {}
    for name in graph.node_table:
        old = graph.node_table[name]
        raw = table[name] if name in table.columns else _holes(len(fresh))
        if pd.api.types.is_numeric_dtype(old.dtype) and not pd.api.types.is_bool_dtype(old.dtype):
            columns[name] = pd.to_numeric(raw, errors="coerce").reset_index(drop=True)
        else:
            columns[name] = display(raw.reset_index(drop=True), Parsed("text", None))
    return pd.DataFrame(columns, index=range(len(fresh)), columns=list(graph.node_table.columns))


def _with_rows(x: Any, block: Any) -> Any:
    """Attributes of the old nodes, and below them those of the new ones, in the form of the old."""
    if sp.issparse(x):
        return sp.vstack([x, sp.csr_array(block)], format="csr").astype(np.float32)
    dense = block.toarray() if sp.issparse(block) else block
    return np.vstack([x, dense.astype(np.float32)])


def _with_derived(graph: Graph, x: Any, derived: dict[str, Any]) -> Any:
    """Attributes with those from links beside them, by the encoders of the graph; new for old nodes too."""
    states = {s["column"]: s for s in graph.extra["encoders"] if s["kind"] == "derived"}
    columns = [encoders.apply(states[name], values) for name, values in derived.items()]
    every = sp.hstack([sp.csr_array(part) for part in (x, *columns)], format="csr").astype(np.float32)
    return every if sp.issparse(x) else every.toarray()


def _own_block(graph: Graph, parts: Parts, fresh: Any) -> Any:
    """Attributes of the new nodes that do not come from links."""
    states = [s for s in graph.extra.get("encoders") or [] if s["kind"] != "derived"]
    width = graph.n_features - len(graph.derived)
    if graph.attribute_free or not len(fresh) or not width:
        return sp.csr_array((len(fresh), width), dtype=np.float32)
    if not states:
        raise InputError(
            f"the graph {graph.name!r} was made without encoders", "a graph that was read from a file"
        )
    if states[0]["kind"] == "matrix":
        return _matrix_block(graph, parts, fresh, states[0])
    return _column_block(parts, fresh, states)


def _matrix_block(graph: Graph, parts: Parts, fresh: Any, state: dict[str, Any]) -> Any:
    width = len(state["features"])
    matrix = parts.x
    if matrix is None and set(state["features"]) <= set(parts.table.columns):
        columns = parts.table[state["features"]].apply(pd.to_numeric, errors="coerce")
        matrix = columns.fillna(0.0).to_numpy(dtype=np.float32)
    if matrix is None and not len(parts.table.columns):
        return sp.csr_array((len(fresh), width), dtype=np.float32)
    if matrix is None or matrix.shape[1] != width:
        found = "no attribute matrix" if matrix is None else f"{matrix.shape[1]:,} attributes"
        raise InputError(f"the new nodes have {found}", f"{width:,} attributes, as in {graph.name!r}")
    return encoders.apply_matrix(state, matrix[fresh])


def _column_block(parts: Parts, fresh: Any, states: list[dict[str, Any]]) -> Any:
    expected = [s["column"] for s in states]
    given = list(parts.table.columns)
    if given and not set(expected) & set(given):
        raise InputError(
            f"the new nodes have the columns {shown(given)}", f"columns of the graph: {shown(expected)}"
        )
    table = parts.table.iloc[fresh].reset_index(drop=True)
    raw = [table[c] if c in given else _holes(len(fresh)) for c in expected]
    blocks = [encoders.apply(s, encoders.parse_as(s, column)) for s, column in zip(states, raw)]
    return sp.hstack([sp.csr_array(block) for block in blocks], format="csr")


def _holes(n: int) -> pd.Series:
    return pd.Series([None] * n, dtype=object)
