"""Row blocks, and the rows of a sparse matrix that belong to one."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

ROWS = 50_000  # of a block; a graph of fewer nodes is one block
Csr = Any  # scipy.sparse.csr_array; its arrays may be memory-mapped


def row_blocks(n: int, rows: int = ROWS) -> list[slice]:
    """All of ``n`` rows in order; one empty block where there are none."""
    return [slice(a, min(a + rows, n)) for a in range(0, n, rows)] or [slice(0, 0)]


def rows_of(matrix: Csr, block: slice) -> Csr:
    """The rows of a block; entries are not copied."""
    starts = matrix.indptr[block.start : block.stop + 1]
    entries = slice(int(starts[0]), int(starts[-1]))
    parts = (matrix.data[entries], matrix.indices[entries], starts - starts[0])
    return sp.csr_array(parts, shape=(block.stop - block.start, matrix.shape[1]))


def part_of(z: Any, block: slice) -> Any:
    """The rows of a block, of a sparse matrix or an array."""
    return rows_of(z, block) if sp.issparse(z) else z[block]
