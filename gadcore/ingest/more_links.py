"""Links that arrived after a graph was read, put to the graph's own; edges and derived columns made anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gadcore.derive import GROUPS
from gadcore.errors import InputError
from gadcore.graph import Graph, IntArray, Links, symmetric_csr
from gadcore.graph.links import CLOCK, STEPS, Numbers
from gadcore.ingest.graph_parts import Parts, usable_weights
from gadcore.ingest.link_columns import merge_rule
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.numbers import read_numbers


def grown_links(old: Links, parts: Parts, position: IntArray, n_nodes: int) -> Links:
    """Old links and those of the parts; ``position`` gives the row of each node that the parts count."""
    new = parts.links
    if new is None:
        return _made(old, n_nodes, old.source, old.target)
    _refuse_other_clock(old, new)
    kind, kinds = _kinds(old, new)
    precision = CLOCK if CLOCK in (old.meaning.precision, new.meaning.precision) else old.meaning.precision
    return Links.make(
        n_nodes,
        np.concatenate([old.source, position[new.source]]),
        np.concatenate([old.target, position[new.target]]),
        time=_together(old.time, new.time, len(old), len(new)),
        amount=_together(old.amount, new.amount, len(old), len(new)),
        kind=kind,
        other=_others(old, new),
        meaning=replace(old.meaning, kinds=kinds, precision=precision),
    )


def _made(links: Links, n_nodes: int, source: Any, target: Any) -> Links:
    """The same links among more nodes."""
    told = {name: getattr(links, name) for name in ("time", "amount", "kind", "other", "meaning")}
    return Links.make(n_nodes, source, target, **told)


def _refuse_other_clock(old: Links, new: Links) -> None:
    precisions = (old.meaning.precision, new.meaning.precision)
    if all(precisions) and len({p == STEPS for p in precisions}) == 2:
        steps, dates = ("graph", "new links") if precisions[0] == STEPS else ("new links", "graph")
        raise InputError(
            f"the {steps} count time in steps, the {dates} in dates",
            "times as in the graph",
            "write the times of the new links as those of the graph are written",
        )


def _together(old: Numbers | None, new: Numbers | None, n_old: int, n_new: int) -> Numbers | None:
    """Values of both; unknown where one side has none. What the graph does not have stays out."""
    if old is None:
        return None
    return np.concatenate([old, np.full(n_new, np.nan) if new is None else new])


def _kinds(old: Links, new: Links) -> tuple[npt.NDArray[np.int64] | None, tuple[str, ...]]:
    """Kinds keep their codes, which models know; those first seen now come behind them."""
    if old.kind is None:
        return None, ()
    kinds = tuple(dict.fromkeys([*old.meaning.kinds, *new.meaning.kinds]))
    code = {kind: k for k, kind in enumerate(kinds)}
    table = np.array([*(code[kind] for kind in new.meaning.kinds), -1], dtype=np.int64)
    fresh = np.full(len(new), -1, np.int64) if new.kind is None else table[new.kind]
    return np.concatenate([old.kind.astype(np.int64), fresh]), kinds


def _others(old: Links, new: Links) -> pa.Table:
    """Other columns of both below each other; empty where one side does not have a column."""
    sides = []
    for links in (old, new):
        columns = {c: links.other[c].cast(pa.large_string()) for c in links.other.column_names}
        sides.append(columns or {"": pa.nulls(len(links), pa.large_string())})
    joined = pa.concat_tables([pa.table(side) for side in sides], promote_options="default")
    return joined.drop_columns([""]) if "" in joined.column_names else joined


def edges_of_links(links: Links, mapping: Mapping) -> Any:
    """A as the import would make it from these links."""
    source, target = (v.astype(np.int64) for v in (links.source, links.target))
    rule = merge_rule(mapping, source, target, links.n_nodes)
    weights = weights_of(links, mapping, rule).astype(np.float32)
    return symmetric_csr(source, target, weights, links.n_nodes, rule)


def weights_of(links: Links, mapping: Mapping, rule: str) -> npt.NDArray[np.float64]:
    """Weight of each link: its weight column, or its amount where the mapping says so, or 1."""
    if rule in ("count", "one"):
        return np.ones(len(links))
    if mapping.weight in links.other.column_names:
        values = read_numbers(links.other[mapping.weight].combine_chunks()).values
        return usable_weights(np.nan_to_num(values, nan=1.0))[0]
    if mapping.repeats is None or links.amount is None:
        return np.ones(len(links))
    return usable_weights(links.amount)[0]


def derived_again(graph: Graph, links: Links) -> dict[str, Numbers]:
    """The graph's own derived columns, by name, from all links."""
    told: Sequence[dict[str, str]] = list(graph.derived.values())
    found: dict[str, Numbers] = {}
    for group in dict.fromkeys(column["group"] for column in told):
        found |= dict(GROUPS[group].values(links))
    return {column["name"]: found[column["key"]] for column in told}
