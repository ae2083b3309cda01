"""Raw columns of a node against its peers: where a number stands, how common a value is."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.cases import Attribute
from gadcore.graph import Graph


class Columns:
    """What is needed to place a value among all nodes, gathered once per column."""

    def __init__(self, graph: Graph) -> None:
        self._table = graph.node_table
        encoders = graph.extra.get("encoders") or []
        self._dates = {str(e["column"]): e.get("format") for e in encoders if e.get("kind") == "date"}
        self._numbers: dict[str, npt.NDArray[np.float64]] = {}
        self._ordered: dict[str, npt.NDArray[np.float64]] = {}
        self._shares: dict[str, dict[str, float]] = {}

    @cached_property
    def names(self) -> list[str]:
        return [str(column) for column in self._table.columns]

    def of(self, node: int) -> list[Attribute]:
        """Every column of a node, in the order of the table."""
        return [self.attribute(column, node) for column in self.names]

    def attribute(self, column: str, node: int) -> Attribute:
        """One column of a node."""
        value = self._table[column].iat[node]
        if missing(value):
            return Attribute(column, "", None, None)
        if column in self._dates or self._is_number(column):
            return Attribute(column, shown(value), self._percentile(column, node), None)
        return Attribute(column, shown(value), None, self._share(column, shown(value)))

    def _is_number(self, column: str) -> bool:
        values = self._table[column]
        return bool(pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values))

    def is_date(self, column: str) -> bool:
        """Whether the reader took the column for dates."""
        return column in self._dates

    def _percentile(self, column: str, node: int) -> float | None:
        """Share of nodes with a lower value (an earlier date), ties counted half, in %."""
        if column not in self._numbers:
            self._numbers[column] = self._as_numbers(column)
            finite = self._numbers[column]
            self._ordered[column] = np.sort(finite[np.isfinite(finite)])
        value, ordered = self._numbers[column][node], self._ordered[column]
        if not np.isfinite(value):
            return None
        ends = (np.searchsorted(ordered, value, side) for side in ("left", "right"))
        return float(sum(ends) / 2 / max(1, len(ordered)) * 100)

    def _as_numbers(self, column: str) -> npt.NDArray[np.float64]:
        """(N,) values, dates as seconds, nan where there is none."""
        values = self._table[column]
        if column in self._dates:
            parsed = pd.to_datetime(values, errors="coerce", format=self._dates[column], utc=True)
            seconds = (parsed - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
            return np.asarray(seconds.to_numpy(dtype=float, na_value=np.nan))
        return np.asarray(pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan))

    def distinct(self, column: str) -> int:
        """How many different values a column of words has."""
        self._share(column, "")
        return len(self._shares[column])

    def _share(self, column: str, value: str) -> float:
        if column not in self._shares:
            counts = self._table[column].dropna().map(shown).value_counts()
            self._shares[column] = {
                str(word): count / len(self._table) * 100 for word, count in counts.items()
            }
        return float(self._shares[column].get(value, 0.0))


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
