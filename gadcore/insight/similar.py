"""Nodes that look alike: nearest in the embedding of a model, or in leading directions of the graph.

An ensemble has the embedding of one of its members, even where that says next to nothing in its score. There
directions of Â²X tell better what is alike to the model, for most of its members look at ÂᵏX.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.plus.members import embeds
from gadcore.graph import IntArray

_ROWS = 1 << 14  # looked at together
_SPARE = 50  # more than are asked for, to be told apart exactly
LITTLE = 0.25  # weight of the members with an embedding below which it is not used
LEARNT = "in what the model has learnt (its embedding)"
ATTRIBUTES = "in their attributes and those of their neighbours, which is what the model mostly looks at"
GRAPH = "in their attributes and those of their neighbours"


def embedding_counts(state: Mapping[str, Any]) -> bool:
    """Whether the embedding of a saved model (its detector.json) has a say in its scores."""
    rows = state.get("members")
    if rows is None:  # no ensemble: the embedding is what it scores
        return True
    return sum(float(row["weight"]) for row in rows if embeds(row)) >= LITTLE


def space_of(
    embedding: npt.NDArray[Any] | None, directions: npt.NDArray[Any] | None, *, counts: bool
) -> tuple[npt.NDArray[Any] | None, str]:
    """Where to look for nodes that are alike, and what that is in words."""
    if embedding is not None and (counts or directions is None):
        return embedding, LEARNT
    if directions is None:
        return None, ""
    return directions, GRAPH if embedding is None else ATTRIBUTES


def nearest(embedding: npt.NDArray[Any], node: int, n: int, *, among: IntArray | None = None) -> list[int]:
    """Up to ``n`` other rows nearest to ``node``, nearest first; ``among`` limits who is looked at."""
    rows = np.arange(len(embedding)) if among is None else np.asarray(among, dtype=np.int64)
    n = min(n, int((rows != node).sum()))
    if n < 1:
        return []
    head = rows[_roughly_nearest(embedding, rows, node, n + 1 + _SPARE)]
    head = head[head != node]
    own = np.asarray(embedding[node], dtype=np.float64)
    distance = np.square(np.asarray(embedding[head], dtype=np.float64) - own).sum(axis=1)
    return [int(v) for v in head[np.lexsort((head, distance))][:n]]


def _roughly_nearest(embedding: npt.NDArray[Any], rows: IntArray, node: int, n: int) -> IntArray:
    """Positions in ``rows`` of the ``n`` nearest, as far as the precision of the embedding tells.

    Some rows at a time, and no copy of them where all are looked at: the embedding may be a large file.
    """
    own, whole = np.asarray(embedding[node]), len(rows) == len(embedding)
    distance = np.empty(len(rows), dtype=np.float32)
    for part in (slice(start, start + _ROWS) for start in range(0, len(rows), _ROWS)):
        away = np.asarray(embedding[part] if whole else embedding[rows[part]]) - own
        distance[part] = np.einsum("nd,nd->n", away, away)
    return np.argpartition(distance, n - 1)[:n] if n < len(rows) else np.arange(len(rows))
