"""MatrixMarket .mtx files: the entries are the weighted edges.

Parsed here: ``scipy.io.mmread`` ends the process (SIGSEGV) on damaged files.

    %%MatrixMarket matrix coordinate real symmetric
    % comments
    rows cols entries
    row col value          (from 1; no value for "pattern"; "array" lists all values, column by column)
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import FileFormat, Limits, unreadable
from gadcore.ingest.formats.matrices import matrix_parts, refuse_huge
from gadcore.ingest.formats.table import decoded
from gadcore.ingest.graph_parts import Parts

_LAYOUTS = ("coordinate", "array")
_FIELDS = ("real", "double", "integer", "pattern")
_SYMMETRIES = ("general", "symmetric")


def read_mtx(path: Path, limits: Limits) -> Parts:
    """Parts of a MatrixMarket file."""
    data = decoded(path)
    layout, field, symmetry = _banner(data, path.name)
    lines = data.split(b"\n")
    at = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(b"%")), len(lines))
    size = _sizes(lines[at] if at < len(lines) else b"", layout, path.name, at + 1)
    refuse_huge(size[:2], path.name, limits.max_bytes)
    body = b"\n".join(lines[at + 1 :])
    if layout == "array":
        matrix = _dense(body, size, symmetry, path.name)
    else:
        matrix = _coordinates(body, size, field == "pattern", path.name, at + 2)
    return matrix_parts(matrix, None, None, path.name, "MatrixMarket")


def _banner(data: bytes, file: str) -> tuple[str, str, str]:
    words = data.split(b"\n", 1)[0].decode("utf-8").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise unreadable(file, "MatrixMarket file", "no %%MatrixMarket line", "the banner first")
    layout, field, symmetry = words[2:]
    if layout not in _LAYOUTS or field not in _FIELDS or symmetry not in _SYMMETRIES:
        raise InputError(
            f"{file} holds a matrix of kind {' '.join(words[2:])!r}",
            "coordinate or array; real, integer or pattern; general or symmetric",
        )
    return layout, field, symmetry


def _sizes(line: bytes, layout: str, file: str, number: int) -> tuple[int, ...]:
    words = line.split()
    if len(words) != (3 if layout == "coordinate" else 2) or not all(w.isdigit() for w in words):
        raise InputError(
            f"{file}, line {number}: no size of the matrix", "rows, columns and number of entries"
        )
    return tuple(int(w) for w in words)


def _table(body: bytes, columns: int, rows: int, file: str, first: int) -> npt.NDArray[np.float64]:
    """(rows, columns) of numbers; the first line that is something else is named."""
    try:
        frame = pd.read_csv(
            io.BytesIO(body), sep=r"\s+", header=None, names=range(columns), index_col=False, dtype=str
        )
    except (ValueError, pd.errors.ParserWarning) as error:
        wanted = f"{columns} numbers per line"
        raise unreadable(file, "MatrixMarket file", str(error).strip(), wanted) from error
    values = np.column_stack([pd.to_numeric(frame[c], errors="coerce") for c in range(columns)])
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        shown = " ".join(str(v) for v in frame.iloc[bad[0]] if isinstance(v, str))
        raise InputError(
            f"{file}, line {first + int(bad[0])} or later: {shown!r}", f"{columns} finite numbers"
        )
    if len(values) != rows:
        raise InputError(
            f"{file} declares {rows:,} entries and holds {len(values):,}: it may be cut short",
            "as many lines as declared",
            "copy it again",
        )
    return values.astype(np.float64)


def _coordinates(body: bytes, size: tuple[int, ...], pattern: bool, file: str, first: int) -> sp.coo_array:
    n, _, entries = size
    if not entries:
        return sp.coo_array((n, n))
    values = _table(body, 2 if pattern else 3, entries, file, first)
    ends = values[:, :2] - 1
    wrong = np.flatnonzero(((ends < 0) | (ends >= n) | (ends % 1 != 0)).any(axis=1))
    if len(wrong):
        row, col = values[wrong[0], :2]
        raise InputError(
            f"{file}: entry {int(wrong[0]) + 1} is at ({row:g}, {col:g})", f"whole numbers from 1 to {n}"
        )
    weights = np.ones(entries) if pattern else values[:, 2]
    return sp.coo_array((weights, (ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64))), shape=(n, n))


def _dense(body: bytes, size: tuple[int, ...], symmetry: str, file: str) -> sp.coo_array:
    n = size[0]
    if n * n > 2 * len(body) + 2:  # two bytes for a value; half of the values when symmetric
        raise InputError(f"{file} declares {n:,} × {n:,} values but is cut short", "a complete file")
    rows, cols = np.tril_indices(n) if symmetry == "symmetric" else np.indices((n, n)).reshape(2, -1)
    order = np.lexsort((rows, cols))  # column by column
    values = _table(body, 1, len(rows), file, 1)[:, 0]
    return sp.coo_array((values, (rows[order], cols[order])), shape=(n, n))


FORMAT = FileFormat(
    "mtx",
    "MatrixMarket .mtx",
    (".mtx",),
    matches=lambda head: head.start.startswith(b"%%MatrixMarket"),
    read=read_mtx,
    recognised="the entries are the weighted edges",
    node_attributes=False,
    truth=False,
)
