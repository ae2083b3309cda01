"""MATLAB .mat and MatrixMarket .mtx files."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest.matrices import matrix_parts, refuse_huge, too_large
from gadcore.ingest.parts import Parts, shown

_ADJACENCY = ("Network", "homo", "A", "W", "adj", "adjacency", "network")
_ATTRIBUTES = ("Attributes", "features", "X", "Attr", "attributes", "fea")
_ANSWERS = ("Label", "label", "labels", "gnd", "y", "Y")
_EXPECTED = "Network with Attributes and Label, or homo with features and label"
_MAX_RATIO = 1_032  # zlib cannot pack better than this: smaller files need no check
_COMPRESSED = 15  # type of a compressed element in a version 5 file
_HEADER = 128
_MIN_ENTRY = 4  # bytes of the shortest line of a coordinate file


def read_mat(path: Path, max_bytes: int) -> Parts:
    """Parts of a .mat file of version 5 to 7."""
    _refuse_bomb(path, max_bytes)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = scipy.io.loadmat(str(path))
    except NotImplementedError as error:
        raise InputError(
            f"{path.name} is a .mat file of version 7.3 (HDF5)", "version 7 or older", "save it with '-v7'"
        ) from error
    except (ValueError, TypeError, OSError, EOFError, KeyError, IndexError, MemoryError, zlib.error) as error:
        raise InputError(
            f"{path.name} is not a readable .mat file ({error})", "a complete file", "copy it again"
        ) from error
    arrays = {k: v for k, v in data.items() if not k.startswith("__")}
    adjacency = _first(arrays, _ADJACENCY)
    if adjacency is None:
        raise InputError(f"{path.name} holds {shown(sorted(arrays))}", _EXPECTED, "rename the variables")
    x, y = _first(arrays, _ATTRIBUTES), _first(arrays, _ANSWERS)
    return matrix_parts(_numbers(adjacency, path, "adjacency"), x, y, path.name, "MATLAB")


def _first(arrays: dict[str, Any], keys: Iterable[str]) -> Any:
    return next((arrays[k] for k in keys if k in arrays), None)


def _numbers(matrix: Any, path: Path, what: str) -> Any:
    if not sp.issparse(matrix) and np.asarray(matrix).dtype.hasobject:
        raise InputError(f"{path.name}: the {what} is a cell array", "a matrix of numbers")
    return matrix


def _refuse_bomb(path: Path, max_bytes: int) -> None:
    """Inflate the compressed elements chunk by chunk, counting, where they could pass the limit."""
    if path.stat().st_size * _MAX_RATIO <= max_bytes:
        return
    total = 0
    with path.open("rb") as file:
        order = ">" if file.read(_HEADER)[126:128] == b"MI" else "<"
        while len(tag := file.read(8)) == 8:
            kind, size = struct.unpack(f"{order}II", tag)
            if kind != _COMPRESSED:
                file.seek(size, 1)
                continue
            inflate, left = zlib.decompressobj(), size
            while left > 0 and (chunk := file.read(min(left, 1 << 16))):
                left -= len(chunk)
                total += _inflated(inflate, chunk, path)
                if total > max_bytes:
                    raise too_large(path.name, total, max_bytes)


def _inflated(inflate: Any, chunk: bytes, path: Path) -> int:
    try:
        return len(inflate.decompress(chunk))
    except zlib.error as error:
        raise InputError(
            f"{path.name} is damaged ({error})", "a complete .mat file", "copy it again"
        ) from error


def read_mtx(path: Path, max_bytes: int) -> Parts:
    """Parts of a MatrixMarket file: its entries are the weighted edges."""
    try:
        rows, cols, entries, layout, field, _ = scipy.io.mminfo(str(path))
        refuse_huge((rows, cols), path.name, max_bytes)
        if layout == "coordinate" and entries * _MIN_ENTRY > path.stat().st_size:
            raise InputError(f"{path.name} declares {entries:,} entries but is cut short", "a complete file")
        if layout == "array" and rows * cols > path.stat().st_size:
            raise InputError(
                f"{path.name} declares {rows} × {cols} values but is cut short", "a complete file"
            )
        if field == "complex":
            raise InputError(f"{path.name} holds complex numbers", "real weights")
        matrix = scipy.io.mmread(str(path))
    except (ValueError, TypeError, OSError, OverflowError, MemoryError, StopIteration) as error:
        raise InputError(
            f"{path.name} is not a readable MatrixMarket file ({error})", "a complete file", "copy it again"
        ) from error
    return matrix_parts(matrix, None, None, path.name, "MatrixMarket")
