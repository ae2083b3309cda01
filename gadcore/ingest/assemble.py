"""A Graph and its preflight report from parts: edges made undirected, columns encoded, everything said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.graph import Graph, Truth, symmetric_csr
from gadcore.ingest import attribute_encoders as encoders
from gadcore.ingest.column_kinds import ENCODED, Parsed, understand
from gadcore.ingest.graph_parts import Parts, counted, shown
from gadcore.ingest.report import ColumnReport, Report, component_summary, degree_summary, truth_summary

_SHOWN_MATRIX = 64  # a ready matrix of at most so many columns is also shown as raw columns
_EXAMPLE = 40  # characters
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
    table: pd.DataFrame
    free: bool = False


def assemble(parts: Parts, *, source: str, name: str, robust: bool = False) -> Reading:
    """The Reading of a graph in parts."""
    n = len(parts.ids)
    notes = list(parts.notes)
    adjacency = symmetric_csr(parts.rows, parts.cols, parts.weights.astype(np.float32), n)
    notes += _edge_notes(parts, adjacency)
    encoded = _encode_matrix(parts, notes) if parts.x is not None else _encode_columns(parts, robust, notes)
    graph = Graph(
        node_ids=parts.ids,
        adjacency=adjacency,
        x=encoded.x,
        feature_names=tuple(_distinct(encoded.names)),
        feature_columns=tuple(encoded.columns),
        node_table=encoded.table,
        name=name,
        label_column=parts.label_column if parts.label_column in encoded.table.columns else None,
        attribute_free=encoded.free,
        extra={"encoders": encoded.states, "mapping": parts.mapping.as_json(), "format": parts.format},
    )
    truth = None if parts.truth is None else Truth(parts.truth)
    return Reading(graph, _report(parts, graph, encoded, source, notes), truth)


def _report(parts: Parts, graph: Graph, encoded: _Encoded, source: str, notes: list[str]) -> Report:
    return Report(
        source=source,
        format=parts.format,
        n_nodes=graph.n_nodes,
        n_edges=graph.n_edges,
        n_features=graph.n_features,
        columns=encoded.reports,
        notes=notes,
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
    repeated = kept - len(np.unique(pairs[parts.rows != parts.cols]))
    both_ways = kept - edges - repeated
    isolated = int((np.diff(adjacency.indptr) == 0).sum())
    weights = parts.weights if kept else np.ones(1)
    one_edge = "edges are undirected here, a→b and b→a are one edge"
    notes = (
        (loops, f"{counted(loops, 'self-loop')} dropped."),
        (repeated, f"{counted(repeated, 'duplicate edge')} merged; the largest weight is kept."),
        (both_ways, f"{counted(both_ways, 'edge')} given in both directions: {one_edge}."),
        (kept and not both_ways, "Edges are read as undirected."),
        (isolated, f"{counted(isolated, 'node')} without an edge kept."),
        (len(np.unique(weights)) > 1, f"Edge weights kept, from {weights.min():g} to {weights.max():g}."),
    )
    return [text for applies, text in notes if applies]


def _encode_columns(parts: Parts, robust: bool, notes: list[str]) -> _Encoded:
    blocks, states, reports = [], [], []
    raw_columns: dict[str, pd.Series] = {}
    place = parts.locate or (lambda row: f"node {row + 1}")
    for column in parts.table.columns:
        raw = parts.table[column]
        parsed = understand(raw, column, place, parts.lists.get(column))
        raw_columns[column] = display(raw, parsed)
        used = column in parts.attributes and parsed.kind in ENCODED
        state = encoders.learn(column, parsed, robust) if used else {"features": []}
        if state["features"]:
            blocks.append(encoders.apply(state, parsed.values))
            states.append(state)
            notes += parsed.notes
        reports.append(_column_report(column, raw, parsed, len(state["features"]), parts))
    table = pd.DataFrame(raw_columns, index=range(len(parts.ids)))
    _unused_note(reports, notes)
    if not blocks:
        return _identity(parts, table, reports, notes)
    named = [(name, state["column"]) for state in states for name in state["features"]]
    names, columns = map(list, zip(*named))
    return _Encoded(encoders.compact(sp.hstack(blocks, format="csr")), names, columns, states, reports, table)


def _unused_note(reports: list[ColumnReport], notes: list[str]) -> None:
    unused = [f"{c.name} ({c.kind})" for c in reports if not c.features and c.kind not in ("name",)]
    if unused:
        notes.append(f"Shown, but no attribute: {', '.join(unused[:8])}{' …' if len(unused) > 8 else ''}.")


def _column_report(column: str, raw: pd.Series, parsed: Parsed, features: int, parts: Parts) -> ColumnReport:
    missing = encoders.missing(parsed.values)
    present = raw[~missing] if len(missing) == len(raw) else raw
    example = str(present.iloc[0]) if len(present) else ""
    kind = "name" if column == parts.label_column and not features else parsed.kind
    short = example if len(example) <= _EXAMPLE else example[: _EXAMPLE - 1] + "…"
    return ColumnReport(column, kind, int(missing.sum()), short, features)


def display(raw: pd.Series, parsed: Parsed) -> pd.Series:
    """A raw column to look at: numbers as numbers, lists as text, the rest as written; empty = missing."""
    typed = pd.api.types.is_numeric_dtype(raw.dtype) or pd.api.types.is_datetime64_any_dtype(raw.dtype)
    if typed:
        return raw.reset_index(drop=True)
    if "decimal" in parsed.how and not parsed.notes and _exact(parsed.values):
        return _number_column(parsed.values)
    if parsed.kind == "tags":
        return pd.Series([", ".join(tags) for tags in parsed.values], dtype="str")
    if isinstance(raw.dtype, pd.StringDtype):
        return raw.mask(raw == "").reset_index(drop=True)
    return raw.astype("object").map(_cell).astype("str")


def _number_column(values: npt.NDArray[np.float64]) -> pd.Series:
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


def _identity(parts: Parts, table: pd.DataFrame, reports: list[ColumnReport], notes: list[str]) -> _Encoded:
    notes.append("No attributes: X = I, each node is its own attribute; the model learns from edges alone.")
    names = [f"is {i}" for i in parts.ids]
    x = sp.eye_array(len(names), dtype=np.float32, format="csr")
    return _Encoded(x, names, names, [], reports, table, free=True)


def _encode_matrix(parts: Parts, notes: list[str]) -> _Encoded:
    matrix = parts.x
    names = parts.feature_names or [f"x{j}" for j in range(matrix.shape[1])]
    if not matrix.shape[1]:
        return _identity(parts, parts.table, [], notes)
    _refuse_not_finite(matrix, names)
    compact = encoders.compact(matrix)
    state = encoders.learn_matrix(compact)
    state["features"] = names
    if sp.issparse(compact) and compact.nnz and compact.data.min() < 0:
        notes.append("Negative values in a sparse attribute matrix: scaled to [-1, 1], zeros stay zero.")
    table = parts.table
    if matrix.shape[1] <= _SHOWN_MATRIX:
        raw = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        table = pd.concat([table, pd.DataFrame(raw, columns=_distinct(names))], axis=1)
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
