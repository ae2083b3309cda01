from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from safetensors.numpy import load_file, save_file

from gadcore.detectors import load_detector, make_detector
from gadcore.detectors.arrays import normalised_adjacency, row_normalised
from gadcore.detectors.base import BOTH
from gadcore.detectors.plus.graph_cache import DAMPING, SHORT, GraphCache, cache_of
from gadcore.detectors.plus.members.diffused import diffused_attributes, rarity
from gadcore.errors import Cancelled, ModelError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, percentile_ranks

QUICK = {"epochs": 40, "device": "cpu", "threads": 1}


def _edges(graph):
    return np.vstack(sp.triu(graph.adjacency).nonzero())


def _rest(labels, n=300):
    return np.setdiff1d(np.arange(n), labels.indices)


@pytest.fixture(scope="module")
def fitted(planted, planted_labels):
    return make_detector("an+", **QUICK).fit(planted[0], planted_labels)


@pytest.fixture(scope="module")
def sparse(planted):
    graph, _ = planted
    x = sp.csr_array(np.where(np.asarray(graph.x) > 0.5, graph.x, 0).astype(np.float32))
    return make_graph(graph.node_ids, _edges(graph), x)


def test_both_labels_rank_planted_anomalies_high(planted, planted_labels, fitted):
    rest = _rest(planted_labels)
    assert auc(planted[1][rest], fitted.scores_[rest]) > 0.95
    assert fitted.basis_ == "both labels"
    assert 0.8 < fitted.auc_ <= 1


def test_score_is_the_weighted_mean_of_member_percentiles(fitted):
    assert fitted.weights_.sum() == pytest.approx(1)
    total = sum(w * percentile_ranks(m.scores) for w, m in zip(fitted.weights_, fitted.members_))
    assert np.allclose(total, fitted.scores_, atol=1e-6)
    assert 0 <= fitted.scores_.min() <= fitted.scores_.max() <= 1


def test_members_are_listed_by_weight(fitted):
    rows = fitted.member_rows()
    assert [row["weight"] for row in rows] == sorted((row["weight"] for row in rows), reverse=True)
    assert all(0 <= row["auc"] <= 1 for row in rows)


def test_embedding_is_that_of_a_sphere(fitted):
    assert fitted.embedding_.shape == (300, 32)
    distance = np.square(fitted.embedding_ - fitted.centre_).sum(axis=1)
    found = [np.corrcoef(distance, row)[0, 1] for row in fitted.spheres_.scores]
    assert max(found) > 0.999


def test_out_of_fold_ranks_are_at_the_labels_and_judge_the_model(planted_labels, fitted):
    known = np.flatnonzero(np.isfinite(fitted.out_of_fold_))
    assert set(known) == set(planted_labels.indices)
    expected = auc(planted_labels.targets, fitted.out_of_fold_[planted_labels.indices])
    assert fitted.auc_ == pytest.approx(expected, abs=1e-6)


def test_spread_is_zero_only_without_disagreement(fitted):
    assert fitted.spread_.shape == (300,)
    assert (fitted.spread_ >= 0).all()
    assert fitted.spread_.max() > 0


def test_same_seed_same_scores(planted, planted_labels, fitted):
    again = make_detector("an+", **QUICK).fit(planted[0], planted_labels)
    assert np.array_equal(again.scores_, fitted.scores_)


def test_no_labels_give_a_ranking_that_says_so(planted):
    graph, _ = planted
    detector = make_detector("an+", **QUICK).fit(graph, Labels.none())
    assert detector.basis_ == "no labels"
    assert detector.auc_ is None
    assert detector.out_of_fold_ is None
    assert np.isfinite(detector.scores_).all()
    assert {m.kind for m in detector.members_} == {"attributes", "residual", "neighbourhood"}
    assert detector.embedding_.shape[0] == 300


def test_no_labels_put_an_odd_node_on_top():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, (80, 6))
    x[7] = 9
    ring = np.vstack([np.arange(80), (np.arange(80) + 1) % 80])
    detector = make_detector("an+").fit(make_graph(map(str, range(80)), ring, x), Labels.none())
    assert np.argmax(detector.scores_) == 7


def test_normal_labels_alone_rank_above_chance(planted, planted_labels):
    graph, y = planted
    labels = Labels.from_indices(graph, normal=planted_labels.normal)
    detector = make_detector("an+", **QUICK).fit(graph, labels)
    rest = _rest(labels)
    assert detector.basis_ == "normal labels"
    assert auc(y[rest], detector.scores_[rest]) > 0.7


def test_anomalous_labels_alone_rank_far_above_chance(planted, planted_labels):
    graph, y = planted
    labels = Labels.from_indices(graph, anomalous=planted_labels.anomalous)
    detector = make_detector("an+", **QUICK).fit(graph, labels)
    rest = _rest(labels)
    assert detector.basis_ == "anomalous labels"
    assert auc(y[rest], detector.scores_[rest]) > 0.9


def test_one_label_of_each_class_works_without_an_estimate(planted):
    graph, y = planted
    labels = Labels.from_indices(graph, normal=[int(np.argmin(y))], anomalous=[int(np.argmax(y))])
    detector = make_detector("an+", **QUICK).fit(graph, labels)
    rest = _rest(labels)
    assert detector.auc_ is None
    assert detector.out_of_fold_ is None
    assert auc(y[rest], detector.scores_[rest]) > 0.6


def test_validation_weighs_the_members(planted, planted_labels):
    graph, y = planted
    validation = Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[40:100], anomalous=np.flatnonzero(y == 1)[10:20]
    )
    detector = make_detector("an+", **QUICK).fit(graph, planted_labels, validation=validation)
    nodes = validation.indices
    assert detector.auc_ == pytest.approx(auc(validation.targets, detector.scores_[nodes]), abs=1e-6)
    assert detector.out_of_fold_ is None


@pytest.mark.parametrize("kind", ["both", "normal", "anomalous", "none"])
def test_saved_and_loaded_models_score_alike(planted, planted_labels, kind, tmp_path):
    graph, _ = planted
    labels = {
        "both": planted_labels,
        "normal": Labels.from_indices(graph, normal=planted_labels.normal),
        "anomalous": Labels.from_indices(graph, anomalous=planted_labels.anomalous),
        "none": Labels.none(),
    }[kind]
    detector = make_detector("an+", **QUICK).fit(graph, labels)
    detector.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.array_equal(again.scores_, detector.scores_)
    assert np.array_equal(again.embedding_, detector.embedding_)
    assert again.basis_ == detector.basis_
    assert np.allclose(again.score_new(graph), detector.score_new(graph), atol=1e-5)
    assert np.allclose(again.score_new(graph), detector.scores_, atol=1e-4)


def test_files_account_for_the_score_without_the_model(planted, planted_labels, fitted, tmp_path):
    fitted.save(tmp_path)
    state = json.loads((tmp_path / "detector.json").read_text())
    arrays = load_file(tmp_path / "model.safetensors")
    ranks = [percentile_ranks(arrays[f"member{j}.scores"]) for j in range(len(state["members"]))]
    total = sum(row["weight"] * rank for row, rank in zip(state["members"], ranks))
    assert np.allclose(total, arrays["scores"], atol=1e-6)
    kinds = {row["kind"]: f"member{j}.coefficient" in arrays for j, row in enumerate(state["members"])}
    assert all(there for kind, there in kinds.items() if kind in ("linear", "standard", "background"))


def test_missing_arrays_are_a_clear_error(fitted, tmp_path):
    fitted.save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(ModelError):
        load_detector(tmp_path)


def test_scores_a_node_that_arrives_later(planted, planted_labels, fitted):
    graph, _ = planted
    copied = int(planted_labels.anomalous[0])
    neighbours, _ = graph.neighbours(copied)
    more = np.hstack([_edges(graph), np.vstack([np.full(len(neighbours), 300), neighbours])])
    grown = make_graph([*graph.node_ids, "new"], more, np.vstack([graph.x, graph.x[copied]]))
    scores = fitted.score_new(grown)
    assert scores.shape == (301,)
    assert (scores[300] > scores).mean() > 0.8


def test_warm_start_takes_few_epochs_and_agrees_with_a_cold_fit(planted, planted_labels, fitted):
    graph, y = planted
    more = Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[:36], anomalous=np.flatnonzero(y == 1)[:9]
    )
    warm = make_detector("an+", **QUICK, warm_epochs=10).fit(graph, more, warm_start=fitted)
    assert sum(p.stage == "hypersphere" for p in warm.history_) <= 10
    assert sum(p.stage == "hypersphere" for p in fitted.history_) > 10
    rest = _rest(more)
    assert auc(y[rest], warm.scores_[rest]) > 0.95


def test_warm_start_works_from_a_loaded_model(planted, planted_labels, fitted, tmp_path):
    fitted.save(tmp_path)
    warm = make_detector("an+", **QUICK, warm_epochs=5).fit(
        planted[0], planted_labels, warm_start=load_detector(tmp_path)
    )
    assert sum(p.stage == "hypersphere" for p in warm.history_) <= 5


def test_warm_start_from_another_kind_of_model_is_a_cold_fit(planted, planted_labels, fitted):
    other = make_detector("sgc-lr").fit(planted[0], planted_labels)
    again = make_detector("an+", **QUICK).fit(planted[0], planted_labels, warm_start=other)
    assert np.array_equal(again.scores_, fitted.scores_)


def test_warm_start_on_a_changed_graph_uses_the_new_edges(planted, planted_labels, fitted):
    graph, _ = planted
    fewer = make_graph(graph.node_ids, _edges(graph)[:, ::2], graph.x)
    warm = make_detector("an+", **QUICK).fit(fewer, planted_labels, warm_start=fitted)
    cold = make_detector("an+", **QUICK).fit(fewer, planted_labels)
    assert np.corrcoef(warm.scores_, cold.scores_)[0, 1] > 0.8


def test_progress_counts_real_steps_up_to_the_total(fitted):
    steps = [p.epoch for p in fitted.history_]
    assert steps == list(range(1, len(steps) + 1))
    assert all(p.epochs == fitted.history_[0].epochs >= p.epoch for p in fitted.history_)
    assert all(np.isfinite(p.loss) for p in fitted.history_)


@pytest.mark.parametrize("after", [1, 15])
def test_cancel_stops_at_once(planted, planted_labels, after):
    seen = []

    def stop(progress):
        seen.append(progress)
        return len(seen) >= after

    with pytest.raises(Cancelled):
        make_detector("an+", **QUICK).fit(planted[0], planted_labels, on_epoch=stop)
    assert len(seen) == after


def test_sparse_attributes_work_with_any_labels(sparse, planted, planted_labels):
    rest = _rest(planted_labels)
    both = make_detector("an+", **QUICK).fit(sparse, planted_labels)
    assert auc(planted[1][rest], both.scores_[rest]) > 0.85
    assert not any(m.kind == "trees" for m in both.members_)
    assert np.isfinite(make_detector("an+").fit(sparse, Labels.none()).scores_).all()


def test_many_anomalous_labels_bring_trees_for_sparse_attributes(
    sparse, planted_labels, fitted, monkeypatch, tmp_path
):
    assert not any(m.wide for m in fitted.members_ if m.kind == "trees")
    few = make_detector("an+", **QUICK).fit(sparse, planted_labels)
    assert not any(m.kind == "trees" for m in few.members_)
    monkeypatch.setattr("gadcore.detectors.plus.members.trees.ENOUGH", len(planted_labels.anomalous))
    many = make_detector("an+", **QUICK).fit(sparse, planted_labels)
    trees = [m for m in many.members_ if m.kind == "trees"]
    assert [(m.name, m.wide) for m in trees] == [("trees 1", True)]
    many.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.allclose(again.score_new(sparse), many.scores_, atol=1e-6)


def test_diffused_attributes_are_damped_sums_of_unit_rows(sparse):
    adjacency, cache = normalised_adjacency(sparse), GraphCache(sparse)
    rare = np.linspace(1, 2, sparse.n_features, dtype=np.float32)
    found = diffused_attributes(cache, rare), diffused_attributes(cache, None)
    stay = np.asarray(sparse.adjacency.todense()) + np.eye(sparse.n_nodes)
    x = row_normalised(sparse.x).toarray()
    for own, step, columns in zip(
        found, (adjacency.todense(), stay / stay.sum(axis=1, keepdims=True)), (rare, 1.0)
    ):
        expected = x
        for _ in range(SHORT):
            expected = DAMPING * np.asarray(step) @ expected + (1 - DAMPING) * x
        assert np.allclose(own, expected * columns, atol=1e-5)


def test_rare_attributes_weigh_more(sparse):
    having = np.asarray((sparse.x != 0).sum(axis=0)).ravel()
    order = np.argsort(having)
    assert np.all(np.diff(rarity(sparse)[order]) <= 1e-6)
    full = make_graph(sparse.node_ids, _edges(sparse), sp.csr_array(np.ones((sparse.n_nodes, 2))))
    assert np.allclose(rarity(full), 0)


def test_diffused_members_are_for_sparse_attributes_and_score_new_nodes(
    sparse, planted_labels, fitted, tmp_path
):
    assert not any(m.kind == "diffused" for m in fitted.members_)
    model = make_detector("an+", **QUICK).fit(sparse, planted_labels)
    names = {m.name for m in model.members_ if m.kind == "diffused"}
    assert names == {"diffused", "diffused evenly"}
    model.save(tmp_path)
    again = load_detector(tmp_path)
    assert np.allclose(again.score_new(sparse), model.scores_, atol=1e-4)
    twin, ends = 0, sparse.neighbours(0)[0]
    late = np.stack([np.full(len(ends), sparse.n_nodes), ends])
    edges = np.hstack([_edges(sparse), late])
    grown = make_graph([*sparse.node_ids, "late"], edges, sp.vstack([sparse.x, sparse.x[[twin]]]))
    scores = again.score_new(grown)
    assert abs(scores[-1] - scores[twin]) < 0.1
    arrays = load_file(tmp_path / "model.safetensors")
    save_file({name: a for name, a in arrays.items() if name != "rare"}, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="rare"):
        load_detector(tmp_path)
    warm = make_detector("an+", **QUICK).fit(sparse, planted_labels, warm_start=model)
    assert {m.name for m in warm.members_} >= names


def test_products_are_kept_for_the_same_graph_alone(planted, sparse):
    kept = cache_of(sparse)
    copy = make_graph(sparse.node_ids, _edges(sparse), sparse.x)
    assert cache_of(copy) is kept
    assert kept.powers(2)[2] is kept.powers(2)[2]
    assert kept.table(2) is kept.table(2)
    assert cache_of(planted[0]) is not kept


def test_graph_without_attributes_works(planted, planted_labels):
    graph, y = planted
    free = make_graph(graph.node_ids, _edges(graph))
    detector = make_detector("an+", **QUICK).fit(free, planted_labels)
    rest = _rest(planted_labels)
    assert auc(y[rest], detector.scores_[rest]) > 0.75
    assert np.isfinite(make_detector("an+").fit(free, Labels.none()).scores_).all()


def test_label_weights_count(planted, planted_labels):
    graph, _ = planted
    light = Labels(
        planted_labels.normal,
        planted_labels.anomalous,
        weight={int(n): 0.01 for n in planted_labels.anomalous[:4]},
    )
    first = make_detector("an+", **QUICK).fit(graph, light)
    second = make_detector("an+", **QUICK).fit(graph, planted_labels)
    assert not np.allclose(first.scores_, second.scores_)


@pytest.mark.parametrize("chosen", [False, True])
def test_caution_is_for_labels_that_a_ranking_chose(planted, planted_labels, chosen: bool) -> None:
    graph, _ = planted
    labels = Labels(planted_labels.normal, planted_labels.anomalous, chosen=chosen)
    detector = make_detector("an+")
    detector.basis_ = BOTH
    assert detector._task(graph, labels, None, None).cautious == chosen
