"""Maps: shape, stillness from run to run, and what is done with degenerate input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gadcore.errors import ModelError
from gadcore.layout import KINDS, LEASH, aligned, layout, on_leash, pca, width


def clusters(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 3, n)
    return (rng.normal(0, 4, (3, 8))[which] + rng.normal(0, 0.3, (n, 8))).astype(np.float32), which


def median_move(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.median(np.linalg.norm(after - before, axis=1))) / width(before)


@pytest.mark.parametrize("kind", KINDS)
def test_clusters_stay_together_and_a_small_change_hardly_moves_them(kind: str) -> None:
    x, which = clusters()
    before = layout(kind, x)
    assert before.shape == (90, 2)
    assert np.isfinite(before).all()
    centres = np.stack([before[which == c].mean(axis=0) for c in range(3)])
    nearest = np.linalg.norm(before[:, None] - centres[None], axis=2).argmin(axis=1)
    assert (nearest == which).mean() > 0.9
    changed = x + np.random.default_rng(1).normal(0, 0.1, x.shape).astype(np.float32)
    assert median_move(before, layout(kind, changed, previous=before)) <= 0.05


def test_pca_is_deterministic_and_needs_no_two_columns() -> None:
    x, _ = clusters()
    np.testing.assert_array_equal(pca(x), pca(x.copy()))
    one = pca(x[:, :1])
    assert one.shape == (90, 2)
    assert np.ptp(one[:, 1]) == 0


def test_alignment_undoes_a_turn_a_mirror_and_a_scale() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(0, 1, (50, 2))
    turn = np.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(aligned(3 * base @ turn + 7, base), base, atol=1e-9)


def test_the_leash_shortens_all_moves_by_one_factor() -> None:
    rng = np.random.default_rng(0)
    before = rng.uniform(0, 1, (200, 2))
    after = on_leash(before + 1.0, before)
    assert median_move(before, after) == pytest.approx(LEASH)
    moves = after - before
    np.testing.assert_allclose(moves, np.broadcast_to(moves[0], moves.shape), atol=1e-12)


def test_a_constant_embedding_keeps_the_previous_map() -> None:
    flat = np.ones((10, 4), dtype=np.float32)
    before = np.random.default_rng(0).normal(0, 1, (10, 2)).astype(np.float32)
    np.testing.assert_array_equal(layout("umap", flat, previous=before), before)
    assert layout("tsne", flat).shape == (10, 2)


def test_an_unknown_map_names_the_known_ones() -> None:
    with pytest.raises(ModelError, match="pca, umap, tsne"):
        layout("mds", np.eye(5, dtype=np.float32))


@pytest.mark.datasets
@pytest.mark.parametrize("kind", ["umap", "tsne"])
def test_a_retrain_after_ten_labels_on_cora_keeps_the_map_still(kind: str, datasets: Path) -> None:
    from gadcore.detectors import make_detector
    from gadcore.ingest import read
    from gadcore.labels import Labels

    reading = read("cora")
    y = reading.truth.y
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    few = np.concatenate([order[:60], np.flatnonzero(y == 1)[:5]])
    more = np.unique(np.concatenate([few, order[60:70]]))

    def labels(nodes: np.ndarray) -> Labels:
        nodes = np.unique(nodes)
        return Labels.from_indices(reading.graph, normal=nodes[y[nodes] == 0], anomalous=nodes[y[nodes] == 1])

    first = make_detector("an", lambda_=10.0, epochs=60).fit(reading.graph, labels(few))
    second = make_detector("an", lambda_=10.0, epochs=60).fit(reading.graph, labels(more), warm_start=first)
    before = layout(kind, first.embedding_)
    after = layout(kind, second.embedding_, previous=before)
    unlabelled = np.setdiff1d(np.arange(len(y)), more)
    assert median_move(before[unlabelled], after[unlabelled]) <= 0.05
