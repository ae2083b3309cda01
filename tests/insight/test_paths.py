"""Ways between two nodes: as short as networkx finds them, and as early as a plain search does."""

from __future__ import annotations

import heapq
import json
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from linked_graph import linked, random_transfers, stepped

from gadcore.errors import InputError
from gadcore.graph import Graph, make_graph
from gadcore.insight import paths as module
from gadcore.insight.paths import paths
from gadcore.records import as_json
from gadcore.records.links import Route


def rows_of(graph: Graph, route: Route) -> list[int]:
    return [graph.index_of(node) for node in route.node_ids]


@pytest.mark.parametrize("seed", range(30))
def test_ways_are_as_short_as_networkx_finds_them_and_share_no_node(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 40))
    plain = nx.gnm_random_graph(n, int(n * rng.uniform(0.8, 2.2)), seed=seed)
    graph = make_graph([f"n{i}" for i in range(n)], np.array(list(plain.edges)).reshape(-1, 2).T)
    a, b = (int(i) for i in rng.choice(n, 2, replace=False))
    found = paths(graph, a, b)
    left = plain.copy()
    for route in found.routes:
        way = rows_of(graph, route)
        assert (way[0], way[-1]) == (a, b)
        assert all(left.has_edge(u, v) for u, v in pairwise(way))
        assert len(way) - 1 == nx.shortest_path_length(left, a, b)
        left.remove_nodes_from(way[1:-1])
        left.remove_edges_from([(a, b)])
    assert len(found.routes) == module.WAYS or not nx.has_path(left, a, b)
    common = set(nx.common_neighbors(plain, a, b))
    assert found.common_total == len(common)
    assert {graph.index_of(node.node_id) for node in found.common} == common


def earliest(graph: Graph, source: int, target: int, most: int = 100) -> tuple[int, float] | None:
    """The fewest links in time order, with the earliest arrival among these; tried one by one."""
    links, best = graph.links, {source: -np.inf}
    for step in range(1, most):
        reached = dict(best)
        for a, b, t in zip(links.source.tolist(), links.target.tolist(), links.time.tolist()):
            if a in best and t >= best[a] and t < reached.get(b, np.inf):
                reached[b] = t
        if target in reached:
            return step, reached[target]
        if reached == best:
            return None
        best = reached
    return None


def first_arrival(graph: Graph, source: int, target: int) -> float | None:
    """Dijkstra's search over times."""
    links, waiting, done = graph.links, [(-np.inf, source)], set()
    while waiting:
        now, node = heapq.heappop(waiting)
        if node == target:
            return now
        if node in done:
            continue
        done.add(node)
        for row in links.out_of(node):
            if links.time[row] >= now:
                heapq.heappush(waiting, (float(links.time[row]), int(links.target[row])))
    return None


@pytest.mark.parametrize("seed", range(40))
def test_ways_in_time_order_are_the_shortest_and_the_earliest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(4, 15)), int(rng.integers(10, 50))
    steps = rng.integers(0, 12, size).astype(float)
    steps[rng.random(size) < 0.1] = np.nan
    graph = stepped(n, rng.integers(0, n, size), rng.integers(0, n, size), steps)
    found = paths(graph, 0, 1)
    for ends in ((0, 1), (1, 0)):
        own = [route for route in found.in_time if rows_of(graph, route)[0] == ends[0]]
        wanted = earliest(graph, *ends)
        assert bool(own) == (wanted is not None)
        for route in own:
            way, times = rows_of(graph, route), [float(step.forth.first) for step in route.steps]
            assert (way[0], way[-1]) == ends
            assert times == sorted(times)
            for (u, v), t in zip(pairwise(way), times):
                assert t * 86_400 in graph.links.time[graph.links.sent(u, v)]
        if own:
            assert (len(own[0].steps), float(own[0].steps[-1].forth.last) * 86_400) == wanted
            assert float(own[-1].steps[-1].forth.last) * 86_400 == first_arrival(graph, *ends)
            assert len(own) == 1 or len(own[1].steps) > len(own[0].steps)


def test_a_step_says_what_runs_each_way() -> None:
    start, day = 1_735_689_600.0, 86_400.0
    graph = linked(
        3, [0, 0, 1, 2], [1, 1, 0, 1], names=["Ada", "Bo", "Cy"],
        time=start + np.array([0, 3, 9, 5]) * day, amount=np.array([1000.0, 200, 50, 9]),
    )  # fmt: skip
    found = paths(graph, 0, 2)
    (route,) = found.routes
    assert route.title == "Through 1 node"
    assert [step.text for step in route.steps] == [
        "→ 2 transfers, 1,200 EUR, 1–4 January 2025; ← 1 transfer, 50 EUR, 10 January 2025, 00:00",
        "← 1 transfer, 9 EUR, 6 January 2025, 00:00",
    ]
    (timed,) = found.in_time
    assert timed.title == "From Cy to Ada, fewest steps"
    assert timed.node_ids == ["n2", "n1", "n0"]
    assert [node.node_id for node in found.common] == ["n1"]
    assert found.common[0].text.startswith("Ada: → 2 transfers, 1,200 EUR, 1–4 January 2025; ← ")
    json.dumps(as_json(found), allow_nan=False)


def test_a_graph_without_links_has_ways_with_weights() -> None:
    graph = make_graph("abcd", np.array([[0, 1, 0], [1, 2, 2]]), weights=np.array([2.5, 1, 1], np.float32))
    found = paths(graph, 0, 1)
    assert [route.title for route in found.routes] == ["Directly", "Through 1 node"]
    assert found.routes[0].steps[0].text == "weight 2.5"
    assert found.in_time == []
    assert paths(graph, 0, 3).remarks == ["Nothing connects the two."]


def test_ways_and_common_neighbours_with_few_neighbours_come_before_hubs() -> None:
    hub, few = 2, 3
    fans = np.arange(4, 60)
    edges = np.hstack([[[0, hub, 0, few], [hub, 1, few, 1]], [np.full(len(fans), hub), fans]])
    found = paths(make_graph([str(i) for i in range(60)], edges), 0, 1)
    assert [route.node_ids[1] for route in found.routes] == [str(few), str(hub)]
    assert [node.node_id for node in found.common] == [str(few), str(hub)]


def test_a_search_that_was_cut_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, _ = random_transfers(0)
    monkeypatch.setattr(module, "EDGE_ENDS", 1)
    monkeypatch.setattr(module, "LINKS", 1)
    said = paths(graph, 0, 1).remarks
    assert said[0] == "There may be further ways: the search ended after 1 edges."
    assert said[1].startswith("There may be a way in time order from Name a to Name f: the search ended")


def test_a_node_is_not_asked_about_with_itself() -> None:
    with pytest.raises(InputError, match="two different nodes"):
        paths(make_graph("ab", np.array([[0], [1]])), 1, 1)
