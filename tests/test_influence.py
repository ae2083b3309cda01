"""Influence of single verdicts: closed forms equal heads fitted without the change; places in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gadcore.graph import make_graph
from gadcore.influence import Influence
from gadcore.labels import Labels
from gadcore.metrics import percentile_ranks
from gadcore.moved import Ranking, movers
from gadcore.provisional import _head, coordinates

N = 120
WEIGHT = {3: 0.4, 7: 0.5}


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
    labels = Labels.from_indices(graph, [0, 1, 2], [3, 4, 7])
    influence = Influence(scores, space, labels, WEIGHT)
    found = influence.bends(np.array([node]), np.array([now], np.int8), np.array([before], np.int8))[0]
    truth = head(graph, space, [0, 1, 2], [3, 4, 7]) - head(graph, space, *without)
    assert np.abs(truth).max() > 1e-3
    assert np.allclose(found, truth, atol=1e-8)


def test_places_are_those_of_the_ranking_without_the_change(setting) -> None:
    from scipy.special import ndtri

    graph, space, scores = setting
    influence = Influence(scores, space, Labels.from_indices(graph, [0, 1], [3, 4]), {})
    bends = influence.bends(np.array([3, 0]), np.array([1, -1], np.int8), np.array([0, 0], np.int8))
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
    labels = {"n011": "anomalous", "n060": "anomalous", "n061": "normal", "n070": "normal"}
    learnt = Labels.from_indices(graph, [61, 70], [11, 60])
    influence = Influence(-now.astype(np.float32), space, learnt, {})
    risen, _ = movers(graph, Ranking(rank, {"n070": "normal"}), Ranking(now, labels), None, 1, influence)
    assert [mover.node_id for mover in risen] == ["n010"]
    first = risen[0].causes[0]
    assert first.node_id == "n011"
    assert first.places > 0
    assert first.without == f"would stand {first.places:,} place{'s' * (first.places != 1)} lower without it"
    assert all(first.places >= cause.places >= 0 for cause in risen[0].causes)
