"""How two nodes are connected: the shortest ways, the ways in the order of time, and common neighbours."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gadcore.errors import InputError
from gadcore.graph import Graph, IntArray
from gadcore.graph.link_words import amount_text, count_text, period_text
from gadcore.graph.links import Rows
from gadcore.insight.periods import moment
from gadcore.insight.walks import Budget, HopSearch, TimeSearch
from gadcore.records.links import CommonNeighbour, Passing, Paths, Route, RouteStep

WAYS = 3  # alternatives in hops
COMMON = 20  # common neighbours that are named
EDGE_ENDS = 4_000_000  # read at most in search of the ways in hops
LINKS = 2_000_000  # read at most for the ways in time order, in each direction


def paths(graph: Graph, source: int, target: int, *, ways: int = WAYS, common: int = COMMON) -> Paths:
    """How two different nodes are connected."""
    if source == target:
        raise InputError(f"the node {graph.node_ids[source]!r} twice", "two different nodes")
    remarks: list[str] = []
    shared = _common(graph, source, target)
    return Paths(
        source=str(graph.node_ids[source]),
        source_name=graph.display_name(source),
        target=str(graph.node_ids[target]),
        target_name=graph.display_name(target),
        routes=_in_hops(graph, source, target, ways, remarks),
        in_time=_in_time(graph, source, target, remarks),
        common=[_common_neighbour(graph, int(node), source, target) for node in shared[:common]],
        common_total=len(shared),
        remarks=remarks,
    )


# ---- ways -----------------------------------------------------------------------------------------------


def _in_hops(graph: Graph, source: int, target: int, ways: int, remarks: list[str]) -> list[Route]:
    budget = Budget(EDGE_ENDS)
    found = HopSearch(graph, budget).ways(source, target, ways)
    if budget.cut:
        what = "There may be further ways" if found else "There may be a way"
        remarks.append(f"{what}: the search ended after {EDGE_ENDS:,} edges.")
    elif not found:
        remarks.append("Nothing connects the two.")
    return [_route(graph, way) for way in found]


def _route(graph: Graph, way: list[int]) -> Route:
    between = len(way) - 2
    title = f"Through {between:,} node{'s' * (between != 1)}" if between else "Directly"
    steps = [_step(graph, a, b) for a, b in pairwise(way)]
    return Route(title, [str(graph.node_ids[node]) for node in way], steps)


def _in_time(graph: Graph, source: int, target: int, remarks: list[str]) -> list[Route]:
    links = graph.links
    if links is None or links.time is None:
        return []
    found: list[Route] = []
    for a, b in ((source, target), (target, source)):
        budget = Budget(LINKS)
        ways = TimeSearch(links, links.time, a, b, budget).ways()
        found += [_timed(graph, rows, earlier=at > 0) for at, rows in enumerate(ways)]
        if budget.cut:
            what = "an earlier way" if ways else "a way in time order"
            pair = f"from {graph.display_name(a)} to {graph.display_name(b)}"
            remarks.append(
                f"There may be {what} {pair}: the search ended after {LINKS:,} {links.meaning.words}."
            )
    return found


def _timed(graph: Graph, rows: Rows, *, earlier: bool) -> Route:
    """A way along these links; ``earlier`` than the one with the fewest."""
    links = graph.links
    assert links is not None
    a, b = int(links.source[rows[0]]), int(links.target[rows[-1]])
    reach = "first to arrive" if earlier else "fewest steps"
    title = f"From {graph.display_name(a)} to {graph.display_name(b)}, {reach}"
    steps = [_one_link(graph, row) for row in rows]
    nodes = [a, *links.target[rows].tolist()]
    return Route(title, [str(graph.node_ids[node]) for node in nodes], steps)


# ---- steps ----------------------------------------------------------------------------------------------


def _step(graph: Graph, a: int, b: int) -> RouteStep:
    """Everything that runs between two nodes next to each other."""
    forth, back = (_passing(graph, _sent(graph, *ends)) for ends in ((a, b), (b, a)))
    said = [f"{arrow} {each.text}" for arrow, each in (("→", forth), ("←", back)) if each]
    text = "; ".join(said) or f"weight {_weight(graph, a, b):.4g}"
    return RouteStep(*_ends(graph, a, b), forth, back, text)


def _one_link(graph: Graph, row: int) -> RouteStep:
    links = graph.links
    assert links is not None
    passing = _passing(graph, np.array([row]))
    assert passing is not None
    return RouteStep(
        *_ends(graph, int(links.source[row]), int(links.target[row])), passing, None, f"→ {passing.text}"
    )


def _ends(graph: Graph, a: int, b: int) -> tuple[str, str, str, str]:
    return str(graph.node_ids[a]), graph.display_name(a), str(graph.node_ids[b]), graph.display_name(b)


def _sent(graph: Graph, a: int, b: int) -> Rows:
    return np.zeros(0, np.int64) if graph.links is None else graph.links.sent(a, b)


def _weight(graph: Graph, a: int, b: int) -> float:
    nodes, weights = graph.neighbours(a)
    return float(weights[np.searchsorted(nodes, b)])


def _passing(graph: Graph, rows: Rows) -> Passing | None:
    """Links added up; None where there are none."""
    if graph.links is None or not len(rows):
        return None
    links, meaning = graph.links, graph.links.meaning
    amount = None if links.amount is None else float(np.nansum(links.amount[rows]))
    times = np.zeros(0) if links.time is None else links.time[rows]
    times = times[np.isfinite(times)]
    first, last = (times.min(), times.max()) if len(times) else (np.nan, np.nan)
    said = [count_text(len(rows), meaning)]
    said += [] if amount is None else [amount_text(amount, meaning)]
    said += [period_text(first, last, meaning)]
    first_text, last_text = moment(first, meaning.precision), moment(last, meaning.precision)
    return Passing(len(rows), amount, first_text, last_text, ", ".join(filter(None, said)))


# ---- common neighbours ----------------------------------------------------------------------------------


def _common(graph: Graph, a: int, b: int) -> IntArray:
    """Nodes next to both, those with the fewest neighbours first: a hub knows everybody."""
    shared = np.intersect1d(graph.neighbours(a)[0], graph.neighbours(b)[0], assume_unique=True)
    starts = graph.adjacency.indptr
    return shared[np.argsort(starts[shared + 1] - starts[shared], kind="stable")]


def _common_neighbour(graph: Graph, node: int, a: int, b: int) -> CommonNeighbour:
    said = [f"{graph.display_name(end)}: {_step(graph, end, node).text}" for end in (a, b)]
    degree = len(graph.neighbours(node)[0])
    return CommonNeighbour(str(graph.node_ids[node]), graph.display_name(node), degree, " · ".join(said))
