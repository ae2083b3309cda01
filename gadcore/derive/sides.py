"""Links by node, in one direction or in both: group-bys on sorted arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.derive.column import Values
from gadcore.derive.words import OUT
from gadcore.graph import Links
from gadcore.graph.links import Codes, Rows

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Groups:
    """Rows of nodes, those of a node one after the other; arrays of values are in this order."""

    node: Codes  # (K,) ascending
    n: int  # number of nodes

    @cached_property
    def start(self) -> Rows:
        """(n + 1,) where the rows of each node begin."""
        counts = np.bincount(self.node, minlength=self.n)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)

    @cached_property
    def counts(self) -> Values:
        return np.diff(self.start).astype(np.float64)

    def total(self, values: npt.NDArray[Any]) -> Values:
        """(n,) sums; 0 for a node without rows."""
        return np.bincount(self.node, values, self.n).astype(np.float64)

    def mean(self, values: npt.NDArray[Any]) -> Values:
        """(n,) nan for a node without rows, as in all below."""
        return ratio(self.total(values), self.counts)

    def largest(self, values: npt.NDArray[Any]) -> Values:
        return self._fold(np.maximum, values)

    def smallest(self, values: npt.NDArray[Any]) -> Values:
        return self._fold(np.minimum, values)

    def median(self, values: Values) -> Values:
        from gadcore.derive.group_loops import medians

        return np.asarray(medians(self.start, values))

    def longest_run(self, new: Mask) -> Values:
        """(n,) most rows in a row of which only the first is ``new``; 0 for a node without rows."""
        first = np.flatnonzero(new)
        runs = Groups(self.node[first], self.n)
        return np.nan_to_num(runs.largest(np.diff(np.append(first, len(new)))))

    def _fold(self, ufunc: np.ufunc, values: npt.NDArray[Any]) -> Values:
        out = np.full(self.n, np.nan)
        has = self.counts > 0
        if has.any():
            out[has] = ufunc.reduceat(values, self.start[:-1][has])
        return out


@dataclass(frozen=True)
class Side(Groups):
    """The links of every node in one direction, by counterparty and time."""

    rows: Rows  # (K,) of the links
    other: Codes  # (K,) who is at the other end

    @classmethod
    def of(cls, links: Links, side: str, keep: Mask | None = None) -> Side:
        """All links, or those to keep."""
        rows = np.arange(len(links)) if side == OUT else np.asarray(links.by_target)
        if keep is not None:
            rows = rows[keep[rows]]
        ends = (links.source, links.target)
        node, other = ends if side == OUT else ends[::-1]
        return cls(np.asarray(node[rows]), links.n_nodes, rows, np.asarray(other[rows]))

    @cached_property
    def new_pair(self) -> Mask:
        """(K,) whether a row has another node or counterparty than the row before it."""
        return changes(self.node, self.other)


def changes(*keys: npt.NDArray[Any]) -> Mask:
    """Whether a row differs from the one before it in a key; the first row does."""
    new = np.ones(len(keys[0]), dtype=bool)
    new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    return new


def ratio(part: Values, whole: Values) -> Values:
    """part ÷ whole; nan where the whole is not above 0."""
    out = np.full(len(whole), np.nan)
    return np.asarray(np.divide(part, whole, out=out, where=whole > 0))


def percent(part: Values, whole: Values) -> Values:
    return 100 * ratio(part, whole)
