from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gadcore.detectors import load_detector, make_detector
from gadcore.detectors.arrays import propagate
from gadcore.detectors.boosters import stacked
from gadcore.detectors.plus.members import trees
from gadcore.errors import Cancelled, LabelError, ModelError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc


@pytest.fixture(scope="module")
def fitted(planted, planted_labels):
    return make_detector("xgb-graph", rounds=60).fit(planted[0], planted_labels)


def test_ranks_planted_anomalies_far_above_chance(planted, planted_labels, fitted):
    rest = np.setdiff1d(np.arange(300), planted_labels.indices)
    assert auc(planted[1][rest], fitted.scores_[rest]) > 0.85
    assert 0.5 < fitted.auc_ <= 1


def test_neighbour_averages_are_columns(planted):
    powers = propagate(planted[0], 2)
    rows = stacked(powers, np.array([3, 5]), False)
    assert rows.shape == (2, 36)
    assert np.allclose(rows[:, 12:24], powers[1][[3, 5]])


def test_same_seed_same_scores(planted, planted_labels, fitted):
    again = make_detector("xgb-graph", rounds=60).fit(planted[0], planted_labels)
    assert np.array_equal(again.scores_, fitted.scores_)


def test_saved_and_loaded_scores_are_equal(planted, fitted, tmp_path):
    fitted.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.array_equal(again.scores_, fitted.scores_)
    assert np.allclose(again.score_new(planted[0]), fitted.scores_, atol=1e-5)


def test_damaged_booster_is_a_clear_error(fitted, tmp_path):
    fitted.save(tmp_path)
    (tmp_path / "booster.json").write_bytes(b"{not a model")
    with pytest.raises(ModelError, match="cannot be read"):
        load_detector(tmp_path)


def test_sparse_attributes_work(planted, planted_labels):
    graph, y = planted
    x = sp.csr_array(np.where(np.asarray(graph.x) > 0.55, graph.x, 0))
    sparse = make_graph(graph.node_ids, np.vstack(sp.triu(graph.adjacency).nonzero()), x)
    detector = make_detector("xgb-graph", rounds=40).fit(sparse, planted_labels)
    rest = np.setdiff1d(np.arange(300), planted_labels.indices)
    assert auc(y[rest], detector.scores_[rest]) > 0.7


def test_validation_selects_the_number_of_rounds(planted, planted_labels):
    graph, y = planted
    validation = Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[40:90], anomalous=np.flatnonzero(y == 1)[10:20]
    )
    detector = make_detector("xgb-graph", rounds=60).fit(graph, planted_labels, validation=validation)
    assert detector.trees_.booster.num_boosted_rounds() in (20, 40, 60)
    assert detector.auc_ == pytest.approx(
        auc(validation.targets, detector.scores_[validation.indices]), abs=1e-6
    )
    assert detector.out_of_fold_ is None


def test_cancel_stops_the_fit(planted, planted_labels):
    with pytest.raises(Cancelled):
        make_detector("xgb-graph").fit(planted[0], planted_labels, on_epoch=lambda _: True)


def test_missing_class_is_a_clear_error(planted):
    with pytest.raises(LabelError, match="at least one normal and one anomalous"):
        make_detector("xgb-graph").fit(planted[0], Labels.none())


def test_other_attributes_are_a_clear_error(fitted):
    other = make_graph(["a", "b"], np.array([[0], [1]]), np.ones((2, 3), dtype=np.float32))
    with pytest.raises(ModelError, match="trained on 12 attributes; this graph has 3"):
        fitted.score_new(other)


def test_too_few_rounds_are_a_clear_error(planted, planted_labels):
    with pytest.raises(ModelError, match="rounds=5"):
        make_detector("xgb-graph", rounds=5).fit(planted[0], planted_labels)


@pytest.mark.parametrize(
    ("columns", "sparse", "suits"), [(300, False, True), (1001, False, False), (300, True, False)]
)
def test_an_plus_takes_trees_where_attributes_are_dense_and_not_too_many(
    planted, columns: int, sparse: bool, suits: bool
) -> None:
    graph, _ = planted
    x = np.tile(np.asarray(graph.x, dtype=np.float32), (1, columns // graph.n_features + 1))[:, :columns]
    wide = replace(graph, x=sp.csr_array(x) if sparse else x, feature_names=tuple(map(str, range(columns))))
    assert trees.suits_trees(wide) == suits
