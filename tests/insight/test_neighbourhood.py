"""The view around a case: bounded, chosen by suspicion, and still."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from gadcore.errors import InputError, NotFound
from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.insight.neighbourhood import MAX_NODES, STEP, neighbourhood
from gadcore.records import Neighbourhood, as_json


def star(n: int, *, weights: np.ndarray | None = None, rim: bool = False) -> Graph:
    """Node 0 joined to n others; with ``rim`` the others form a circle."""
    spokes = np.vstack([np.zeros(n, int), np.arange(1, n + 1)])
    if rim:
        others = np.arange(1, n + 1)
        spokes = np.hstack([spokes, np.vstack([others, np.roll(others, 1)])])
    return make_graph([f"n{i}" for i in range(n + 1)], spokes, weights=weights)


def no_verdicts(graph: Graph) -> np.ndarray:
    return np.full(graph.n_nodes, -1, np.int8)


def places(view: Neighbourhood) -> dict[str, tuple[float, float]]:
    return {node.node_id: (node.x, node.y) for node in view.nodes}


def ids(view: Neighbourhood) -> set[str]:
    return {node.node_id for node in view.nodes}


def test_shows_every_neighbour_and_every_edge_between_them_when_few(planted):
    graph, _ = planted
    view = neighbourhood(graph, None, None, 5)
    wanted = {5, *graph.neighbours(5)[0].tolist()}
    assert ids(view) == {str(graph.node_ids[i]) for i in wanted}
    inside = graph.adjacency[sorted(wanted)][:, sorted(wanted)]
    assert len(view.edges) == inside.nnz // 2
    assert view.centre == view.nodes[0].node_id == "n005"
    assert view.left_out == 0


def test_hop_is_the_distance_from_the_centre(planted):
    graph, _ = planted
    view = neighbourhood(graph, None, None, 5, hops=2, cap=300)
    first = set(graph.neighbours(5)[0].tolist())
    for node in view.nodes:
        row = graph.index_of(node.node_id)
        assert node.hop == (0 if row == 5 else 1 if row in first else 2)


def test_a_hub_shows_the_most_suspicious_and_counts_the_rest():
    graph = star(500)
    percentile = np.linspace(0, 100, 501)
    view = neighbourhood(graph, percentile, no_verdicts(graph), 0, cap=20)
    assert ids(view) == {"n0"} | {f"n{i}" for i in range(481, 501)}
    assert view.left_out == 480
    assert view.nodes[0].hidden == 480
    assert view.nodes[0].degree == 500


def test_known_anomalies_come_before_high_scores():
    graph = star(100)
    percentile = np.linspace(0, 100, 101)
    verdicts = no_verdicts(graph)
    verdicts[[3, 4]] = 1
    view = neighbourhood(graph, percentile, verdicts, 0, cap=10)
    assert {"n3", "n4"} <= ids(view)


def test_heavier_edges_win_at_equal_suspicion():
    weights = np.ones(60, np.float32)
    weights[[7, 30]] = 50.0
    graph = star(60, weights=weights)
    view = neighbourhood(graph, np.full(61, 50.0), no_verdicts(graph), 0, cap=2)
    assert ids(view) == {"n0", "n8", "n31"}


def test_view_never_exceeds_its_limit():
    rng = np.random.default_rng(0)
    graph = make_graph(range(2000), rng.integers(0, 2000, (2, 60_000)))
    view = neighbourhood(graph, rng.random(2000), None, 0, hops=3, cap=5000, expanded=range(50))
    assert len(view.nodes) == MAX_NODES
    assert len({node.node_id for node in view.nodes}) == MAX_NODES
    shown = ids(view)
    assert all(edge.source in shown and edge.target in shown for edge in view.edges)


def test_one_more_hop_moves_nothing(planted):
    graph, _ = planted
    percentile = np.arange(300) / 3
    one, two, three = (places(neighbourhood(graph, percentile, None, 17, hops=h)) for h in (1, 2, 3))
    assert len(one) < len(two) < len(three)
    assert one.items() <= two.items() <= three.items()


@pytest.mark.parametrize("hops", [1, 2])
def test_a_larger_cap_only_adds(hops):
    rng = np.random.default_rng(3)
    edges = np.hstack([np.vstack([np.zeros(400, int), np.arange(1, 401)]), rng.integers(1, 900, (2, 1500))])
    graph = make_graph(range(900), edges)
    percentile = rng.random(900) * 100
    some, more, most = (
        places(neighbourhood(graph, percentile, None, 0, hops=hops, cap=cap)) for cap in (60, 120, 300)
    )
    assert len(some) < len(more) < len(most)
    assert some.items() <= more.items() <= most.items()


def test_a_neighbour_that_was_cut_keeps_its_hop_when_it_comes_in_through_another():
    graph = star(100, rim=True)
    view = neighbourhood(graph, np.linspace(0, 100, 101), None, 0, hops=2, cap=10)
    assert len(view.nodes) > 11
    assert {node.hop for node in view.nodes[1:]} == {1}


def test_expanding_a_node_adds_around_it_and_moves_nothing():
    graph = star(400)
    percentile = np.linspace(0, 100, 401)
    before = neighbourhood(graph, percentile, None, 0, cap=30)
    after = neighbourhood(graph, percentile, None, 0, cap=30, expanded=["n0"])
    again = neighbourhood(graph, percentile, None, 0, cap=30, expanded=["n0", "n0"])
    assert places(before).items() <= places(after).items()
    assert len(after.nodes) == len(before.nodes) + STEP
    assert len(again.nodes) == len(before.nodes) + 2 * STEP
    assert after.left_out == before.left_out - STEP


def test_expanding_what_is_not_in_view_changes_nothing():
    graph = star(50)
    view = neighbourhood(graph, np.linspace(0, 100, 51), None, 0, cap=10)
    assert neighbourhood(graph, np.linspace(0, 100, 51), None, 0, cap=10, expanded=["n1"]) == view


def test_labels_move_nothing_and_swap_nobody():
    graph = star(300, rim=True)
    percentile = np.linspace(0, 100, 301)
    verdicts = no_verdicts(graph)
    before = neighbourhood(graph, percentile, verdicts, 0, cap=40)
    for row, verdict in ((290, 1), (280, 0), (275, -2)):
        verdicts[row] = verdict
    after = neighbourhood(graph, percentile, verdicts, 0, cap=40)
    assert places(after) == places(before)


def test_a_retrain_moves_nothing_where_all_neighbours_are_shown(planted):
    graph, _ = planted
    rng = np.random.default_rng(1)
    before = neighbourhood(graph, rng.random(300) * 100, None, 42)
    after = neighbourhood(graph, rng.random(300) * 100, None, 42)
    assert places(after) == places(before)


def test_a_retrain_moves_few_of_those_that_stay_at_a_hub():
    graph = star(400, rim=True)
    rng = np.random.default_rng(2)
    percentile = rng.random(401) * 100
    before = places(neighbourhood(graph, percentile, None, 0))
    after = places(neighbourhood(graph, percentile + rng.normal(0, 3, 401), None, 0))
    stayed = before.keys() & after.keys()
    assert 30 < len(stayed) < 61
    steps = [math.dist(before[node], after[node]) for node in stayed]
    assert np.median(steps) == 0.0


def test_connected_neighbours_stand_side_by_side():
    graph = star(20, rim=True)
    view = neighbourhood(graph, None, None, 0)
    angle = {node.node_id: math.atan2(node.y, node.x / 1.3) for node in view.nodes[1:]}
    step = []
    for edge in view.edges:
        if edge.source != "n0":
            apart = abs(angle[edge.source] - angle[edge.target]) % (2 * math.pi)
            step.append(min(apart, 2 * math.pi - apart))
    assert np.mean(step) < 0.25 * np.pi


def test_no_two_nodes_share_a_place(planted):
    graph, _ = planted
    hub = star(400)
    views = [neighbourhood(graph, None, None, node, hops=3) for node in range(0, 300, 50)]
    views.append(neighbourhood(hub, None, None, 0, expanded=["n0", "n0", "n0"]))
    for view in views:
        xy = np.array([(node.x, node.y) for node in view.nodes])
        apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) + 1e9 * np.eye(len(xy))
        assert apart.min() > 20


def test_same_call_same_view(planted):
    graph, _ = planted
    percentile = np.arange(300) / 3
    views = [neighbourhood(graph, percentile, None, 9, hops=2, expanded=[9]) for _ in range(2)]
    assert views[0] == views[1]


def test_an_isolated_node_stands_alone():
    graph = make_graph(["a", "b", "c"], np.array([[1], [2]]))
    view = neighbourhood(graph, None, None, "a", hops=3)
    assert [node.node_id for node in view.nodes] == ["a"]
    assert view.edges == []
    assert view.left_out == 0


def test_nodes_carry_verdict_score_and_attributes(planted):
    graph, _ = planted
    table = pd.DataFrame({"kind": ["x"] * 300, "amount": np.arange(300) * 0.5, "empty": [None] * 300})
    graph = dataclasses.replace(graph, node_table=table)
    labels = Labels.from_indices(graph, normal=[5], anomalous=[int(graph.neighbours(5)[0][0])])
    percentile = np.arange(300) / 3
    scores = np.arange(300) * 2.0
    view = neighbourhood(graph, percentile, labels.as_array(300), "n005", scores=scores)
    centre = view.nodes[0]
    assert (centre.verdict, centre.score, centre.percentile) == ("normal", 10.0, pytest.approx(5 / 3))
    assert centre.attributes == {"kind": "x", "amount": "2.5"}
    assert sum(node.verdict == "anomalous" for node in view.nodes) == 1
    assert as_json(view)["nodes"][0]["node_id"] == "n005"


def test_missing_scores_are_no_suspicion():
    graph = star(30)
    percentile = np.full(31, np.nan)
    percentile[[2, 3]] = 10.0
    view = neighbourhood(graph, percentile, None, 0, cap=2)
    assert ids(view) == {"n0", "n2", "n3"}
    assert all(np.isfinite(node.score) for node in view.nodes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"hops": 0}, "0 hops"),
        ({"hops": 4}, "1 to 3"),
        ({"cap": 0}, "cap of 0"),
        ({"node": 99}, "rows 0 to 5"),
    ],
)
def test_impossible_requests_are_refused(call, words):
    with pytest.raises(InputError, match=words):
        neighbourhood(star(5), None, None, **{"node": 0, **call})


def test_an_unknown_id_is_named():
    with pytest.raises(NotFound, match="nobody"):
        neighbourhood(star(5), None, None, "nobody")
