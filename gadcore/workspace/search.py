"""Search of nodes by id, name or attribute, on one lower-case text of all nodes that lies on disk."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_float_dtype

from gadcore.graph import Graph, IntArray
from gadcore.insight.explain.columns import texts_of
from gadcore.workspace import conditions

END, GAP = "\n", "\x1f"
_ROWS = 1 << 16  # lines of one piece: what is in memory at a time
_TEXT, _STARTS = "search.txt", "search_starts.npy"


class SearchIndex:
    """All nodes as one text, a line per node, in pieces; a substring is found at the speed of ``bytes.find``.

    Columns of fractions are left out of the text; ``column=value`` finds them all the same.
    """

    def __init__(self, graph: Graph, folder: Path) -> None:
        self._graph, self._table = graph, graph.node_table
        self._fields = {column.lower(): column for column in self._table}
        if not (folder / _STARTS).exists():
            _write(graph, folder)
        self._text = folder / _TEXT
        self._starts = np.load(folder / _STARTS, mmap_mode="r", allow_pickle=False)  # (N + 1,) of lines

    def find(self, text: str, limit: int) -> IntArray:
        """Nodes that contain the text: equal ids first, then ids that begin with it, then any field.

        ``column=value`` or ``column:value`` looks into one column, ``column>value`` and ``column<value``
        compare numbers. At most ``limit`` nodes.
        """
        wanted = text.strip().lower()
        if not wanted:
            return np.zeros(0, dtype=np.int64)
        column = self._in_column(wanted)
        if column is not None:
            return column[:limit]
        found = np.zeros(0, dtype=np.int64)
        for pattern in (END + wanted + GAP, END + wanted + END, END + wanted, wanted):
            found = _distinct(np.concatenate([found, self._lines(pattern, limit)]))
            if len(found) >= limit:
                break
        return found[:limit]

    def matching(self, text: str) -> npt.NDArray[np.bool_]:
        """(N,) whether a node contains the text."""
        mask = np.zeros(len(self._table), dtype=bool)
        mask[self.find(text, len(mask))] = True
        return mask

    def _lines(self, pattern: str, limit: int) -> IntArray:
        """The first lines that hold a pattern, up to about ``limit`` of them."""
        found, many = [np.zeros(0, dtype=np.int64)], 0
        sought = re.compile(re.escape(pattern.encode()))
        for first, data in self._pieces():
            # A pattern that begins with the line end belongs to the line after it.
            ahead = 1 if pattern.startswith(END) else 0
            places = np.fromiter((hit.start() + ahead for hit in sought.finditer(data)), dtype=np.int64)
            starts = self._starts[first : first + _ROWS] - self._starts[first] + 1
            found.append(first + np.unique(np.searchsorted(starts, places, side="right") - 1))
            many += len(found[-1])
            if many >= limit:
                break
        return np.concatenate(found)

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        """Some lines at a time with the number of the first, a line end before and behind them."""
        with self._text.open("rb") as file:
            for first in range(0, len(self._table), _ROWS):
                last = min(first + _ROWS, len(self._table))
                size = int(self._starts[last] - self._starts[first])
                yield first, END.encode() + file.read(size)

    def _in_column(self, wanted: str) -> IntArray | None:
        asked = conditions.split(wanted, self._fields)
        if asked is None:
            return None
        column, operator, value = self._fields[asked[0]], *asked[1:]
        compared = conditions.compared(self._table[column], operator, value)
        if conditions.ordered(operator):
            return None if compared is None else self._by_value(column, compared, descending=">" in operator)
        cells = pc.utf8_lower(texts_of(self._table, column))
        equal, near = (
            np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)
            for found in (pc.equal(cells, value), pc.match_substring(cells, value))
        )
        exact = equal if compared is None else equal | compared
        return np.concatenate([np.flatnonzero(exact), np.flatnonzero(near & ~exact)])

    def _by_value(self, column: str, found: npt.NDArray[np.bool_], descending: bool) -> IntArray:
        """Rows from the most extreme value on."""
        rows = np.flatnonzero(found)
        values = self._table[column].to_numpy(dtype=float, na_value=np.nan)[rows]
        return rows[np.argsort(-values if descending else values, kind="stable")]


def _distinct(rows: IntArray) -> IntArray:
    """Each row once, in the order of first appearance."""
    _, first = np.unique(rows, return_index=True)
    return rows[np.sort(first)]


def _write(graph: Graph, folder: Path) -> None:
    """Make the text and where its lines begin; complete or not there at all."""
    part, sizes = folder / f"{_TEXT}.{uuid.uuid4().hex}", [np.zeros(1, dtype=np.int64)]
    table = graph.node_table
    columns = [column for column in table if not is_float_dtype(table[column])]
    with part.open("wb") as file:
        for first in range(0, graph.n_nodes, _ROWS):
            rows = slice(first, first + _ROWS)
            cells = [graph.node_ids.values[rows], *(texts_of(table, column, rows) for column in columns)]
            lines = _joined([pc.utf8_lower(part) for part in cells])
            sizes.append(pc.binary_length(lines).to_numpy())
            file.write(memoryview(lines.buffers()[2])[: int(sizes[-1].sum())])
    os.replace(part, folder / _TEXT)
    starts = folder / f"{_STARTS}.{uuid.uuid4().hex}"
    with starts.open("wb") as file:
        np.save(file, np.cumsum(np.concatenate(sizes)))
    os.replace(starts, folder / _STARTS)


def _joined(columns: list[Any]) -> Any:
    """A line for each row, with its end."""
    gap, end, none = (pa.scalar(text, pa.large_string()) for text in (GAP, END, ""))
    text = pc.replace_substring(pc.binary_join_element_wise(*columns, gap), END, " ")
    return pc.binary_join_element_wise(text, none, end)
