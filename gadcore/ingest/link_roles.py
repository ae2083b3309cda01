"""Which columns of an edge table say when, how much, which kind: guessed by name, confirmed by content."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from gadcore.ingest.cells import Cells, as_cells, without_missing
from gadcore.ingest.dates import read_dates
from gadcore.ingest.graph_parts import Table
from gadcore.ingest.link_times import read_times, sampled
from gadcore.ingest.names import named_like
from gadcore.ingest.numbers import MONEY, read_numbers

_SHARE = 0.8  # of the cells must fit before a name is believed
_LOOKED_INTO = 1_000  # columns whose content is looked at where no name tells
_FEW = 20  # different values that may always be kinds
_RECUR = 0.5  # different values per cell up to which a column is one of kinds
_DIRECTIONS = {"directed", "undirected", "mutual"}  # what Gephi writes into its column Type


def guess_roles(table: Table, columns: Sequence[str]) -> dict[str, str]:
    """Columns that play the parts time, amount and kind."""
    heads = {column: sampled(table.frame[column]) for column in columns}
    found: dict[str, str] = {}
    for part, fits in (("time", _is_time), ("amount", _is_amount), ("kind", _is_kind)):
        free = [c for c in columns if c not in found.values()]
        named = (c for c, level in named_like(part, free) if fits(heads[c], table.frame[c], c, level))
        column = next(named, None) or _by_content(part, free, heads)
        if column is not None:
            found[part] = column
    return found


def _by_content(part: str, columns: Sequence[str], heads: dict[str, pd.Series]) -> str | None:
    """A column that no name tells of: all dates, or all sums of money; among the first ones of very many."""
    columns = columns[:_LOOKED_INTO]
    if part == "time":
        return next((c for c in columns if _all_dates(heads[c])), None)
    if part == "amount":
        money = [c for c in columns if _is_text(heads[c]) and read_numbers(as_cells(heads[c])).unit in MONEY]
        return next((c for c in money if read_numbers(as_cells(heads[c])).share >= _SHARE), None)
    return None


def _is_text(series: pd.Series) -> bool:
    return not pd.api.types.is_numeric_dtype(series.dtype)


def _all_dates(series: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return True
    if not _is_text(series):
        return False
    cells = as_cells(series)
    if read_numbers(cells).share >= _SHARE:
        return False  # bare digits need a name that says time
    found = read_dates(cells)
    return not len(found.unread) and not bool(np.isnan(found.seconds).all())


def _is_time(head: pd.Series, _: pd.Series, name: str, level: int) -> bool:
    found = read_times(head, name)
    counted = found.form in ("steps", "years") and level > 1  # plain numbers: the name must say so clearly
    return not counted and found.share >= _SHARE and not bool(np.isnan(found.seconds).all())


def _is_amount(head: pd.Series, _: pd.Series, __: str, ___: int) -> bool:
    if pd.api.types.is_bool_dtype(head.dtype) or pd.api.types.is_datetime64_any_dtype(head.dtype):
        return False
    found = read_numbers(as_cells(head))
    return found.share >= _SHARE and not bool(np.isnan(found.values).all())


def _is_kind(head: pd.Series, series: pd.Series, _: str, level: int) -> bool:
    values = without_missing(as_cells(head)).drop_null()
    if not len(values) or is_direction(values) or pc.sum(pc.starts_with(values, "http")).as_py():
        return False
    if level == 0 and not read_numbers(values).share >= _SHARE:
        return True
    coded = as_cells(series).dictionary_encode()
    words = without_missing(coded.dictionary)
    different = pc.count_distinct(words.drop_null()).as_py()
    said = pc.sum(words.is_valid().take(coded.indices.drop_null())).as_py() or 0
    return bool(different <= _FEW or (_is_text(series) and different <= _RECUR * said))


def is_direction(values: Cells) -> bool:
    """Whether a column says no more than that edges are directed or not."""
    return set(pc.unique(pc.utf8_lower(values)).to_pylist()) <= _DIRECTIONS
