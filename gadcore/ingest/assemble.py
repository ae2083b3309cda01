"""A Graph and its preflight report from parts: edges made undirected, columns encoded, everything said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from gadcore.derive import Derived, derive
from gadcore.errors import InputError
from gadcore.graph import Graph, NodeIds, NodeTable, Truth, symmetric_csr
from gadcore.graph.node_table import Scratch
from gadcore.ingest import attribute_encoders as encoders
from gadcore.ingest.column_kinds import ENCODED, Parsed, understand
from gadcore.ingest.graph_parts import Parts, counted, shown
from gadcore.ingest.link_report import link_lines
from gadcore.ingest.mapping import REPEATS
from gadcore.ingest.report import ColumnReport, Report, component_summary, degree_summary, truth_summary

_SHOWN_MATRIX = 64  # a ready matrix of at most so many columns is also shown as raw columns
_EXAMPLE = 40  # characters
_FROM_EDGES = "No attributes: X = I, each node is its own attribute; the model learns from edges alone."
_FROM_LINKS = (
    "The nodes have no attributes of their own: the model learns from the derived columns and edges."
)
_EXACT = 2**53  # integers up to here are exact in a float column


@dataclass(frozen=True)
class Reading:
    """A graph that was read, the report about it, and the truth column where there is one."""

    graph: Graph
    report: Report
    truth: Truth | None = None


@dataclass
class _Encoded:
    x: Any
    names: list[str]
    columns: list[str]
    states: list[dict[str, Any]]
    reports: list[ColumnReport]
    table: NodeTable
    free: bool = False


def assemble(parts: Parts, *, source: str, name: str, robust: bool = False) -> Reading:
    """The Reading of a graph in parts."""
    n = len(parts.ids)
    notes = list(parts.notes)
    adjacency = symmetric_csr(parts.rows, parts.cols, parts.weights.astype(np.float32), n, parts.merge)
    notes += _edge_notes(parts, adjacency)
    parts.rows = parts.cols = np.zeros(0, np.int64)  # the largest arrays of all; nobody needs them any more
    encoded = _encode_matrix(parts, notes) if parts.x is not None else _encode_columns(parts, robust, notes)
    derived = _derived(parts, encoded.table)
    if encoded.free:
        notes.append(_FROM_LINKS if derived else _FROM_EDGES)
    if derived:
        encoded = _with_derived(encoded, derived)
    graph = Graph(
        node_ids=NodeIds.of(parts.ids),
        adjacency=adjacency,
        x=encoded.x,
        feature_names=tuple(_distinct(encoded.names)),
        feature_columns=tuple(encoded.columns),
        node_table=encoded.table,
        name=name,
        label_column=parts.label_column if parts.label_column in encoded.table.columns else None,
        attribute_free=encoded.free,
        extra={
            "encoders": encoded.states,
            "mapping": parts.mapping.as_json(),
            "format": parts.format,
            "derived": [d.column.as_json() for d in derived],
            "links": parts.link_how,
            "robust": robust,
        },
        links=parts.links,
    )
    truth = None if parts.truth is None else Truth(parts.truth)
    report = report_of(replace(parts, notes=notes), graph, encoded.reports, source)
    return Reading(graph, replace(report, links=link_lines(parts, derived)), truth)


def report_of(parts: Parts, graph: Graph, columns: list[ColumnReport], source: str) -> Report:
    """What is said of a graph that was made of parts."""
    return Report(
        source=source,
        format=parts.format,
        n_nodes=graph.n_nodes,
        n_edges=graph.n_edges,
        n_features=graph.n_features,
        columns=columns,
        notes=parts.notes,
        dropped=parts.dropped,
        degree=degree_summary(graph.adjacency),
        components=component_summary(graph.adjacency),
        truth_counts=truth_summary(parts.truth),
    )


def _edge_notes(parts: Parts, adjacency: Any) -> list[str]:
    """What making the edges undirected, simple and loop-free changed."""
    loops = int((parts.rows == parts.cols).sum())
    kept = len(parts.rows) - loops
    edges = adjacency.nnz // 2
    pairs = parts.rows * len(parts.ids) + parts.cols
    pairs = np.sort(pairs[parts.rows != parts.cols])
    repeated = int((pairs[1:] == pairs[:-1]).sum())
    both_ways = kept - edges - repeated
    isolated = int((np.diff(adjacency.indptr) == 0).sum())
    weights = adjacency.data if edges else np.ones(1)
    looped = "dropped" if parts.links is None else "kept among the links, but no edge"
    one_edge = "edges are undirected here, a→b and b→a are one edge"
    notes = (
        (loops, f"{counted(loops, 'self-loop')} {looped}."),
        (repeated, f"{counted(repeated, 'duplicate edge')} merged; the weight is {REPEATS[parts.merge]}."),
        (both_ways, f"{counted(both_ways, 'edge')} given in both directions: {one_edge}."),
        (kept and not both_ways, "Edges are read as undirected."),
        (isolated, f"{counted(isolated, 'node')} without an edge kept."),
        (weights.min() < weights.max(), f"Edge weights from {weights.min():g} to {weights.max():g}."),
    )
    return [text for applies, text in notes if applies]


def _encode_columns(parts: Parts, robust: bool, notes: list[str]) -> _Encoded:
    blocks, states, reports = [], [], []
    scratch, shown_columns = Scratch(), dict[str, Any]()
    place = parts.locate or (lambda row: f"node {row + 1}")
    chosen = frozenset(parts.attributes)  # there may be thousands
    for column in parts.table.columns:
        raw = parts.table[column]
        kind, merge = (parts.mapping.kinds or {}).get(column), column in parts.mapping.merge
        parsed = understand(raw, column, place, parts.lists.get(column), kind, merge)
        if parsed.kind == "number" and column in parts.decimals:
            parsed.how["decimal"] = parts.decimals[column]
        shown_columns[column] = scratch.column(display(raw, parsed))
        used = column in chosen and parsed.kind in ENCODED
        state = encoders.learn(column, parsed, robust) if used else {"features": []}
        if state["features"]:
            blocks.append(encoders.apply(state, parsed.values))
            states.append(state)
            notes += parsed.notes
        reports.append(_column_report(column, raw, parsed, len(state["features"]), parts))
        parts.release()
    table = NodeTable(len(parts.ids), shown_columns)
    _unused_note(reports, notes)
    if not blocks:
        return _identity(parts, table, reports)
    named = [(name, state["column"]) for state in states for name in state["features"]]
    names, columns = map(list, zip(*named))
    return _Encoded(encoders.joined(blocks), names, columns, states, reports, table)


def _derived(parts: Parts, table: NodeTable) -> list[Derived]:
    """Columns that the links give; one that is named like a column of the table is told apart."""
    if parts.links is None:
        return []
    found = derive(parts.links, parts.mapping.ignore)
    apart = (replace(d.column, name=f"{d.column.name} (from links)") for d in found)
    return [d if d.column.name not in table else Derived(c, d.values) for d, c in zip(found, apart)]


def _with_derived(encoded: _Encoded, derived: Sequence[Derived]) -> _Encoded:
    """The columns and, beside them, those that the links give, as columns to look at and as attributes."""
    states = [encoders.learn_derived(d.column.name, d.values) for d in derived]
    blocks = [encoders.apply(s, d.values) for s, d in zip(states, derived)]
    names = [name for state in states for name in state["features"]]
    raw = {d.column.name: pd.Series(d.values) for d in derived}
    return _Encoded(
        x=encoders.joined(blocks if encoded.free else [encoded.x, *blocks]),
        names=([] if encoded.free else encoded.names) + names,
        columns=([] if encoded.free else encoded.columns) + names,
        states=encoded.states + states,
        reports=encoded.reports,
        table=encoded.table.with_columns(raw),
    )


def _unused_note(reports: list[ColumnReport], notes: list[str]) -> None:
    unused = [f"{c.name} ({c.kind})" for c in reports if not c.features and c.kind not in ("name",)]
    if unused:
        notes.append(f"Shown, but no attribute: {', '.join(unused[:8])}{' …' if len(unused) > 8 else ''}.")


def _column_report(column: str, raw: pd.Series, parsed: Parsed, features: int, parts: Parts) -> ColumnReport:
    missing = encoders.missing(parsed.values)
    example = str(raw.iloc[int(np.argmin(missing))]) if not missing.all() else ""
    kind = "name" if column == parts.label_column and not features else parsed.kind
    short = example if len(example) <= _EXAMPLE else example[: _EXAMPLE - 1] + "…"
    return ColumnReport(column, kind, int(missing.sum()), short, features)


def display(raw: pd.Series, parsed: Parsed) -> pd.Series:
    """A raw column to look at: numbers as numbers, lists as text, the rest as written; empty = missing."""
    typed = pd.api.types.is_numeric_dtype(raw.dtype) or pd.api.types.is_datetime64_any_dtype(raw.dtype)
    if typed:
        return raw.reset_index(drop=True)
    if "decimal" in parsed.how and parsed.whole and _exact(parsed.values):
        return number_column(parsed.values)
    if parsed.kind == "tags":
        return pd.Series([", ".join(tags) for tags in parsed.values], dtype="str")
    if isinstance(raw.dtype, pd.StringDtype):
        return raw.mask(raw == "").reset_index(drop=True)
    return raw.astype("object").map(_cell).astype("str")


def number_column(values: npt.NDArray[np.float64]) -> pd.Series:
    """Whole numbers without a decimal point, with holes where a value is missing."""
    known = values[~np.isnan(values)]
    whole = "Int64" if len(known) < len(values) else "int64"
    return pd.Series(values).astype(whole) if (known % 1 == 0).all() else pd.Series(values)


def _exact(values: npt.NDArray[np.float64]) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and float(np.abs(known).max()) <= _EXACT


def _cell(value: Any) -> str | None:
    nan = isinstance(value, float) and value != value
    return None if value is None or value is pd.NA or nan or value == "" else str(value)


def _identity(parts: Parts, table: NodeTable, reports: list[ColumnReport]) -> _Encoded:
    names = [f"is {i}" for i in parts.ids]
    x = sp.eye_array(len(names), dtype=np.float32, format="csr")
    return _Encoded(x, names, names, [], reports, table, free=True)


def _encode_matrix(parts: Parts, notes: list[str]) -> _Encoded:
    matrix = parts.x
    names = parts.feature_names or [f"x{j}" for j in range(matrix.shape[1])]
    if not matrix.shape[1]:
        return _identity(parts, NodeTable.of(parts.table), [])
    _refuse_not_finite(matrix, names)
    compact = encoders.compact(matrix)
    state = encoders.learn_matrix(compact)
    state["features"] = names
    if sp.issparse(compact) and compact.nnz and compact.data.min() < 0:
        notes.append("Negative values in a sparse attribute matrix: scaled to [-1, 1], zeros stay zero.")
    table = NodeTable.of(parts.table)
    if matrix.shape[1] <= _SHOWN_MATRIX:
        raw = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        table = table.with_columns({c: pd.Series(raw[:, j]) for j, c in enumerate(_distinct(names))})
    x = encoders.apply_matrix(state, compact)
    report = ColumnReport("attribute matrix", "number", 0, shown(names, 3), len(names))
    return _Encoded(x, names, names, [state], [report], table)


def _refuse_not_finite(matrix: Any, names: list[str]) -> None:
    values = matrix.tocoo().data if sp.issparse(matrix) else np.asarray(matrix)
    with np.errstate(over="ignore"):
        bad = np.argwhere(~np.isfinite(values.astype(np.float32)))
    if not len(bad):
        return
    at = tuple(bad[0])
    row, col = (int(v[at]) for v in matrix.tocoo().coords) if sp.issparse(matrix) else at
    raise InputError(
        f"attribute {names[col]!r} of node {row} is {values[at]} ({counted(len(bad), 'value')} of this kind)",
        "finite numbers in the range of float32",
        "replace NaN and infinite values before saving the matrix",
    )


def _distinct(names: list[str]) -> list[str]:
    """Names with a number added where one occurs twice."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out
