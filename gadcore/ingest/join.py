"""Node and edge tables joined to a graph in parts: ids checked, edge ends found, weights checked.

Edge ends that the node table does not know: the rows are left out and listed with their lines; when more than
half of the edges would go, that is no stray row but a wrong column or a spoilt id, and an error says so.
Without a node table the nodes are the edge ends, in the order of first appearance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from gadcore.errors import InputError
from gadcore.ingest.edges import Ends, connect, ends_of, resolve_edges
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.nodes import Ids, node_parts
from gadcore.ingest.parts import Dropped, Parts, Table


def join(
    nodes: Sequence[Table],
    edges: Sequence[Table],
    mapping: Mapping,
    format_name: str,
    earlier: Ids | None = None,
) -> Parts:
    """Parts of a graph from its tables; several tables of a kind are put below each other.

    ``earlier`` are the ids of a graph that these tables add to: edges may name them.
    """
    notes: list[str] = []
    dropped: list[Dropped] = []
    parts = node_parts(nodes, mapping, notes) if nodes else None
    if parts is not None and earlier is not None:
        parts.others = earlier[pd.Index(parts.ids).get_indexer(earlier) < 0]
    known = None if parts is None else parts.lookup()
    resolved = [resolve_edges(table, mapping, known, notes) for table in edges]
    ends = [ends_of(table, found, dropped, notes) for table, found in zip(edges, resolved)]
    if parts is None:
        parts = _nodes_of_edges(ends, notes)
    connect(parts, ends, dropped, notes, declared=bool(nodes))
    for found in resolved[:1]:
        mapping = mapping.filled(found)
    parts.mapping = mapping.filled(parts.mapping)
    parts.format, parts.notes, parts.dropped = format_name, notes + parts.notes, dropped
    return parts


def _nodes_of_edges(ends: Sequence[Ends], notes: list[str]) -> Parts:
    if not sum(len(e.table.frame) for e in ends):
        raise InputError(f"{ends[0].table.file} has a header but no rows", "at least one edge")
    every = np.concatenate([np.concatenate([e.source, e.target]) for e in ends])
    ids = np.asarray(pd.unique(every), dtype=object)
    notes.append("No node table: the nodes are the ends of the edges.")
    empty = np.zeros(0, np.int64)
    table = pd.DataFrame(index=range(len(ids)))
    return Parts("", ids, empty, empty, np.zeros(0), table)
