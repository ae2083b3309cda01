"""Groups that the structure of a graph gives: near-cliques, fans, and amounts that are passed around.

    dense         the part S of a node and its neighbours with most links beyond α of all pairs,
                  e(S) − α |S| (|S| − 1) / 2 (Tsourakakis et al. 2013), found by taking away whoever has
                  fewest; then whoever is linked with half of S is let in, and it is done once more
    fan           the counterparties of the week with most of them
    burst         who it has several links with on its busiest day
    passed on     who sends and who gets the amounts that a node passes on within a day, and so on from there

Each function gives the other members, or none where there is no such group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gadcore.derive.views import ALIKE, BURST, DENSE, FAN_IN, FAN_OUT, FOLLOWING, NEARLY, PASS_THROUGH, Views
from gadcore.graph import Graph, Links
from gadcore.graph.links import DAY, Rows

ALPHA = 0.5  # share of all pairs that a dense group has at least
WIDEST = 400  # nodes looked at for a dense group
FEWEST = 3  # members of a dense group beside the node
WEEK = 7 * DAY
MOST = 150  # members proposed
AROUND = 8  # neighbours whose groups are looked at
SEVERAL = 3  # links on one day that make two nodes part of one burst
AGAIN = 2  # amounts that two nodes pass on between each other, to belong together

Members = list[int]


@dataclass(frozen=True)
class Structure:
    """A group as a view sees it."""

    view: str
    centre: int  # the node at which the view is loud
    others: Members  # all but the node that was asked about


def structure_around(graph: Graph, node: int, views: Views) -> Structure | None:
    """The group of the loudest view at a node, or at a neighbour whose group it is part of."""
    for name in views.at(node):
        found = _GROUPS[name](graph, node) if name in _GROUPS else []
        if found:
            return Structure(name, node, found[:MOST])
    for centre in _loud_around(graph, node, views):
        for name in views.at(centre):
            if name in _GROUPS and node in (found := _GROUPS[name](graph, centre)):
                others = [centre, *(other for other in found if other != node)]
                return Structure(name, centre, others[:MOST])
    return None


def _loud_around(graph: Graph, node: int, views: Views) -> Members:
    """The neighbours at which a view is loudest."""
    around = graph.neighbours(node)[0]
    loudest = views.rarity[:, around].max(axis=0)
    order = np.argsort(-loudest, kind="stable")[:AROUND]
    return [int(around[i]) for i in order if loudest[i] >= views.line - NEARLY]


def dense_group(graph: Graph, node: int) -> Members:
    """The near-clique around a node."""
    around = graph.neighbours(node)[0]
    group = _densest(graph, node, around)
    for _ in range(2):
        if len(group) <= FEWEST:
            return []
        linked = np.bincount(graph.adjacency[group].indices, minlength=graph.n_nodes)
        group = _densest(graph, node, np.union1d(group, np.flatnonzero(linked >= ALPHA * len(group))))
    return [v for v in group.tolist() if v != node] if len(group) > FEWEST else []


def _densest(graph: Graph, node: int, others: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The best part of a node and others; the node stays in."""
    nodes = np.r_[node, others[others != node]]
    if len(nodes) > WIDEST:
        shared = np.bincount(graph.adjacency[nodes].indices, minlength=graph.n_nodes)[nodes[1:]]
        nodes = np.r_[node, nodes[1:][np.argsort(-shared, kind="stable")[: WIDEST - 1]]]
    linked = (graph.adjacency[nodes][:, nodes] != 0).toarray()
    degree, kept = linked.sum(axis=1).astype(float), np.ones(len(nodes), dtype=bool)
    edges, best, at = degree.sum() / 2, -np.inf, kept.copy()
    for size in range(len(nodes), 1, -1):
        if (value := edges - ALPHA * size * (size - 1) / 2) > best:
            best, at = value, kept.copy()
        gone = 1 + int(np.argmin(np.where(kept[1:], degree[1:], np.inf)))
        edges, kept[gone] = edges - degree[gone], False
        degree -= linked[gone]
    return np.asarray(nodes[at], dtype=np.int64)


def density(graph: Graph, nodes: Members) -> float:
    """Share of the pairs of nodes that are linked."""
    pairs = len(nodes) * (len(nodes) - 1)
    return float((graph.adjacency[nodes][:, nodes] != 0).sum() / pairs) if pairs else 0.0


def fan(graph: Graph, node: int, side: str) -> Members:
    """Counterparties of the week with most of them."""
    links = graph.links
    if links is None or links.time is None:
        return []
    rows = links.into(node) if side == FAN_IN else links.out_of(node)
    other = links.source[rows] if side == FAN_IN else links.target[rows]
    own = np.isfinite(links.time[rows]) & (other != node)
    order = np.argsort(links.time[rows[own]], kind="stable")
    time, other = links.time[rows[own]][order], other[own][order]
    ends = np.searchsorted(time, time + WEEK, side="right")
    weeks = [sorted(set(other[start:end].tolist())) for start, end in enumerate(ends)]
    return max(weeks, key=len) if weeks else []


def burst(graph: Graph, node: int) -> Members:
    """Who has several links with a node on its busiest day."""
    links = graph.links
    if links is None or links.time is None:
        return []
    rows = links.of(node)
    rows = rows[np.isfinite(links.time[rows])]
    day = np.floor(links.time[rows] / DAY)
    days, count = np.unique(day, return_counts=True)
    if not len(days):
        return []
    busy = rows[day == days[np.argmax(count)]]
    other = np.where(links.source[busy] == node, links.target[busy], links.source[busy])
    nodes, times = np.unique(other, return_counts=True)
    return [int(v) for v in nodes[times >= SEVERAL] if v != node]


def passed_around(graph: Graph, node: int) -> Members:
    """Who passes amounts on to whom, from a node on."""
    links = graph.links
    if links is None or links.time is None or links.amount is None:
        return []
    found, waiting = {node}, [node]
    while waiting and len(found) < MOST:
        for other, times in _passing(links, waiting.pop()).items():
            if times >= AGAIN and other not in found:
                found.add(other)
                waiting.append(other)
    return sorted(found - {node})


def _passing(links: Links, node: int) -> dict[int, int]:
    """Senders and receivers of amounts that a node passes on within a day, and how many each."""
    got, gone = passed_rows(links, node)
    nodes, times = np.unique(np.concatenate([links.source[got], links.target[gone]]), return_counts=True)
    return dict(zip(nodes.tolist(), times.tolist()))


def passed_rows(links: Links, node: int) -> tuple[Rows, Rows]:
    """Links into a node whose amounts it passes on within a day, and those by which it does.

    As in the view, FOLLOWING links out are looked at after each link in: a hub has very many.
    """
    time, amount = np.asarray(links.time), np.asarray(links.amount)
    got, gone = links.into(node), links.out_of(node)
    if not len(gone):
        return got[:0], gone
    gone = gone[np.argsort(time[gone], kind="stable")]
    at = np.searchsorted(time[gone], time[got])[:, None] + np.arange(FOLLOWING)
    out = gone[np.minimum(at, len(gone) - 1)]
    waited = time[out] - time[got][:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(np.log(amount[out] / amount[got][:, None]))
    strangers = links.target[out] != links.source[got][:, None]
    same = (at < len(gone)) & (waited >= 0) & (waited <= DAY) & (apart <= ALIKE) & strangers
    return got[same.any(axis=1)], np.unique(out[same])


_GROUPS: dict[str, Callable[[Graph, int], Members]] = {
    DENSE: dense_group,
    FAN_IN: lambda graph, node: fan(graph, node, FAN_IN),
    FAN_OUT: lambda graph, node: fan(graph, node, FAN_OUT),
    BURST: burst,
    PASS_THROUGH: passed_around,
}
