"""Raw columns to attributes in [0, 1]. An encoder is a JSON state: later nodes are encoded the same way.

``learn(name, parsed, robust)`` gives the state, ``apply(state, parsed values)`` the (n, d) block, and
``joined`` puts blocks beside each other.
A missing value sets the feature "<column> is missing" where the learning data had missing values; a missing
number is put at the median. Categories and tags that are rare, or first seen later, share "<column>=(rare)".
Free text is hashed tf-idf: the same words give the same features on every machine.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from gadcore.graph.mapped import release_array, scratch_matrix
from gadcore.ingest import column_kinds as columns
from gadcore.ingest import spellings
from gadcore.ingest.cells import Cells, as_cells

MAX_CATEGORIES = 100
RARE_SHARE = 0.001  # a category below this share of the nodes, or seen once, is rare
_SMALL = 20  # with fewer nodes nothing is merged
_DENSE_ABOVE = 0.5  # share of non-zero values above which a dense array is the smaller form
_ROWS = 1 << 16  # that are put together at once
_ROBUST = (1.0, 99.0)  # percentiles between which the robust option scales

TEXT_BUCKETS = 512
_WORD = re.compile(r"\w\w+")
_STOP = {
    "the", "and", "for", "with", "that", "this", "from", "are", "was", "were", "has", "have",
    "not", "but", "you",
}  # fmt: skip

State = dict[str, Any]


def learn(name: str, parsed: columns.Parsed, robust: bool = False) -> State:
    """State of the encoder of one column; ``features`` are the names of what it makes."""
    kind, values = parsed.kind, parsed.values
    state: State = {"column": name, "kind": kind, **parsed.how}
    if kind in ("number", "date"):
        state |= _learn_scale(values, robust)
    elif kind == "boolean":
        state["median"] = 0.0
    elif kind == "text":
        state |= _learn_text(values)
    else:
        state |= _learn_values(_counts(values), len(values))
    if kind == "date":
        state["hours"] = bool(np.any(values[~np.isnan(values)] % 86_400))
    state["missing"] = bool(missing(values).any())
    state["features"] = _feature_names(state)
    return state


def learn_derived(name: str, values: npt.NDArray[np.float64]) -> State:
    """State of a column derived from links: sign · log(1 + |value|), scaled; no value counts as 0."""
    folded = _folded(values)
    span = {"low": float(folded.min(initial=0.0)), "high": float(folded.max(initial=0.0)), "median": 0.0}
    return {"column": name, "kind": "derived", **span, "missing": False, "features": [name]}


def _folded(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Amounts and counts spread over several powers of ten: their logarithm, in both directions."""
    known = np.nan_to_num(values, nan=0.0)
    return np.asarray(np.sign(known) * np.log1p(np.abs(known)))


def _apply_derived(state: State, values: npt.NDArray[np.float64]) -> Any:
    return _apply_number(state, _folded(values))


def apply(state: State, values: columns.Values) -> Any:
    """The (n, d) block of one column for parsed values: CSR or dense."""
    block = _APPLY[state["kind"]](state, values)
    if not state["missing"]:
        return block
    holes = _column(missing(values).astype(np.float32))
    return sp.hstack([block, holes], format="csr") if sp.issparse(block) else np.hstack([block, holes])


def parse_as(state: State, series: pd.Series) -> columns.Values:
    """Values of a later column, read the way the state's column was."""
    kind = state["kind"]
    if kind == "tags":
        return columns.parse_tags(series, state["separator"])
    if kind == "number" and pd.api.types.is_numeric_dtype(series.dtype):
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind == "date" and pd.api.types.is_datetime64_any_dtype(series.dtype):
        return columns.seconds(series)
    cells = as_cells(series)
    if kind == "boolean":
        return columns.parse_boolean(cells)
    if kind == "number":
        return columns.parse_number(cells, state.get("decimal", "."))
    if "merged" in state:  # not in graphs of earlier versions
        return spellings.merged(spellings.known(cells), state["merged"])
    return columns.parse_date(cells, state["format"]) if kind == "date" else cells


def _learn_scale(values: npt.NDArray[np.float64], robust: bool) -> State:
    known = values[~np.isnan(values)]
    low, high = np.percentile(known, _ROBUST) if robust else (known.min(), known.max())
    if low == high:
        low, high = known.min(), known.max()
    return {"low": float(low), "high": float(high), "median": float(np.median(known))}


def _counts(values: columns.Values) -> dict[str, int]:
    """How often each category or tag occurs."""
    if isinstance(values, list):
        return Counter(tag for tags in values for tag in set(tags))
    found = values.drop_null().value_counts()
    return dict(zip(found.field("values").to_pylist(), found.field("counts").to_pylist()))


def _learn_values(counts: dict[str, int], n: int) -> State:
    least = 1 if n < _SMALL else max(2, int(np.ceil(RARE_SHARE * n)))
    common = sorted((v for v, c in counts.items() if c >= least), key=lambda v: (-counts[v], v))
    kept = common[:MAX_CATEGORIES]
    return {"values": kept, "rare": len(kept) < len(counts)}


def _feature_names(state: State) -> list[str]:
    name, kind = state["column"], state["kind"]
    if kind in ("number", "boolean"):
        names = [name]
    elif kind == "date":
        names = [name] + ([f"{name} hour (sin)", f"{name} hour (cos)"] if state["hours"] else [])
    elif kind == "text":
        names = [f"{name}~{word}" for word in state["words"]]
    else:
        names = [f"{name}={value}" for value in state["values"]]
        names += [f"{name}=(rare)"] if state["rare"] else []
    return names + ([f"{name} is missing"] if state["missing"] else [])


def _apply_number(state: State, values: npt.NDArray[np.float64]) -> Any:
    """Also of booleans, which have no range of their own."""
    return _column(scaled(values, state.get("low", 0.0), state.get("high", 1.0), state["median"]))


def _apply_date(state: State, values: npt.NDArray[np.float64]) -> Any:
    time = _apply_number(state, values)
    if not state["hours"]:
        return time
    angle = 2 * np.pi * (np.nan_to_num(values, nan=0.0) % 86_400) / 86_400
    circle = np.column_stack([(np.sin(angle) + 1) / 2, (np.cos(angle) + 1) / 2])
    circle[np.isnan(values)] = 0.5
    return np.hstack([time, circle.astype(np.float32)])


def _apply_category(state: State, values: Cells) -> Any:
    found = pc.index_in(values, value_set=pa.array(state["values"], pa.large_string()))
    position = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    if state["rare"]:
        position[(position < 0) & ~missing(values)] = len(state["values"])
    rows = np.flatnonzero(position >= 0)
    return _ones(rows, position[rows], (len(values), len(state["values"]) + state["rare"]))


def _apply_tags(state: State, values: list[list[str]]) -> Any:
    position = {tag: j for j, tag in enumerate(state["values"])}
    other = len(position) if state["rare"] else -1
    pairs = {(i, position.get(tag, other)) for i, tags in enumerate(values) for tag in tags}
    pairs = {p for p in pairs if p[1] >= 0}
    rows, cols = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    return _ones(rows, cols, (len(values), len(position) + state["rare"]))


def _learn_text(values: Cells) -> State:
    """State of the encoder: the buckets in use, their idf, and the commonest word of each (its name)."""
    documents = Counter[str]()
    for value in values.to_pylist():
        documents.update(set(_tokens(value)))
    by_bucket: dict[int, Counter[str]] = {}
    for word, count in documents.items():
        by_bucket.setdefault(_bucket(word, TEXT_BUCKETS), Counter())[word] = count
    kept = {b: words for b, words in sorted(by_bucket.items()) if words.total() > 1}
    n = max(len(values) - values.null_count, 1)
    frequency = [min(words.total(), n) for words in kept.values()]
    return {
        "size": TEXT_BUCKETS,
        "buckets": list(kept),
        "idf": [float(np.log((1 + n) / (1 + f)) + 1) for f in frequency],
        "words": [min(words, key=lambda w: (-words[w], w)) for words in kept.values()],
    }


def _apply_text(state: dict[str, Any], values: Cells) -> Any:
    """(n, buckets in use) CSR of tf·idf with rows of length 1; a row without known words is zero."""
    column_of = {bucket: j for j, bucket in enumerate(state["buckets"])}
    words = [(row, word) for row, value in enumerate(values.to_pylist()) for word in _tokens(value)]
    found = {word: column_of.get(_bucket(word, state["size"])) for word in {word for _, word in words}}
    pairs = [(row, found[word]) for row, word in words if found[word] is not None]
    rows, cols = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    shape = (len(values), len(column_of))
    counts = sp.coo_array((np.ones(len(rows), np.float32), (rows, cols)), shape=shape).tocsr()
    counts.sum_duplicates()
    counts.data = (1 + np.log(counts.data)) * np.asarray(state["idf"], np.float32)[counts.indices]
    norms = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    counts.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(counts.indptr)).astype(np.float32)
    return counts.astype(np.float32)


def _tokens(value: str | None) -> list[str]:
    return [w for w in _WORD.findall(value.lower()) if w not in _STOP] if value else []


def _bucket(word: str, buckets: int) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % buckets


_APPLY: dict[str, Callable[[State, Any], Any]] = {
    "number": _apply_number,
    "boolean": _apply_number,
    "date": _apply_date,
    "derived": _apply_derived,
    "category": _apply_category,
    "tags": _apply_tags,
    "text": _apply_text,
}


def missing(values: columns.Values) -> npt.NDArray[np.bool_]:
    """Where parsed values have a hole."""
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return np.isnan(values)
    if isinstance(values, list):
        return np.array([not tags for tags in values], dtype=bool)
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False), dtype=bool)


def scaled(
    values: npt.NDArray[np.float64], low: float, high: float, median: float
) -> npt.NDArray[np.float32]:
    """(value − low) / (high − low) cut to [0, 1]; NaN at the median."""
    if not high > low:
        return np.zeros(len(values), dtype=np.float32)
    part = 1.0 if np.isfinite(high - low) else 0.5  # halves where the range itself is no finite number
    filled, low, high = np.nan_to_num(values, nan=median) * part, low * part, high * part
    return np.clip((filled - low) / (high - low), 0.0, 1.0).astype(np.float32)


def _column(values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return values.reshape(-1, 1)


def _ones(rows: npt.NDArray[Any], cols: npt.NDArray[Any], shape: tuple[int, int]) -> Any:
    return sp.coo_array((np.ones(len(rows), np.float32), (rows, cols)), shape=shape).tocsr()


def compact(matrix: Any) -> Any:
    """float32 CSR where most values are zero, else a dense array."""
    cells = matrix.shape[0] * matrix.shape[1]
    if sp.issparse(matrix):
        if cells and matrix.nnz / cells > _DENSE_ABOVE:
            return np.ascontiguousarray(matrix.toarray(), dtype=np.float32)
        csr = sp.csr_array(matrix).astype(np.float32)
        csr.eliminate_zeros()
        csr.sort_indices()
        return csr
    dense = np.ascontiguousarray(matrix, dtype=np.float32)
    if cells and np.count_nonzero(dense) / cells <= _DENSE_ABOVE:
        return sp.csr_array(dense)
    return dense


def joined(blocks: Sequence[Any]) -> Any:
    """Blocks beside each other: float32 CSR where most values are zero, else a dense array.

    A large dense array lies in a scratch file and is filled some rows at a time.
    """
    n, width = blocks[0].shape[0], sum(block.shape[1] for block in blocks)
    filled = sum(int(b.nnz) if sp.issparse(b) else _nonzero(b) for b in blocks)
    if not n * width or filled / (n * width) <= _DENSE_ABOVE:
        return compact(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))
    out = scratch_matrix(n, width)
    for rows in (slice(start, start + _ROWS) for start in range(0, n, _ROWS)):
        parts = (b[rows].toarray() if sp.issparse(b) else b[rows] for b in blocks)
        np.concatenate(list(parts), axis=1, out=out[rows])
        release_array(out)
    return out


def _nonzero(dense: npt.NDArray[Any]) -> int:
    starts = range(0, len(dense), _ROWS)
    return sum(int(np.count_nonzero(dense[start : start + _ROWS])) for start in starts)


def learn_matrix(matrix: Any) -> State:
    """State that rescales a ready matrix to [0, 1] per column; sparse zeros stay zero."""
    matrix = compact(matrix)
    if sp.issparse(matrix):
        high = np.asarray(abs(matrix).max(axis=0).todense()).ravel()
        low = np.zeros_like(high)
    else:
        low, high = matrix.min(axis=0), matrix.max(axis=0)
    state: State = {"kind": "matrix", "sparse": bool(sp.issparse(matrix))}
    return state | {"low": [float(v) for v in low], "high": [float(v) for v in high]}


def apply_matrix(state: State, matrix: Any) -> Any:
    """A ready matrix, rescaled by the state."""
    low, high = (np.asarray(state[k], dtype=np.float32) for k in ("low", "high"))
    span = high - low
    factor = np.divide(1.0, span, out=np.zeros_like(span), where=span > 0)
    if state["sparse"]:
        csr = sp.csr_array(matrix).astype(np.float32)
        csr.data = np.clip(csr.data * factor[csr.indices], -1.0, 1.0)
        csr.sort_indices()
        return csr
    dense = np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float32)
    return np.clip((dense - low) * factor, 0.0, 1.0)
