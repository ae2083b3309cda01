"""What travels from the readers to ``assemble``: tables as read, and a graph in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.errors import InputError
from gadcore.graph import IntArray, Links
from gadcore.graph.mapped import Release, nothing_to_release
from gadcore.ingest.mapping import Mapping

TruthArray = npt.NDArray[np.int8]
MAX_LISTED = 200  # dropped rows listed one by one; the rest is counted


@dataclass(frozen=True)
class Dropped:
    """A row that was left out."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class Table:
    """One table as read: text columns (or typed ones, from Parquet and JSON) and where it came from."""

    frame: pd.DataFrame
    file: str
    unit: str = "line"  # what a row is called in a message: line, row, node, edge
    lines: Callable[[], IntArray] | None = None  # line of each row; None = the row number from 1
    optional_weight: bool = False  # a missing weight means 1 (documents), not a hole in the table
    lists: dict[str, str] = field(default_factory=dict)  # list columns, where the file says so: separator
    release: Release = nothing_to_release  # gives memory back that looking at the cells has taken
    note: str = ""  # what the report has to say of the file

    @property
    def columns(self) -> list[str]:
        return [str(c) for c in self.frame.columns]

    def line(self, row: int) -> int:
        """Line (or number) of a row, as a person counts."""
        numbers = self.lines() if self.lines else ()
        return int(numbers[row]) if row < len(numbers) else int(row) + 1

    def place(self, row: int) -> str:
        return f"{self.file}, {self.unit} {self.line(row)}"

    def require(self, column: str, part: str) -> str:
        """The column, or an error that lists what there is."""
        if column in self.frame.columns:
            return column
        raise InputError(
            f"{self.file} has no column {column!r} for the {part}; it has {shown(self.columns)}",
            "a column of the table",
            f"correct the {part} column in the mapping",
        )


@dataclass(frozen=True)
class Document:
    """A file that holds a node table and an edge table, and the name of its format."""

    nodes: Table
    edges: Table
    format: str


@dataclass
class Parts:
    """A graph before its columns are encoded: ids, edge ends as row numbers, raw columns or a matrix."""

    ids: npt.NDArray[np.object_]
    table: pd.DataFrame  # raw columns to show, without id, truth and ignored ones
    format: str = ""
    rows: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    cols: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    weights: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    edge_table: Table | None = None  # of an array format: source, target and a column for each array of edges
    merge: str = "largest"  # how the weights of a pair become one: one of MERGES
    links: Links | None = None  # the rows behind the edges, where they say more than who with whom
    link_columns: list[str] = field(default_factory=list)  # what each of their columns is, for the report
    link_how: dict[str, Any] = field(default_factory=dict)  # how their columns were read, for later ones
    attributes: list[str] = field(default_factory=list)  # columns of ``table`` that become features
    label_column: str | None = None
    x: Any = None  # ready attribute matrix (array formats), unscaled
    feature_names: list[str] | None = None
    truth: TruthArray | None = None
    mapping: Mapping = field(default_factory=Mapping)  # as resolved
    lists: dict[str, str] = field(default_factory=dict)  # as in Table
    decimals: dict[str, str] = field(default_factory=dict)  # decimal mark of columns that are numbers by now
    notes: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    locate: Callable[[int], str] | None = None  # row of the node table -> place, for messages
    release: Release = nothing_to_release  # as in Table, of all node tables
    others: npt.NDArray[np.object_] | None = None  # nodes of an earlier graph that edges may also name

    def lookup(self) -> npt.NDArray[np.object_]:
        """Ids that ``rows`` and ``cols`` count through: the nodes read, then those of an earlier graph."""
        return self.ids if self.others is None else np.concatenate([self.ids, self.others])


def stacked(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Arrays behind each other; a single one as it is, without a copy."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def shown(values: Any, limit: int = 12) -> str:
    """Values for a message, the long tail counted."""
    items = [repr(v) if isinstance(v, str) else str(v) for v in values]
    tail = f" and {len(items) - limit:,} more" if len(items) > limit else ""
    return ", ".join(items[:limit]) + tail if items else "nothing"


def counted(n: int, word: str) -> str:
    """'1 edge', '1,234 edges'."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def usable_weights(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], IntArray]:
    """Weights in the precision that A has (float32), and where they are negative, NaN or infinite."""
    with np.errstate(over="ignore", under="ignore"):
        weights = np.asarray(values).astype(np.float32).astype(np.float64)
    return weights, np.flatnonzero(~np.isfinite(weights) | (weights < 0))
