"""Loops of the views: triangles of an undirected graph, and amounts that are passed on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadcore.derive.compiled import compiled

Array = Any  # of numpy; a compiled loop takes whatever type it is given


@compiled
def corners(start: Array, ends: Array, reach: int) -> Array:
    """(n,) triangles of each node.

    Edges point to the end with more neighbours, and a triangle is found from the corner that both its edges
    leave, of which only the first ``reach`` are looked at: a hub costs no more than others.
    """
    n = len(start) - 1
    found, mark = np.zeros(n), np.full(n, -1, np.int64)
    for u in range(n):
        left = reach
        for i in range(start[u], start[u + 1]):
            if left and _above(start, ends[i], u):
                mark[ends[i]] = u
                left -= 1
        for i in range(start[u], start[u + 1]):
            v = ends[i]
            if mark[v] != u:
                continue
            left = reach
            for j in range(start[v], start[v + 1]):
                w = ends[j]
                if not left:
                    break
                if _above(start, w, v):
                    left -= 1
                    if mark[w] == u:
                        found[u] += 1
                        found[v] += 1
                        found[w] += 1
    return found


@compiled
def _above(start: Array, v: int, u: int) -> bool:
    """Whether v has more neighbours than u; of equal ones the later node."""
    size, own = start[v + 1] - start[v], start[u + 1] - start[u]
    return size > own or (size == own and v > u)


@compiled
def followed(
    came: Array, went: Array, in_start: Array, out_start: Array, near: float, day: float, most: int
) -> Array:
    """(n,) links into each node that are followed by one of nearly the same amount, out to someone else.

    ``came`` and ``went`` have time, logarithm of the amount and other end, by node and time.
    """
    found = np.zeros(len(in_start) - 1)
    for node in range(len(found)):
        first = out_start[node]
        for i in range(in_start[node], in_start[node + 1]):
            time, amount, sender = came[i]
            while first < out_start[node + 1] and went[first, 0] < time:
                first += 1
            for j in range(first, min(out_start[node + 1], first + most)):
                if went[j, 0] > time + day:
                    break
                if abs(went[j, 1] - amount) <= near and went[j, 2] != sender:
                    found[node] += 1
                    break
    return found
