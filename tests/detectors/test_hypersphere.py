"""What an and n promise beyond the common contract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from safetensors.numpy import load_file

from gadcore.detectors import load_detector, make_detector
from gadcore.detectors.arrays import normalised_adjacency
from gadcore.detectors.base import NORMAL_ONLY
from gadcore.errors import ModelError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

CPU = torch.device("cpu")
QUICK = {"epochs": 60, "device": "cpu"}


def unlabelled(graph, labels) -> np.ndarray:
    return np.setdiff1d(np.arange(graph.n_nodes), labels.indices)


def test_scores_are_squared_distances_to_the_centre(planted, planted_labels) -> None:
    detector = make_detector("an", **QUICK).fit(planted[0], planted_labels)
    distance = np.square(detector.embedding_ - detector.centre_).sum(axis=1)
    np.testing.assert_allclose(detector.scores_, distance, rtol=1e-4, atol=1e-6)


def test_validation_selects_lambda_and_epoch(planted, planted_labels) -> None:
    graph, y = planted
    held = unlabelled(graph, planted_labels)[:80]
    validation = Labels.from_indices(graph, normal=held[y[held] == 0], anomalous=held[y[held] == 1])
    detector = make_detector("an", **QUICK).fit(graph, planted_labels, validation=validation)
    assert detector.out_of_fold_ is None
    nodes = validation.indices
    assert detector.auc_ == pytest.approx(auc(validation.targets, detector.scores_[nodes]), abs=1e-6)
    assert detector.selected_lambda_ in (1.0, 10.0, 100.0, 1000.0, 10000.0)


def test_out_of_fold_scores_cover_exactly_the_labels(planted, planted_labels) -> None:
    graph, _ = planted
    detector = make_detector("an", **QUICK).fit(graph, planted_labels)
    labelled = np.flatnonzero(~np.isnan(detector.out_of_fold_))
    np.testing.assert_array_equal(labelled, np.sort(planted_labels.indices))
    assert np.isin(detector.out_of_fold_[labelled], detector.scores_).all()  # on the scale of scores_
    assert 0.5 < detector.auc_ <= 1.0


def test_out_of_fold_claims_nothing_on_random_labels() -> None:
    rng = np.random.default_rng(3)
    graph = make_graph(range(150), [[0], [1]], rng.random((150, 200)))
    nodes = rng.permutation(150)[:120]
    labels = Labels.from_indices(graph, normal=nodes[:60], anomalous=nodes[60:])
    same = {"lambda_": 1000.0, "encoder": "mlp", "epochs": 150, "device": "cpu"}
    memorised = make_detector("an", folds=0, **same).fit(graph, labels)
    assert auc(labels.targets, memorised.scores_[labels.indices]) > 0.9
    honest = make_detector("an", **same).fit(graph, labels)
    assert auc(labels.targets, honest.out_of_fold_[labels.indices]) < 0.7


def test_one_label_of_each_kind_is_enough(planted) -> None:
    graph, y = planted
    labels = Labels.from_indices(
        graph, normal=np.flatnonzero(y == 0)[:1], anomalous=np.flatnonzero(y == 1)[:1]
    )
    detector = make_detector("an", **QUICK).fit(graph, labels)
    assert np.isfinite(detector.scores_).all()
    assert detector.auc_ is None
    assert detector.out_of_fold_ is None


def test_n_uses_normal_labels_only(planted, planted_labels) -> None:
    graph, _ = planted
    only = Labels.from_indices(graph, normal=planted_labels.normal)
    with_both = make_detector("n", **QUICK).fit(graph, planted_labels)
    without = make_detector("n", **QUICK).fit(graph, only)
    np.testing.assert_array_equal(with_both.scores_, without.scores_)
    assert with_both.basis_ == without.basis_ == NORMAL_ONLY
    assert without.auc_ is None
    assert with_both.auc_ is not None
    assert {p.stage for p in without.history_} == {"pre-training", "training"}


def test_n_does_not_collapse(planted, planted_labels) -> None:
    detector = make_detector("n", device="cpu").fit(planted[0], planted_labels)
    assert np.std(detector.scores_) > 1e-3 * np.mean(detector.scores_) > 0


def test_warm_start_takes_few_epochs_and_keeps_quality(planted, planted_labels) -> None:
    graph, y = planted
    cold = make_detector("an", device="cpu").fit(graph, planted_labels)
    more = Labels.from_indices(
        graph,
        normal=np.append(planted_labels.normal, np.flatnonzero(y == 0)[40:45]),
        anomalous=np.append(planted_labels.anomalous, np.flatnonzero(y == 1)[10:12]),
    )
    warm = make_detector("an", device="cpu").fit(graph, more, warm_start=cold)
    assert len(warm.history_) <= warm.warm_epochs
    assert warm.selected_lambda_ == cold.selected_lambda_
    np.testing.assert_array_equal(warm.centre_, cold.centre_)
    rest = unlabelled(graph, more)
    assert auc(y[rest], warm.scores_[rest]) > auc(y[rest], cold.scores_[rest]) - 0.02
    assert warm.spheres_.fold_of.items() >= cold.spheres_.fold_of.items()


def test_warm_start_from_another_shape_is_a_cold_fit(planted, planted_labels) -> None:
    graph, _ = planted
    other = make_detector("an", k=8, **QUICK).fit(graph, planted_labels)
    cold = make_detector("an", **QUICK).fit(graph, planted_labels)
    warm = make_detector("an", **QUICK).fit(graph, planted_labels, warm_start=other)
    np.testing.assert_array_equal(warm.scores_, cold.scores_)


def test_warm_start_from_a_saved_model(planted, planted_labels, tmp_path: Path) -> None:
    graph, _ = planted
    first = make_detector("an", **QUICK).fit(graph, planted_labels)
    first.save(tmp_path)
    ways = [
        make_detector("an", **QUICK).fit(graph, planted_labels, warm_start=start)
        for start in (first, load_detector(tmp_path))
    ]
    np.testing.assert_allclose(ways[0].scores_, ways[1].scores_, rtol=1e-5)
    assert len(ways[1].history_) <= ways[1].warm_epochs


def test_saved_arrays_give_the_scores_without_torch(planted, planted_labels, tmp_path: Path) -> None:
    graph, _ = planted
    detector = make_detector("an", **QUICK).fit(graph, planted_labels)
    detector.save(tmp_path)
    arrays, a = load_file(tmp_path / "model.safetensors"), normalised_adjacency(graph)
    hidden = np.maximum(a @ (graph.x @ arrays["m0.layer0.weight"]), 0)
    embedding = a @ hidden @ arrays["m0.layer1.weight"]
    scores = np.square(embedding - arrays["m0.centre"]).sum(axis=1)
    np.testing.assert_allclose(scores, detector.scores_, rtol=1e-3, atol=1e-5)


def test_incomplete_model_is_told(planted, planted_labels, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    make_detector("an", **QUICK).fit(planted[0], planted_labels).save(tmp_path)
    save_file({"scores": np.zeros(3, np.float32)}, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="no complete 'an' model"):
        load_detector(tmp_path)


def grown(graph, extra: int = 5):
    """The graph with new nodes, each joined to an old one, and its attributes shuffled by column."""
    n = graph.n_nodes
    old = sp.triu(graph.adjacency).tocoo()
    edges = np.hstack([np.vstack([old.row, old.col]), np.vstack([np.arange(extra), np.arange(n, n + extra)])])
    ids = [*graph.node_ids, *(f"new{i}" for i in range(extra))]
    if graph.attribute_free:
        return make_graph(ids, edges)
    order = np.random.default_rng(0).permutation(graph.n_features)
    x = np.vstack([graph.x, graph.x[:extra]])[:, order]
    return make_graph(ids, edges, x, feature_names=[graph.feature_names[i] for i in order])


def test_score_new_scores_arrivals_without_retraining(planted, planted_labels) -> None:
    graph, _ = planted
    detector = make_detector("an", **QUICK).fit(graph, planted_labels)
    np.testing.assert_allclose(detector.score_new(graph), detector.scores_, rtol=1e-5)
    scores = detector.score_new(grown(graph))
    assert scores.shape == (graph.n_nodes + 5,)
    assert np.isfinite(scores).all()
    far = np.setdiff1d(np.arange(graph.n_nodes), _within_two_hops(graph, range(5)))
    np.testing.assert_allclose(scores[far], detector.scores_[far], rtol=1e-3, atol=1e-6)


def _within_two_hops(graph, nodes) -> np.ndarray:
    near = graph.adjacency + sp.eye_array(graph.n_nodes)
    return np.flatnonzero(np.asarray((near @ near)[:, list(nodes)].sum(axis=1)).ravel())


def test_missing_attributes_are_named(planted, planted_labels) -> None:
    graph, _ = planted
    detector = make_detector("an", **QUICK).fit(graph, planted_labels)
    fewer = make_graph(graph.node_ids, [[0], [1]], graph.x[:, 1:], feature_names=graph.feature_names[1:])
    with pytest.raises(ModelError, match=r"1 attributes .* absent .*'x0'"):
        detector.score_new(fewer)


@pytest.mark.parametrize("encoder", ["gcn", "sage"])
def test_graph_without_attributes_learns_and_grows(planted, planted_labels, encoder: str) -> None:
    graph, y = planted
    edges = sp.triu(graph.adjacency).tocoo()
    free = make_graph(graph.node_ids, np.vstack([edges.row, edges.col]))
    detector = make_detector("an", encoder=encoder, lambda_=10.0, folds=0, device="cpu", epochs=200)
    detector.fit(free, planted_labels)
    rest = unlabelled(free, planted_labels)
    assert auc(y[rest], detector.scores_[rest]) > 0.7
    assert np.isfinite(detector.score_new(grown(free))).all()


def test_edge_weights_matter(planted, planted_labels) -> None:
    graph, _ = planted
    edges = sp.triu(graph.adjacency).tocoo()
    heavy = np.random.default_rng(0).uniform(0.1, 5.0, edges.nnz)
    ends = np.vstack([edges.row, edges.col])
    weighted = make_graph(graph.node_ids, ends, graph.x, weights=heavy)
    plain = make_detector("an", **QUICK).fit(graph, planted_labels)
    other = make_detector("an", **QUICK).fit(weighted, planted_labels)
    assert not np.allclose(plain.scores_, other.scores_)


def test_bad_lambda_is_told(planted, planted_labels) -> None:
    with pytest.raises(ModelError, match="lambda_='some'"):
        make_detector("an", lambda_="some").fit(planted[0], planted_labels)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_gives_the_scores_of_the_cpu(planted, planted_labels) -> None:
    pair = [
        make_detector("an", epochs=30, device=device).fit(planted[0], planted_labels)
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_allclose(pair[0].scores_, pair[1].scores_, rtol=1e-2, atol=1e-4)
