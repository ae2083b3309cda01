"""Search of nodes by id, name or attribute, on one lower-case text of all nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pandas.api.types import is_float_dtype

from gadcore.graph import Graph, IntArray
from gadcore.insight.explain.columns import missing, shown

END, GAP = "\n", "\x1f"


class SearchIndex:
    """All nodes as one text, a line per node; a substring is found at the speed of ``str.find``.

    Columns of fractions are left out of the text; ``column=value`` finds them all the same.
    """

    def __init__(self, graph: Graph) -> None:
        self._table = graph.node_table
        self._fields = {str(column).lower(): column for column in self._table.columns}
        ids = [str(node).lower() for node in graph.node_ids]
        words = [self._cells(c) for c in self._table.columns if not is_float_dtype(self._table[c])]
        lines = [GAP.join(parts).replace(END, " ") for parts in zip(ids, *words)]
        self._n = len(lines)
        self._text = END + END.join(lines) + END
        self._starts = np.cumsum([0] + [len(line) + 1 for line in lines[:-1]], dtype=np.int64)

    def find(self, text: str, limit: int) -> IntArray:
        """Nodes that contain the text: equal ids first, then ids that begin with it, then any field.

        ``column=value`` or ``column:value`` looks into one column. At most ``limit`` nodes.
        """
        wanted = text.strip().lower()
        if not wanted:
            return np.zeros(0, dtype=np.int64)
        column = self._in_column(wanted)
        if column is not None:
            return column[:limit]
        found: list[int] = []
        for pattern in (END + wanted + GAP, END + wanted + END, END + wanted, wanted):
            found += self._lines(pattern, limit)
            found = list(dict.fromkeys(found))
            if len(found) >= limit:
                break
        return np.array(found[:limit], dtype=np.int64)

    def matching(self, text: str) -> npt.NDArray[np.bool_]:
        """(N,) whether a node contains the text."""
        mask = np.zeros(self._n, dtype=bool)
        mask[self.find(text, self._n)] = True
        return mask

    def _lines(self, pattern: str, limit: int) -> list[int]:
        lines: list[int] = []
        at = self._text.find(pattern)
        while at >= 0 and len(lines) < limit:
            # A pattern that begins with the line end belongs to the line after it.
            place = at if pattern.startswith(END) else at - 1
            line = int(np.searchsorted(self._starts, place, side="right")) - 1
            lines.append(line)
            following = self._text.find(END, at + 1 if pattern.startswith(END) else at)
            at = self._text.find(pattern, following)
        return lines

    def _cells(self, column: Any) -> list[str]:
        return ["" if missing(value) else shown(value).lower() for value in self._table[column].tolist()]

    def _in_column(self, wanted: str) -> IntArray | None:
        for mark in ("=", ":"):
            name, found, value = wanted.partition(mark)
            if found and name.strip() in self._fields:
                cells = self._cells(self._fields[name.strip()])
                value = value.strip()
                exact = [i for i, cell in enumerate(cells) if cell == value]
                near = [i for i, cell in enumerate(cells) if value in cell and cell != value]
                return np.array(exact + near, dtype=np.int64)
        return None
