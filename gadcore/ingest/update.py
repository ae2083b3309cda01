"""Nodes and edges that arrived after a graph was read, encoded as the graph's own were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.graph import Graph, symmetric_csr
from gadcore.ingest import attribute_encoders as encoders
from gadcore.ingest.archives import PathLike
from gadcore.ingest.assemble import display
from gadcore.ingest.column_kinds import Parsed
from gadcore.ingest.formats.file_format import explained
from gadcore.ingest.graph_parts import Parts, shown
from gadcore.ingest.mapping import Mapping
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
    """
    settings = settings or Settings.from_env()
    with explained(Path(path).name):
        return _grown(graph, read_parts(Path(path), edges, None, mapping or Mapping(), settings, graph))


def _grown(graph: Graph, parts: Parts) -> Graph:
    fresh = np.flatnonzero(pd.Index(graph.node_ids).get_indexer(parts.ids) < 0)
    ids = np.concatenate([graph.node_ids, parts.ids[fresh]])
    x = _grown_attributes(graph, parts, fresh)
    table = pd.concat([graph.node_table, _new_rows(graph, parts, fresh)], ignore_index=True)
    return replace(
        graph,
        node_ids=ids,
        adjacency=_grown_edges(graph, parts, ids),
        x=x,
        node_table=table[list(graph.node_table.columns)],
    )


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
    if parts.x is not None and list(graph.node_table.columns) == list(graph.feature_names):
        raw = parts.x[fresh]
        table = pd.DataFrame(raw.toarray() if sp.issparse(raw) else raw, columns=list(graph.feature_names))
    columns = {}
    for name, old in graph.node_table.items():
        raw = table[name] if name in table.columns else _holes(len(fresh))
        if pd.api.types.is_numeric_dtype(old.dtype) and not pd.api.types.is_bool_dtype(old.dtype):
            columns[name] = pd.to_numeric(raw, errors="coerce").reset_index(drop=True)
        else:
            columns[name] = display(raw.reset_index(drop=True), Parsed("text", None))
    return pd.DataFrame(columns, index=range(len(fresh)), columns=list(graph.node_table.columns))


def _grown_attributes(graph: Graph, parts: Parts, fresh: Any) -> Any:
    states = graph.extra.get("encoders") or []
    if graph.attribute_free or not len(fresh):
        block: Any = sp.csr_array((len(fresh), graph.n_features), dtype=np.float32)
    elif not states:
        raise InputError(
            f"the graph {graph.name!r} was made without encoders", "a graph that was read from a file"
        )
    elif states[0]["kind"] == "matrix":
        block = _matrix_block(graph, parts, fresh, states[0])
    else:
        block = _column_block(parts, fresh, states)
    if sp.issparse(graph.x):
        return sp.vstack([graph.x, sp.csr_array(block)], format="csr").astype(np.float32)
    dense = block.toarray() if sp.issparse(block) else block
    return np.vstack([graph.x, dense.astype(np.float32)])


def _matrix_block(graph: Graph, parts: Parts, fresh: Any, state: dict[str, Any]) -> Any:
    matrix = parts.x
    if matrix is None and set(state["features"]) <= set(parts.table.columns):
        columns = parts.table[state["features"]].apply(pd.to_numeric, errors="coerce")
        matrix = columns.fillna(0.0).to_numpy(dtype=np.float32)
    if matrix is None and not len(parts.table.columns):
        return sp.csr_array((len(fresh), graph.n_features), dtype=np.float32)
    if matrix is None or matrix.shape[1] != graph.n_features:
        width = "no attribute matrix" if matrix is None else f"{matrix.shape[1]:,} attributes"
        raise InputError(
            f"the new nodes have {width}", f"{graph.n_features:,} attributes, as in {graph.name!r}"
        )
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
    return sp.hstack(blocks, format="csr")


def _holes(n: int) -> pd.Series:
    return pd.Series([None] * n, dtype=object)
