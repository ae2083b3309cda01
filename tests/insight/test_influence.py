"""Influence of single verdicts: closed forms equal heads fitted without the change; places in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.insight.influence import Influence
from gadcore.insight.moved import Ranking, movers
from gadcore.loop.rerank import _head, coordinates
from gadcore.metrics import percentile_ranks

N = 120
WEIGHT = {3: 0.4, 7: 0.5}
OLD = {"n061": ("normal", 1.0), "n070": ("normal", 1.0)}


@pytest.fixture
def setting():
    rng = np.random.default_rng(0)
    graph = make_graph([f"n{i:03d}" for i in range(N)], np.array([np.arange(N - 1), np.arange(1, N)]))
    space = coordinates(rng.normal(size=(N, 6)).astype(np.float32))
    return graph, space, rng.random(N).astype(np.float32)


def head(graph, space, normal, anomalous):
    return _head(space, replace(Labels.from_indices(graph, normal, anomalous), weight=WEIGHT))


@pytest.mark.parametrize(
    ("node", "now", "before", "without"),
    [
        (3, 1, 0, ([0, 1, 2], [4, 7])),  # new
        (0, -1, 0, ([1, 2], [3, 4, 7])),
        (7, 1, -1, ([0, 1, 2, 7], [3, 4])),  # changed
        (9, 0, 1, ([0, 1, 2], [3, 4, 7, 9])),  # taken back
        (9, 0, -1, ([0, 1, 2, 9], [3, 4, 7])),
    ],
)
def test_the_bend_is_that_of_a_head_fitted_without_the_change(setting, node, now, before, without) -> None:
    graph, space, scores = setting
    labels = replace(Labels.from_indices(graph, [0, 1, 2], [3, 4, 7]), weight=WEIGHT)
    counts = WEIGHT.get(node, 1.0)
    influence = Influence(scores, space, labels)
    found = influence.bends(np.array([node]), np.array([now * counts]), np.array([before * counts]))[0]
    truth = head(graph, space, [0, 1, 2], [3, 4, 7]) - head(graph, space, *without)
    assert np.abs(truth).max() > 1e-3
    assert np.allclose(found, truth, atol=1e-8)


@pytest.mark.parametrize(
    ("now", "before", "weight", "was"),
    [(0, 1, {}, {9: 0.25}), (0, -1, {9: 1.0}, {9: 0.5}), (1, -1, {}, {9: 0.25}), (1, 1, {}, {9: 0.25})],
)
def test_a_label_counted_before_what_it_counted_then(setting, now, before, weight, was) -> None:
    """Taken back, reversed, or looked at after it had come with a group."""
    graph, space, scores = setting
    sides = {0: ([0, 1], [3, 4]), -1: ([0, 1, 9], [3, 4]), 1: ([0, 1], [3, 4, 9])}
    fitted = {
        key: replace(Labels.from_indices(graph, *sides[word]), weight=own)
        for key, word, own in (("now", now, weight), ("before", before, was))
    }
    influence = Influence(scores, space, fitted["now"])
    counts, counted = (own.get(9, 1.0) for own in (weight, was))
    found = influence.bends(np.array([9]), np.array([now * counts]), np.array([before * counted]))[0]
    truth = _head(space, fitted["now"]) - _head(space, fitted["before"])
    assert np.abs(truth).max() > 1e-3
    assert np.allclose(found, truth, atol=1e-8)


def test_changes_undone_together_give_the_head_of_before(setting) -> None:
    graph, space, scores = setting
    was = {8: 0.3}
    after = Labels.from_indices(graph, [0, 1, 2], [3, 4, 7])
    before = replace(Labels.from_indices(graph, [0, 1, 7], [4, 8]), weight=was)  # 2, 3 new, 7 changed, 8 gone
    influence = Influence(scores, space, after)
    found = influence.parts(np.array([2, 3, 7, 8]), np.array([-1.0, 1, 1, 0]), np.array([0.0, 0, -1, was[8]]))
    assert np.allclose(found.sum(axis=0), _head(space, after) - _head(space, before), atol=1e-8)


def risen_with_a_crowd(size: int, was: int = 10):
    """n010, which rises to rank 5 behind new labels that look like it: each stands in for the others."""
    rng = np.random.default_rng(1)
    graph = make_graph([f"n{i:03d}" for i in range(N)], np.array([[0], [1]]))
    basis = rng.normal(size=(N, 6)).astype(np.float32)
    alike = list(range(11, 11 + size))
    basis[alike] = basis[10] + 0.01 * rng.normal(size=(size, 6)).astype(np.float32)
    rank = np.arange(1, N + 1)
    rank[[was, 10]] = rank[[10, was]]
    now = np.arange(1, N + 1)
    now[[4, 10]] = now[[10, 4]]
    new = {**OLD, **{f"n{i:03d}": ("anomalous", 1.0) for i in alike}}
    learnt = Labels.from_indices(graph, [61, 70], alike)
    influence = Influence(-now.astype(np.float32), coordinates(basis), learnt)
    risen = movers(graph, Ranking(rank, OLD), Ranking(now, new), None, 3, influence)[0]
    return next(mover for mover in risen if mover.node_id == "n010")


@pytest.mark.parametrize("size", [3, 8])
def test_labels_that_stand_in_for_each_other_share_the_push(size) -> None:
    mover = risen_with_a_crowd(size)
    assert mover.reproduced
    assert [cause.share for cause in mover.causes] == pytest.approx([1 / size] * 3, abs=0.05)
    assert mover.causes[0].effect.startswith(f"{mover.causes[0].share:.0%} of the push up")
    assert mover.remark == f"without all changed labels: rank {mover.rank_now + mover.head}"


def test_a_move_that_the_head_does_not_show_is_not_told_in_places() -> None:
    mover = risen_with_a_crowd(1, was=N - 1)
    assert mover.rank_before == N
    assert 0 < mover.head < mover.places / 2
    assert [cause.node_id for cause in mover.causes] == ["n011"]
    assert mover.causes[0].places is None
    assert mover.causes[0].effect == "100% of the push up"
    assert mover.remark == "the linear model explains only part of this move"
    assert replace(mover, head=-3).remark == "the linear model does not explain this move"


def test_places_are_those_of_the_ranking_without_the_change(setting) -> None:
    from scipy.special import ndtri

    graph, space, scores = setting
    influence = Influence(scores, space, Labels.from_indices(graph, [0, 1], [3, 4]))
    bends = influence.bends(np.array([3, 0]), np.array([1.0, -1]), np.zeros(2))
    start = ndtri(percentile_ranks(scores))
    for change in (0, 1):
        moved = start - space @ bends[change]
        for node in (3, 50, 99):
            truth = int((moved > moved[node]).sum() - (start > start[node]).sum())
            assert influence.places([(node, change)], bends) == [truth]


def test_a_mover_names_the_label_without_which_it_would_fall_most() -> None:
    rng = np.random.default_rng(1)
    graph = make_graph([f"n{i:03d}" for i in range(N)], np.array([[0], [1]]))
    basis = rng.normal(size=(N, 6)).astype(np.float32)
    basis[10] = basis[11] + 0.01  # n010 looks like n011, and like nobody else
    space = coordinates(basis)
    rank = np.arange(1, N + 1)
    now = rank.copy()
    now[[4, 10]] = now[[10, 4]]  # n010 rises to rank 5
    labels = {**OLD, "n011": ("anomalous", 1.0), "n060": ("anomalous", 1.0)}
    learnt = Labels.from_indices(graph, [61, 70], [11, 60])
    influence = Influence(-now.astype(np.float32), space, learnt)
    known = {"n070": OLD["n070"]}
    risen, _ = movers(graph, Ranking(rank, known), Ranking(now, labels), None, 1, influence)
    assert [mover.node_id for mover in risen] == ["n010"]
    first = risen[0].causes[0]
    assert first.node_id == "n011"
    assert first.places > 0
    told = f"would stand {first.places:,} place{'s' * (first.places != 1)} lower without it"
    assert first.effect == f"{first.share:.0%} of the push up, {told}"
    assert all(first.share >= cause.share > 0 for cause in risen[0].causes)
