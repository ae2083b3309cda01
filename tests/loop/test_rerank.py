"""The provisional ranking: the run's own without verdicts, bent towards and away from what is like them."""

from __future__ import annotations

import numpy as np
import pytest

from gadcore.graph.labels import Labels
from gadcore.loop.rerank import Reranker, coordinates, label_changes
from gadcore.loop.strategies import diversity_basis


@pytest.fixture(scope="module")
def space(planted):
    return coordinates(diversity_basis(planted[0]))


@pytest.fixture(scope="module")
def scores(planted) -> np.ndarray:
    """A ranking that knows nothing, with ties."""
    return np.round(np.random.default_rng(3).random(planted[0].n_nodes), 2).astype(np.float32)


def with_verdict(graph, labels: Labels, node: int, verdict: str) -> Labels:
    parts = {"normal": labels.normal, "anomalous": labels.anomalous}
    parts[verdict] = np.append(parts[verdict], node)
    return Labels.from_indices(graph, **parts)


def alike(space: np.ndarray, node: int, n: int = 20) -> np.ndarray:
    """The nodes most like one, and those least like it."""
    likeness = space @ space[node]
    order = np.argsort(-likeness, kind="stable")
    order = order[order != node]
    return np.stack([order[:n], order[-n:]])


def test_without_a_new_verdict_the_order_is_the_run_s_own(scores, space, planted_labels) -> None:
    reranker = Reranker(scores, space)
    assert reranker.rank(planted_labels, planted_labels) is None
    assert reranker.rank(Labels.none(), Labels.none()) is None


def test_unsure_is_no_verdict_to_learn_from(planted, scores, space, planted_labels) -> None:
    graph = planted[0]
    now = Labels.from_indices(graph, planted_labels.normal, planted_labels.anomalous, unsure=[299])
    assert Reranker(scores, space).rank(planted_labels, now) is None


@pytest.mark.parametrize("verdict", ["normal", "anomalous"])
@pytest.mark.parametrize("known", [True, False])
def test_a_verdict_moves_what_is_like_the_node(
    planted, scores, space, planted_labels, verdict, known
) -> None:
    graph, y = planted
    before = planted_labels if known else Labels.none()
    expected = 0 if verdict == "normal" else 1
    node = int(np.setdiff1d(np.flatnonzero(y == expected), before.indices)[0])
    bent = Reranker(scores, space).rank(before, with_verdict(graph, before, node, verdict))
    still = np.argsort(np.argsort(-scores, kind="stable"), kind="stable") + 1
    gained = still - bent.rank
    like, unlike = alike(space, node)
    way = 1 if verdict == "anomalous" else -1
    assert way * gained[like].mean() > 0
    assert way * gained[like].mean() > way * gained[unlike].mean()
    assert bent.verdicts == 1


def test_a_verdict_moves_its_own_node_the_right_way(planted, scores, space, planted_labels) -> None:
    graph = planted[0]
    reranker = Reranker(scores, space)
    for node in np.setdiff1d(np.arange(graph.n_nodes), planted_labels.indices)[:40]:
        up = reranker.rank(planted_labels, with_verdict(graph, planted_labels, int(node), "anomalous"))
        down = reranker.rank(planted_labels, with_verdict(graph, planted_labels, int(node), "normal"))
        assert up.scores[node] > down.scores[node]
        assert up.rank[node] <= down.rank[node]


def test_taking_a_verdict_back_takes_its_effect_back(planted, scores, space, planted_labels) -> None:
    graph = planted[0]
    reranker = Reranker(scores, space)
    one = with_verdict(graph, planted_labels, 299, "anomalous")
    two = with_verdict(graph, one, 298, "normal")
    first = reranker.rank(planted_labels, one)
    assert not np.array_equal(reranker.rank(planted_labels, two).scores, first.scores)
    assert np.array_equal(reranker.rank(planted_labels, one).scores, first.scores)
    assert reranker.rank(planted_labels, planted_labels) is None


def test_a_reversed_label_counts_as_one_change(planted, scores, space, planted_labels) -> None:
    graph, labels = planted[0], planted_labels
    node = int(labels.normal[0])
    now = Labels.from_indices(graph, labels.normal[1:], np.append(labels.anomalous, node))
    assert label_changes(labels, now, graph.n_nodes).tolist() == [node]
    bent = Reranker(scores, space).rank(labels, now)
    assert bent.verdicts == 1
    assert bent.rank[node] < np.sum(scores > scores[node]) + 1


def test_a_heavier_label_moves_more(planted, scores, space, planted_labels) -> None:
    graph = planted[0]
    plain = with_verdict(graph, planted_labels, 299, "anomalous")
    heavy = Labels(plain.normal, plain.anomalous, weight={299: 5.0})
    reranker = Reranker(scores, space)
    assert label_changes(plain, heavy, graph.n_nodes).tolist() == [299]
    assert reranker.rank(planted_labels, heavy).scores[299] > reranker.rank(planted_labels, plain).scores[299]


def test_new_verdicts_find_the_planted_group(planted, scores, space) -> None:
    """From a blind ranking, a few verdicts bring the rest of the group up."""
    graph, y = planted
    normal, anomalous = np.flatnonzero(y == 0)[:5], np.flatnonzero(y == 1)[:5]
    bent = Reranker(scores, space).rank(Labels.none(), Labels.from_indices(graph, normal, anomalous))
    rest = np.setdiff1d(np.flatnonzero(y == 1), anomalous)
    assert np.median(bent.rank[rest]) < 0.5 * graph.n_nodes * 0.5
