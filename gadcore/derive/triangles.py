"""Three nodes that are linked with each other, in whatever direction, and cycles among them in time order."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadcore.derive.compiled import compiled
from gadcore.derive.pair_loops import cover, earliest, latest

Array = Any  # of numpy; a compiled loop takes whatever type it is given


@compiled
def triangles(
    start: Array, linked: Array, times: Array, begin: Array, time: Array, reach: int
) -> tuple[Array, Array]:
    """(n,) triangles of each node; (K + 1,) how many more cycles of three a link is on than the one before.

    Edges point to the end with more counterparties, and a triangle is found from the corner that both its
    edges leave: a hub is left by few, so it costs no more than others. Of the edges that leave a corner only
    the first ``reach`` are looked at.
    """
    up, upward = _upward(start, linked)
    found, change = np.zeros(len(start) - 1), np.zeros(len(time) + 1, np.int64)
    edge = np.full(len(start) - 1, -1, linked.dtype)  # of the corner's counterparties: the edge to them
    for u in range(len(found)):
        last = min(up[u + 1], up[u] + reach)
        for i in range(up[u], last):
            edge[upward[i, 1]] = upward[i, 0]
        for i in range(up[u], last):
            uv, v = upward[i]
            for j in range(up[v], up[v + 1]):
                w = upward[j, 1]
                uw, vw = edge[w], upward[j, 0]
                if uw >= 0:
                    found[u] += 1
                    found[v] += 1
                    found[w] += 1
                    _ring(change, times, begin, time, linked[uv, 1], linked[vw, 1], linked[uw, 2])
                    _ring(change, times, begin, time, linked[uw, 1], linked[vw, 2], linked[uv, 2])
        for i in range(up[u], last):
            edge[upward[i, 1]] = -1
    return found, change


@compiled
def _upward(start: Array, linked: Array) -> tuple[Array, Array]:
    """Edges to the end with more counterparties (of equal ones: the later node), by the node they leave.

    Where those of a node begin; the edge and its end.
    """
    n, at = len(start) - 1, 0
    up, upward = np.zeros(n + 1, np.int64), np.empty((len(linked) // 2, 2), linked.dtype)
    for u in range(n):
        own = start[u + 1] - start[u]
        for edge in range(start[u], start[u + 1]):
            v = linked[edge, 0]
            size = start[v + 1] - start[v]
            if size > own or (size == own and v > u):
                upward[at, 0], upward[at, 1] = edge, v
                at += 1
        up[u + 1] = at
    return up, upward


@compiled
def _ring(change: Array, times: Array, begin: Array, time: Array, ab: int, bc: int, ca: int) -> None:
    """Links of a → b → c → a, wherever it begins."""
    if ab >= 0 and bc >= 0 and ca >= 0:
        for _ in range(3):
            _around(change, times, begin, time, ab, bc, ca)
            ab, bc, ca = bc, ca, ab


@compiled
def _around(change: Array, times: Array, begin: Array, time: Array, ab: int, bc: int, ca: int) -> None:
    """Links of a → b → c → a that begin at a."""
    since, until, first, last = times[ab, 0], times[ca, 1], times[bc, 0], times[bc, 1]
    if since <= until and since <= last and first <= until:
        came = earliest(begin, time, bc, first, last, since)
        if came <= until:
            cover(change, begin, time, ab, -np.inf, latest(begin, time, bc, first, last, until))
            cover(change, begin, time, bc, since, until)
            cover(change, begin, time, ca, came, np.inf)
