from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import IsolationForest as Peer

from gadcore.detectors import load_detector, make_detector
from gadcore.detectors.baselines.simple import ALPHAS
from gadcore.errors import Cancelled, LabelError, ModelError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc


def _edges(graph):
    return np.vstack(sp.triu(graph.adjacency).nonzero())


@pytest.fixture(scope="module")
def outliers():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (200, 5))
    x[:10] += 6
    return make_graph(map(str, range(200)), np.array([[0], [1]]), x), np.r_[np.ones(10), np.zeros(190)]


def test_forest_finds_outlying_rows(outliers):
    graph, y = outliers
    detector = make_detector("isolation-forest").fit(graph, Labels.none())
    assert auc(y, detector.scores_) > 0.95
    assert detector.basis_ == "no labels"
    assert detector.auc_ is None


def test_forest_scores_equal_those_of_sklearn(outliers):
    graph, _ = outliers
    detector = make_detector("isolation-forest", seed=2, trees=50).fit(graph, Labels.none())
    peer = Peer(n_estimators=50, max_samples=200, random_state=2).fit(graph.x)
    assert np.allclose(detector.scores_, -peer.score_samples(graph.x), atol=2e-3)


def test_forest_takes_sparse_attributes(outliers):
    graph, _ = outliers
    sparse = make_graph(graph.node_ids, _edges(graph), sp.csr_array(graph.x))
    dense = make_detector("isolation-forest", trees=20).fit(graph, Labels.none())
    assert np.allclose(
        make_detector("isolation-forest", trees=20).fit(sparse, Labels.none()).scores_,
        dense.scores_,
        atol=1e-5,
    )


def test_forest_is_the_same_after_saving(outliers, tmp_path):
    graph, _ = outliers
    detector = make_detector("isolation-forest", trees=30).fit(graph, Labels.none())
    detector.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.array_equal(again.scores_, detector.scores_)
    assert np.allclose(again.score_new(graph), detector.scores_)


def test_forest_refuses_other_attributes(outliers, planted):
    detector = make_detector("isolation-forest", trees=10).fit(outliers[0], Labels.none())
    with pytest.raises(ModelError, match="trained on 5 attributes; this graph has 12"):
        detector.score_new(planted[0])


def test_forest_judges_itself_on_labels_it_did_not_use(planted, planted_labels):
    detector = make_detector("isolation-forest", trees=30).fit(planted[0], planted_labels)
    expected = auc(planted_labels.targets, detector.scores_[planted_labels.indices])
    assert detector.auc_ == pytest.approx(expected)


def test_verdicts_spread_along_edges(planted, planted_labels):
    graph, y = planted
    detector = make_detector("label-propagation").fit(graph, planted_labels)
    rest = np.setdiff1d(np.arange(300), planted_labels.indices)
    assert auc(y[rest], detector.scores_[rest]) > 0.75
    assert detector.alpha_ in ALPHAS
    assert 0 <= detector.scores_.min() <= detector.scores_.max() <= 1


def test_propagation_on_a_path_prefers_the_nearer_verdict():
    path = make_graph(list("abcde"), np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))
    labels = Labels.from_indices(path, normal=[0], anomalous=[4])
    scores = make_detector("label-propagation").fit(path, labels).scores_
    assert scores[1] < scores[2] < scores[3]
    assert scores[2] == pytest.approx(0.5, abs=1e-3)


def test_node_that_no_verdict_reaches_stays_undecided():
    graph = make_graph(list("abcd"), np.array([[0, 1], [1, 2]]))
    labels = Labels.from_indices(graph, normal=[0], anomalous=[2])
    scores = make_detector("label-propagation").fit(graph, labels).scores_
    assert scores[3] == pytest.approx(0.5, abs=1e-3)


def test_propagation_scores_a_grown_graph_and_survives_saving(planted, planted_labels, tmp_path):
    graph, _ = planted
    detector = make_detector("label-propagation").fit(graph, planted_labels)
    detector.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.array_equal(again.scores_, detector.scores_)
    near = int(planted_labels.anomalous[0])
    grown = make_graph([*graph.node_ids, "new"], np.hstack([_edges(graph), [[300], [near]]]), None)
    scores = again.score_new(grown)
    assert (scores[300] > scores).mean() > 0.8


def test_propagation_uses_validation_to_select(planted, planted_labels):
    graph, y = planted
    validation = Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[40:90], anomalous=np.flatnonzero(y == 1)[10:20]
    )
    detector = make_detector("label-propagation").fit(graph, planted_labels, validation=validation)
    assert detector.auc_ == pytest.approx(
        auc(validation.targets, detector.scores_[validation.indices]), abs=1e-6
    )


def test_propagation_needs_both_classes(planted):
    with pytest.raises(LabelError):
        make_detector("label-propagation").fit(planted[0], Labels.from_indices(planted[0], normal=[1]))


@pytest.mark.parametrize("name", ["isolation-forest", "label-propagation"])
def test_cancel_stops_the_fit(planted, planted_labels, name):
    with pytest.raises(Cancelled):
        make_detector(name).fit(planted[0], planted_labels, on_epoch=lambda _: True)
