"""What is found node by node, in the sorted rows of each: medians, runs, days, weeks, what is passed on.

``start`` says where the rows of each node begin. They are copied to a small room and sorted there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gadcore.derive.compiled import compiled

Array = Any  # of numpy; a compiled loop takes whatever type it is given


@compiled
def most_rows(start: Array) -> int:
    """Rows of the node that has most."""
    most = 0
    for node in range(len(start) - 1):
        most = max(most, start[node + 1] - start[node])
    return most


@compiled
def copied(values: Array, begin: int, end: int, room: Array, at: int) -> int:
    """Put values into the room from a place on; the place after them."""
    for i in range(begin, end):
        room[at] = values[i]
        at += 1
    return at


@compiled
def in_order(room: Array, count: int, beside: Array) -> None:
    """Sort the first values of a room (Shell 1959), and with them what lies beside, if anything does."""
    gap = count // 2
    while gap:
        for i in range(gap, count):
            value, other, j = room[i], beside[i] if len(beside) else 0.0, i
            while j >= gap and room[j - gap] > value:
                room[j] = room[j - gap]
                if len(beside):
                    beside[j] = beside[j - gap]
                j -= gap
            room[j] = value
            if len(beside):
                beside[j] = other
        gap = 1 if gap == 2 else gap * 5 // 11


@compiled
def middle(room: Array, count: int) -> float:
    """Median of the first values of a room, which are put in order; nan of none."""
    if not count:
        return np.nan
    in_order(room, count, room[:0])
    return float((room[(count - 1) // 2] + room[count // 2]) / 2)


@compiled
def medians(start: Array, values: Array) -> Array:
    """(n,) of the values of each node."""
    out, room = np.empty(len(start) - 1), np.empty(most_rows(start))
    for node in range(len(out)):
        out[node] = middle(room, copied(values, start[node], start[node + 1], room, 0))
    return out


@compiled
def most_equal(start: Array, other: Array, values: Array) -> Array:
    """(n,) most rows of a node with the same counterparty and value."""
    out, room = np.zeros(len(start) - 1), np.empty(most_rows(start))
    for node in range(len(out)):
        row, last = start[node], start[node + 1]
        while row < last:
            end = row + 1
            while end < last and other[end] == other[row]:
                end += 1
            count = copied(values, row, end, room, 0)
            in_order(room, count, room[:0])
            run = 0
            for i in range(count):
                run = run + 1 if i and room[i] == room[i - 1] else 1
                out[node] = max(out[node], run)
            row = end
    return out


@compiled
def days_of(start: Array, time: Array, in_start: Array, in_time: Array, day: float) -> Array:
    """(n, 5) days with rows, rows on the busiest day, median gap, first and last time, of both sides."""
    out, room = np.zeros((len(start) - 1, 5)), np.empty(most_rows(start) + most_rows(in_start))
    for node in range(len(out)):
        count = copied(time, start[node], start[node + 1], room, 0)
        count = copied(in_time, in_start[node], in_start[node + 1], room, count)
        in_order(room, count, room[:0])
        out[node, 3], out[node, 4] = (room[0], room[count - 1]) if count else (np.nan, np.nan)
        run = 0
        for i in range(count):
            new = i == 0 or np.floor(room[i] / day) != np.floor(room[i - 1] / day)
            run = 1 if new else run + 1
            out[node, 0] += new
            out[node, 1] = max(out[node, 1], run)
        for i in range(count - 1):
            room[i] = room[i + 1] - room[i]
        out[node, 2] = middle(room, max(count - 1, 0))
    return out


@compiled
def most_partners(start: Array, other: Array, time: Array, span: float) -> Array:
    """(n,) most different counterparties within a span of time; rows are by counterparty and time.

    A counterparty counts from each of its links for a span, or until its next link, which counts on: at any
    time exactly those of the past span count once. What ends at a time does not count at it.
    """
    out, most = np.zeros(len(start) - 1), most_rows(start)
    begin, end = np.empty(most), np.empty(most)
    for node in range(len(out)):
        first = start[node]
        count = copied(time, first, start[node + 1], begin, 0)
        for i in range(count):
            end[i] = begin[i] + span
            if i + 1 < count and other[first + i] == other[first + i + 1]:
                end[i] = min(end[i], begin[i + 1])
        in_order(begin, count, begin[:0])
        in_order(end, count, end[:0])
        ended = 0
        for i in range(count):
            while ended < count and end[ended] <= begin[i]:
                ended += 1
            out[node] = max(out[node], i + 1 - ended)
    return out


@compiled
def waits(start: Array, time: Array, in_start: Array, in_time: Array) -> Array:
    """(n,) median time from a row that comes in to the next one that goes out."""
    out = np.empty(len(start) - 1)
    gone, got = np.empty(most_rows(start)), np.empty(most_rows(in_start))
    for node in range(len(out)):
        went = copied(time, start[node], start[node + 1], gone, 0)
        came = copied(in_time, in_start[node], in_start[node + 1], got, 0)
        in_order(gone, went, gone[:0])
        in_order(got, came, got[:0])
        following = found = 0
        for i in range(came):
            while following < went and gone[following] < got[i]:
                following += 1
            if following < went:
                got[found] = gone[following] - got[i]
                found += 1
        out[node] = middle(got, found)
    return out


@compiled
def passed_on(
    start: Array, time: Array, amount: Array, in_start: Array, in_time: Array, in_amount: Array, day: float
) -> Array:
    """(n,) how much of what comes in goes out within a day, first in first out.

    With P the place up to which all that came in is spent or too old, in the cumulated sum of it, an amount o
    that goes out at t moves it to min(max(P, in before t − 1 day) + o, in up to t).
    """
    out, most, most_in = np.zeros(len(start) - 1), most_rows(start), most_rows(in_start)
    when, size, came_at, came = np.empty(most), np.empty(most), np.empty(most_in), np.empty(most_in)
    for node in range(len(out)):
        went = copied(time, start[node], start[node + 1], when, 0)
        copied(amount, start[node], start[node + 1], size, 0)
        got = copied(in_time, in_start[node], in_start[node + 1], came_at, 0)
        copied(in_amount, in_start[node], in_start[node + 1], came, 0)
        in_order(when, went, size)
        in_order(came_at, got, came)
        place = old = come = 0.0
        aged = arrived = 0
        for i in range(went):
            while arrived < got and came_at[arrived] <= when[i]:
                come += came[arrived]
                arrived += 1
            while aged < got and came_at[aged] < when[i] - day:
                old += came[aged]
                aged += 1
            before = max(place, old)
            place = min(before + size[i], come)
            out[node] += place - before
    return out


@compiled
def returned(start: Array, target: Array, sent: Array, in_start: Array, source: Array, got: Array) -> Array:
    """(n, 2) what the counterparties of a node send back of what it sends, and all that it sends.

    Rows that go out are by target, rows that come in by source. Sums of a pair below 0 count as 0.
    """
    out = np.zeros((len(start) - 1, 2))
    for node in range(len(out)):
        row, back = start[node], in_start[node]
        while row < start[node + 1]:
            other, flow, again = target[row], 0.0, 0.0
            while row < start[node + 1] and target[row] == other:
                flow += sent[row]
                row += 1
            while back < in_start[node + 1] and source[back] <= other:
                again += got[back] if source[back] == other else 0.0
                back += 1
            flow = max(flow, 0.0)
            out[node, 0] += min(flow, max(again, 0.0))
            out[node, 1] += flow
    return out
