"""MatrixMarket .mtx files: the entries are the weighted edges."""

from __future__ import annotations

from pathlib import Path

import scipy.io

from gadcore.errors import InputError
from gadcore.ingest.matrices import matrix_parts, refuse_huge
from gadcore.ingest.parts import Parts

_MIN_ENTRY = 4  # bytes of the shortest line of a coordinate file


def read_mtx(path: Path, max_bytes: int) -> Parts:
    """Parts of a MatrixMarket file."""
    try:
        rows, cols, entries, layout, field, _ = scipy.io.mminfo(str(path))
        refuse_huge((rows, cols), path.name, max_bytes)
        least = entries * _MIN_ENTRY if layout == "coordinate" else rows * cols
        if least > path.stat().st_size:
            raise InputError(f"{path.name} declares {entries:,} entries but is cut short", "a complete file")
        if field == "complex":
            raise InputError(f"{path.name} holds complex numbers", "real weights")
        matrix = scipy.io.mmread(str(path))
    except (ValueError, TypeError, OSError, OverflowError, MemoryError, StopIteration) as error:
        raise InputError(
            f"{path.name} is not a readable MatrixMarket file ({error})", "a complete file", "copy it again"
        ) from error
    return matrix_parts(matrix, None, None, path.name, "MatrixMarket")
