"""Files in the place of memory: what is read is mapped, and pages that were looked at can be given back."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

_IN_MEMORY = 1 << 26  # bytes up to which rows stay in memory

Release = Callable[[], None]


class MappedFile:
    """The bytes of an open file; ``release`` gives the memory back that looking at them has taken."""

    def __init__(self, handle: IO[bytes]) -> None:
        self._map = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        self.buffer = pa.py_buffer(self._map)

    def release(self) -> None:
        _give_back(self._map)


def _give_back(mapped: mmap.mmap) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)  # pages of a file are read again when they are needed


def nothing_to_release() -> None:
    """What is in memory stays there."""


def gathered(schema: Any, batches: Iterable[Any]) -> tuple[Any, Release]:
    """Batches of rows as one table, in a scratch file where they are many; and how to give memory back."""
    kept: list[Any] = []
    size = 0
    batches = iter(batches)
    for batch in batches:
        kept.append(batch)
        size += batch.nbytes
        if size > _IN_MEMORY:
            return _on_disk(schema, kept, batches)
    return pa.Table.from_batches(kept, schema), nothing_to_release


def _on_disk(schema: Any, first: list[Any], more: Iterable[Any]) -> tuple[Any, Release]:
    with tempfile.TemporaryFile(prefix="ringfence-") as file:
        with pa.ipc.new_stream(file, schema) as out:
            for part in (first, more):
                for batch in part:
                    out.write_batch(batch)
                first.clear()
        file.flush()
        mapped = MappedFile(file)
    return pa.ipc.open_stream(pa.BufferReader(mapped.buffer)).read_all(), mapped.release


def scratch_matrix(n: int, width: int) -> npt.NDArray[np.float32]:
    """(n, width) zeros to fill, in a scratch file where they are many."""
    if n * width * 4 <= _IN_MEMORY:
        return np.zeros((n, width), dtype=np.float32)
    with tempfile.TemporaryFile(prefix="ringfence-") as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(n, width))


def release_array(array: npt.NDArray[Any]) -> None:
    """Give back the memory that looking at an array of a file has taken; one in memory stays as it is."""
    base: Any = array
    while base is not None:
        if isinstance(base, mmap.mmap):
            _give_back(base)
        base = getattr(base, "base", None)
