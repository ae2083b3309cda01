"""The raw columns of a stored graph, as a reader would find them in a file, and with those of another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from gadcore.graph import Graph, IntArray
from gadcore.ingest.assemble import number_column
from gadcore.ingest.cells import as_cells, as_text
from gadcore.ingest.column_kinds import split_tags
from gadcore.ingest.graph_parts import Parts
from gadcore.ingest.numbers import read_numbers

_SHOWN_SEPARATOR = ", "  # between tags, as the graph keeps them to be looked at
_READABLE = 0.95  # share of new cells that must be numbers for a column of numbers to stay one


@dataclass(frozen=True)
class RawColumns:
    """Columns by name, and how those were written that are kept in another form."""

    table: pd.DataFrame
    lists: dict[str, str] = field(default_factory=dict)  # as in Parts
    decimals: dict[str, str] = field(default_factory=dict)  # as in Parts


def raw_columns(graph: Graph) -> RawColumns:
    """Columns that were read; what was derived from links is left out."""
    states = {state.get("column"): state for state in graph.extra.get("encoders") or []}
    own = [column for column in graph.node_table if column not in graph.derived]
    lists = {c: states[c]["separator"] for c in own if states.get(c, {}).get("kind") == "tags"}
    decimals = {c: states[c]["decimal"] for c in own if states.get(c, {}).get("decimal")}
    frame = {c: _as_written(graph.node_table[c], lists.get(c)) for c in own}
    return RawColumns(pd.DataFrame(frame, index=range(graph.n_nodes), columns=own), lists, decimals)


def _as_written(cells: pd.Series, separator: str | None) -> pd.Series:
    if separator is None:
        return cells
    texts = ["" if text is None else text for text in as_text(cells)]
    return pd.Series([separator.join(text.split(_SHOWN_SEPARATOR)) for text in texts], dtype="str")


def joined_columns(
    old: RawColumns, parts: Parts, place: IntArray, fresh: IntArray
) -> tuple[pd.DataFrame, dict[str, str]]:
    """All columns for old and ``fresh`` nodes, and how numbers were written.

    ``place`` is the old row of each node of the parts, -1 for a fresh one. An old node gets the cells that
    the parts have for it.
    """
    names = [*old.table.columns, *(c for c in parts.table.columns if c not in old.table.columns)]
    n, known = len(old.table), np.flatnonzero(place >= 0)
    columns, decimals = {}, {}
    for name in names:
        before, after = _alike(
            old.table[name] if name in old.table.columns else None,
            parts.table[name] if name in parts.table.columns else None,
            n,
            len(parts.ids),
            old,
            name,
        )
        column = pd.concat([before, after.iloc[fresh]], ignore_index=True)
        if name in parts.table.columns and len(known):
            column.iloc[place[known]] = after.iloc[known].to_numpy()
        numeric = pd.api.types.is_numeric_dtype(column.dtype)
        if numeric and name in old.decimals:
            decimals[name] = old.decimals[name]
            column = number_column(column.to_numpy(dtype=np.float64, na_value=np.nan))
        columns[name] = column
    return pd.DataFrame(columns, index=range(n + len(fresh)), columns=names), decimals


def _alike(
    before: pd.Series | None, after: pd.Series | None, n: int, m: int, old: RawColumns, name: str
) -> tuple[pd.Series, pd.Series]:
    """Both sides of a column in one type; a side that lacks it is empty."""
    if before is None or after is None:
        given = after if before is None else before
        assert given is not None
        wanted = None if _is_number(given) else "str"
        empty = pd.Series([np.nan if wanted is None else None] * (n if before is None else m), dtype=wanted)
        return (empty, after.reset_index(drop=True)) if before is None else (before, empty)  # type: ignore[union-attr]
    after = after.reset_index(drop=True)
    if name in old.lists:
        return before, _tags(after, old.lists[name])
    if _is_number(before):
        numbers = after if _is_number(after) else _numbers(after, old.decimals.get(name))
        return (before, numbers) if numbers is not None else (_text(before), _text(after))
    if pd.api.types.is_datetime64_any_dtype(before.dtype):
        return before, pd.to_datetime(after, errors="coerce")
    same = before.dtype == after.dtype
    return (before, after) if same else (_text(before), _text(after))


def _is_number(series: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)


def _tags(series: pd.Series, separator: str) -> pd.Series:
    return pd.Series([separator.join(split_tags(value, separator)) for value in series], dtype="str")


def _numbers(series: pd.Series, decimal: str | None) -> pd.Series | None:
    """Cells as numbers; None where too many of them are something else."""
    cells = as_cells(series)
    values = read_numbers(cells, decimal).values
    present = len(cells) - cells.null_count
    readable = int((~np.isnan(values)).sum())
    return pd.Series(values) if readable >= _READABLE * present else None


def _text(series: pd.Series) -> pd.Series:
    texts: Any = as_text(series)
    return pd.Series(texts, dtype="str")
