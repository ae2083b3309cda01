"""Free text as hashed tf-idf, in numpy: the same words give the same features on every machine."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

BUCKETS = 512
_WORD = re.compile(r"\w\w+")
_STOP = frozenset(
    (
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "from",
        "are",
        "was",
        "were",
        "has",
        "have",
        "not",
        "but",
        "you",
    )
)


def learn_text(values: Sequence[str | None], buckets: int = BUCKETS) -> dict[str, Any]:
    """State of the encoder: the buckets in use, their idf, and the commonest word of each (its name)."""
    documents = Counter[str]()
    for value in values:
        documents.update(set(_tokens(value)))
    by_bucket: dict[int, Counter[str]] = {}
    for word, count in documents.items():
        by_bucket.setdefault(_bucket(word, buckets), Counter())[word] = count
    kept = sorted(b for b, words in by_bucket.items() if words.total() > 1)
    n = max(sum(v is not None for v in values), 1)
    frequency = [min(by_bucket[b].total(), n) for b in kept]
    names = [min(by_bucket[b], key=lambda w: (-by_bucket[b][w], w)) for b in kept]
    return {
        "size": buckets,
        "buckets": kept,
        "idf": [float(np.log((1 + n) / (1 + f)) + 1) for f in frequency],
        "words": names,
    }


def apply_text(state: dict[str, Any], values: Sequence[str | None]) -> Any:
    """(n, buckets in use) CSR of tf·idf with rows of length 1; a row without known words is zero."""
    column_of = {bucket: j for j, bucket in enumerate(state["buckets"])}
    cache: dict[str, int] = {}
    rows: list[int] = []
    cols: list[int] = []
    for row, value in enumerate(values):
        for word in _tokens(value):
            column = cache.get(word)
            if column is None:
                column = cache[word] = column_of.get(_bucket(word, state["size"]), -1)
            if column >= 0:
                rows.append(row)
                cols.append(column)
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
