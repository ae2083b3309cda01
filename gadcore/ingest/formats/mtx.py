"""MatrixMarket .mtx files: the entries are the weighted edges.

Parsed here: ``scipy.io.mmread`` ends the process (SIGSEGV) on damaged files.

    %%MatrixMarket matrix coordinate real symmetric
    % comments
    rows cols entries
    row col value          (from 1; no value for "pattern"; "array" lists all values, column by column)
"""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest.formats.file_format import FileFormat, Limits, unreadable
from gadcore.ingest.formats.matrices import check_square, matrix_parts
from gadcore.ingest.graph_parts import Parts
from gadcore.ingest.texts import decoded

_KINDS = re.compile(r"(coordinate|array) (real|double|integer|pattern) (general|symmetric)")


def read_mtx(path: Path, limits: Limits) -> Parts:
    """Parts of a MatrixMarket file."""
    data, file = decoded(path), path.name
    layout, field, symmetry = _banner(data, file)
    lines = data.split(b"\n")
    at = next((k for k, line in enumerate(lines) if line.strip() and not line.startswith(b"%")), len(lines))
    size = (lines[at] if at < len(lines) else b"").split()
    if len(size) != (3 if layout == "coordinate" else 2) or not all(word.isdigit() for word in size):
        raise InputError(f"{file}, line {at + 1}: no size of the matrix", "rows, columns, number of entries")
    n, columns, *entries = (int(word) for word in size)
    check_square((n, columns), path, limits)
    body = b"\n".join(lines[at + 1 :])
    if layout == "array":
        matrix = _dense(body, n, symmetry, file)
    else:
        matrix = _coordinates(body, n, entries[0], 2 if field == "pattern" else 3, file, at + 2)
    return matrix_parts(matrix, None, None, path, "MatrixMarket", limits)


def _banner(data: bytes, file: str) -> list[str]:
    words = data.split(b"\n", 1)[0].decode("utf-8").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise unreadable(file, "MatrixMarket file", "no %%MatrixMarket line", "the banner first")
    if not _KINDS.fullmatch(" ".join(words[2:])):
        raise InputError(
            f"{file} holds a matrix of kind {' '.join(words[2:])!r}",
            "coordinate or array; real, integer or pattern; general or symmetric",
        )
    return words[2:]


def _numbers(body: bytes, columns: int, rows: int, file: str, first: int) -> npt.NDArray[np.float64]:
    """(rows, columns) of numbers; the first line that is something else is named."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error", pd.errors.ParserWarning
            )  # more numbers on a line than there may be
            frame = pd.read_csv(
                io.BytesIO(body), sep=r"\s+", header=None, names=range(columns), index_col=False, dtype=str
            )
    except (ValueError, pd.errors.ParserWarning) as error:
        wanted = f"{columns} numbers per line"
        raise unreadable(file, "MatrixMarket file", str(error).strip(), wanted) from error
    values = frame.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(bad):
        shown = " ".join(str(v) for v in frame.iloc[bad[0]] if isinstance(v, str))
        raise InputError(
            f"{file}, line {first + int(bad[0])} or later: {shown!r}", f"{columns} finite numbers"
        )
    if len(values) != rows:
        found = f"{file} declares {rows:,} entries and holds {len(values):,}: it may be cut short"
        raise InputError(found, "as many lines as declared", "copy it again")
    return np.asarray(values)


def _coordinates(body: bytes, n: int, entries: int, columns: int, file: str, first: int) -> sp.coo_array:
    if not entries:
        return sp.coo_array((n, n))
    values = _numbers(body, columns, entries, file, first)
    ends = values[:, :2] - 1
    wrong = np.flatnonzero(((ends < 0) | (ends >= n) | (ends % 1 != 0)).any(axis=1))
    if len(wrong):
        row, col = values[wrong[0], :2]
        raise InputError(
            f"{file}: entry {int(wrong[0]) + 1} is at ({row:g}, {col:g})", f"whole numbers from 1 to {n}"
        )
    weights = values[:, 2] if columns == 3 else np.ones(entries)
    return sp.coo_array((weights, tuple(ends.T.astype(np.int64))), shape=(n, n))


def _dense(body: bytes, n: int, symmetry: str, file: str) -> sp.coo_array:
    if n * n > 2 * len(body) + 2:  # two bytes for a value; half of the values when symmetric
        raise InputError(f"{file} declares {n:,} × {n:,} values but is cut short", "a complete file")
    cols, rows = np.triu_indices(n) if symmetry == "symmetric" else np.indices((n, n)).reshape(2, -1)
    values = _numbers(body, 1, len(rows), file, 1)[:, 0]  # column by column
    return sp.coo_array((values, (rows, cols)), shape=(n, n))


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
