"""Node and edge tables joined to a graph in parts: ids checked, edge ends found, weights checked.

Edge ends that the node table does not know: the rows are left out and listed with their lines. When more than
half of the edges would go, that is no stray row but a wrong column or a spoilt id, and an error says so.
Without a node table the nodes are the edge ends, in the order of first appearance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.errors import InputError
from gadcore.graph import IntArray
from gadcore.ingest import mapping as names
from gadcore.ingest.graph_parts import MAX_LISTED, Dropped, Parts, Table, counted, shown, usable_weights
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.node_tables import Ids, id_values, node_parts

_TYPICAL = "source and target (or from/to, src/dst, :START_ID/:END_ID, ~from/~to, …)"


@dataclass
class Ends:
    """Edge ends of one table, as ids."""

    table: Table
    source: Ids
    target: Ids
    weight: npt.NDArray[np.float64]  # 0: the row is no edge, though its ends are nodes


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
    connect(parts, ends, dropped, notes)
    parts.mapping = mapping.filled(resolved[0] if resolved else mapping).filled(parts.mapping)
    parts.format, parts.notes, parts.dropped = format_name, notes + parts.notes, dropped
    return parts


def _nodes_of_edges(ends: Sequence[Ends], notes: list[str]) -> Parts:
    if not sum(len(e.table.frame) for e in ends):
        raise InputError(f"{ends[0].table.file} has a header but no rows", "at least one edge")
    ids = np.asarray(pd.unique(np.concatenate([v for e in ends for v in (e.source, e.target)])), dtype=object)
    notes.append("No node table: the nodes are the ends of the edges.")
    return Parts(ids, pd.DataFrame(index=range(len(ids))))


def resolve_edges(table: Table, mapping: Mapping, known: Ids | None, notes: list[str]) -> Mapping:
    """The mapping of an edge table with source, target and weight decided."""
    ends = names.guess_ends(table.columns) or (None, None)
    source = table.require(mapping.source, "source") if mapping.source is not None else ends[0]
    target = table.require(mapping.target, "target") if mapping.target is not None else ends[1]
    if source is None or target is None:
        source, target = _ends_by_content(table, known)
        notes.append(
            f"{table.file}: no column is named like an edge end; {source!r} and {target!r} are taken. "
            "Name source and target in the mapping if that is wrong."
        )
    rest = [c for c in table.columns if c not in (source, target)]
    weight = names.guess_weight(rest) if mapping.weight is None else mapping.weight or None
    if weight is not None:
        table.require(weight, "weight")
    return Mapping(source=source, target=target, weight=weight)


def _ends_by_content(table: Table, known: Ids | None) -> tuple[str, str]:
    columns = table.columns
    if known is not None and len(table.frame):
        lookup = pd.Index(known)
        found = {c: lookup.get_indexer(id_values(table, c, check=False)) >= 0 for c in columns}
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
    source, target = (id_values(table, str(c)) for c in (mapping.source, mapping.target))
    weight = np.ones(len(source)) if mapping.weight is None else _weights(table, mapping.weight)
    zero = np.flatnonzero(weight == 0)
    if len(zero):
        _list_dropped(dropped, table, zero, "weight 0 means no edge")
        notes.append(f"{table.file}: {counted(len(zero), 'edge')} of weight 0 left out.")
    unused = [c for c in table.columns if c not in (mapping.source, mapping.target, mapping.weight)]
    if unused:
        notes.append(f"{table.file}: edge columns not used: {shown(unused)}.")
    return Ends(table, source, target, weight)


def _weights(table: Table, column: str) -> npt.NDArray[np.float64]:
    series = table.frame[column]
    values = np.asarray(pd.to_numeric(series, errors="coerce"), dtype=np.float64)
    if table.optional_weight:
        values = np.where(series.isna().to_numpy(), 1.0, values)
    weights, bad = usable_weights(values)
    if len(bad):
        raise InputError(
            f"{table.place(int(bad[0]))}: weight {series.iloc[bad[0]]!r} in column {column!r} "
            f"({counted(len(bad), 'row')})",
            "a finite number above 0 (a_nm > 0)",
            "correct the weights, or choose another weight column in the mapping",
        )
    return weights


def _list_dropped(dropped: list[Dropped], table: Table, rows: IntArray, reason: str) -> None:
    room = max(0, MAX_LISTED - len(dropped))
    dropped.extend(Dropped(table.file, table.line(int(r)), reason) for r in rows[:room])


def connect(parts: Parts, ends: Sequence[Ends], dropped: list[Dropped], notes: list[str]) -> None:
    """Ends as row numbers; rows with an unknown end are listed, or refused when they are the majority."""
    ids = parts.lookup()
    lookup = pd.Index(ids)
    found: list[tuple[IntArray, IntArray, npt.NDArray[np.float64]]] = []
    for e in ends:
        a, b = lookup.get_indexer(e.source), lookup.get_indexer(e.target)
        lost = np.flatnonzero((a < 0) | (b < 0))
        if len(lost):
            unknown = [str(e.source[i] if a[i] < 0 else e.target[i]) for i in lost[:MAX_LISTED]]
            if len(lost) > len(a) / 2:
                raise _too_many_lost(e, lost, unknown, ids)
            for i, node in zip(lost, unknown):
                _list_dropped(dropped, e.table, np.array([i]), f"no node {node!r} in the node table")
            notes.append(
                f"{e.table.file}: {counted(len(lost), 'edge')} left out: an end is not in the node table "
                f"({shown(sorted(set(unknown)), 3)}).{_space_hint(unknown, ids)}"
            )
        keep = (a >= 0) & (b >= 0) & (e.weight > 0)
        found.append((a[keep].astype(np.int64), b[keep].astype(np.int64), e.weight[keep]))
    if found:
        parts.rows, parts.cols, parts.weights = (np.concatenate(each) for each in zip(*found))


def _too_many_lost(e: Ends, lost: IntArray, unknown: Sequence[str], ids: Ids) -> InputError:
    return InputError(
        f"{e.table.file}: {len(lost):,} of {len(e.source):,} edges end outside the node table, "
        f"e.g. {shown(list(dict.fromkeys(unknown)), 3)} ({e.table.place(int(lost[0]))}); "
        f"node ids look like {shown([str(i) for i in ids[:3]])}",
        "edge ends written exactly as the node ids",
        "check the id, source and target columns in the mapping, and leading zeros and spaces."
        + _space_hint(unknown, ids),
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
