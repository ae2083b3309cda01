"""MATLAB .mat files, version 5 to 7.

Read here byte by byte: ``scipy.io.loadmat`` ends the process (SIGSEGV) on damaged files. A file is a list of
elements (type, size, data); an array element holds flags, dimensions, name and numbers; a compressed
element holds one array element. Only numeric and sparse arrays matter; cells, structs and text are skipped.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import FileFormat, Limits, too_large, unreadable
from gadcore.ingest.formats.matrices import checked_csr, first_of, matrix_parts
from gadcore.ingest.graph_parts import Parts, shown

_ADJACENCY = ("Network", "homo", "A", "W", "adj", "adjacency", "network")
_ATTRIBUTES = ("Attributes", "features", "X", "Attr", "attributes", "fea")
_ANSWERS = ("Label", "label", "labels", "gnd", "y", "Y")
_EXPECTED = "Network with Attributes and Label, or homo with features and label"

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE = 5
_DENSE = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_COMPLEX = 0x0800

Piece = tuple[int, memoryview]  # type, bytes


class _Damaged(Exception):
    """The bytes are not what the format says."""


def read_mat(path: Path, limits: Limits) -> Parts:
    """Parts of a .mat file; answers and attributes are optional."""
    data = memoryview(path.read_bytes())
    order = _byte_order(bytes(data[:_HEADER]), path.name)
    try:
        found = [
            _array(element, order, path.name)
            for element in _matrices(data[_HEADER:], order, path.name, limits.max_bytes)
        ]
    except (_Damaged, struct.error, zlib.error, ValueError) as error:
        raise unreadable(path.name, ".mat file", error) from error
    arrays = {name: array for name, array in found if array is not None}
    adjacency = first_of(arrays, *_ADJACENCY)
    if adjacency is None:
        raise _no_adjacency([name for name, _ in found], path.name)
    x, y = first_of(arrays, *_ATTRIBUTES), first_of(arrays, *_ANSWERS)
    return matrix_parts(adjacency, x, y, path, "MATLAB", limits)


def _no_adjacency(names: list[str], file: str) -> InputError:
    odd = [name for name in names if name in _ADJACENCY]
    if odd:
        return InputError(
            f"{file}: {odd[0]!r} is a cell, struct or complex array", "a matrix of real numbers"
        )
    return InputError(f"{file} holds {shown(sorted(names))}", _EXPECTED, "rename the variables")


def _byte_order(header: bytes, file: str) -> str:
    if header.startswith(b"MATLAB 7.3"):
        raise InputError(
            f"{file} is a .mat file of version 7.3 (HDF5)", "version 7 or older", "save it with '-v7'"
        )
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
    if order is None:
        wanted = "a file that MATLAB wrote with -v6 or -v7, or scipy.io.savemat"
        raise unreadable(file, ".mat file", "it has no version 5 header", wanted)
    return order


def _matrices(data: memoryview, order: str, file: str, max_bytes: int) -> Iterator[memoryview]:
    """The array elements of a file, unpacked; together at most ``max_bytes``."""
    total = 0
    for kind, body in _elements(data, order, padded=False):
        if kind == _COMPRESSED:
            body = memoryview(zlib.decompressobj().decompress(body, max_bytes - total + 1))
            total += len(body)
            if total > max_bytes:
                raise too_large(file, total, max_bytes)
            kind, body = next(_elements(body, order), (0, body))
        if kind == _MATRIX:
            yield body


def _elements(data: memoryview, order: str, padded: bool = True) -> Iterator[Piece]:
    """(type, bytes) of each element; the parts of an array are padded to eight bytes."""
    at = 0
    while at < len(data):
        if len(data) - at < 8:
            raise _Damaged("cut short")
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # the short form: size and type in one word, up to four bytes of data
            kind, size, start, end = kind & 0xFFFF, kind >> 16, at + 4, at + 8
        else:
            start = at + 8
            end = start + (-(-size // 8) * 8 if padded else size)
        if start + size > len(data) or size > end - start:
            raise _Damaged("cut short")
        yield kind, data[start : start + size]
        at = end


def _array(body: memoryview, order: str, file: str) -> tuple[str, Any]:
    """(name, matrix) of an array element; None for what is no real numeric or sparse matrix."""
    parts = _elements(body, order)
    flags, dims, name = (next(parts, (0, memoryview(b""))) for _ in range(3))
    flag_words, shape = _numbers(flags, order), tuple(int(v) for v in _numbers(dims, order))
    title = bytes(name[1]).decode("latin-1")
    if not len(flag_words) or len(shape) != 2 or min(shape) < 0:
        raise _Damaged(f"array {title!r} has no flags or dimensions")
    kind = int(flag_words[0]) & 0xFF
    if int(flag_words[0]) & _COMPLEX or (kind != _SPARSE and kind not in _DENSE):
        return title, None
    if kind == _SPARSE:
        return title, _sparse(parts, shape, order, f"{file}: {title}")
    values = _numbers(next(parts, (0, memoryview(b""))), order)
    if len(values) != math.prod(shape):
        raise _Damaged(f"array {title!r} has {len(values):,} values for shape {shape}")
    return title, values.astype(_DENSE[kind]).reshape(shape, order="F")


def _sparse(parts: Iterator[Piece], shape: tuple[int, ...], order: str, what: str) -> Any:
    """A CSC matrix: row numbers, column starts, values (there may be room for more than are used)."""
    rows, starts, values = (_numbers(next(parts, (0, memoryview(b""))), order) for _ in range(3))
    used = int(starts[-1]) if len(starts) else -1
    if len(starts) != shape[1] + 1 or not 0 <= used <= min(len(rows), len(values)):
        raise _Damaged(f"{what} is a sparse matrix with missing parts")
    flipped = (shape[1], shape[0])
    return checked_csr(values[:used].astype(np.float64), rows[:used], starts, flipped, what).T.tocsr()


def _numbers(element: Piece, order: str) -> npt.NDArray[Any]:
    kind, data = element
    if kind not in _NUMBERS:
        raise _Damaged(f"numbers of unknown type {kind}")
    return np.frombuffer(data, dtype=np.dtype(order + _NUMBERS[kind]))


FORMAT = FileFormat(
    "mat",
    "MATLAB .mat",
    (".mat",),
    matches=lambda head: head.start.startswith(b"MATLAB 5.0"),
    read=read_mat,
    recognised="`Network/Attributes/Label` and `homo/features/label`, saved with `-v7` or older",
)
