"""The ids of the nodes, in the order of the graph: read by row, found by bisection, never held as a dict.

On disk they are one memory-mapped file, and their order by id is another: looking one up reads a few pages.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

IntArray = npt.NDArray[np.int64]
Objects = npt.NDArray[np.object_]

_IDS, _ORDER = "ids.arrow", "ids_order.npy"
_AT_ONCE = 1 << 16  # ids that are turned into texts together
_REMEMBERED = 1 << 16  # ids that were asked for: those with a verdict are asked for again and again
_FEW = 1_000  # ids up to which bisection beats a table of all


class NodeIds:
    """(N,) ids as written in the source."""

    def __init__(self, values: Any, order: npt.NDArray[np.integer[Any]] | None = None) -> None:
        self.values = values  # pyarrow array of large_string, without nulls
        self._looked_up: dict[str, int] = {}
        if order is not None:
            self.__dict__["order"] = order

    @classmethod
    def of(cls, ids: Iterable[object]) -> NodeIds:
        """Ids from anything that can be written as text."""
        if isinstance(ids, cls):
            return ids
        return cls(pa.array([str(node_id) for node_id in ids], pa.large_string()))

    @cached_property
    def order(self) -> npt.NDArray[np.integer[Any]]:
        """(N,) rows in the order of their ids."""
        rows = pc.sort_indices(self.values).to_numpy()
        return np.asarray(rows, dtype=np.int32 if len(rows) < 2**31 else np.int64)

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, rows: int) -> str: ...
    @overload
    def __getitem__(self, rows: slice | npt.NDArray[Any] | list[int]) -> Objects: ...
    def __getitem__(self, rows: Any) -> Any:
        """The id of one row, or an array of the ids of several."""
        if isinstance(rows, int | np.integer):
            row = int(rows)
            return self.values[row if row >= 0 else row + len(self)].as_py()
        if isinstance(rows, slice):
            return _objects(self.values[rows])
        chosen = np.asarray(rows)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        return _objects(self.values.take(pa.array(np.where(chosen < 0, chosen + len(self), chosen))))

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self.values.slice(start, _AT_ONCE).to_pylist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        found = _objects(self.values)
        return found if dtype is None else found.astype(dtype)

    def tolist(self) -> list[str]:
        return list(self)

    def __contains__(self, node_id: object) -> bool:
        return isinstance(node_id, str) and self.row(node_id) >= 0

    def row(self, node_id: str) -> int:
        """Row of an id, -1 where there is none."""
        if (known := self._looked_up.get(node_id)) is not None:
            return known
        if len(self._looked_up) >= _REMEMBERED:
            self._looked_up.clear()
        return self._looked_up.setdefault(node_id, self._bisected(node_id))

    def _bisected(self, node_id: str) -> int:
        place = bisect_left(self.order, node_id, key=lambda row: self[int(row)])
        found = int(self.order[place]) if place < len(self) else -1
        return found if found >= 0 and self[found] == node_id else -1

    def rows(self, node_ids: Any) -> IntArray:
        """Row of each id, -1 where there is none."""
        if len(node_ids) <= _FEW:
            return np.fromiter((self.row(str(node_id)) for node_id in node_ids), dtype=np.int64)
        cells = node_ids.values if isinstance(node_ids, NodeIds) else node_ids
        if not isinstance(cells, pa.Array | pa.ChunkedArray):
            cells = pa.array(cells, pa.large_string())
        found = pc.index_in(cells, value_set=self.values)
        return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)

    def feed(self, digest: hashlib._Hash) -> None:
        """Add all ids to a digest, a separator between them."""
        for start in range(0, len(self), _AT_ONCE):
            text = "\x1f".join(self.values.slice(start, _AT_ONCE).to_pylist())
            digest.update((text if not start else "\x1f" + text).encode())

    def save(self, folder: Path) -> None:
        """Write the ids and their order."""
        table = pa.table({"id": self.values})
        with pa.OSFile(str(folder / _IDS), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table)
        np.save(folder / _ORDER, self.order)

    @classmethod
    def load(cls, folder: Path) -> NodeIds | None:
        """What ``save`` wrote, memory-mapped; None in a folder of an earlier version."""
        if not (folder / _ORDER).exists():
            return None
        table = pa.ipc.open_file(pa.memory_map(str(folder / _IDS))).read_all()
        return cls(table["id"].chunk(0), np.load(folder / _ORDER, mmap_mode="r", allow_pickle=False))


def _objects(cells: Any) -> Objects:
    return np.asarray(cells.to_numpy(zero_copy_only=False), dtype=object)
