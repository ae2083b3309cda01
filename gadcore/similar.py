"""Nodes that look alike to the model: nearest in its embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import IntArray

METRICS = ("euclid", "cosine")


def nearest(
    embedding: npt.NDArray[Any],
    node: int,
    n: int,
    *,
    among: IntArray | None = None,
    metric: str = "euclid",
) -> list[int]:
    """Up to ``n`` other rows nearest to ``node``, nearest first; ``among`` limits who is looked at."""
    rows = np.arange(len(embedding)) if among is None else np.asarray(among, dtype=np.int64)
    rows = rows[rows != node]
    if not len(rows) or n < 1:
        return []
    distance = distances(embedding, node, rows, metric=metric)
    n = min(n, len(rows))
    head = np.argpartition(distance, n - 1)[:n]
    return [int(rows[i]) for i in head[np.lexsort((rows[head], distance[head]))]]


def distances(
    embedding: npt.NDArray[Any], node: int, rows: IntArray, *, metric: str = "euclid"
) -> npt.NDArray[np.float64]:
    """Distance of ``node`` to each of ``rows``: squared Euclidean, or 1 − cosine."""
    h = np.asarray(embedding[rows], dtype=np.float64)
    own = np.asarray(embedding[node], dtype=np.float64)
    if metric == "cosine":
        length = np.linalg.norm(h, axis=1) * np.linalg.norm(own)
        return np.asarray(1.0 - np.divide(h @ own, length, out=np.zeros(len(h)), where=length > 0))
    if metric != "euclid":
        raise ValueError(f"metric={metric!r}: expected one of {', '.join(METRICS)}")
    return np.asarray(np.square(h - own).sum(axis=1))
