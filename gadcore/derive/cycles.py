"""Links on cycles of four: what a node sends comes back to it over three others, in time order.

Of all ways from c back to a only the latest start matters to the links before it, and of all ways from a to c
only the earliest end matters to those after it. So each link is judged exactly without listing the cycles.
Equal times are in order both ways.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadcore.derive.compiled import compiled
from gadcore.derive.pair_loops import cover, earliest, latest

Array = Any  # of numpy; a compiled loop takes whatever type it is given

_FOR, _COST, _OVER, _NEXT = 0, 1, 2, 3  # whose way it is, its cost, its middle, the cost over another middle


@compiled
def on_four(
    start: Array,
    ends: Array,
    times: Array,
    in_start: Array,
    in_ends: Array,
    in_times: Array,
    begin: Array,
    time: Array,
    followed: Array,
) -> Array:
    """(K + 1,) how many more stretches of cycles a → b → c → d → a cover each link than the one before.

    Only b and d that are ``followed`` are gone through.
    """
    n = len(start) - 1
    change = np.zeros(len(time) + 1, np.int64)
    there, back = np.full((n, 4), -1.0), np.full((n, 4), -1.0)  # of c: the best ways from a and to a
    left, met = np.zeros(n // 8 + 1, np.uint8), np.zeros(n // 8 + 1, np.uint8)  # bits; they stay close by
    ways = np.empty((_most(start, ends, followed), 2), ends.dtype)  # kept of a: two pairs each
    in_ways = np.empty((_most(in_start, in_ends, followed), 2), ends.dtype)
    for a in range(n):
        marked = _mark(left, in_ways, in_start, in_ends, in_times, followed, a, _first(start, times, a))
        count = _reach(left, met, there, ways, start, ends, times, begin, time, followed, a)
        _clear(left, in_ends, in_ways, marked)
        if count:
            ended = _leave(met, there, back, in_ways, in_start, in_ends, in_times, begin, time, followed, a)
            _before(change, back, ways, count, ends, times, begin, time, a)
            _after(change, there, in_ways, ended, in_ends, in_times, begin, time)
            _clear(met, ends, ways, count)
    return change


@compiled
def _most(start: Array, ends: Array, followed: Array) -> int:
    """Most ways of two steps from a node."""
    most = 0
    for a in range(len(start) - 1):
        count = 0
        for ab in range(start[a], start[a + 1]):
            b = ends[ab, 0]
            count += start[b + 1] - start[b] if followed[b] else 0
        most = max(most, count)
    return most


@compiled
def _first(start: Array, times: Array, a: int) -> float:
    """When a sends at first."""
    first = np.inf
    for ab in range(start[a], start[a + 1]):
        first = min(first, times[ab, 0])
    return first


@compiled
def _mark(
    left: Array, ways: Array, start: Array, ends: Array, times: Array, followed: Array, a: int, since: float
) -> int:
    """Mark every c from which a can be reached over another node from a time on. How many there are."""
    count = 0
    for da in range(start[a], start[a + 1]):
        d, got = ends[da, 0], times[da, 1]
        for cd in range(start[d], start[d + 1] if got >= since and followed[d] else 0):
            c = ends[cd, 0]
            if times[cd, 0] <= got and times[cd, 1] >= since and c != a and not _marked(left, c):
                left[c >> 3] |= np.uint8(1 << (c & 7))
                ways[count, 1] = cd
                count += 1
    return count


@compiled
def _clear(marks: Array, ends: Array, ways: Array, count: int) -> None:
    for i in range(count):
        marks[ends[ways[i, 1], 0] >> 3] = 0


@compiled
def _marked(marks: Array, c: int) -> bool:
    return bool(marks[c >> 3] >> (c & 7) & 1)


@compiled
def _keep(best: Array, c: int, a: int, middle: int, cost: float) -> None:
    """Keep the least cost of a's ways with c, and the least over another middle."""
    if best[c, _FOR] != a:
        best[c, _FOR], best[c, _COST], best[c, _OVER], best[c, _NEXT] = a, cost, middle, np.inf
    elif cost < best[c, _COST]:
        best[c, _NEXT], best[c, _COST], best[c, _OVER] = best[c, _COST], cost, middle
    elif cost < best[c, _NEXT]:
        best[c, _NEXT] = cost


@compiled
def _besides(best: Array, c: int, middle: int) -> float:
    """The least cost over another middle than this."""
    return float(best[c, _COST] if best[c, _OVER] != middle else best[c, _NEXT])


@compiled
def _reach(
    left: Array,
    met: Array,
    there: Array,
    ways: Array,
    start: Array,
    ends: Array,
    times: Array,
    begin: Array,
    time: Array,
    followed: Array,
    a: int,
) -> int:
    """When each c that is left to a is reached from a at the earliest; c are marked, ways to them kept."""
    count = 0
    for ab in range(start[a], start[a + 1]):
        b, sent = ends[ab, 0], times[ab, 0]
        for bc in range(start[b], start[b + 1] if followed[b] else 0):
            c = ends[bc, 0]
            if _marked(left, c):
                reached = earliest(begin, time, bc, times[bc, 0], times[bc, 1], sent)
                if reached < np.inf:
                    _keep(there, c, a, b, reached)
                    met[c >> 3] |= np.uint8(1 << (c & 7))
                    ways[count, 0], ways[count, 1] = ab, bc
                    count += 1
    return count


@compiled
def _leave(
    met: Array,
    there: Array,
    back: Array,
    ways: Array,
    start: Array,
    ends: Array,
    times: Array,
    begin: Array,
    time: Array,
    followed: Array,
    a: int,
) -> int:
    """When each c that is reached is left to a at the latest, as a cost: not before it is reached."""
    count = 0
    for da in range(start[a], start[a + 1]):
        d, got = ends[da, 0], times[da, 1]
        for cd in range(start[d], start[d + 1] if followed[d] else 0):
            c = ends[cd, 0]
            if _marked(met, c):
                left = latest(begin, time, ends[cd, 1], times[cd, 0], times[cd, 1], got)
                if left >= there[c, _COST]:
                    _keep(back, c, a, d, -left)
                    ways[count, 0], ways[count, 1] = da, cd
                    count += 1
    return count


@compiled
def _before(
    change: Array,
    back: Array,
    ways: Array,
    count: int,
    ends: Array,
    times: Array,
    begin: Array,
    time: Array,
    a: int,
) -> None:
    """Links a → b and b → c of ways that go on to a."""
    for i in range(count):
        ab, bc = ways[i, 0], ways[i, 1]
        c, sent = ends[bc, 0], times[ab, 0]
        if back[c, _FOR] == a:
            left = -_besides(back, c, ends[ab, 0])
            if sent <= left:
                until = latest(begin, time, bc, times[bc, 0], times[bc, 1], left)
                cover(change, begin, time, ab, -np.inf, until)
                cover(change, begin, time, bc, sent, left)


@compiled
def _after(
    change: Array, there: Array, ways: Array, count: int, ends: Array, times: Array, begin: Array, time: Array
) -> None:
    """Links c → d and d → a of ways that began at a."""
    for i in range(count):
        da, cd = ways[i, 0], ways[i, 1]
        got, reached = times[da, 1], _besides(there, ends[cd, 0], ends[da, 0])
        if reached <= got:
            cover(change, begin, time, ends[cd, 1], reached, got)
            came = earliest(begin, time, ends[cd, 1], times[cd, 0], times[cd, 1], reached)
            cover(change, begin, time, ends[da, 1], came, np.inf)
