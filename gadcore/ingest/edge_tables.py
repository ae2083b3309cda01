"""Node and edge tables joined to a graph in parts: ids checked, edge ends found, weights checked.

Edge ends that the node table does not know: the rows are left out and listed with their lines. When more than
half of the edges would go, that is no stray row but a wrong column or a spoilt id, and an error says so.
Without a node table the nodes are the edge ends, in the order of first appearance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gadcore.errors import InputError
from gadcore.graph import Graph, IntArray
from gadcore.ingest import names
from gadcore.ingest.graph_parts import (
    MAX_LISTED,
    Dropped,
    Parts,
    Table,
    counted,
    shown,
    stacked,
    usable_weights,
)
from gadcore.ingest.link_columns import LinkReading, LinkTable, link_rows, merge_rule
from gadcore.ingest.link_roles import guess_roles
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.node_tables import Ids, answers_among, id_cells, node_parts
from gadcore.ingest.numbers import numbers_of

_ADD = "To make nodes of such ends, choose unknown = 'add' in the mapping."
_NEEDED = (
    "a weight column, or amounts that are all above 0",
    "choose repeats = 'count' or 'one', or name a weight column in the mapping",
)
_TYPICAL = "source and target (or from/to, src/dst, :START_ID/:END_ID, ~from/~to, …)"


@dataclass
class Ends:
    """Edge ends of one table, as ids."""

    table: Table
    mapping: Mapping  # as resolved
    source: Any  # chunked Arrow array of texts: a long table is not held as Python objects
    target: Any
    weight: npt.NDArray[np.float64]  # 0: the row is no edge, though its ends are nodes
    hidden: list[str]  # columns that are not read


def join(
    nodes: Sequence[Table],
    edges: Sequence[Table],
    mapping: Mapping,
    format_name: str,
    earlier: Graph | None = None,
    *,
    known_only: bool = False,
) -> Parts:
    """Parts of a graph from its tables; several tables of a kind are put below each other.

    ``earlier`` is a graph that these tables add to: edges may name its nodes, links are read as its own.
    With ``known_only`` links alone bring no nodes, unless the mapping says so.
    """
    notes: list[str] = []
    dropped: list[Dropped] = []
    parts = node_parts(nodes, mapping, notes) if nodes else None
    if parts is None and known_only:
        parts = Parts(np.zeros(0, dtype=object), pd.DataFrame(index=range(0)))
    if parts is not None and earlier is not None:
        parts.others = np.asarray(earlier.node_ids)[pd.Index(parts.ids).get_indexer(earlier.node_ids) < 0]
    known = None if parts is None else parts.lookup()
    resolved = [resolve_edges(table, mapping, known, notes) for table in edges]
    ends = [ends_of(table, found, dropped, notes) for table, found in zip(edges, resolved)]
    if parts is None:
        parts = _nodes_of_edges(ends, notes)
    how = None if earlier is None or earlier.links is None else earlier.extra.get("links") or {}
    connect(parts, ends, dropped, notes, how)
    parts.mapping = mapping.filled(resolved[0] if resolved else mapping).filled(parts.mapping)
    parts.format, parts.notes, parts.dropped = format_name, notes + parts.notes, dropped
    return parts


def _nodes_of_edges(ends: Sequence[Ends], notes: list[str]) -> Parts:
    if not sum(len(e.table.frame) for e in ends):
        raise InputError(f"{ends[0].table.file} has a header but no rows", "at least one edge")
    ids = _every_end(ends)
    notes.append("No node table: the nodes are the ends of the edges.")
    return Parts(ids, pd.DataFrame(index=range(len(ids))))


def _every_end(ends: Sequence[Ends]) -> Ids:
    """Each id that is an end, once, in the order of first appearance."""
    chunks = [chunk for e in ends for v in (e.source, e.target) for chunk in v.chunks]
    every = pa.chunked_array(chunks, pa.large_string()).unique()
    return np.asarray(every.to_numpy(zero_copy_only=False), dtype=object)


def _rows_of(cells: Any, ids: Any) -> IntArray:
    """Row of each cell among the ids (an Arrow array), -1 where it is none of them."""
    found = pc.index_in(cells, value_set=ids)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)


def resolve_edges(table: Table, mapping: Mapping, known: Ids | None, notes: list[str]) -> Mapping:
    """The mapping of an edge table with every part decided."""
    ends = names.guess_ends(table.columns) or (None, None)
    source = table.require(mapping.source, "source") if mapping.source is not None else ends[0]
    target = table.require(mapping.target, "target") if mapping.target is not None else ends[1]
    if source is None or target is None:
        source, target = _ends_by_content(table, known)
        notes.append(
            f"{table.file}: no column is named like an edge end; {source!r} and {target!r} are taken. "
            "Name source and target in the mapping if that is wrong."
        )
    rest = [c for c in table.columns if c not in (source, target, *mapping.ignore)]
    weight = names.guess_weight(rest) if mapping.weight is None else mapping.weight or None
    if weight is not None:
        table.require(weight, "weight")
    answers = answers_among(table, rest)
    guessed = guess_roles(table, [c for c in rest if c != weight and c not in answers])
    time, amount, kind = (_said(table, mapping, part, guessed) for part in ("time", "amount", "kind"))
    own = Mapping(source=source, target=target, weight=weight, time=time, amount=amount, kind=kind)
    return replace(own, repeats=mapping.repeats, unknown=mapping.unknown, ignore=mapping.ignore)


def _said(table: Table, mapping: Mapping, part: str, guessed: dict[str, str]) -> str | None:
    """The column that plays a part of a link: as the mapping has it, else by its name."""
    given: str | None = getattr(mapping, part)
    if given is None:
        return guessed.get(part)
    return table.require(given, part) if given else None


def _ends_by_content(table: Table, known: Ids | None) -> tuple[str, str]:
    columns = table.columns
    if known is not None and len(table.frame):
        lookup = pa.array(known, pa.large_string())
        found = {c: _rows_of(id_cells(table, c, check=False), lookup) >= 0 for c in columns}
        best = sorted(columns, key=lambda c: -found[c].mean())[:2]
        if len(best) == 2 and found[best[1]].mean() > 0.5:
            first, second = sorted(best, key=columns.index)
            return first, second
    elif len(columns) in (2, 3):
        return columns[0], columns[1]
    raise InputError(
        f"{table.file} has no columns that are recognised as edge ends; it has {shown(columns)}",
        _TYPICAL,
        "name source and target in the mapping; a node table needs its edge table beside it (edges=…)",
    )


def ends_of(table: Table, mapping: Mapping, dropped: list[Dropped], notes: list[str]) -> Ends:
    source, target = (id_cells(table, str(c)) for c in (mapping.source, mapping.target))
    same = np.broadcast_to(1.0, len(source))
    weight = same if mapping.weight is None else _weights(table, mapping.weight)
    zero = np.flatnonzero(weight == 0)
    if len(zero):
        _list_dropped(dropped, table, zero, "weight 0 means no edge")
        notes.append(f"{table.file}: {counted(len(zero), 'edge')} of weight 0 left out.")
    return Ends(table, mapping, source, target, weight, _hidden(table, mapping, notes))


def _hidden(table: Table, mapping: Mapping, notes: list[str]) -> list[str]:
    """Columns that are not read: those ignored, and those that tell the answer."""
    parts = (mapping.source, mapping.target, mapping.weight, mapping.time, mapping.amount, mapping.kind)
    free = [c for c in table.columns if c not in parts]
    answers = [c for c in answers_among(table, free) if c not in mapping.ignore]
    if answers:
        notes.append(f"{table.file}: {shown(answers)} tells the answer and is left out: no model may see it.")
    return [*answers, *(c for c in free if c in mapping.ignore)]


def _weights(table: Table, column: str) -> npt.NDArray[np.float64]:
    series = table.frame[column]
    values = numbers_of(series).values
    if table.optional_weight:
        values = np.where(series.isna().to_numpy(), 1.0, values)
    weights, bad = usable_weights(values)
    if len(bad):
        raise InputError(
            f"{table.place(int(bad[0]))}: weight {series.iloc[bad[0]]!r} in column {column!r} "
            f"({counted(len(bad), 'row')})",
            "a finite number above 0 (a_nm > 0)",
            "correct the weights, choose another weight column, or let this one be the amount",
        )
    return weights


def _list_dropped(dropped: list[Dropped], table: Table, rows: IntArray, reason: str) -> None:
    room = max(0, MAX_LISTED - len(dropped))
    dropped.extend(Dropped(table.file, table.line(int(r)), reason) for r in rows[:room])


def connect(
    parts: Parts,
    ends: Sequence[Ends],
    dropped: list[Dropped],
    notes: list[str],
    how: dict[str, object] | None = None,
) -> None:
    """Ends as row numbers; unknown ends are added, or their rows listed, or refused if the majority."""
    if any(e.mapping.unknown == "add" for e in ends):
        _add_unknown(parts, ends, notes)
    ids = parts.lookup()
    lookup = pa.array(ids, pa.large_string())
    linked: list[LinkTable] = []
    weights: list[npt.NDArray[np.float64]] = []
    for e in ends:
        a, b = _rows_of(e.source, lookup), _rows_of(e.target, lookup)
        e.table.release()
        _leave_out(e, a, b, ids, dropped, notes)
        keep = (a >= 0) & (b >= 0) & (e.weight > 0)
        rows, cols = (v if keep.all() else v[keep] for v in (a, b))
        weights.append(e.weight if keep.all() else e.weight[keep])
        linked.append(LinkTable(e.table, e.mapping, np.flatnonzero(keep), rows, cols, e.hidden))
        del a, b, keep
    if linked:
        parts.weights = stacked(weights)
        take_links(parts, linked, notes, how)


def take_edge_columns(parts: Parts, mapping: Mapping) -> Parts:
    """Parts of an array format, with what the columns of its edges say, where it has some."""
    table = parts.edge_table
    if table is None:
        return parts
    given = replace(mapping.filled(parts.mapping), source="source", target="target")
    found = resolve_edges(table, given, None, parts.notes)
    weight = np.ones(len(parts.rows)) if found.weight is None else _weights(table, found.weight)
    keep = np.flatnonzero(weight > 0)
    hidden = _hidden(table, found, parts.notes)
    linked = LinkTable(table, found, keep, parts.rows[keep], parts.cols[keep], hidden)
    parts.weights = weight[keep]
    take_links(parts, [linked], parts.notes)
    parts.mapping = given.filled(found)
    return parts


def take_links(
    parts: Parts, linked: Sequence[LinkTable], notes: list[str], how: dict[str, object] | None = None
) -> None:
    """The links of the tables, and the weights and the way of merging that follow from them."""
    parts.rows, parts.cols = (stacked([getattr(t, end) for t in linked]) for end in ("source", "target"))
    mapping = linked[0].mapping
    read = link_rows(linked, len(parts.lookup()), notes, how)
    parts.merge = merge_rule(mapping, parts.rows, parts.cols, len(parts.lookup()))
    if read is not None:
        parts.links, parts.link_columns, parts.link_how = read.links, read.columns, read.how
    if mapping.weight is None and mapping.repeats in ("sum", "mean", "largest"):
        parts.weights = _amounts_as_weights(read, mapping.repeats)


def _amounts_as_weights(read: LinkReading | None, rule: str) -> npt.NDArray[np.float64]:
    """Amounts in the place of weights: they must be above 0."""
    amount = None if read is None else read.amount
    if amount is None:
        raise InputError(f"repeats = {rule!r}, but the links have no weight and no amount", *_NEEDED)
    weights, _ = usable_weights(amount)
    bad = np.flatnonzero(~(weights > 0) | ~np.isfinite(weights))
    if len(bad):
        column = None if read is None else read.links.meaning.amount
        raise InputError(
            f"repeats = {rule!r}, but {counted(len(bad), 'amount')} in column {column!r} not above 0 "
            f"(the first: {amount[bad[0]]:g})", *_NEEDED,
        )  # fmt: skip
    return weights


def _add_unknown(parts: Parts, ends: Sequence[Ends], notes: list[str]) -> None:
    """Ends that the node table does not know become nodes without attributes."""
    every = _every_end(ends)
    new = every[pd.Index(parts.lookup()).get_indexer(every) < 0]
    if not len(new):
        return
    parts.ids = np.concatenate([parts.ids, new])
    parts.table = parts.table.reindex(range(len(parts.ids)))
    if parts.truth is not None:
        parts.truth = np.append(parts.truth, np.full(len(new), -1, np.int8))
    notes.append(
        f"{counted(len(new), 'end')} of links that {'is' if len(new) == 1 else 'are'} not in the node table "
        f"added as nodes without attributes ({shown(sorted(map(str, new)), 3)})."
    )


def _leave_out(e: Ends, a: IntArray, b: IntArray, ids: Ids, dropped: list[Dropped], notes: list[str]) -> None:
    """List the rows with an end that is no node; raise when they are the majority."""
    lost = np.flatnonzero((a < 0) | (b < 0))
    if not len(lost):
        return
    unknown = [(e.source if a[i] < 0 else e.target)[int(i)].as_py() for i in lost[:MAX_LISTED]]
    if len(lost) > len(a) / 2:
        raise _too_many_lost(e, lost, unknown, ids)
    for i, node in zip(lost, unknown):
        _list_dropped(dropped, e.table, np.array([i]), f"no node {node!r} in the node table")
    notes.append(
        f"{e.table.file}: {counted(len(lost), 'edge')} left out: an end is not in the node table "
        f"({shown(sorted(set(unknown)), 3)}).{_space_hint(unknown, ids)} {_ADD}"
    )


def _too_many_lost(e: Ends, lost: IntArray, unknown: Sequence[str], ids: Ids) -> InputError:
    return InputError(
        f"{e.table.file}: {len(lost):,} of {len(e.source):,} edges end outside the node table, "
        f"e.g. {shown(list(dict.fromkeys(unknown)), 3)} ({e.table.place(int(lost[0]))}); "
        f"node ids look like {shown([str(i) for i in ids[:3]])}",
        "edge ends written exactly as the node ids",
        "check the id, source and target columns in the mapping, and leading zeros and spaces."
        + f"{_space_hint(unknown, ids)} {_ADD}",
    )


def _space_hint(unknown: Sequence[str], ids: Ids) -> str:
    """Say so when ids would match but for spaces, case or leading zeros."""
    sample = set(unknown)
    for word, change in (
        ("spaces", str.strip),
        ("upper and lower case", str.casefold),
        ("leading zeros", lambda v: v.lstrip("0")),
        ("a trailing '.0'", lambda v: v.removesuffix(".0")),
    ):
        known = {change(str(i)) for i in ids}
        if sum(change(u) in known for u in sample) > len(sample) / 2:
            return f" They would match without the difference in {word}."
    return ""
