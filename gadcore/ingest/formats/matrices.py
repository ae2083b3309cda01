"""What array formats share: matrices and row numbers are checked and turned into the parts of a graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.graph import IntArray
from gadcore.ingest.formats.file_format import Limits
from gadcore.ingest.graph_parts import Parts, Table, TruthArray, usable_weights
from gadcore.ingest.mapping import Mapping as ColumnParts
from gadcore.ingest.names import guess_weight

_MAX_EDGE_COLUMNS = 1_000
_MAX_CLASSES = 1_000
_EDGE_ARRAY = re.compile(r"edge_(?!index|label)\w+|time|timestamp|t")


def first_of(arrays: Mapping[str, Any], *keys: str) -> Any:
    """The first array that is there, or None."""
    return next((arrays[key] for key in keys if key in arrays), None)


def checked_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, ...], what: str) -> Any:
    """A CSR matrix whose indices are within its shape (scipy itself would read beyond the arrays)."""
    whole_numbers(indices, f"{what}: the indices")
    whole_numbers(indptr, f"{what}: the row pointers")
    try:
        matrix = sp.csr_array((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(
            f"{what} is not a valid CSR matrix ({error})", "indices within the shape", "save it again"
        ) from error
    return matrix


def check_square(shape: tuple[int, ...], path: Path, limits: Limits) -> None:
    """A few bytes can declare billions of nodes; refuse before arrays of that size are made."""
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InputError(
            f"{path.name} holds a matrix of shape {shape}", "a square adjacency matrix, one row per node"
        )
    limits.check_nodes(shape[0], path)


def matrix_parts(adjacency: Any, x: Any, y: Any, path: Path, format_name: str, limits: Limits) -> Parts:
    """Parts from an adjacency matrix (its non-zero entries are edges), attributes and answers."""
    file = path.name
    limits.check_nodes(max(np.shape(adjacency), default=0), path)
    coo = sp.coo_array(adjacency)
    n = coo.shape[0]
    if coo.ndim != 2 or n != coo.shape[1] or not n:
        raise InputError(
            f"{file} has an adjacency matrix of shape {coo.shape}", "a square one, one row per node"
        )
    weights, bad = usable_weights(_real(coo.data, f"{file}: the adjacency matrix"))
    if len(bad):
        raise InputError(
            f"{file}: the edge from row {coo.row[bad[0]]} to {coo.col[bad[0]]} has weight {weights[bad[0]]}",
            "finite weights above 0",
            "correct the adjacency matrix",
        )
    rows, cols = (np.asarray(v).astype(np.int64) for v in (coo.row, coo.col))
    return _parts(format_name, n, rows, cols, weights, x, y, file, limits)


def _parts(
    format_name: str,
    n: int,
    rows: IntArray,
    cols: IntArray,
    weights: Any,
    x: Any,
    y: Any,
    file: str,
    limits: Limits,
) -> Parts:
    keep = weights > 0
    ids, empty = np.array([str(i) for i in range(n)], dtype=object), pd.DataFrame(index=range(n))
    parts = Parts(ids, empty, format_name, rows[keep], cols[keep], weights[keep])
    parts.x = None if x is None else attribute_matrix(x, n, file, limits)
    parts.truth = None if y is None else answers(y, n, file, parts.notes)
    return parts


def _real(raw: Any, what: str) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = np.asarray(raw)
    if values.dtype.kind not in "biuf":
        raise InputError(f"{what} holds values of type {values.dtype}", "real numbers")
    return values


def whole_numbers(raw: Any, what: str) -> npt.NDArray[Any]:
    """The array; InputError where it holds anything else than whole numbers."""
    values: npt.NDArray[Any] = np.asarray(raw)
    if values.dtype.kind not in "iu":
        raise InputError(f"{what} are of type {values.dtype}", "whole numbers")
    return values


def shape_of(raw: Any, file: str) -> tuple[int, ...]:
    """The shape that an array of numbers says."""
    return tuple(int(v) for v in np.ravel(whole_numbers(raw, f"{file}: the numbers of the shape")))


def attribute_matrix(x: Any, n: int, file: str, limits: Limits) -> Any:
    """Attributes as CSR or dense with one row per node."""
    if sp.issparse(x):
        x = sp.csr_array(x)
        _real(x.data, f"{file}: the attribute matrix")
    else:
        x = _real(x, f"{file}: the attribute matrix")
        x = x.reshape(-1, 1) if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[0] != n:
        raise InputError(f"{file} has attributes of shape {x.shape} for {n:,} nodes", "one row per node")
    limits.check_columns(x.shape[1], file)
    return x


def answers(y: Any, n: int, file: str, notes: list[str]) -> TruthArray:
    """Truth from a label array: 0/1 as it is (-1 unknown), classes with the smallest one as the anomaly."""
    if sp.issparse(y) and (y.ndim != 2 or y.shape[0] * y.shape[1] > max(n, y.nnz) * _MAX_CLASSES):
        raise InputError(f"{file} has labels of shape {y.shape}", "one number per node")
    y = np.asarray(y.todense() if sp.issparse(y) else y)
    if y.ndim == 2 and y.shape[0] == n and y.shape[1] > 1:
        y = y.argmax(axis=1)
    y = y.ravel()
    if len(y) == n and y.dtype.kind == "f" and (~np.isfinite(y) | (y != np.round(y))).any():
        raise InputError(f"{file} has labels that are not whole numbers", "0/1 or class numbers")
    if len(y) == n and y.dtype.kind in "biuf" and set(np.unique(y)) <= {-1, 0, 1}:
        return np.asarray(y, dtype=np.int8)
    return smallest_class(y, np.ones(n, dtype=bool), file, notes)


def smallest_class(y: Any, known: npt.NDArray[np.bool_], file: str, notes: list[str]) -> TruthArray:
    """1 for the smallest class among the known nodes, 0 for the others, -1 where unknown."""
    y = np.ravel(y)
    if len(y) != len(known) or y.dtype.kind not in "biuf":
        raise InputError(
            f"{file} has {len(y):,} labels of type {y.dtype} for {len(known):,} nodes", "one number per node"
        )
    known = known & (y >= 0)
    classes, counts = np.unique(y[known], return_counts=True)
    if len(classes):
        rare, least = classes[int(np.argmin(counts))], counts.min()
        notes.append(
            f"Truth: the smallest of {len(classes)} classes ({rare:g}, {least:,} nodes) is the anomaly."
        )
        return np.where(known, y == rare, -1).astype(np.int8)
    return np.full(len(y), -1, dtype=np.int8)


def edge_parts(
    edge_index: Any,
    x: Any,
    y: Any,
    path: Path,
    format_name: str,
    *,
    limits: Limits,
    columns: Mapping[str, Any] | None = None,
    n: int | None = None,
) -> Parts:
    """Parts from (2, E) row numbers with attributes, answers and arrays of the edges (``edge_columns``)."""
    edges, file = np.asarray(edge_index), path.name
    if edges.ndim != 2 or 2 not in edges.shape or edges.dtype.kind not in "iu":
        raise InputError(
            f"{file}: edge_index has shape {edges.shape} and type {edges.dtype}",
            "whole numbers of shape (2, edges)",
        )
    rows, cols = (edges if edges.shape[0] == 2 else edges.T).astype(np.int64)
    if n is None:
        sizes = [v.shape[0] for v in (x, y) if v is not None and v.ndim]
        n = int(sizes[0]) if sizes else (int(edges.max()) + 1 if edges.size else 0)
    limits.check_nodes(n, path)
    bad = np.flatnonzero((rows < 0) | (cols < 0) | (rows >= n) | (cols >= n))
    if len(bad) or not n:
        where = f"edge {int(bad[0])} joins rows {rows[bad[0]]} and {cols[bad[0]]}" if len(bad) else "no nodes"
        raise InputError(f"{file}: {where}", f"row numbers from 0 to {n - 1}" if n else "at least one node")
    parts = _parts(format_name, n, rows, cols, np.ones(len(rows)), x, y, file, limits)
    if columns:
        frame = pd.DataFrame({"source": rows, "target": cols, **_checked(columns, len(rows), file)})
        parts.edge_table, parts.mapping = Table(frame, file, "edge"), _single_attribute(frame)
    return parts


def _checked(columns: Mapping[str, Any], n: int, file: str) -> dict[str, Any]:
    """Arrays of edges as columns of a table; (E, k) becomes k columns named by number."""
    found: dict[str, Any] = {}
    for name, raw in columns.items():
        values = np.asarray(raw)
        if values.ndim not in (1, 2) or len(values) != n or values.dtype.kind not in "biufUM":
            raise InputError(
                f"{file}: {name} has shape {values.shape} and type {values.dtype}",
                f"numbers or text, one row for each of {n:,} edges",
            )
        if values.ndim == 2 and values.shape[1] > _MAX_EDGE_COLUMNS:
            raise InputError(
                f"{file}: {name} has {values.shape[1]:,} columns", f"at most {_MAX_EDGE_COLUMNS}"
            )
        if values.ndim == 1 or values.shape[1] == 1:
            found[name] = values.ravel()
        else:
            found |= {f"{name}_{k}": values[:, k] for k in range(values.shape[1])}
    return found


def _single_attribute(frame: pd.DataFrame) -> ColumnParts:
    """What a single edge_attr is: the weight where it can be one and no other is given, else the amount."""
    if "edge_attr" not in frame:
        return ColumnParts()
    may_be_weight = frame["edge_attr"].dtype.kind in "biuf" and not len(usable_weights(frame["edge_attr"])[1])
    if may_be_weight and guess_weight(list(frame.columns)) is None:
        return ColumnParts(weight="edge_attr")
    return ColumnParts(amount="edge_attr")


def edge_columns(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays that say something of the edges, by name: edge_weight, edge_attr, edge_time, edge_type, …"""
    return {name: v for name, v in arrays.items() if v is not None and _EDGE_ARRAY.fullmatch(name)}


def restrict(parts: Parts, mask: npt.NDArray[np.bool_], file: str) -> None:
    """Keep the nodes of a mask; ids stay the row numbers of the file."""
    if mask.shape != parts.ids.shape:
        raise InputError(
            f"{file} has a mask of shape {mask.shape} for {len(parts.ids):,} nodes", "one per node"
        )
    kept = np.flatnonzero(mask)
    position = np.cumsum(mask) - 1
    edge = mask[parts.rows] & mask[parts.cols]
    if parts.edge_table is not None:
        parts.edge_table = replace(
            parts.edge_table, frame=parts.edge_table.frame[edge].reset_index(drop=True)
        )
    parts.notes.append(
        f"Restricted to the {len(kept):,} of {len(mask):,} nodes under lcc_mask (largest component)."
    )
    parts.ids, parts.table = parts.ids[kept], pd.DataFrame(index=range(len(kept)))
    parts.rows, parts.cols = position[parts.rows[edge]], position[parts.cols[edge]]
    parts.weights = parts.weights[edge]
    parts.x = None if parts.x is None else parts.x[kept]
    parts.truth = None if parts.truth is None else parts.truth[kept]
