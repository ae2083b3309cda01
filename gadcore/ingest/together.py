"""A stored graph and files that arrived later, read as one import of everything would read them.

``read_together`` takes raw columns and links of the graph and of the files as one and assembles them anew:
scales, categories and derived columns are those of all nodes, as if everything had come in one file. (What
``read_more`` makes is for a model of before: it keeps the encoders of the graph.)
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gadcore.graph import Graph, IntArray, Links, Truth
from gadcore.ingest.archives import PathLike
from gadcore.ingest.assemble import Reading, assemble, report_of
from gadcore.ingest.formats.file_format import explained
from gadcore.ingest.graph_parts import Parts, TruthArray
from gadcore.ingest.link_columns import by_frequency, merge_rule
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.more_links import grown_links, weights_of
from gadcore.ingest.raw_columns import joined_columns, raw_columns
from gadcore.ingest.read import read_parts
from gadcore.ingest.update import grown
from gadcore.settings import Settings


def read_together(
    graph: Graph,
    truth: Truth | None,
    path: PathLike,
    edges: PathLike | None = None,
    *,
    mapping: Mapping | None = None,
    settings: Settings | None = None,
) -> Reading:
    """The graph with the nodes and edges of a file: old nodes first, in their order.

    A node that the graph has already gets the values that the file gives it; columns that the file lacks
    keep theirs. Links are added to those there are. A table of links alone may name nodes that the node table
    lacks only where the mapping says so. Attributes that came as a matrix are scaled as before.
    """
    settings, source = settings or Settings.from_env(), Path(path).name
    with explained(source):
        own = any(column not in graph.derived for column in graph.node_table)
        parts = read_parts(Path(path), edges, None, mapping or Mapping(), settings, graph, known_only=own)
        if _is_matrix(graph):
            return _with_matrix(graph, truth, parts, source)
        whole = _whole(graph, truth, parts)
        return assemble(whole, source=source, name=graph.name, robust=bool(graph.extra.get("robust")))


def _is_matrix(graph: Graph) -> bool:
    states = graph.extra.get("encoders") or []
    return bool(states) and states[0]["kind"] == "matrix"


def _with_matrix(graph: Graph, truth: Truth | None, parts: Parts, source: str) -> Reading:
    made, place = grown(graph, parts), graph.node_ids.rows(parts.ids)
    known = _truth(graph, truth, parts, place, np.flatnonzero(place < 0))
    report = report_of(replace(parts, truth=known), made, [], source)
    return Reading(made, report, None if known is None else Truth(known))


def _whole(graph: Graph, truth: Truth | None, parts: Parts) -> Parts:
    """The parts of all that there is."""
    place = graph.node_ids.rows(parts.ids)
    fresh = np.flatnonzero(place < 0)
    ids = np.concatenate([np.asarray(graph.node_ids), parts.ids[fresh]])
    mapping = Mapping.from_json(graph.extra.get("mapping") or {})
    old = raw_columns(graph)
    table, decimals = joined_columns(old, parts, place, fresh)
    chosen = mapping.attributes
    whole = Parts(
        ids,
        table,
        format=str(graph.extra.get("format", "")),
        attributes=[c for c in table.columns if (c in chosen if chosen is not None else c != mapping.label)],
        label_column=graph.label_column or parts.label_column,
        truth=_truth(graph, truth, parts, place, fresh),
        mapping=mapping.filled(parts.mapping),
        lists={**parts.lists, **old.lists},
        decimals=decimals,
        notes=parts.notes,
        dropped=parts.dropped,
        link_columns=parts.link_columns,
        link_how={**parts.link_how, **(graph.extra.get("links") or {})},
    )
    position = pd.Index(ids).get_indexer(parts.lookup())
    return (
        _with_links(whole, graph, parts, position)
        if graph.links
        else _with_edges(whole, graph, parts, position)
    )


def _with_links(whole: Parts, graph: Graph, parts: Parts, position: IntArray) -> Parts:
    assert graph.links is not None
    links = _most_frequent_first(grown_links(graph.links, parts, position, len(whole.ids)))
    source, target = (ends.astype(np.int64) for ends in (links.source, links.target))
    rule = merge_rule(whole.mapping, source, target, links.n_nodes)
    weights = weights_of(links, whole.mapping, rule)
    return replace(whole, rows=source, cols=target, weights=weights, merge=rule, links=links)


def _most_frequent_first(links: Links) -> Links:
    """Kinds in the order that an import gives them."""
    if links.kind is None:
        return links
    codes, kinds = by_frequency(np.asarray(links.kind, dtype=np.int64), links.meaning.kinds)
    return replace(links, kind=codes.astype(np.int32), meaning=replace(links.meaning, kinds=kinds))


def _with_edges(whole: Parts, graph: Graph, parts: Parts, position: IntArray) -> Parts:
    """Edges that say no more than who with whom; one that both know keeps the larger weight."""
    old = sp.triu(graph.adjacency, format="coo")
    rows = np.concatenate([old.row, position[parts.rows]]).astype(np.int64)
    cols = np.concatenate([old.col, position[parts.cols]]).astype(np.int64)
    return replace(whole, rows=rows, cols=cols, weights=np.concatenate([old.data, parts.weights]))


def _truth(graph: Graph, truth: Truth | None, parts: Parts, place: IntArray, fresh: IntArray) -> Any:
    """Known answers of both; what the file says of a node counts."""
    if truth is None and parts.truth is None:
        return None
    unknown = np.full(len(parts.ids), -1, np.int8)
    new: TruthArray = unknown if parts.truth is None else parts.truth
    old = np.full(graph.n_nodes, -1, np.int8) if truth is None else np.array(truth.y)
    said = (place >= 0) & (new >= 0)
    old[place[said]] = new[said]
    return np.concatenate([old, new[fresh]])
