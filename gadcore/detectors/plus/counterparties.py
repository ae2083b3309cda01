"""Circles: with whom each node is linked, in each direction and by each kind of link.

    0 who pays it      1 whom it pays      2 either      3 … by each of the most frequent kinds, if several

Pairs of a node and a counterparty are stored once, with a bit for each circle that the pair belongs to. They
are found by row blocks from the links, which lie sorted by source and, in ``by_target``, by target.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gadcore.engine import each, kept_all, row_blocks
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.links import Links
from gadcore.shelf import Shelf

Array = npt.NDArray[np.float64]

KINDS = 8  # kinds of links that are told apart
STATISTICS = 3  # mean, max and sum
RECEIVED, SENT, EITHER = 0, 1, 2
_FIRST_KIND = 3
_BITS = np.uint16


class Circle(NamedTuple):
    """Counterparties of some nodes, each once."""

    start: IntArray  # (n + 1,) where those of a node begin
    nodes: npt.NDArray[Any]  # (pairs,)

    def of(self, place: int) -> npt.NDArray[Any]:
        return self.nodes[self.start[place] : self.start[place + 1]]

    def statistics(self, p: npt.NDArray[Any]) -> FloatArray:
        """(n, 3) mean, max and sum of p over the counterparties of each node; 0 without any."""
        count = np.diff(self.start)
        some = count > 0
        found = np.zeros((len(count), STATISTICS), dtype=np.float32)
        if some.any():
            first, values = self.start[:-1][some], p[self.nodes]
            total = np.add.reduceat(values, first)
            found[some] = np.stack([total / count[some], np.maximum.reduceat(values, first), total], axis=1)
        return found

    def shares(self, place: int, p: npt.NDArray[Any]) -> Array:
        """(3, counterparties) the part that each has in the statistics of a node."""
        own = p[self.of(place)].astype(np.float64)
        even = own / own.sum() if own.sum() > 0 else np.full(len(own), 1 / len(own))
        return np.stack([even, (np.arange(len(own)) == np.argmax(own)).astype(np.float64), even])


class Circles(NamedTuple):
    """All circles of a graph; arrays may be memory-mapped."""

    start: IntArray  # (N + 1,) where the pairs of a node begin
    nodes: npt.NDArray[np.int32]  # (pairs,) counterparty
    bits: npt.NDArray[np.uint16]  # (pairs,) the circles of the pair
    number: int  # of circles

    def around(self, nodes: npt.NDArray[Any]) -> list[Circle]:
        """The circles of some nodes."""
        first, last = self.start[nodes], self.start[np.asarray(nodes) + 1]
        rows = _ranges(first, last)
        ends, bits = self.nodes[rows], self.bits[rows]
        place = np.repeat(np.arange(len(first)), last - first)
        return [self._circle(circle, place, ends, bits, len(first)) for circle in range(self.number)]

    def everyone(self, nodes: npt.NDArray[Any]) -> IntArray:
        """All counterparties of some nodes."""
        rows = _ranges(self.start[nodes], self.start[np.asarray(nodes) + 1])
        return np.unique(self.nodes[rows]).astype(np.int64)

    def statistics(self, p: npt.NDArray[Any], nodes: npt.NDArray[Any]) -> list[FloatArray]:
        """(n, 3) of each circle."""
        return [circle.statistics(p) for circle in self.around(nodes)]

    def _circle(
        self,
        circle: int,
        place: IntArray,
        ends: npt.NDArray[np.int32],
        bits: npt.NDArray[np.uint16],
        n: int,
    ) -> Circle:
        mine = (bits >> _BITS(circle)) & _BITS(1) == 1
        counts = np.bincount(place[mine], minlength=n)
        return Circle(np.concatenate([[0], np.cumsum(counts)]), ends[mine])


_CIRCLES = Shelf(2)
_NAMES = ("circles-start", "circles-nodes", "circles-bits")


def circles_of(graph: Graph) -> Circles:
    """Who is paid, who pays, both, and those by each of the most frequent kinds where there are several."""
    return _CIRCLES.get(graph.fingerprint, lambda: _circles(graph))


def _circles(graph: Graph) -> Circles:
    links = graph.links
    if links is None:
        none = np.zeros(graph.n_nodes + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, _BITS)
        return Circles(*none, 0)
    kinds = min(KINDS, len(links.meaning.kinds)) if _told_apart(links) else 0
    start, nodes, bits = kept_all(graph, _NAMES, lambda: _pairs(links, kinds))
    return Circles(start, nodes, bits, _FIRST_KIND + kinds)


def _told_apart(links: Links) -> bool:
    return links.kind is not None and len(links.meaning.kinds) > 1


def _pairs(links: Links, kinds: int) -> tuple[npt.NDArray[Any], ...]:
    """Start, counterparty and bits of all pairs."""
    columns = (links.source, links.target, links.kind, links.by_target, links.out_start, links.in_start)
    parts = list(each(_pairs_of, row_blocks(links.n_nodes), *columns, kinds))
    counts, nodes, bits = (np.concatenate(column) for column in zip(*parts))
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), nodes, bits


def _pairs_of(
    block: slice,
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    kind: npt.NDArray[Any] | None,
    by_target: npt.NDArray[Any],
    out_start: npt.NDArray[Any],
    in_start: npt.NDArray[Any],
    kinds: int,
) -> tuple[npt.NDArray[Any], ...]:
    """Count of each node's counterparties, these, and their bits."""
    sent = slice(int(out_start[block.start]), int(out_start[block.stop]))
    received = by_target[int(in_start[block.start]) : int(in_start[block.stop])]
    own = np.concatenate([source[sent], target[received]]).astype(np.int64)
    other = np.concatenate([target[sent], source[received]])
    first = np.repeat(np.array([SENT, RECEIVED]), [sent.stop - sent.start, len(received)])
    bits = (_BITS(1) << first.astype(_BITS)) | _BITS(1 << EITHER)
    if kind is not None and kinds:
        codes = np.concatenate([kind[sent], kind[received]])
        named = (codes >= 0) & (codes < kinds)
        bits[named] |= _BITS(1) << (codes[named] + _FIRST_KIND).astype(_BITS)
    two = own != other
    keys, bits = (own[two] - block.start << 32) | other[two], bits[two]
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]][: len(keys)])
    joined = np.bitwise_or.reduceat(bits[order], new) if len(new) else bits
    pairs = keys[new]
    counts = np.bincount(pairs >> 32, minlength=block.stop - block.start)
    return counts, (pairs & 0xFFFFFFFF).astype(np.int32), joined


def _ranges(first: npt.NDArray[Any], last: npt.NDArray[Any]) -> IntArray | slice:
    """Rows from each first to before its last, one range after the other."""
    if len(first) and np.array_equal(first[1:], last[:-1]):
        return slice(int(first[0]), int(last[-1]))
    lengths = last - first
    behind = np.cumsum(lengths)
    return np.repeat(first - behind + lengths, lengths) + np.arange(behind[-1] if len(behind) else 0)
