"""Maps: right shape, repeatable, and still between retrains."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from gadcore.detectors import make_detector
from gadcore.detectors.arrays import propagate
from gadcore.errors import ModelError
from gadcore.graph.labels import Labels
from gadcore.ingest import read
from gadcore.insight import layout as module
from gadcore.insight.layout import KINDS, align, layout, pca, width


@pytest.fixture(scope="module")
def embedding(planted) -> np.ndarray:
    graph, _ = planted
    return np.asarray(propagate(graph, 2)[2])


@pytest.fixture(scope="module")
def drawn(embedding) -> Callable[[str], np.ndarray]:
    """The first map of each kind, drawn once for all tests."""
    return cache(lambda kind: layout(kind, embedding, seed=3))


def retrained(h: np.ndarray, seed: int = 1) -> np.ndarray:
    """The embedding of a small retrain: turned in space, nodes slightly moved."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(h.shape[1], h.shape[1])))[0]
    return (h + 0.05 * h.std() * rng.normal(size=h.shape)) @ turn


def median_move(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.median(np.linalg.norm(after - before, axis=1)) / width(before))


def test_pca_keeps_most_variance_and_fixed_signs(embedding):
    plane = pca(embedding)
    assert plane.shape == (len(embedding), 2)
    assert plane.dtype == np.float32
    assert plane[:, 0].var() >= plane[:, 1].var() > 0
    centred = embedding - embedding.mean(axis=0)
    assert np.isclose(
        plane.var(axis=0).sum(),
        np.sort(np.linalg.eigvalsh(np.cov(centred.T, bias=True)))[-2:].sum(),
        rtol=1e-4,
    )
    assert np.array_equal(plane, pca(embedding))


def test_pca_of_one_dimension_has_two_columns():
    assert pca(np.arange(5.0)[:, None]).shape == (5, 2)


def test_align_undoes_turn_mirror_scale_and_shift():
    rng = np.random.default_rng(0)
    before = rng.normal(size=(50, 2))
    moved = 3.0 * before @ np.array([[0.0, 1.0], [1.0, 0.0]]) + 7.0
    aligned, likeness = align(moved, before)
    assert np.allclose(aligned, before)
    assert np.isclose(likeness, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_map_is_repeatable_and_separates_what_the_embedding_separates(kind, planted, embedding, drawn):
    _, y = planted
    plane = drawn(kind)
    assert plane.shape == (len(y), 2)
    assert np.isfinite(plane).all()
    assert np.array_equal(plane, layout(kind, embedding, seed=3))
    apart = np.linalg.norm(plane[y == 1].mean(axis=0) - plane[y == 0].mean(axis=0))
    assert apart > plane[y == 1].std()


@pytest.mark.parametrize("kind", KINDS)
def test_map_keeps_still_after_a_small_retrain(kind, embedding, drawn):
    before = drawn(kind)
    after = layout(kind, retrained(embedding), previous=before)
    assert median_move(before, after) <= 0.05
    assert not np.array_equal(before, after)


def test_map_of_another_picture_is_not_held_back(embedding):
    rng = np.random.default_rng(0)
    before = layout("pca", embedding)
    after = layout("pca", rng.permutation(embedding), previous=before)
    assert median_move(before, after) > 0.05


def test_previous_map_of_other_size_is_ignored(embedding):
    assert np.array_equal(layout("pca", embedding, previous=np.zeros((3, 2), np.float32)), pca(embedding))


@pytest.mark.parametrize("kind", ["umap", "tsne"])
def test_large_graphs_are_sampled_and_the_rest_placed_near_their_like(kind, planted, embedding, monkeypatch):
    _, y = planted
    monkeypatch.setattr(module, "SAMPLE_ABOVE", 200)
    monkeypatch.setattr(module, "SAMPLE", 150)
    plane = layout(kind, embedding)
    assert np.isfinite(plane).all()
    apart = np.linalg.norm(plane[y == 1].mean(axis=0) - plane[y == 0].mean(axis=0))
    assert apart > plane[y == 1].std() / 2


def test_very_small_graphs_fall_back_to_pca():
    h = np.random.default_rng(0).normal(size=(5, 4))
    assert np.array_equal(layout("umap", h), pca(h))


def test_unknown_kind_and_broken_embedding_are_named(embedding):
    with pytest.raises(ModelError, match="pca, umap, tsne"):
        layout("isomap", embedding)
    with pytest.raises(ModelError, match="1 values that are no numbers"):
        pca(np.array([[0.0, np.nan], [1.0, 2.0]]))


@pytest.fixture(scope="module")
def cora_before_and_after(datasets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Embeddings of ``an`` with 100 labels and, warm, with ten more; and the nodes without a label."""
    reading = read(datasets / "cora.npz")
    graph, y = reading.graph, reading.truth.y
    order = np.random.default_rng(0).permutation(graph.n_nodes)

    def labels(n: int) -> Labels:
        chosen = order[:n]
        return Labels.from_indices(graph, normal=chosen[y[chosen] == 0], anomalous=chosen[y[chosen] == 1])

    first = make_detector("an", epochs=60).fit(graph, labels(100))
    second = make_detector("an", epochs=60).fit(graph, labels(110), warm_start=first)
    return first.embedding_, second.embedding_, order[110:]


@pytest.mark.datasets
@pytest.mark.parametrize("kind", ["pca", "tsne"])
def test_map_of_cora_keeps_still_after_ten_more_labels(kind, cora_before_and_after):
    first, second, unlabelled = cora_before_and_after
    shown = unlabelled if kind == "pca" else unlabelled[:500]
    before = layout(kind, first[shown])
    assert median_move(before, layout(kind, second[shown], previous=before)) <= 0.05
