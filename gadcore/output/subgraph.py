"""The flagged part of the graph: its nodes with the columns of the flagged table, and what runs between them.

Where the graph has links, each of them is an edge of its own, directed, with its time, amount, kind and other
columns under names that the reader knows. So ``read_graph`` gives the same links again. Other graphs have one
undirected edge for each pair, with its weight.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
from networkx.readwrite.gexf import GEXFWriter

from gadcore.graph import Graph, IntArray, Links
from gadcore.graph.links import CLOCK, DAY, STEPS
from gadcore.records import as_json, xml_text

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

PARTS = ("time", "amount", "kind")
# Names of edge attributes that mean something to the reader, to GraphML or to GEXF.
_TAKEN = ("source", "target", "weight", *PARTS, "id", "key", "label", "type", "start", "end", "viz")


def between(graph: Graph, nodes: IntArray) -> pd.DataFrame:
    """One row for each link between these nodes (for each edge where there are no links), ends as ids."""
    return _edge_rows(graph, nodes) if graph.links is None else _link_rows(graph, graph.links, nodes)


def count_between(graph: Graph, nodes: IntArray) -> int:
    """How many rows ``between`` has."""
    if graph.links is None:
        return int(graph.adjacency[nodes][:, nodes].nnz // 2)
    return len(_rows_between(graph.links, nodes))


def _edge_rows(graph: Graph, nodes: IntArray) -> pd.DataFrame:
    inner = sp.coo_array(sp.triu(graph.adjacency[nodes][:, nodes], k=1))
    source, target = (graph.node_ids[nodes[ends]] for ends in (inner.row, inner.col))
    return pd.DataFrame({"source": source, "target": target, "weight": inner.data.astype(np.float64)})


def _rows_between(links: Links, nodes: IntArray) -> IntArray:
    among = np.zeros(links.n_nodes, dtype=bool)
    among[nodes] = True
    return np.flatnonzero(among[links.source] & among[links.target])


def _link_rows(graph: Graph, links: Links, nodes: IntArray) -> pd.DataFrame:
    rows = _rows_between(links, nodes)
    source, target = links.source[rows], links.target[rows]
    columns: dict[str, Any] = {"source": graph.node_ids[source], "target": graph.node_ids[target]}
    if links.time is not None:
        columns["time"] = times(links.time[rows], links.meaning.precision)
    if links.amount is not None:
        columns["amount"] = links.amount[rows]
    if links.kind is not None:
        columns["kind"] = links.kind_names(rows)
    if _has_weights(graph):
        columns["weight"] = np.asarray(graph.adjacency[source, target], dtype=np.float64).ravel()
    for name, cells in links.other.take(rows).to_pydict().items():
        columns[f"{name} (attribute)" if name in _TAKEN else name] = cells
    return pd.DataFrame(columns)


def times(seconds: Any, precision: str) -> list[Any]:
    """Times as files hold them: steps as numbers, the others as text; "" and nan where unknown."""
    if precision == STEPS:
        return [step if step % 1 else int(step) for step in seconds / DAY]
    known = np.isfinite(seconds)
    unit = "D" if precision != CLOCK else "ms" if np.any(seconds[known] % 1) else "s"
    exact = np.round(np.nan_to_num(seconds) * 1000).astype("datetime64[ms]").astype(f"datetime64[{unit}]")
    return [str(t).replace("T", " ") if told else "" for t, told in zip(exact, known)]


def _has_weights(graph: Graph) -> bool:
    """Whether edge weights say more than how many links there are."""
    given = graph.extra.get("mapping", {})
    return bool(given.get("weight")) or given.get("repeats") not in (None, "count")


# ---- graph documents -----------------------------------------------------------------------------------


def flagged_subgraph(workspace: Workspace, table: pd.DataFrame) -> nx.Graph:
    """The flagged nodes with the columns of the table and a name to show, and what runs between them."""
    graph = workspace.graph
    nodes = graph.indices_of(table["node_id"])
    kind = nx.Graph if graph.links is None else nx.MultiDiGraph
    part = kind(name=xml_text(graph.name))
    for node, row in zip(nodes, table.to_dict("records")):
        label = xml_text(graph.display_name(int(node)))
        part.add_node(xml_text(str(graph.node_ids[node])), label=label, **_known(row))
    for number, row in enumerate(between(graph, nodes).to_dict("records")):
        ends = xml_text(str(row.pop("source"))), xml_text(str(row.pop("target")))
        part.add_edge(*ends, **({} if graph.links is None else {"key": number}), **_known(row))
    return part


def _known(row: dict[Any, Any]) -> dict[str, Any]:
    """The cells of a row that have a value, as a document can hold them."""
    known = {
        str(k): v for k, v in row.items() if v is not None and not (isinstance(v, float) and np.isnan(v))
    }
    return {key: xml_text(value) for key, value in as_json(known).items()}


def graphml_bytes(part: nx.Graph) -> bytes:
    buffer = io.BytesIO()
    nx.write_graphml(part, buffer)
    return buffer.getvalue()


def gexf_bytes(part: nx.Graph) -> bytes:
    buffer, writer = io.BytesIO(), _Gexf(encoding="utf-8", prettyprint=True)
    writer.add_graph(part)
    writer.write(buffer)
    return buffer.getvalue()


class _Gexf(GEXFWriter):  # type: ignore[misc]  # networkx has no types
    """networkx's writer, but for the numbers that it adds to parallel edges as an attribute."""

    def add_attributes(self, node_or_edge: str, xml_obj: Any, data: dict[str, Any], default: Any) -> Any:
        kept = {k: v for k, v in data.items() if node_or_edge != "edge" or k != "key"}
        return super().add_attributes(node_or_edge, xml_obj, kept, default)


# ---- tables ---------------------------------------------------------------------------------------------


def tables(workspace: Workspace, table: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], bytes]:
    """A node table and a table of links (or edges) by file name, and the mapping.json that reads them."""
    graph = workspace.graph
    rows = between(graph, graph.indices_of(table["node_id"]))
    word = "edges" if graph.links is None else graph.links.meaning.words
    mapping = {"id": "node_id", "label": "name", "source": "source", "target": "target"}
    mapping |= {part: part if part in rows else "" for part in ("weight", *PARTS)}
    if graph.links is not None and "weight" not in rows:
        mapping["repeats"] = "count"
    return {"nodes.csv": table, f"{word}.csv": rows}, (json.dumps(mapping, indent=2) + "\n").encode()
