"""A graph as a model sees that learnt on an earlier version of it: by the encoders of then.

``encoding_of`` is what has to be kept of the version that a model learnt on, ``seen_with`` applies it to a
later one. Raw columns, links and edges are those of the later graph; X, its feature names and the codes of
the kinds of links are those that the model knows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gadcore.derive import GROUPS
from gadcore.errors import InputError
from gadcore.graph import Graph, Links
from gadcore.ingest import attribute_encoders as encoders
from gadcore.ingest.raw_columns import RawColumns, raw_columns

Encoding = dict[str, Any]


def encoding_of(graph: Graph) -> Encoding:
    """How the attributes of a graph are made, as JSON."""
    free = graph.attribute_free and list(graph.feature_names)
    return {
        "encoders": graph.extra.get("encoders") or [],
        "derived": graph.extra.get("derived") or [],
        "kinds": list(graph.links.meaning.kinds) if graph.links is not None else [],
        "itself": free or None,  # names of the features where X = I
        "columns": list(graph.feature_columns),
        "names": list(graph.feature_names),
    }


def seen_with(graph: Graph, encoding: Encoding) -> Graph:
    """The graph with attributes of this encoding; the graph itself where that is its own."""
    if encoding == encoding_of(graph):
        return graph
    links = graph.links and _with_kinds(graph.links, encoding["kinds"])
    x = _identity(graph, encoding) if encoding["itself"] else _encoded(graph, links, encoding)
    extra = {**graph.extra, "encoders": encoding["encoders"], "derived": encoding["derived"]}
    seen = replace(
        graph,
        x=x,
        links=links,
        extra=extra,
        attribute_free=bool(encoding["itself"]),
        feature_names=tuple(encoding["names"]),
        feature_columns=tuple(encoding["columns"]),
    )
    both = graph.fingerprint + json.dumps(encoding, sort_keys=True)
    seen.__dict__["fingerprint"] = hashlib.sha256(both.encode()).hexdigest()  # without reading all of it
    return seen


def _identity(graph: Graph, encoding: Encoding) -> Any:
    """A node that the model does not know has no attribute of its own."""
    known = {name: column for column, name in enumerate(encoding["names"])}
    place = np.array([known.get(f"is {node_id}", -1) for node_id in graph.node_ids])
    rows = np.flatnonzero(place >= 0)
    ones = np.ones(len(rows), np.float32)
    return sp.coo_array((ones, (rows, place[rows])), shape=(graph.n_nodes, len(known))).tocsr()


def _encoded(graph: Graph, links: Links | None, encoding: Encoding) -> Any:
    raw = raw_columns(graph)
    own = [s for s in encoding["encoders"] if s["kind"] != "derived"]
    blocks = [_own_block(graph, raw, state) for state in own]
    values = _derived(graph, links, encoding)
    derived = [s for s in encoding["encoders"] if s["kind"] == "derived"]
    return encoders.joined(blocks + [encoders.apply(s, values[s["column"]]) for s in derived])


def _own_block(graph: Graph, raw: RawColumns, state: dict[str, Any]) -> Any:
    if state["kind"] == "matrix":
        if state not in (graph.extra.get("encoders") or []):
            raise InputError(
                "attributes that came as a matrix were scaled anew",
                "the scale that the model knows",
                "retrain",
            )
        return graph.x[:, : len(state["features"])]
    name = state["column"]
    cells = raw.table[name] if name in raw.table.columns else pd.Series([None] * graph.n_nodes, dtype=object)
    return encoders.apply(state, encoders.parse_as(state, cells))


def _derived(graph: Graph, links: Links | None, encoding: Encoding) -> dict[str, Any]:
    """Values of the derived columns that the model knows, by name; those the graph has are not made again."""
    told = encoding["derived"]
    found = {
        c["name"]: graph.node_table[c["name"]].to_numpy(dtype=np.float64, na_value=np.nan)
        for c in told
        if c["name"] in graph.derived
    }
    lacking = [c for c in told if c["name"] not in found]
    for group in dict.fromkeys(c["group"] for c in lacking):
        if links is None:
            break
        made = dict(GROUPS[group].values(links))
        found |= {c["name"]: made[c["key"]] for c in lacking if c["group"] == group}
    empty = np.full(graph.n_nodes, np.nan)
    return {c["name"]: found.get(c["name"], empty) for c in told}


def _with_kinds(links: Links, kinds: list[str]) -> Links:
    """Links whose kinds have the codes that the model knows; those first seen later come behind them."""
    if links.kind is None or list(links.meaning.kinds[: len(kinds)]) == kinds:
        return links
    names = tuple(dict.fromkeys([*kinds, *links.meaning.kinds]))
    code = {name: k for k, name in enumerate(names)}
    table = np.array([*(code[name] for name in links.meaning.kinds), -1], dtype=np.int32)
    return replace(links, kind=table[links.kind], meaning=replace(links.meaning, kinds=names))
