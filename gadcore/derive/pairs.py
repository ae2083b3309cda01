"""Links by (source, target) pair: which there are, when, and who is linked with whom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gadcore.derive.sides import changes
from gadcore.graph import Links
from gadcore.graph.links import Codes, Numbers, Rows

SMALL = 2**31  # numbers below it fit into int32


def numbers_below(count: int) -> type[np.signedinteger[Any]]:
    """The smallest type that holds the numbers of so many rows."""
    return np.int32 if count <= SMALL else np.int64


class Ways(NamedTuple):
    """Pairs by one of their ends."""

    start: Rows  # (n + 1,) where the pairs of each node begin
    ends: Codes  # (P, 2) the other end, and the number of the pair
    times: Numbers  # (P, 2) first and last time of its links; (inf, -inf) where none is known


class Linked(NamedTuple):
    """Every node's counterparties in ascending order, in whatever direction."""

    start: Rows  # (n + 1,)
    ends: Codes  # (E, 3) the counterparty, the pair to it and the pair from it; -1 where there is none


@dataclass(frozen=True)
class Pairs:
    """Pairs of different nodes in the order of (source, target); links of known time by pair and time."""

    n: int  # nodes
    source: Codes  # (P,)
    target: Codes  # (P,)
    begin: Rows  # (P + 1,) where the links of each pair begin
    time: Numbers  # (K,)

    @classmethod
    def of(cls, links: Links) -> Pairs:
        """Without times all links are at one."""
        apart = np.flatnonzero(links.source != links.target)
        source, target = links.source[apart], links.target[apart]
        time = np.zeros(len(apart)) if links.time is None else links.time[apart]
        new = changes(source, target)
        known = np.isfinite(time)
        before = np.concatenate([[0], np.cumsum(known)])  # links of known time before each
        begin = before[np.append(np.flatnonzero(new), len(new))]
        return cls(links.n_nodes, source[new], target[new], begin, time[known])

    @property
    def counts(self) -> Rows:
        return np.diff(self.begin)

    @property
    def _number(self) -> type[np.signedinteger[Any]]:
        """The type of numbers of pairs, and of their two rows in ``linked``."""
        return numbers_below(2 * len(self.source))

    @cached_property
    def out(self) -> Ways:
        return self._ways(np.arange(len(self.source), dtype=self._number), self.source, self.target)

    @cached_property
    def into(self) -> Ways:
        from gadcore.derive.pair_loops import by_key

        order = by_key(self.target, self.n, np.empty(len(self.target), self._number))
        return self._ways(order, self.target[order], self.source[order])

    def _ways(self, pair: Codes, node: Codes, other: Codes) -> Ways:
        begin, end = self.begin[:-1][pair], self.begin[1:][pair]
        times, known = np.empty((len(pair), 2)), np.append(self.time, 0.0)
        times[:, 0] = np.where(begin < end, known[begin], np.inf)
        times[:, 1] = np.where(begin < end, known[end - 1], -np.inf)
        return Ways(_starts(node, self.n), np.column_stack([other, pair]), times)

    def linked(self) -> Linked:
        """Made anew each time: it is as large as the pairs, and needed once."""
        from gadcore.derive.pair_loops import counterparties

        room = np.empty((2 * len(self.source), 3), self._number)
        return Linked(*counterparties(self.out.start, self.out.ends, self.into.start, self.into.ends, room))


def _starts(node: Codes, n: int) -> Rows:
    return np.concatenate([[0], np.cumsum(np.bincount(node, minlength=n))]).astype(np.int64)
