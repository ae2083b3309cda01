"""Views of a graph: in how many ways a node's place in it is unusual, before any verdict.

Each view is one number per node, larger for what an investigator would look at:

    dense          mean number of common neighbours over its edges, Σ_u |N(v) ∩ N(u)| / d_v
    star           Σ_u 1 / d_u over its neighbours: how many nodes lean on it; where there are no links
    fan_in         (most senders within a week)² · senders / (links in)²: many, once, and hardly any other
    fan_out        the same for those it pays
    burst          (links on its busiest day − on its busiest other day)² / links; the days around the
                   busiest one do not count
    pass_through   links in that are followed within a day by one out of nearly the same amount
    outlying       how far its strangest link out is from what both of its ends usually have, in spreads

So a collector, who deals with thirty in one week and never again, is told from a shop or an employer, who
does so again and again. What a view says of a node is how rare its value is by the bulk of all values. With
these falling off from the median to the 90th percentile as an exponential does,

    rarity_v = ln 10 + (g_v − g₉₀) ln 5 / (g₉₀ − g₅₀),    g = ln(1 + view), or the view where it is a spread

and for pass_through the Poisson rarity of its count. A view is **loud** at a node where the rarity is above
ln N: one in more nodes than there are. Chance alone makes about one node per view loud. The bulk is that of
the nodes where the view is above 0, if these are most; where most have nothing, g₉₀ − g₅₀ is at least what
those who have something usually have.

Costs are linear in links, but for triangles, which are bounded by a cap at hubs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.derive.column import Values
from gadcore.derive.sides import Groups, changes, ratio
from gadcore.derive.times import days
from gadcore.graph import Graph, Links
from gadcore.graph.links import DAY

DENSE, STAR, FAN_IN, FAN_OUT = "dense", "star", "fan_in", "fan_out"
BURST, PASS_THROUGH, OUTLYING = "burst", "pass_through", "outlying"
NAMES = (DENSE, STAR, FAN_IN, FAN_OUT, BURST, PASS_THROUGH, OUTLYING)
NEARLY = 2.0  # below ln N, from which on a node is worth a look
ALIKE = 0.05  # by how much the logarithms of two amounts may differ for one to be the other passed on
NEXT_TO = 2  # days around the busiest one that belong to the same burst
FOLLOWING = 16  # links out looked at after each link in
LEAST = 20  # nodes, below which nothing is said
FEW = float(np.log(2))  # g of what is not much: where most nodes have nothing, a little is not loud
FLOOR = 0.1  # least g₉₀ − g₅₀: where most are equal, any difference would be loud
REACH = 64  # edges to larger nodes with which a node is looked at for triangles


@dataclass(frozen=True)
class Views:
    """How rare each node is in each view."""

    rarity: npt.NDArray[np.float32]  # (J, N) −ln of how rare, in the order of NAMES; 0 for most nodes

    @property
    def line(self) -> float:
        """ln N: the rarity above which a view is loud."""
        return float(np.log(max(1, self.rarity.shape[1])))

    @property
    def loud(self) -> npt.NDArray[np.float32]:
        """(J, N) by how much a view is loud at a node, 0 where it is not."""
        return np.asarray(np.maximum(self.rarity - self.line, 0.0), dtype=np.float32)

    @property
    def _worth(self) -> float:
        """The rarity from which on a node is worth a look; never 0, which says nothing."""
        return max(self.line - NEARLY, 1e-6)

    def candidates(self, name: str) -> npt.NDArray[np.int64]:
        """Nodes at which a view is loud, or nearly so: the rarest first."""
        own = self.rarity[NAMES.index(name)]
        found = np.flatnonzero(own >= self._worth)
        return found[np.argsort(-own[found], kind="stable")]

    def at(self, node: int) -> list[str]:
        """Views that are loud at a node, or nearly so, the loudest first."""
        own = self.rarity[:, node]
        return [NAMES[j] for j in np.argsort(-own, kind="stable") if own[j] >= self._worth]


def views_of(graph: Graph) -> Views:
    """All views of a graph; rows of those that it does not have are 0."""
    found = np.zeros((len(NAMES), graph.n_nodes), dtype=np.float32)
    for name, values in raw_views(graph):
        found[NAMES.index(name)] = _RARITY.get(name, rarity_of_size)(values)
    return Views(found)


def raw_views(graph: Graph) -> Iterator[tuple[str, Values]]:
    """Name and values of each view, nan or 0 where a node has none of it."""
    simple = _simple(graph.adjacency)
    yield DENSE, support(simple)
    if graph.links is None:
        yield STAR, leaning(simple)
        return
    columns = {told.get("key", name): name for name, told in graph.derived.items()}

    def column(key: str) -> Values:
        return np.asarray(graph.node_table[columns[key]], dtype=np.float64)

    for name, needed, make in _OF_COLUMNS:
        if all(key in columns for key in needed):
            yield name, make(*map(column, needed))
    if graph.links.time is not None:
        yield BURST, one_off(graph.links)
    if graph.links.time is not None and graph.links.amount is not None:
        yield PASS_THROUGH, by_chance(matched(graph.links), np.diff(graph.links.in_start))


def _fan(most: Values, partners: Values, count: Values) -> Values:
    return ratio(np.square(most) * partners, np.square(count))


def _outlying(own: Values, others: Values) -> Values:
    return np.minimum(own, others)


_OF_COLUMNS: tuple[tuple[str, tuple[str, ...], Callable[..., Values]], ...] = (
    (FAN_IN, ("week_partners_in", "partners_in", "links_in"), _fan),
    (FAN_OUT, ("week_partners_out", "partners_out", "links_out"), _fan),
    (OUTLYING, ("off_sender_out", "off_receiver_out"), _outlying),
)


def rarity_of_size(values: Values) -> Values:
    """Of values that are compared by their ratio."""
    return rarity(np.log1p(np.maximum(np.nan_to_num(values), 0.0)))


def rarity(g: Values) -> Values:
    """(N,) −ln of how rare each value is by the bulk of all; 0 up to the 90th percentile."""
    g = np.nan_to_num(g)
    some = g[g > 0]
    if len(g) < LEAST or not len(some):
        return np.zeros(len(g))
    sparse = 2 * len(some) < len(g)
    bulk = g if sparse else some
    middle, high = np.quantile(bulk, (0.5, 0.9))
    usual = min(float(np.median(some)), FEW) if sparse else FLOOR
    scale = max(float(high - middle), usual, FLOOR) / np.log(5)
    found = np.log(10 * len(g) / len(bulk)) + (g - high) / scale
    return np.where(g > high, found, 0.0)


def by_chance(counts: Values, trials: npt.NDArray[np.int64]) -> Values:
    """(N,) k ln(k / λ) − k + λ: how rare k hits are where so many trials have λ on average; 0 below λ."""
    usual = np.minimum(counts, 1.0 + np.median(counts)) if len(counts) else counts  # what many have
    expected = np.maximum(trials, 1) * ((usual.sum() + 1.0) / (trials.sum() + 1.0))
    found = counts * np.log(np.maximum(counts, 1.0) / expected) - counts + expected
    return np.where(counts > expected, found, 0.0)


_RARITY: dict[str, Callable[[Values], Values]] = {PASS_THROUGH: np.asarray, OUTLYING: rarity}


def _simple(adjacency: Any) -> Any:
    """(N, N) CSR of ones."""
    ones = np.ones(len(adjacency.indices), dtype=np.float32)
    return sp.csr_array((ones, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def support(simple: Any) -> Values:
    """(N,) mean number of common neighbours over the edges of each node."""
    from gadcore.derive.view_loops import corners  # it loads a compiler

    found = corners(simple.indptr, simple.indices, REACH)
    return ratio(2 * found, np.diff(simple.indptr).astype(np.float64))


def leaning(simple: Any) -> Values:
    """(N,) Σ 1 / degree over the neighbours."""
    degree = np.diff(simple.indptr)
    return np.asarray(simple @ (1.0 / np.maximum(degree, 1)), dtype=np.float64)


def one_off(links: Links) -> Values:
    """(N,) (busiest day − busiest other day)² / links."""
    time = np.asarray(links.time)
    node, day = _days_of_nodes(links, days(time))
    first = np.flatnonzero(changes(node, day))
    by_day, count = Groups(node[first], links.n_nodes), np.diff(np.append(first, len(day)))
    most = by_day.largest(count)
    when = by_day.largest(np.where(count == most[by_day.node], day[first], -np.inf))
    apart = np.abs(day[first] - when[by_day.node]) > NEXT_TO
    other = np.nan_to_num(by_day.largest(np.where(apart, count, 0)))
    every = np.bincount(node, minlength=links.n_nodes).astype(np.float64)
    return ratio(np.square(np.nan_to_num(most) - other), every)


def _days_of_nodes(links: Links, day: Values) -> tuple[npt.NDArray[Any], Values]:
    """Node and day of every link, once for each of its ends, in the order of both."""
    known = np.isfinite(day)
    apart = known & (links.source != links.target)
    node, when = np.concatenate([links.source[known], links.target[apart]]), np.r_[day[known], day[apart]]
    order = np.lexsort((when, node))
    return node[order], when[order]


def matched(links: Links) -> Values:
    """(N,) links in that are followed within a day by one of nearly the same amount, out to someone else."""
    from gadcore.derive.view_loops import followed  # it loads a compiler

    time, amount = np.asarray(links.time), np.asarray(links.amount)
    rows = np.flatnonzero(np.isfinite(time) & (np.nan_to_num(amount) > 0) & (links.source != links.target))
    came, in_start = _by_time(links.target[rows], links.source[rows], time[rows], amount[rows], links.n_nodes)
    went, out_start = _by_time(
        links.source[rows], links.target[rows], time[rows], amount[rows], links.n_nodes
    )
    return np.asarray(followed(came, went, in_start, out_start, ALIKE, DAY, FOLLOWING))


def _by_time(own: Any, other: Any, time: Values, amount: Values, n: int) -> tuple[Values, Any]:
    """Time, logarithm of the amount and other end of links, by node and time; where each node's begin."""
    order = np.lexsort((time, own))
    starts = np.r_[0, np.cumsum(np.bincount(own, minlength=n))]
    return np.column_stack([time, np.log(amount), other])[order], starts
