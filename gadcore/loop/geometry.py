"""Distances between nodes for diverse batches: a basis of ÂᵏX, k-means medoids, farthest-first order.

    basis   B = U_r S_r of the unit rows of ÂᵏX, rows again scaled to length 1       (N, r)

Computed once per graph by randomised range finding; numpy and scipy only, for pages call it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import normalised_adjacency, row_normalised, sum_of
from gadcore.engine import each, fill, part_of, row_blocks
from gadcore.graph import Features, FloatArray, Graph, IntArray
from gadcore.shelf import Shelf

Float32 = npt.NDArray[np.float32]
T = TypeVar("T")

OVERSAMPLING = 8
POWER_STEPS = 2
_ROWS = 1 << 16  # nodes whose distances are worked out together
SAMPLE = 1000  # nodes that k-means looks at
LLOYD_STEPS = 5
NEAR = 0.05  # near-duplicates: closer than this share of the typical distance
EQUAL = 1e-6  # squared distance of unit rows that differ by rounding alone
SCAN = 4  # nodes looked at together for one that is distinct
_SPACES = Shelf(16)


def diversity_basis(graph: Graph, hops: int = 2, rank: int = 32, seed: int = 0) -> FloatArray:
    """(N, r) unit rows that keep the directions of ÂᵏX with most variance."""
    adjacency, x = normalised_adjacency(graph), graph.x
    rank, blocks = min(rank, *x.shape), row_blocks(graph.n_nodes)
    rng = np.random.default_rng(seed)

    def forward(v: Float32) -> Float32:
        found = np.empty((graph.n_nodes, v.shape[1]), dtype=np.float32)
        fill(found, _unit_rows_times, blocks, x, v)
        for _ in range(hops):
            found = adjacency @ found
        return found

    def backward(u: Float32) -> Float32:
        for _ in range(hops):
            u = adjacency @ u
        return np.asarray(sum_of(each(_unit_rows_transposed, blocks, x, u)), dtype=np.float32)

    width = min(rank + OVERSAMPLING, *x.shape)
    q = np.linalg.qr(forward(rng.normal(size=(x.shape[1], width)).astype(np.float32)))[0]
    for _ in range(POWER_STEPS):
        q = np.linalg.qr(forward(backward(q)))[0]
    u, s, _ = np.linalg.svd(backward(q).T, full_matrices=False)
    scaled: FloatArray = (q @ u[:, :rank]) * s[:rank]
    return np.asarray(row_normalised(scaled.astype(np.float32)), dtype=np.float32)


def _unit_rows_times(block: slice, x: Features, v: Float32) -> Float32:
    return np.asarray(row_normalised(part_of(x, block)) @ v, dtype=np.float32)


def _unit_rows_transposed(block: slice, x: Features, u: Float32) -> npt.NDArray[np.floating]:
    return np.asarray(row_normalised(part_of(x, block)).T @ u[block])


def medoids(space: Float32, k: int, seed: int) -> tuple[IntArray, IntArray]:
    """(k,) the most central node of each cluster, largest cluster first, and (k,) how many nodes it has.

    k-means (k-means++, then Lloyd) on a sample, which sizes are estimated from in large graphs.
    """
    return _of_space(space, ("medoids", k, seed), lambda: _medoids(space, k, seed))


def _of_space(space: Float32, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What no verdict changes, kept with the array that it was worked out of: no other is taken for it."""
    return _SPACES.get((id(space), *key), lambda: (space, make()))[1]


def _medoids(space: Float32, k: int, seed: int) -> tuple[IntArray, IntArray]:
    rng = np.random.default_rng(seed)
    n = len(space)
    if not n:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    nodes = np.arange(n) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False))
    sample = space[nodes]
    centres = _plus_plus(sample, min(k, len(sample)), rng)
    for _ in range(LLOYD_STEPS):
        member = np.eye(len(centres), dtype=np.float32)[np.argmin(_squared(sample, centres), axis=1)]
        counts = member.sum(axis=0)[:, None]
        centres = np.where(counts > 0, member.T @ sample / np.maximum(counts, 1), centres)
    distance = _squared(sample, centres)
    shares = np.bincount(np.argmin(distance, axis=1), minlength=len(centres)) / len(sample)
    found, first = np.unique(np.argmin(distance, axis=0), return_index=True)
    order = np.argsort(-shares[first], kind="stable")
    sizes = np.rint(n * shares[first][order]).astype(np.int64)
    return nodes[found[order]].astype(np.int64), sizes


def farthest_first(space: Float32, candidates: IntArray, taken: IntArray, n: int) -> list[int]:
    """Positions in ``candidates``: the first, then always the one farthest from ``taken`` and the chosen."""
    points = space[candidates]
    if not len(points):
        return []
    start = _squared(points, space[taken]).min(axis=1) if len(taken) else np.full(len(points), np.inf)
    far = np.minimum(start, _squared(points, points[:1])[:, 0])
    chosen, free = [0], np.ones(len(points), dtype=bool)
    free[0] = False
    while len(chosen) < min(n, len(points)):
        best = int(np.argmax(np.where(free, far, -1.0)))
        chosen.append(best)
        free[best] = False
        far = np.minimum(far, _squared(points, points[best : best + 1])[:, 0])
    return chosen


def unseen(space: Float32, labelled: IntArray) -> Float32:
    """(N,) squared distance to the nearest labelled node; zeros without one."""
    if not len(labelled):
        return np.zeros(len(space), dtype=np.float32)
    known, starts = space[labelled], range(0, len(space), _ROWS)
    return np.concatenate([_squared(space[a : a + _ROWS], known).min(axis=1) for a in starts])


def distinct(
    space: Float32, ranked: IntArray, n: int, seed: int, taken: Sequence[int] | IntArray = ()
) -> IntArray:
    """The first ``n`` of ``ranked`` without near-duplicates; these follow only when there is nothing else.

    Nor are they near-duplicates of ``taken``.
    """
    limit = _near(space, seed)
    kept: list[int] = []  # positions in ``ranked``
    before = np.asarray(taken, dtype=np.int64)
    for start in range(0, len(ranked), SCAN * n):
        part = ranked[start : start + SCAN * n]
        points = space[part]
        close = _squared(points, points) < limit
        others = space[np.concatenate([before, ranked[kept]])]
        shut: npt.NDArray[np.bool_] = np.any(_squared(points, others) < limit, axis=1)
        for i in np.flatnonzero(~shut):
            if not shut[i]:
                kept.append(start + int(i))
                shut |= close[i]
            if len(kept) == n:
                return np.asarray(ranked[kept], dtype=np.int64)
    rest = np.setdiff1d(np.arange(len(ranked)), kept)[: n - len(kept)]
    return np.asarray(ranked[np.r_[kept, rest].astype(np.int64)], dtype=np.int64)


def near(space: Float32, nodes: IntArray, node: int, seed: int) -> npt.NDArray[np.bool_]:
    """(n,) which of ``nodes`` are near-duplicates of a node."""
    away = _squared(space[nodes], space[node : node + 1])[:, 0]
    return np.asarray(away < _near(space, seed))


def _near(space: Float32, seed: int) -> float:
    """Squared distance below which nodes are near-duplicates: a share of the median of random pairs.

    Where most nodes are alike that is 0; equal ones are near-duplicates all the same.
    """
    return _of_space(space, ("near", seed), lambda: _near_limit(space, seed))


def _near_limit(space: Float32, seed: int) -> float:
    pairs = np.random.default_rng(seed).integers(0, len(space), (2, 256))
    typical = float(np.median(np.linalg.norm(space[pairs[0]] - space[pairs[1]], axis=1)))
    return max((NEAR * typical) ** 2, EQUAL)


def _plus_plus(points: Float32, k: int, rng: np.random.Generator) -> Float32:
    chosen = [int(rng.integers(len(points)))]
    distance = _squared(points, points[chosen])[:, 0]
    while len(chosen) < k:
        reach = np.cumsum(distance, dtype=np.float64)
        chosen.append(
            min(int(np.searchsorted(reach, rng.random() * reach[-1], side="right")), len(points) - 1)
        )
        distance = np.minimum(distance, _squared(points, points[chosen[-1:]])[:, 0])
    return np.take(points, chosen, axis=0)


def _squared(a: Float32, b: Float32) -> Float32:
    """(n, m) squared Euclidean distances."""
    square: Float32 = a @ (-2 * b.T)
    square += np.einsum("nd,nd->n", a, a)[:, None]
    square += np.einsum("md,md->m", b, b)
    return np.maximum(square, np.float32(0.0), out=square)
