"""Graphs as matrices: adjacency, attributes and known classes, rows numbered '0', '1', …

| file                                   | adjacency                | attributes            | answers      |
| .npz of this project                   | ``edge_index``           | ``x_data`` … or ``x`` | ``y``        |
| .npz of the Amazon and citation sets   | ``adj_data`` …           | ``attr_data`` …       | ``labels``   |
| .npz of ``scipy.sparse.save_npz``      | the matrix               | –                     | –            |
| .mat (outlier sets)                    | ``Network``              | ``Attributes``        | ``Label``    |
| .mat (fraud sets)                      | ``homo``                 | ``features``          | ``label``    |
| .mtx (MatrixMarket)                    | the matrix               | –                     | –            |

Nothing here unpickles: an object array is refused, or left unread where the layout does not need it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest.matrices import (
    checked_csr,
    edge_parts,
    matrix_parts,
    refuse_huge,
    restrict,
    smallest_class,
    too_large,
)
from gadcore.ingest.parts import Parts, shown
from gadcore.ingest.sniff import UNREADABLE

_NPZ_EXPECTED = (
    "edge_index with x (or x_data, x_indices, x_indptr, x_shape), adj_data … with attr_data …, "
    "or a matrix of scipy.sparse.save_npz"
)
_UNREAD = (
    "node_names",
    "attr_names",
    "class_names",
    "metadata",
    "idx_to_node",
    "idx_to_attr",
    "idx_to_class",
)

Arrays = Mapping[str, npt.NDArray[Any]]


def read_npz(path: Path, max_bytes: int) -> Parts:
    """Parts of any of the .npz layouts; every member is checked before a byte of it is unpacked."""
    return npz_parts(_load_npz(path, max_bytes), path.name, max_bytes)


def _load_npz(path: Path, max_bytes: int) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            objects = _check_members(archive, path.name, max_bytes)
        with np.load(path, allow_pickle=False) as file:
            keys = set(file.files)
            refused = [k for k in objects if not ("adj_data" in keys and k in _UNREAD)]
            if refused:
                raise InputError(
                    f"{path.name}: {shown(refused)} is an object array, which only unpickling could read",
                    "arrays of numbers or of fixed-length text",
                    "save it again without dtype=object; pickles are never opened here",
                )
            return {k: file[k] for k in file.files if k not in objects}
    except (*UNREADABLE, SyntaxError, TokenError) as error:  # the last two: a damaged array header
        raise InputError(
            f"{path.name} is not a readable .npz file ({error})",
            "a complete archive written by numpy.savez",
            "copy or download it again; a pickle is never opened here",
        ) from error


def _check_members(archive: zipfile.ZipFile, file: str, max_bytes: int) -> list[str]:
    """Names of the object arrays. Sizes that are too large, or larger than the file says, are refused."""
    total = sum(member.file_size for member in archive.infolist())
    if total > max_bytes:
        raise too_large(file, total, max_bytes)
    objects = []
    for member in archive.infolist():
        with archive.open(member) as handle:
            version = np.lib.format.read_magic(handle)
            read = np.lib.format.read_array_header_1_0
            shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(handle)
        if dtype.hasobject:
            objects.append(member.filename.removesuffix(".npy"))
        elif int(np.prod(shape, dtype=object)) * dtype.itemsize > member.file_size:
            raise InputError(f"{file}: {member.filename} is cut short", f"an array of shape {shape}")
    return objects


def npz_parts(arrays: Arrays, file: str, max_bytes: int) -> Parts:
    """Parts from the arrays of one .npz file."""
    keys = set(arrays)
    if {"edge_index"} <= keys:
        return _project_layout(arrays, file, max_bytes)
    for prefix in ("adj_", "adj_matrix."):
        if f"{prefix}data" in keys:
            attributes = next((p for p in ("attr_", "attr_matrix.") if f"{p}data" in keys), None)
            x = _csr(arrays, attributes, file) if attributes else arrays.get("attr_matrix")
            return matrix_parts(_csr(arrays, prefix, file), x, _first(arrays, ("labels", "y")), file, "npz")
    if {"data", "shape"} <= keys:
        return matrix_parts(_scipy_matrix(arrays, file, max_bytes), None, None, file, "npz (scipy)")
    dense = _first(arrays, ("adj", "adj_matrix", "adjacency", "A"))
    if dense is not None:
        x = _first(arrays, ("x", "X", "features", "attr_matrix"))
        return matrix_parts(dense, x, _first(arrays, ("y", "labels", "label")), file, "npz")
    raise InputError(
        f"{file} holds the arrays {shown(sorted(keys))}", _NPZ_EXPECTED, "save it in one of these layouts"
    )


def _first(arrays: Arrays, keys: Iterable[str]) -> Any:
    return next((arrays[k] for k in keys if k in arrays), None)


def _csr(arrays: Arrays, prefix: str, file: str) -> Any:
    missing = [prefix + k for k in ("data", "indices", "indptr", "shape") if prefix + k not in arrays]
    if missing:
        raise InputError(f"{file} lacks {shown(missing)}", "all four arrays of a CSR matrix")
    parts = [arrays[prefix + k] for k in ("data", "indices", "indptr")]
    shape = tuple(int(v) for v in np.ravel(arrays[prefix + "shape"]))
    return checked_csr(parts[0], parts[1], parts[2], shape, f"{file}: {prefix}data")


def _scipy_matrix(arrays: Arrays, file: str, max_bytes: int) -> Any:
    shape = tuple(int(v) for v in np.ravel(arrays["shape"]))
    refuse_huge(shape, file, max_bytes)
    if {"indices", "indptr"} <= set(arrays):
        kind = arrays["format"].item() if "format" in arrays else b"csr"
        data, indices, indptr = (arrays[k] for k in ("data", "indices", "indptr"))
        if kind in (b"csc", "csc"):
            return checked_csr(data, indices, indptr, shape[::-1], file).T.tocsr()
        if kind in (b"csr", "csr"):
            return checked_csr(data, indices, indptr, shape, file)
    elif {"row", "col"} <= set(arrays):
        return _coo(arrays["row"], arrays["col"], arrays["data"], shape, file)
    elif "coords" in arrays and len(arrays["coords"]) == 2:
        row, col = arrays["coords"]
        return _coo(row, col, arrays["data"], shape, file)
    raise InputError(f"{file} holds a sparse matrix in another format", "CSR, CSC or COO")


def _coo(row: Any, col: Any, data: Any, shape: tuple[int, ...], file: str) -> Any:
    try:
        return sp.coo_array((data, (row, col)), shape=shape)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{file} is not a valid sparse matrix ({error})", "indices within the shape"
        ) from error


def _project_layout(arrays: Arrays, file: str, max_bytes: int) -> Parts:
    """The layout of the benchmark files: edge_index, x as CSR or dense, y with its kind."""
    x = _csr(arrays, "x_", file) if "x_data" in arrays else _first(arrays, ("x", "X", "features"))
    y = _first(arrays, ("y", "labels", "label"))
    weight = _first(arrays, ("edge_weight", "weights"))
    kind = _word(arrays.get("kind"))
    parts = edge_parts(arrays["edge_index"], x, y, file, "npz", max_bytes=max_bytes, weight=weight, kind=kind)
    if "attribute_names" in arrays and parts.x is not None:
        names = [str(v) for v in np.ravel(arrays["attribute_names"])]
        parts.feature_names = names if len(names) == parts.x.shape[1] else None
    if parts.truth is not None:
        _mark_unknown(parts, arrays, y)
    if "lcc_mask" in arrays:
        restrict(parts, np.asarray(arrays["lcc_mask"], dtype=bool), y, kind, file)
    return parts


def _word(value: Any) -> str | None:
    return None if value is None else str(np.asarray(value).item())


def _mark_unknown(parts: Parts, arrays: Arrays, y: Any) -> None:
    """Nodes without an answer: ``unlabelled_nodes`` (listed), ``unlabelled_prefix`` (the first so many)."""
    unknown = np.zeros(len(parts.ids), dtype=bool)
    if "unlabelled_nodes" in arrays:
        unknown[np.asarray(arrays["unlabelled_nodes"], dtype=np.int64)] = True
    if "unlabelled_prefix" in arrays:
        unknown[: int(np.asarray(arrays["unlabelled_prefix"]).item())] = True
    if not unknown.any() or parts.truth is None:
        return
    parts.notes.append(f"Truth: {int(unknown.sum()):,} nodes have no answer.")
    if _word(arrays.get("kind")) == "class":
        parts.truth = smallest_class(np.ravel(y), ~unknown, parts.notes)
    else:
        parts.truth = np.where(unknown, -1, parts.truth).astype(np.int8)
