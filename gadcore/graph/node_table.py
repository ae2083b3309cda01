"""The raw columns of the nodes, for people to look at: read by column and by row, never all at once.

On disk every column is one file that is memory-mapped. A column of a table in the making may lie in a scratch
file, so that a wide table of many nodes does not have to fit into memory.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

_KEPT = 20_001  # values of a column that tell where one stands among all
_ORDERED = ".npy"
_LONG = 200_000  # rows from which a column in the making goes to a scratch file

Rows = npt.NDArray[np.int64] | Sequence[int]


class NodeTable:
    """Columns by name, each of N cells."""

    def __init__(self, n_rows: int, columns: Mapping[str, pd.Series | StoredColumn] | None = None) -> None:
        self._n_rows, self._columns = n_rows, dict(columns or {})
        self._ordered: dict[str, npt.NDArray[np.float64]] = {}

    @classmethod
    def of(cls, frame: pd.DataFrame | NodeTable) -> NodeTable:
        """A table in memory."""
        if isinstance(frame, NodeTable):
            return frame
        return cls(len(frame), {str(name): frame[name].reset_index(drop=True) for name in frame.columns})

    @property
    def columns(self) -> pd.Index:
        return pd.Index(list(self._columns))

    @property
    def shape(self) -> tuple[int, int]:
        return self._n_rows, len(self._columns)

    def __len__(self) -> int:
        return self._n_rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __contains__(self, column: object) -> bool:
        return column in self._columns

    def __getitem__(self, column: str) -> pd.Series:
        """All cells of a column."""
        found = self._columns[column]
        return _cells(found.table) if isinstance(found, StoredColumn) else found

    def take(self, column: str, rows: Rows) -> pd.Series:
        """The cells of a column in some rows; no others are read."""
        found, chosen = self._columns[column], np.asarray(rows, dtype=np.int64)
        if isinstance(found, StoredColumn):
            return _cells(found.table.take(chosen))
        return found.take(chosen).reset_index(drop=True)

    def cell(self, column: str, row: int) -> Any:
        """One cell."""
        found = self._columns[column]
        if not isinstance(found, StoredColumn):
            return found.iat[row]
        value = found.cells[row].as_py()
        return pd.Timestamp(value) if pa.types.is_timestamp(found.type) and value is not None else value

    def cells(self, column: str, rows: Rows) -> list[Any]:
        """``cell`` of some rows, None where there is nothing: far quicker for a few than a series."""
        found, chosen = self._columns[column], np.asarray(rows, dtype=np.int64)
        if not isinstance(found, StoredColumn):
            return [None if pd.api.types.is_scalar(v) and pd.isna(v) else v for v in found.take(chosen)]
        values: list[Any] = found.cells.take(pa.array(chosen)).to_pylist()
        if pa.types.is_timestamp(found.type):
            return [None if value is None else pd.Timestamp(value) for value in values]
        return values

    def is_number(self, column: str) -> bool:
        """Whether it is a column of numbers; one of truth values is not."""
        found = self._columns[column]
        if isinstance(found, StoredColumn):
            return bool(pa.types.is_integer(found.type) or pa.types.is_floating(found.type))
        return bool(pd.api.types.is_numeric_dtype(found) and not pd.api.types.is_bool_dtype(found))

    def ordered(self, column: str) -> npt.NDArray[np.float64]:
        """Known numbers of a column, ascending; of many, so many at equal distances (see ``thinned``)."""
        found = self._columns[column]
        if isinstance(found, StoredColumn) and found.ordered is not None:
            return found.ordered
        if column not in self._ordered:
            self._ordered[column] = _in_order(self[column])
        return self._ordered[column]

    def rows(self, rows: Rows, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Some rows of some columns, or of all."""
        names = list(self._columns) if columns is None else columns
        return pd.DataFrame({name: self.take(name, rows) for name in names}, index=range(len(rows)))

    def frame(self) -> pd.DataFrame:
        """The whole table in memory."""
        return pd.DataFrame({name: self[name] for name in self}, index=range(self._n_rows))

    def with_columns(self, others: Mapping[str, pd.Series]) -> NodeTable:
        """This table, with other columns behind its own or in the place of those of the same name."""
        scratch = Scratch()
        kept = {name: scratch.column(series) for name, series in others.items()}
        return NodeTable(self._n_rows, {**self._columns, **kept})

    def without(self, columns: Sequence[str]) -> NodeTable:
        """This table without some columns."""
        return NodeTable(self._n_rows, {n: c for n, c in self._columns.items() if n not in columns})

    def save(self, folder: Path) -> list[str]:
        """Write every column as a file of its own; gives the names in their order."""
        folder.mkdir(parents=True, exist_ok=True)
        for number, (name, column) in enumerate(self._columns.items()):
            target = folder / _file(number)
            if isinstance(column, StoredColumn):
                shutil.copyfile(column.path, target)
            else:
                _write(target, column)
            if self.is_number(name):
                np.save(target.with_suffix(_ORDERED), self.ordered(name))
        return list(self._columns)

    @classmethod
    def load(cls, folder: Path, names: Sequence[str], n_rows: int) -> NodeTable:
        """What ``save`` wrote; a file is opened when its column is asked for."""
        return cls(n_rows, {name: StoredColumn(folder / _file(k)) for k, name in enumerate(names)})


class StoredColumn:
    """A column in a file; ``scratch`` is the folder that it keeps from being removed."""

    def __init__(self, path: Path, scratch: Scratch | None = None) -> None:
        self.path, self._scratch = path, scratch

    @cached_property
    def table(self) -> pa.Table:
        """The file as a table of one column, memory-mapped."""
        return pa.ipc.open_file(pa.memory_map(str(self.path))).read_all()

    @cached_property
    def cells(self) -> pa.Array | pa.ChunkedArray:
        """The cells, in one piece where the file has them so."""
        column = self.table.column(0)
        return column.chunk(0) if column.num_chunks == 1 else column

    @cached_property
    def type(self) -> Any:
        """Arrow type of the cells."""
        return self.cells.type

    @cached_property
    def ordered(self) -> npt.NDArray[np.float64] | None:
        """Numbers in order that were stored beside the column; None where there are none."""
        path = self.path.with_suffix(_ORDERED)
        return np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None


class Scratch:
    """A folder for long columns of a table in the making; it goes when nobody needs its columns any more."""

    def __init__(self) -> None:
        self._count = 0

    @cached_property
    def _folder(self) -> Path:
        folder = tempfile.mkdtemp(prefix="ringfence-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def path(self) -> Path:
        """A file that is not there yet."""
        self._count += 1
        return self._folder / _file(self._count)

    def column(self, series: pd.Series) -> pd.Series | StoredColumn:
        """The column itself if it is short, otherwise where it lies now."""
        series = series.reset_index(drop=True)
        if len(series) < _LONG:
            return series
        column = StoredColumn(self.path(), self)
        _write(column.path, series)
        return column


def thinned(ordered: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Values in order, at most about _KEPT of them, first and last included: shares stay right to 0.01 %."""
    if len(ordered) <= _KEPT:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, _KEPT).round().astype(np.int64)]


def _in_order(series: pd.Series) -> npt.NDArray[np.float64]:
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return thinned(np.sort(values[np.isfinite(values)]))


def _cells(table: pa.Table) -> pd.Series:
    return table.to_pandas().iloc[:, 0]


def _write(path: Path, series: pd.Series) -> None:
    table = pa.Table.from_pandas(series.rename("cells").to_frame(), preserve_index=False).combine_chunks()
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table)


def _file(number: int) -> str:
    return f"{number:05d}.arrow"
