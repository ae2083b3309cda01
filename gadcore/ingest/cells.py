"""Cells of a raw column as they were written: as Python texts, or as one Arrow array to read at once."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

MISSING = ("", "na", "n/a", "nan", "null", "none", "-", "?", "#n/a")

Texts = npt.NDArray[np.object_]  # of str, None where there is none
Cells = Any  # pyarrow array of large_string, null where there is none


def as_text(series: pd.Series) -> Texts:
    """Values as written; None where there is none."""
    if isinstance(series.dtype, pd.StringDtype):
        values = series.to_numpy(dtype=object, na_value=None)
    else:
        values = np.array([_plain(v) for v in series], dtype=object)
    values[values == ""] = None
    return np.asarray(values, dtype=object)


def _plain(value: object) -> str | None:
    if value is None or (not isinstance(value, (list, dict)) and pd.isna(value)):
        return None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (list, dict)) else str(value)


def as_cells(series: pd.Series) -> Cells:
    """Values as written, null where there is none."""
    if series.dtype.kind in "iuf" and isinstance(series.dtype, np.dtype):
        series = series.astype(np.float64) if series.dtype.itemsize in (2, 16) else series  # floats for Arrow
        return pa.array(series, from_pandas=True).cast(pa.large_string())
    if not isinstance(series.dtype, pd.StringDtype):
        return texts_to_cells(as_text(series))
    array = pa.array(series, type=pa.large_string(), from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.large_string()), array)


def texts_to_cells(texts: Texts) -> Cells:
    """Texts as an Arrow array; a lone half of a character, which UTF-8 cannot hold, becomes "?"."""
    try:
        return pa.array(texts, pa.large_string())
    except UnicodeEncodeError:
        whole = [None if t is None else t.encode("utf-8", "replace").decode() for t in texts]
        return pa.array(whole, pa.large_string())


def without_missing(cells: Cells) -> Cells:
    """Cells without the spaces around them, null where they say that there is no value."""
    trimmed = pc.utf8_trim_whitespace(cells)
    missing = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING, pa.large_string()))
    return pc.if_else(missing, pa.scalar(None, pa.large_string()), trimmed)


def is_missing(value: object) -> bool:
    """Whether a cell is empty or says that there is no value."""
    return value is None or str(value).strip().lower() in MISSING


def floats(array: Any) -> npt.NDArray[np.float64]:
    """An Arrow array of numbers as NumPy floats, nan for null; never a view of the array."""
    filled = pc.fill_null(array.cast(pa.float64()), float("nan"))
    return np.array(filled.to_numpy(zero_copy_only=False), dtype=np.float64)


def mask(array: Any) -> npt.NDArray[np.bool_]:
    """An Arrow array of truth values, false for null."""
    return np.asarray(pc.fill_null(array, False).to_numpy(zero_copy_only=False), dtype=bool)


def coded(cells: Cells) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Place of each cell among the different ones, -1 for null; and the different ones."""
    found = cells.dictionary_encode()
    codes = pc.fill_null(found.indices, -1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, dtype=np.int64), found.dictionary.to_pylist()
