"""Loops over pairs of nodes: who is linked with whom, and when; stretches of time that cover links."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadcore.derive.compiled import compiled

Array = Any  # of numpy; a compiled loop takes whatever type it is given


@compiled
def by_key(keys: Array, n: int, order: Array) -> Array:
    """Rows in the order of their keys, equal ones as they stand; keys are below n. ``order`` is filled."""
    place = np.zeros(n + 1, np.int64)
    for key in keys:
        place[key + 1] += 1
    place = np.cumsum(place)
    for row in range(len(keys)):
        order[place[keys[row]]] = row
        place[keys[row]] += 1
    return order


@compiled
def counterparties(
    start: Array, ends: Array, in_start: Array, in_ends: Array, linked: Array
) -> tuple[Array, Array]:
    """Fields of ``Linked``: of each node those it sends to and those it receives from, merged.

    ``linked`` has room for two rows of each pair, and is filled.
    """
    n = len(start) - 1
    begin = np.zeros(n + 1, np.int64)
    at = 0
    for u in range(n):
        i, j = start[u], in_start[u]
        while i < start[u + 1] or j < in_start[u + 1]:
            to = ends[i, 0] if i < start[u + 1] else n
            of = in_ends[j, 0] if j < in_start[u + 1] else n
            linked[at, 0], linked[at, 1], linked[at, 2] = min(to, of), -1, -1
            if to <= of:
                linked[at, 1] = ends[i, 1]
                i += 1
            if of <= to:
                linked[at, 2] = in_ends[j, 1]
                j += 1
            at += 1
        begin[u + 1] = at
    return begin, linked[:at]


@compiled
def first_from(time: Array, begin: int, end: int, bound: float) -> int:
    """First of the links from ``begin`` to ``end`` that is not before the bound."""
    while begin < end:
        half = (begin + end) // 2
        if time[half] < bound:
            begin = half + 1
        else:
            end = half
    return begin


@compiled
def first_after(time: Array, begin: int, end: int, bound: float) -> int:
    """First of the links from ``begin`` to ``end`` that is after the bound."""
    while begin < end:
        half = (begin + end) // 2
        if time[half] <= bound:
            begin = half + 1
        else:
            end = half
    return begin


@compiled
def earliest(begin: Array, time: Array, pair: int, first: float, last: float, bound: float) -> float:
    """Time of the first link of a pair that is not before the bound, inf where there is none."""
    if first >= bound:
        return first
    if last < bound:
        return np.inf
    return float(time[first_from(time, begin[pair], begin[pair + 1], bound)])


@compiled
def latest(begin: Array, time: Array, pair: int, first: float, last: float, bound: float) -> float:
    """Time of the last link of a pair that is not after the bound, -inf where there is none."""
    if last <= bound:
        return last
    if first > bound:
        return -np.inf
    return float(time[first_after(time, begin[pair], begin[pair + 1], bound) - 1])


@compiled
def cover(change: Array, begin: Array, time: Array, pair: int, first: float, last: float) -> None:
    """Links of a pair from one time to another; ``change``: how many more stretches than the link before."""
    if first > last or begin[pair] == begin[pair + 1]:
        return
    a = first_from(time, begin[pair], begin[pair + 1], first)
    b = first_after(time, a, begin[pair + 1], last)
    if a < b:
        change[a] += 1
        change[b] -= 1
