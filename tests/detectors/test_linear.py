from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from gadcore.detectors import load_detector, logistic, make_detector
from gadcore.detectors.arrays import propagate
from gadcore.detectors.heads import FeatureTable, HeadTask, fit_head
from gadcore.detectors.held_out import fold_auc, label_folds
from gadcore.detectors.logistic import balanced, fit_logistic
from gadcore.errors import LabelError, ModelError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, auc_error


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = (np.arange(40) % 4 == 0).astype(np.int8)
    return rng.normal(0, 1, (40, 90)) + 0.4 * y[:, None], y


@pytest.mark.parametrize("columns", [8, 90])
def test_solver_agrees_with_sklearn(rows, columns, monkeypatch):
    monkeypatch.setattr(logistic, "TOLERANCE", 1e-6)
    z, y = rows[0][:, :columns], rows[1]
    strengths = np.array([0.01, 1.0, 10.0])
    w, b = fit_logistic(z, y, np.tile(balanced(y)[:, None], (1, 3)), strengths)
    for i, strength in enumerate(strengths):
        peer = LogisticRegression(C=strength, class_weight="balanced", max_iter=5000, tol=1e-8).fit(z, y)
        assert np.corrcoef(z @ w[:, i] + b[i], peer.decision_function(z))[0, 1] > 0.9999
        assert np.linalg.norm(w[:, i] - peer.coef_[0]) < 0.03 * np.linalg.norm(peer.coef_)


def test_row_of_weight_zero_is_left_out(rows, monkeypatch):
    monkeypatch.setattr(logistic, "TOLERANCE", 1e-6)
    z, y = rows
    keep = np.arange(40) < 30
    w_all, b_all = fit_logistic(z, y, balanced(y, keep.astype(float))[:, None], np.ones(1))
    w_part, b_part = fit_logistic(z[keep], y[keep], balanced(y[keep])[:, None], np.ones(1))
    assert np.allclose(w_all, w_part, atol=1e-3 * np.abs(w_part).max())
    assert b_all == pytest.approx(b_part, abs=1e-3)


def test_balanced_gives_both_classes_the_same_weight(rows):
    weight = balanced(rows[1])
    assert weight[rows[1] == 1].sum() == pytest.approx(weight[rows[1] == 0].sum())
    assert weight.sum() == pytest.approx(40)


def test_folds_spread_each_class_evenly():
    y = np.array([0] * 17 + [1] * 7)
    fold = label_folds(y, 5, seed=1)
    assert [int((y[fold == f] == 1).sum()) for f in range(5)] == [2, 2, 1, 1, 1]
    assert label_folds(np.array([0, 0, 0, 1]), 5, seed=0) is None


def test_fold_auc_compares_only_within_a_fold():
    y, fold = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    assert fold_auc(y, np.array([10.0, 11.0, 0.0, 1.0]), fold) == 1.0


def test_ranks_planted_anomalies_far_above_chance(planted, planted_labels):
    graph, y = planted
    detector = make_detector("sgc-lr").fit(graph, planted_labels)
    rest = np.setdiff1d(np.arange(graph.n_nodes), planted_labels.indices)
    assert auc(y[rest], detector.scores_[rest]) > 0.9
    assert 0.5 < detector.auc_ <= 1
    assert len(detector.history_) == 4


def test_score_is_the_sum_of_its_parts(planted, planted_labels):
    graph, _ = planted
    detector = make_detector("sgc-lr").fit(graph, planted_labels)
    head = detector.head_
    row = np.asarray(propagate(graph, head.hops)[head.hops])[7]
    parts = head.coefficient * row / np.linalg.norm(row)
    assert parts.sum() + head.intercept == pytest.approx(detector.scores_[7], abs=1e-4)


def test_standardised_head_is_linear_in_the_raw_columns(planted, planted_labels):
    graph, _ = planted
    power = propagate(graph, 1)[1]
    task = HeadTask.make(planted_labels, None, None, (1.0,))
    head = fit_head(task, FeatureTable(power), 1, unit=False).head
    z = np.asarray(power, dtype=np.float64)
    peer = LogisticRegression(C=1.0, class_weight="balanced", max_iter=5000, tol=1e-8)
    scaled = (z - z.mean(0)) / z.std(0)
    peer.fit(scaled[task.nodes], task.y)
    assert np.allclose(head.scores(power), peer.decision_function(scaled), atol=0.03)


def test_sparse_and_dense_attributes_give_the_same_scores(planted, planted_labels):
    graph, _ = planted
    x = np.where(np.asarray(graph.x) > 0.6, graph.x, 0)
    edges = np.vstack(sp.triu(graph.adjacency).nonzero())
    dense = make_graph(graph.node_ids, edges, x)
    sparse = make_graph(graph.node_ids, edges, sp.csr_array(x))
    a, b = (make_detector("sgc-lr").fit(g, planted_labels).scores_ for g in (dense, sparse))
    assert np.allclose(a, b, atol=1e-2 * np.abs(a).max())


def test_validation_replaces_folds(planted, planted_labels):
    graph, y = planted
    validation = Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[40:80], anomalous=np.flatnonzero(y == 1)[10:20]
    )
    detector = make_detector("sgc-lr").fit(graph, planted_labels, validation=validation)
    assert detector.out_of_fold_ is None
    nodes = validation.indices
    assert detector.auc_ == pytest.approx(auc(validation.targets, detector.scores_[nodes]), abs=1e-3)


def test_out_of_fold_scores_are_at_the_labels_only(planted, planted_labels):
    graph, _ = planted
    detector = make_detector("sgc-lr").fit(graph, planted_labels)
    known = np.flatnonzero(np.isfinite(detector.out_of_fold_))
    assert set(known) == set(planted_labels.indices)


def test_one_label_of_each_class_gives_a_ranking_without_an_estimate(planted):
    graph, y = planted
    labels = Labels.from_indices(graph, normal=[int(np.argmin(y))], anomalous=[int(np.argmax(y))])
    detector = make_detector("sgc-lr").fit(graph, labels)
    assert np.isfinite(detector.scores_).all()
    assert detector.auc_ is None
    assert detector.out_of_fold_ is None


def test_saved_and_loaded_scores_are_equal(planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = make_detector("sgc-lr", seed=3).fit(graph, planted_labels)
    detector.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.array_equal(again.scores_, detector.scores_)
    assert np.allclose(again.score_new(graph), detector.scores_)
    assert again.auc_ == detector.auc_


def test_scores_nodes_that_arrive_later(planted, planted_labels):
    graph, _ = planted
    detector = make_detector("sgc-lr").fit(graph, planted_labels)
    edges = np.vstack(sp.triu(graph.adjacency).nonzero())
    copied = int(planted_labels.anomalous[0])
    neighbours, _ = graph.neighbours(copied)
    more = np.hstack([edges, np.vstack([np.full(len(neighbours), 300), neighbours])])
    grown = make_graph([*graph.node_ids, "new"], more, np.vstack([graph.x, graph.x[copied]]))
    scores = detector.score_new(grown)
    assert scores.shape == (301,)
    assert (scores[300] > scores).mean() > 0.7


def test_other_attributes_are_a_clear_error(planted, planted_labels):
    graph, _ = planted
    detector = make_detector("sgc-lr").fit(graph, planted_labels)
    other = make_graph(["a", "b", "c"], np.array([[0, 1], [1, 2]]), np.ones((3, 2), dtype=np.float32))
    with pytest.raises(ModelError, match="trained on 12 attributes; this graph has 2"):
        detector.score_new(other)


def test_missing_class_is_a_clear_error(planted):
    graph, _ = planted
    with pytest.raises(LabelError, match="at least one normal and one anomalous"):
        make_detector("sgc-lr").fit(graph, Labels.from_indices(graph, normal=[1, 2]))


def test_graph_without_attributes_learns_from_edges(planted, planted_labels):
    graph, y = planted
    free = make_graph(graph.node_ids, np.vstack(sp.triu(graph.adjacency).nonzero()))
    detector = make_detector("sgc-lr").fit(free, planted_labels)
    rest = np.setdiff1d(np.arange(graph.n_nodes), planted_labels.indices)
    assert auc(y[rest], detector.scores_[rest]) > 0.7
    edges = np.hstack([np.vstack(sp.triu(graph.adjacency).nonzero()), [[300], [5]]])
    assert detector.score_new(make_graph([*graph.node_ids, "new"], edges)).shape == (301,)


def test_a_cautious_task_gives_away_no_more_than_the_labels_can_tell(planted, planted_labels):
    planted = planted[0]
    fold = label_folds(planted_labels.targets, 5, seed=0)
    # More attributes than labels, which all strengths separate.
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 1, (planted.n_nodes, len(planted_labels) + 20))
    table = FeatureTable(np.hstack([planted.x.toarray() if sp.issparse(planted.x) else planted.x, noise]))
    task = HeadTask.make(planted_labels, None, fold, (0.01, 1.0, 10.0, 1e4))
    free, cautious = fit_head(task, table, 0), fit_head(replace(task, cautious=True), table, 0)
    y = planted_labels.targets
    error = auc_error(free.auc, int(y.sum()), int((1 - y).sum()))
    assert cautious.auc >= free.auc - 2 * error
    each = {c: fit_head(replace(task, strengths=np.array([c])), table, 0).auc for c in task.strengths}
    near = {c for c, value in each.items() if value >= free.auc - 2 * error}
    assert cautious.head.strength == min(near, key=lambda c: abs(np.log10(c / 10.0)))


def test_few_attributes_choose_freely(planted, planted_labels):
    planted = planted[0]
    fold = label_folds(planted_labels.targets, 5, seed=0)
    task, table = HeadTask.make(planted_labels, None, fold), FeatureTable(planted.x)
    assert planted.n_features <= len(planted_labels)
    cautious = fit_head(replace(task, cautious=True), table, 0)
    assert cautious.head.strength == fit_head(task, table, 0).head.strength
