"""Forests on attributes that links give, and what they hear of the counterparties."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from gadcore.detectors import load_detector, make_detector
from gadcore.detectors.arrays import SavedModel, load_arrays
from gadcore.detectors.forests import Forest, grow
from gadcore.detectors.plus.counterparties import SENT, Circle, circles_of
from gadcore.detectors.plus.ensemble import AnPlus, shares
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.forest import LinkForest
from gadcore.detectors.surroundings import GraphView, Variants
from gadcore.graph import Graph, LinkMeaning, Links, make_graph
from gadcore.graph.labels import Labels

N, MARKED = 240, 40
QUICK = {"lambdas": (), "seed": 3}


def linked_graph(seed: int = 0) -> tuple[Graph, np.ndarray]:
    """Marked nodes pay a few collectors, whose attribute shows; their own attributes tell nothing."""
    rng = np.random.default_rng(seed)
    collectors, marked = np.arange(8), np.arange(8, 8 + MARKED)
    source, target = rng.integers(0, N, 900), rng.integers(8, N, 900)
    pays = np.repeat(marked, 2)
    source, target = np.r_[source, pays], np.r_[target, rng.choice(collectors, len(pays))]
    x = rng.random((N, 5)).astype(np.float32)
    x[collectors, 0] += 3
    names = [f"x{i}" for i in range(5)]
    graph = make_graph(map(str, range(N)), np.stack([source, target]), x, feature_names=names)
    kinds = rng.integers(0, 2, len(source))
    meaning = LinkMeaning(kind="kind", kinds=("card", "wire"))
    links = Links.make(N, source, target, kind=kinds, meaning=meaning)
    truth = np.zeros(N, dtype=np.int8)
    truth[marked] = truth[collectors] = 1
    return replace(graph, links=links, extra={"derived": [{"name": name} for name in names]}), truth


@pytest.fixture(scope="module")
def fitted() -> tuple[Graph, np.ndarray, AnPlus, Labels]:
    graph, truth = linked_graph()
    rng = np.random.default_rng(1)
    anomalous, normal = (rng.choice(np.flatnonzero(truth == v), 24, replace=False) for v in (1, 0))
    labels = Labels.from_indices(graph, normal=normal, anomalous=anomalous)
    return graph, truth, make_detector("an+", **QUICK).fit(graph, labels), labels


def forest_of(detector: AnPlus) -> LinkForest:
    return next(member for member in detector.members_ if isinstance(member, LinkForest))


def test_numpy_scores_rows_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(0)
    rows = np.round(rng.random((500, 6)), 2).astype(np.float32)  # equal values meet thresholds
    y = (rows[:, 0] + rows[:, 1] > 1).astype(int)
    grown = grow(rows[:80], y[:80], np.ones(80), seed=0)
    forest = grown.forest()
    again = Forest.of_arrays(forest.arrays(), forest.flat.depth)
    for one in (forest, again):
        np.testing.assert_allclose(one.scores(rows), grown.scores(rows), atol=1e-5)
    margin, added = forest.flat.down(rows[:1])
    base = forest.flat.value[forest.flat.roots].sum()
    assert margin[0] == pytest.approx(base + added.sum())


def test_a_label_is_held_out_from_its_own_score() -> None:
    rng = np.random.default_rng(0)
    rows, y = rng.random((60, 4)).astype(np.float32), np.r_[np.zeros(30), np.ones(30)].astype(int)
    grown = grow(rows, y, np.ones(60), seed=0)
    seen = grown.scores(rows)
    assert seen[y == 1].mean() - seen[y == 0].mean() > 0.3  # trees know what they saw
    assert abs(grown.held[y == 1].mean() - grown.held[y == 0].mean()) < 0.15  # there is nothing to learn


def test_circles_hold_each_counterparty_once_by_direction_and_kind() -> None:
    graph, _ = linked_graph()
    links = graph.links
    assert links is not None
    received, sent, either, *by_kind = circles_of(graph).around(np.arange(graph.n_nodes))
    assert len(by_kind) == 2
    for node in (0, 9, 100):
        into, out = (
            set(links.source[links.into(node)]) - {node},
            set(links.target[links.out_of(node)]) - {node},
        )
        assert list(received.of(node)) == sorted(into)
        assert list(sent.of(node)) == sorted(out)
        assert list(either.of(node)) == sorted(into | out)
        rows = links.of(node)
        for kind, circle in enumerate(by_kind):
            ends = rows[links.kind[rows] == kind]
            assert list(circle.of(node)) == sorted({*links.source[ends], *links.target[ends]} - {node})


def test_statistics_of_counterparties() -> None:
    circle = Circle(np.array([0, 2, 2, 4, 4]), np.array([1, 2, 0, 1]))
    p = np.array([0.1, 0.6, 0.2, 0.9])
    expected = [[0.4, 0.6, 0.8], [0, 0, 0], [0.35, 0.6, 0.7], [0, 0, 0]]
    np.testing.assert_allclose(circle.statistics(p), expected, rtol=1e-6)
    np.testing.assert_allclose(circle.shares(0, p), [[0.75, 0.25], [1, 0], [0.75, 0.25]])


def test_who_pays_a_collector_is_found_by_direction(fitted) -> None:
    _, truth, detector, labels = fitted
    member = forest_of(detector)
    rest = np.setdiff1d(np.arange(8, N), labels.indices)
    marked, others = rest[truth[rest] == 1], rest[truth[rest] == 0]
    above = np.mean(member.scores[marked][:, None] > member.scores[others][None, :])
    assert above > 0.9
    assert np.mean(member.first[marked][:, None] > member.first[others][None, :]) < 0.8


def test_later_nodes_are_scored_as_those_of_the_fit(fitted, tmp_path) -> None:
    graph, _, detector, _ = fitted
    detector.save(tmp_path)
    again = load_detector(tmp_path)
    np.testing.assert_array_equal(again.scores_, detector.scores_)
    np.testing.assert_allclose(again.score_new(graph), detector.scores_, atol=2e-3)
    np.testing.assert_allclose(
        forest_of(again).score_new(GraphCache(graph)), forest_of(detector).scores, atol=1e-5
    )


def test_parts_add_up_to_the_score_and_name_the_counterparty(fitted, tmp_path) -> None:
    graph, truth, detector, labels = fitted
    detector.save(tmp_path)
    saved = SavedModel(tmp_path, json.loads((tmp_path / "detector.json").read_text()), load_arrays(tmp_path))
    share = next(s for s in shares(saved) if isinstance(s.member, LinkForest))
    view = GraphView(graph)
    node = int(np.setdiff1d(np.flatnonzero(truth[8:] == 1) + 8, labels.indices)[0])
    variants = Variants(view, node, np.zeros(0, np.int64))
    account = share.member.account(variants)
    assert account.total == pytest.approx(float(share.scores[node]), abs=1e-5)
    assert account.nodes[node] == 0
    sent = circles_of(graph).around(np.array([node]))[SENT].nodes
    assert int(np.argmax(account.nodes)) in sent[sent < 8]
    assert len(share.member.raw(Variants(view, node, graph.neighbours(node)[0][:2]))) == 1


def test_graphs_without_derived_columns_have_no_forest(planted, planted_labels) -> None:
    graph, _ = planted
    detector = make_detector("an+", **QUICK).fit(graph, planted_labels)
    assert not [m for m in detector.members_ if isinstance(m, LinkForest)]


def test_derived_columns_without_their_links_give_no_forest(fitted) -> None:
    graph, _, _, labels = fitted
    detector = make_detector("an+", **QUICK).fit(replace(graph, links=None), labels)
    assert not [m for m in detector.members_ if isinstance(m, LinkForest)]


def test_without_labels_nodes_are_not_held_against_their_counterparties_where_links_give_attributes() -> None:
    graph, _ = linked_graph()
    first = make_detector("an+", **QUICK).fit(graph, Labels.none())
    weights = {member.kind: weight for member, weight in zip(first.members_, first.weights_)}
    assert weights == pytest.approx({"attributes": 0.75, "neighbourhood": 0.25})
