"""Raw columns of a node against its peers: where a number stands, how common a value is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.graph import Graph
from gadcore.records import Attribute


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
        encoders = graph.extra.get("encoders") or []
        self._dates = {str(e["column"]): e.get("format") for e in encoders if e.get("kind") == "date"}
        self._numbers: dict[str, tuple[npt.NDArray[np.float64], ...]] = {}  # as they stand, and in order
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
            standing = self.standing(column, node)
            return Attribute(column, shown(value), None if standing is None else standing.percentile, None)
        return Attribute(column, shown(value), None, self._share(column, shown(value)))

    def _is_number(self, column: str) -> bool:
        values = self._table[column]
        return bool(pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values))

    def is_date(self, column: str) -> bool:
        """Whether the reader took the column for dates."""
        return column in self._dates

    def standing(self, column: str, node: int) -> PeerStanding | None:
        """Where a number or date of a node stands; None for other columns and empty cells."""
        if column not in self._dates and not self._is_number(column):
            return None
        if column not in self._numbers:
            every = self._as_numbers(column)
            self._numbers[column] = every, np.sort(every[np.isfinite(every)])
        values, ordered = self._numbers[column]
        return PeerStanding.among(ordered, float(values[node])) if np.isfinite(values[node]) else None

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
