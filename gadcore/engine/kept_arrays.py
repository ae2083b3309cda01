"""Arrays that lie in files: how other processes find them, and where those that are made of a graph are kept.

A graph that was opened from a folder has its arrays memory-mapped. What is made of it lies beside them, in
``made``, under the graph's fingerprint. It is written aside and renamed when complete. Whoever finds it there
maps it and makes nothing. A graph in memory, and what is small, is made in memory.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.graph import Graph

Array = npt.NDArray[Any]

LEAST = 2**20  # bytes; smaller arrays are quicker made than found
FOLDER = "made"


@dataclass(frozen=True)
class FileArray:
    """An array in a file, by which another process can open it."""

    path: str
    offset: int  # bytes before the first entry
    dtype: str
    shape: tuple[int, ...]

    def open(self) -> Array:
        """The array, mapped for reading."""
        return _mapped(self)

    def write(self, first: int, rows: Array) -> None:
        """Put rows in their place; processes may write to different rows at the same time."""
        row = np.dtype(self.dtype).itemsize * int(np.prod(self.shape[1:], dtype=np.int64))
        with open(self.path, "r+b") as file:
            file.seek(self.offset + first * row)
            file.write(np.ascontiguousarray(rows, dtype=self.dtype).data)


@lru_cache(64)
def _mapped(array: FileArray) -> Array:
    return np.memmap(array.path, array.dtype, "r", array.offset, array.shape)


def file_of(array: Array) -> FileArray | None:
    """Where an array lies in a file; None for one in memory, or of scattered entries."""
    whole = _whole(array)
    if whole is None or not array.flags.c_contiguous or not array.size:
        return None
    path, start = getattr(whole, "filename", None), _address(array) - _address(whole)
    if path is None:
        return None
    return FileArray(str(path), whole.offset + start, array.dtype.str, array.shape)


def _whole(array: Any) -> Any:
    """The memory-mapped array that an array is a part of; None for one in memory."""
    while array is not None and not isinstance(array.base, mmap.mmap):
        array = array.base if isinstance(array.base, np.ndarray) else None
    return array


def release(value: Any) -> None:
    """Give the memory of mapped pages back: the file has them, and they are read again when needed."""
    parts = (value.data, value.indices, value.indptr) if sp.issparse(value) else (value,)
    for whole in (_whole(part) for part in parts if isinstance(part, np.ndarray)):
        if whole is not None and hasattr(mmap, "MADV_DONTNEED") and not whole.flags.writeable:
            whole.base.madvise(mmap.MADV_DONTNEED)


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def portable(value: Any) -> Any:
    """The value with every array that lies in a file, also those of a sparse matrix, by its place there."""
    if sp.issparse(value):
        data, indices, indptr = map(portable, (value.data, value.indices, value.indptr))
        return _PortableCsr(data, indices, indptr, value.shape)
    return (file_of(value) or value) if isinstance(value, np.ndarray) else value


def opened(value: Any) -> Any:
    """What ``portable`` was given, in whatever process."""
    if isinstance(value, _PortableCsr):
        return sp.csr_array((opened(value.data), opened(value.indices), opened(value.indptr)), value.shape)
    return value.open() if isinstance(value, FileArray) else value


@dataclass(frozen=True)
class _PortableCsr:
    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]


def folder_of(graph: Graph) -> Path | None:
    """Where arrays that are made of a graph are kept; None for a graph in memory."""
    found = file_of(graph.adjacency.data)
    return Path(found.path).parent / FOLDER if found else None


def kept(
    graph: Graph, name: str, shape: tuple[int, ...], dtype: Any, make: Callable[[Array | FileArray], object]
) -> Array:
    """The array of a name that ``make`` fills once for a graph."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    path = _path(graph, name) if size >= LEAST else None
    if path is None:
        out = np.empty(shape, dtype)
        make(out)
        return out
    if not path.exists():
        _write(path, shape, dtype, make)
    return _loaded(path)


def kept_all(graph: Graph, names: Sequence[str], make: Callable[[], Sequence[Array]]) -> Sequence[Array]:
    """Arrays of sizes that are known when they are made, kept under their names."""
    paths = [path for name in names if (path := _path(graph, name))]
    if paths and all(path.exists() for path in paths):
        return [_loaded(path) for path in paths]
    made = make()
    if not paths or sum(array.nbytes for array in made) < LEAST:
        return made
    for path, array in zip(paths, made):
        _write(path, array.shape, array.dtype, partial(_put, array))
    return [_loaded(path) for path in paths]


def _put(array: Array, out: Array | FileArray) -> None:
    if isinstance(out, FileArray):
        out.write(0, array)


def _path(graph: Graph, name: str) -> Path | None:
    folder = folder_of(graph)
    return folder / f"{graph.fingerprint[:16]}-{name}.npy" if folder else None


def _loaded(path: Path) -> Array:
    found: Array = np.load(path, mmap_mode="r", allow_pickle=False)
    return found


def _write(
    path: Path, shape: tuple[int, ...], dtype: Any, make: Callable[[Array | FileArray], object]
) -> None:
    """A process that makes the same at the same time writes the same bytes, so that both may share a file."""
    part = path.with_suffix(".part")
    path.parent.mkdir(exist_ok=True)
    header = _header(shape, dtype)
    with open(os.open(part, os.O_CREAT | os.O_RDWR, 0o666), "r+b") as file:
        file.write(header)
        file.truncate(len(header) + int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
    make(FileArray(str(part), len(header), np.dtype(dtype).str, shape))
    try:
        part.replace(path)
    except FileNotFoundError:
        if not path.exists():
            raise


def _header(shape: tuple[int, ...], dtype: Any) -> bytes:
    out = BytesIO()
    described = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, described)
    return out.getvalue()
