"""The member of an+ that lifts what a view of the graph shouts about."""

from __future__ import annotations

import numpy as np

from gadcore.detectors import load_detector, make_detector
from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import ranks


def with_mules(n: int = 1000, mules: int = 40, seed: int = 0) -> Graph:
    """A random graph whose first nodes nearly all are linked, and have the most ordinary attributes."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (2, 4 * n))
    i, j = np.triu_indices(mules, 1)
    kept = rng.random(len(i)) < 0.85
    x = rng.normal(size=(n, 6))
    x[:mules] *= 0.05
    edges = np.hstack([ends[:, ends[0] != ends[1]], np.vstack([i[kept], j[kept]])])
    return make_graph(range(n), edges, x)


def test_mules_that_form_nearly_a_clique_rank_first_without_a_label() -> None:
    graph = with_mules()
    model = make_detector("an+").fit(graph, Labels.none())
    assert "loud" in [member.name for member in model.members_]
    assert np.median(ranks(model.scores_)[:40]) <= 40


def test_normal_verdicts_on_a_loud_view_turn_it_down() -> None:
    graph = with_mules()
    first = make_detector("an+").fit(graph, Labels.none())
    then = make_detector("an+").fit(graph, Labels.from_indices(graph, normal=range(6)))
    loud = {member.name: member.scores for member in then.members_}["loud"]
    before = {member.name: member.scores for member in first.members_}["loud"]
    np.testing.assert_allclose(loud[:40], before[:40] / 49, rtol=1e-5)


def test_where_no_view_is_loud_the_member_does_not_exist(planted) -> None:
    model = make_detector("an+").fit(planted[0], Labels.none())
    assert {member.kind for member in model.members_} == {"attributes", "residual", "neighbourhood"}


def test_a_saved_model_scores_as_before(tmp_path) -> None:
    graph = with_mules()
    model = make_detector("an+").fit(graph, Labels.none())
    model.save(tmp_path / "model")
    again = load_detector(tmp_path / "model")
    np.testing.assert_allclose(again.score_new(graph), model.scores_, atol=1e-5)
