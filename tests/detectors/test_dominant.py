"""Dominant: exact errors without N × N matrices, what it ranks high, and the epoch that it keeps."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gadcore.detectors import make_detector
from gadcore.detectors.baselines.dominant import ReconstructionTask
from gadcore.detectors.nn.receptive_field import Domain
from gadcore.graph import Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc
from tests.conftest import make_graph


@pytest.fixture(scope="module")
def strangers() -> tuple[Graph, np.ndarray]:
    """Two communities with their own words, and ten nodes that use the words of the other one."""
    rng = np.random.default_rng(0)
    n = 200
    community = np.arange(n) % 2
    odd = np.zeros(n, dtype=bool)
    odd[rng.choice(n, 10, replace=False)] = True
    i, j = np.triu_indices(n, 1)
    keep = rng.random(len(i)) < np.where(community[i] == community[j], 0.06, 0.002)
    speaks = np.where(odd, 1 - community, community)
    words = np.where(np.arange(24) // 12 == speaks[:, None], 0.6, 0.02)
    x = (rng.random((n, 24)) < words).astype(np.float32)
    return make_graph([f"n{k}" for k in range(n)], np.vstack([i[keep], j[keep]]), x, name="strangers"), odd


def test_nodes_unlike_their_neighbours_rank_high(strangers) -> None:
    graph, odd = strangers
    detector = make_detector("dominant", alpha=0.0).fit(graph, Labels.none())
    assert auc(odd, detector.scores_) > 0.8


def test_errors_are_those_of_the_full_matrices(strangers) -> None:
    graph, _ = strangers
    detector = make_detector("dominant", epochs=5).fit(graph, Labels.none())
    z = torch.tensor(detector.embedding_)
    a, x = torch.tensor(graph.adjacency.toarray()), torch.tensor(np.asarray(graph.x, dtype=np.float32))
    domain = Domain(graph, torch.device("cpu"))
    rebuilt = (domain.operator @ z) @ detector.weights_["decoder"][0]
    by_x = (x - rebuilt).norm(dim=1) / x.norm(dim=1).mean()
    by_a = (a - z @ z.T).norm(dim=1) / a.norm(dim=1).mean()
    expected = 0.5 * by_x + 0.5 * by_a
    assert np.allclose(detector.scores_, expected.detach().numpy(), atol=1e-4)


def test_the_epoch_kept_has_the_smallest_mean_score_of_validation_normals(strangers) -> None:
    """Nodes unlike their neighbours are the worse reconstructed, the better the others are."""
    graph, odd = strangers
    held = Labels.from_indices(graph, normal=np.flatnonzero(odd), anomalous=[])
    settings = {"lr": 0.01, "epochs": 300, "alpha": 0.0, "patience": 20}
    stopped = make_detector("dominant", **settings).fit(graph, Labels.none(), validation=held)
    last = make_detector("dominant", **settings).fit(graph, Labels.none())
    assert stopped.scores_[odd].mean() < last.scores_[odd].mean() - 0.1
    assert len(stopped.history_) < len(last.history_) == 300


def test_evaluation_needs_normal_nodes(strangers) -> None:
    graph, _ = strangers
    detector = make_detector("dominant", epochs=1).fit(graph, Labels.none())
    domain = Domain(graph, torch.device("cpu"))
    task = ReconstructionTask(detector.encode(), domain, detector.weights_, 0.5)
    task.loss()
    assert task.evaluate() is None
