"""Raw columns of a node against its peers: where a number stands, how common a value is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from gadcore.graph import Graph, NodeTable
from gadcore.graph.link_words import measure_text
from gadcore.graph.node_table import thinned
from gadcore.records import Attribute
from gadcore.shelf import Shelf

NODES = 500  # whose columns are kept as they are shown


@dataclass(frozen=True)
class PeerStanding:
    """Where a number stands among the nodes that have one, in % of them; equal values are in neither."""

    below: float  # nodes with a lower value
    above: float  # nodes with a higher value

    @classmethod
    def among(cls, ordered: npt.NDArray[Any], value: float) -> PeerStanding:
        """The place of a value in an ascending array."""
        low, high = (int(np.searchsorted(ordered, value, side)) for side in ("left", "right"))
        count = max(1, len(ordered))
        return cls(100 * low / count, 100 * (len(ordered) - high) / count)

    @property
    def top(self) -> float:
        """Nodes with this value or a higher one."""
        return 100 - self.below

    @property
    def lowest(self) -> float:
        """Nodes with this value or a lower one."""
        return 100 - self.above

    @property
    def equal(self) -> float:
        return 100 - self.below - self.above

    @property
    def percentile(self) -> float:
        """Nodes with a lower value, equal ones counted half."""
        return self.below + self.equal / 2


class Columns:
    """What is needed to place a value among all nodes, gathered once per column."""

    def __init__(self, graph: Graph) -> None:
        self._table = graph.node_table
        self.derived = graph.derived
        encoders = graph.extra.get("encoders") or []
        self._dates = {str(e["column"]): e.get("format") for e in encoders if e.get("kind") == "date"}
        self._ordered_dates: dict[str, npt.NDArray[np.float64]] = {}
        self._of_nodes = Shelf(NODES)  # a case is looked at again whenever a neighbour is judged
        self._distinct: dict[str, int] = {}
        self._shares: dict[tuple[str, str], float] = {}

    @cached_property
    def names(self) -> list[str]:
        return [str(column) for column in self._table.columns]

    def of(self, node: int) -> list[Attribute]:
        """Every column of a node, in the order of the table; derived ones only where it has a value."""
        return list(self._of_nodes.get(node, lambda: self._all_of(node)))

    def _all_of(self, node: int) -> list[Attribute]:
        found = (self.attribute(column, node) for column in self.names)
        return [attribute for attribute in found if attribute.value or not attribute.group]

    def attribute(self, column: str, node: int) -> Attribute:
        """One column of a node."""
        if column in self.derived:
            return self._derived(column, node)
        value = self._table.cell(column, node)
        if missing(value):
            return Attribute(column, "", None, None)
        if column in self._dates or self._table.is_number(column):
            standing = self.standing(column, node)
            return Attribute(column, shown(value), None if standing is None else standing.percentile, None)
        return Attribute(column, shown(value), None, self._share(column, shown(value)))

    def _derived(self, column: str, node: int) -> Attribute:
        told, standing = self.derived[column], self.standing(column, node)
        value = measure_text(self._number(column, node), told["unit"])
        place = None if standing is None else standing.percentile
        return Attribute(column, value, place, None, told["group"], told["help"])

    def usual(self, column: str) -> float:
        """Median of a column of numbers over the nodes that have one; nan without any."""
        ordered = self._in_order(column)
        return float(np.median(ordered)) if len(ordered) else np.nan

    def is_date(self, column: str) -> bool:
        """Whether the reader took the column for dates."""
        return column in self._dates

    def standing(self, column: str, node: int) -> PeerStanding | None:
        """Where a number or date of a node stands; None for other columns and empty cells."""
        if column not in self._dates and not self._table.is_number(column):
            return None
        value = self._number(column, node)
        return PeerStanding.among(self._in_order(column), value) if np.isfinite(value) else None

    def _in_order(self, column: str) -> npt.NDArray[np.float64]:
        """Known values of a column, ascending, dates as seconds."""
        if column not in self._dates:
            return self._table.ordered(column)
        if column not in self._ordered_dates:
            every = self._seconds(column, self._table[column])
            self._ordered_dates[column] = thinned(np.sort(every[np.isfinite(every)]))
        return self._ordered_dates[column]

    def _number(self, column: str, node: int) -> float:
        """The value of a node, a date in seconds; nan where there is none."""
        if column in self._dates:
            return float(self._seconds(column, pd.Series(self._table.cells(column, [node])))[0])
        value = self._table.cell(column, node)
        return float("nan") if missing(value) else float(value)

    def _seconds(self, column: str, values: pd.Series) -> npt.NDArray[np.float64]:
        parsed = pd.to_datetime(values, errors="coerce", format=self._dates[column], utc=True)
        seconds = (parsed - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
        return np.asarray(seconds.to_numpy(dtype=float, na_value=np.nan))

    def distinct(self, column: str) -> int:
        """How many different values a column of words has."""
        if column not in self._distinct:
            texts = texts_of(self._table, column)
            some = int(pc.any(pc.equal(texts, "")).as_py() or False)
            self._distinct[column] = int(pc.count_distinct(texts).as_py()) - some
        return self._distinct[column]

    def _share(self, column: str, value: str) -> float:
        """Nodes with a value, in %."""
        key = (column, value)
        if key not in self._shares:
            same = pc.sum(pc.equal(texts_of(self._table, column), value)).as_py() or 0
            self._shares[key] = same / max(1, len(self._table)) * 100
        return self._shares[key]


def texts_of(table: NodeTable, column: str, rows: slice = slice(None)) -> Any:
    """Cells of a column as people see them, "" where there is none; an Arrow array."""
    series = table[column].iloc[rows]
    if isinstance(series.dtype, pd.StringDtype) or pd.api.types.is_integer_dtype(series):
        cells = pa.array(series, from_pandas=True)
        cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        return pc.fill_null(cells.cast(pa.large_string()), "")
    return pa.array(["" if missing(value) else shown(value) for value in series.tolist()], pa.large_string())


def shown(value: Any) -> str:
    """A raw value as text: whole numbers without a point, lists joined, dates without a midnight."""
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"
    if isinstance(value, list | tuple | set | np.ndarray):
        return ", ".join(shown(v) for v in value)
    if isinstance(value, pd.Timestamp):
        return str(value.date()) if value == value.normalize() else str(value)
    return str(value)


def missing(value: Any) -> bool:
    """Whether a cell is empty."""
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))
