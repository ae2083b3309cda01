"""NumPy .npz files: adjacency, attributes and known classes, rows numbered '0', '1', …

| layout                             | adjacency      | attributes            | answers    |
| this project                       | ``edge_index`` | ``x_data`` … or ``x`` | ``y``      |
| the Amazon and citation sets       | ``adj_data`` … | ``attr_data`` …       | ``labels`` |
| ``scipy.sparse.save_npz``          | the matrix     | –                     | –          |

Nothing here unpickles: an object array is refused, or left unread where the layout does not need it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import UNREADABLE, FileFormat, Limits, too_large, unreadable
from gadcore.ingest.formats.matrices import (
    check_square,
    checked_csr,
    edge_columns,
    edge_parts,
    first_of,
    matrix_parts,
    restrict,
    shape_of,
    smallest_class,
    whole_numbers,
)
from gadcore.ingest.graph_parts import Parts, shown

_EXPECTED = (
    "edge_index with x (or x_data, x_indices, x_indptr, x_shape), adj_data … with attr_data …, "
    "or a matrix of scipy.sparse.save_npz"
)
_UNREAD = re.compile(r"(node|attr|class)_names|idx_to_(node|attr|class)|metadata")
_ANSWERS = ("y", "labels", "label")
_EDGE_NAMES = "edge_attribute_names"
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others pack gigabytes of zeros into a few bytes

Arrays = Mapping[str, npt.NDArray[Any]]


def read_npz(path: Path, limits: Limits) -> Parts:
    """Parts of any of the .npz layouts; every member is checked before a byte of it is unpacked."""
    arrays = _load(path, limits.max_bytes)
    parts = _graph(arrays, path, limits)
    if unused := sorted(name for name in arrays if name.startswith("edge_label")):
        parts.notes.append(f"{path.name}: arrays that are not read: {shown(unused)}.")
    return parts


def _load(path: Path, max_bytes: int) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            objects = _check_members(archive, path.name, max_bytes)
        with np.load(path, allow_pickle=False) as file:
            keys = set(file.files)
            refused = [k for k in objects if not ("adj_data" in keys and _UNREAD.fullmatch(k))]
            if refused:
                raise InputError(
                    f"{path.name}: {shown(refused)} is an object array, which only unpickling could read",
                    "arrays of numbers or of fixed-length text",
                    "save it again without dtype=object; pickles are never opened here",
                )
            return {k: _native(file[k]) for k in file.files if k not in objects}
    except (*UNREADABLE, SyntaxError, TokenError) as error:  # the last two: a damaged array header
        fix = "copy or download it again; a pickle is never opened here"
        raise unreadable(path.name, ".npz file", error, "a complete archive of numpy.savez", fix) from error


def _native(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array as this machine computes with it; floats of unusual width become the usual ones."""
    if array.dtype.kind == "f" and array.dtype.itemsize not in (4, 8):
        return array.astype(np.float64)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_members(archive: zipfile.ZipFile, file: str, max_bytes: int) -> list[str]:
    """Names of the object arrays. Sizes that are too large, or larger than the file says, are refused."""
    total = sum(member.file_size for member in archive.infolist())
    if total > max_bytes:
        raise too_large(file, total, max_bytes)
    objects = []
    for member in archive.infolist():
        if member.compress_type not in _PACKED:
            raise InputError(f"{file}: {member.filename} is packed in another way", "what numpy.savez writes")
        with archive.open(member) as handle:
            version = np.lib.format.read_magic(handle)
            read = np.lib.format.read_array_header_1_0
            shape, _, dtype = (read if version == (1, 0) else np.lib.format.read_array_header_2_0)(handle)
        if dtype.hasobject:
            objects.append(member.filename.removesuffix(".npy"))
        elif int(np.prod(shape, dtype=object)) * dtype.itemsize > member.file_size:
            raise InputError(f"{file}: {member.filename} is cut short", f"an array of shape {shape}")
    return objects


def _graph(arrays: Arrays, path: Path, limits: Limits) -> Parts:
    """Parts by the layout that the names of the arrays tell."""
    keys, file = set(arrays), path.name
    if "edge_index" in keys:
        return _project_layout(arrays, path, limits)
    for prefix in ("adj_", "adj_matrix."):
        if f"{prefix}data" in keys:
            attributes = next((p for p in ("attr_", "attr_matrix.") if f"{p}data" in keys), None)
            x = _csr(arrays, attributes, file) if attributes else arrays.get("attr_matrix")
            y = first_of(arrays, "labels", "y")
            return matrix_parts(_csr(arrays, prefix, file), x, y, path, "npz", limits)
    if {"data", "shape"} <= keys:
        return matrix_parts(_scipy_matrix(arrays, path, limits), None, None, path, "npz (scipy)", limits)
    dense = first_of(arrays, "adj", "adj_matrix", "adjacency", "A")
    if dense is not None:
        x = first_of(arrays, "x", "X", "features", "attr_matrix")
        return matrix_parts(dense, x, first_of(arrays, *_ANSWERS), path, "npz", limits)
    raise InputError(
        f"{file} holds the arrays {shown(sorted(keys))}", _EXPECTED, "save it in one of these layouts"
    )


def _csr(arrays: Arrays, prefix: str, file: str) -> Any:
    missing = [prefix + k for k in ("data", "indices", "indptr", "shape") if prefix + k not in arrays]
    if missing:
        raise InputError(f"{file} lacks {shown(missing)}", "all four arrays of a CSR matrix")
    parts = [arrays[prefix + k] for k in ("data", "indices", "indptr")]
    shape = shape_of(arrays[prefix + "shape"], file)
    return checked_csr(parts[0], parts[1], parts[2], shape, f"{file}: {prefix}data")


def _scipy_matrix(arrays: Arrays, path: Path, limits: Limits) -> Any:
    file, data = path.name, arrays["data"]
    shape = shape_of(arrays["shape"], file)
    check_square(shape, path, limits)
    if {"indices", "indptr"} <= set(arrays):
        form = _word(arrays.get("format", "csr"))
        if form == "csc":
            return checked_csr(data, arrays["indices"], arrays["indptr"], shape[::-1], file).T.tocsr()
        if form == "csr":
            return checked_csr(data, arrays["indices"], arrays["indptr"], shape, file)
    elif {"row", "col"} <= set(arrays):
        return _coo(data, (arrays["row"], arrays["col"]), shape, file)
    elif np.shape(arrays.get("coords", ()))[:1] == (2,):
        return _coo(data, tuple(arrays["coords"]), shape, file)
    raise InputError(f"{file} holds a sparse matrix in another format", "CSR, CSC or COO")


def _coo(data: Any, ends: Any, shape: tuple[int, ...], file: str) -> Any:
    ends = tuple(whole_numbers(end, f"{file}: the rows and columns") for end in ends)
    try:
        return sp.coo_array((data, ends), shape=shape)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{file} is not a valid sparse matrix ({error})", "indices within the shape"
        ) from error


def _project_layout(arrays: Arrays, path: Path, limits: Limits) -> Parts:
    """The layout of the benchmark files: edge_index, x as CSR or dense, y with its kind."""
    file = path.name
    x = _csr(arrays, "x_", file) if "x_data" in arrays else first_of(arrays, "x", "X", "features")
    y = first_of(arrays, *_ANSWERS)
    classes = y is not None and _word(arrays.get("kind", "")) == "class"
    n = len(np.atleast_1d(y)) if y is not None and x is None else None
    parts = edge_parts(
        arrays["edge_index"], x, None if classes else y, path, "npz",
        limits=limits, columns=_edge_columns(arrays), n=n,
    )  # fmt: skip
    if "attribute_names" in arrays and parts.x is not None:
        names = [str(v) for v in np.ravel(arrays["attribute_names"])]
        parts.feature_names = names if len(names) == parts.x.shape[1] else None
    known = np.ones(len(parts.ids), dtype=bool) if y is None else _known(arrays, parts)
    kept = np.ones(len(parts.ids), dtype=bool)
    if "lcc_mask" in arrays:
        kept = np.asarray(arrays["lcc_mask"], dtype=bool)
        restrict(parts, kept, file)
    if classes:
        parts.truth = smallest_class(np.ravel(y)[kept], known[kept], file, parts.notes)
    elif parts.truth is not None:
        parts.truth = np.where(known[kept], parts.truth, -1).astype(np.int8)
    return parts


def _edge_columns(arrays: Arrays) -> dict[str, Any]:
    """Arrays of the edges; those of edge_attr by their names where the file gives them."""
    found = edge_columns({"edge_weight": arrays.get("weights"), **arrays})
    names = [str(v) for v in np.ravel(found.pop(_EDGE_NAMES, ()))]
    given = found.get("edge_attr")
    if given is not None and given.ndim == 2 and len(set(names)) == given.shape[1] == len(names):
        del found["edge_attr"]
        found = {**{name: given[:, k] for k, name in enumerate(names)}, **found}
    return found


def _word(value: Any) -> str:
    return str(np.asarray(value).astype(str).item())


def _known(arrays: Arrays, parts: Parts) -> npt.NDArray[np.bool_]:
    """Nodes with an answer; others are listed (``unlabelled_nodes``) or the first so many (``…_prefix``)."""
    known = np.ones(len(parts.ids), dtype=bool)
    listed = whole_numbers(arrays.get("unlabelled_nodes", np.zeros(0, np.int64)), "unlabelled_nodes")
    known[listed] = False
    known[: int(whole_numbers(arrays.get("unlabelled_prefix", 0), "unlabelled_prefix").item())] = False
    if not known.all():
        parts.notes.append(f"Truth: {int((~known).sum()):,} nodes have no answer.")
    return known


FORMAT = FileFormat(
    "npz",
    "NumPy .npz",
    (".npz",),
    matches=lambda head: bool(head.members) and all(name.endswith(".npy") for name in head.members),
    read=read_npz,
    recognised=(
        "`edge_index` with `x` (dense or CSR), `y`, and of the edges `edge_weight`, `edge_attr` (with "
        "`edge_attribute_names`), `edge_time`, `edge_type`; the `adj_data/attr_data/labels` layout of the "
        "Amazon files, matrices of `scipy.sparse.save_npz`"
    ),
    content_decides=True,
)
