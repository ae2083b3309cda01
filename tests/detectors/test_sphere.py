"""The paper's objective: values by hand, gradients against autograd and the full batch."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from gadcore.detectors.nn.encoders import make_encoder
from gadcore.detectors.nn.receptive_field import Domain
from gadcore.detectors.sphere.objective import (
    CENTRE_MARGIN,
    SphereBatch,
    SphereTask,
    first_centres,
    hypersphere_loss,
    label_weights,
)
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels

CPU = torch.device("cpu")


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def four_nodes(scores: list[float]) -> tuple[torch.Tensor, torch.Tensor]:
    """Embeddings on a line whose squared distances to the centre 0 are these scores."""
    return torch.tensor(scores).sqrt()[None, :, None].requires_grad_(), torch.zeros(1, 1)


def test_loss_by_hand_on_four_nodes() -> None:
    # normal nodes at scores 1 and 3, anomalous ones at 2 and 5; λ = 10
    h, centre = four_nodes([1.0, 3.0, 2.0, 5.0])
    half = torch.full((1, 2), 0.5)
    losses, scores = hypersphere_loss(h, centre, half, half, torch.tensor([10.0]))
    by_hand = (1 + 3) / 2 - 10 * (sigmoid(1) + sigmoid(-1) + sigmoid(4) + sigmoid(2)) / 4
    assert losses.item() == pytest.approx(by_hand)
    np.testing.assert_allclose(scores.numpy(), [[1.0, 3.0, 2.0, 5.0]], rtol=1e-6)


def test_loss_without_anomalous_labels_is_the_volume() -> None:
    h, centre = four_nodes([1.0, 3.0])
    none = torch.zeros(1, 0)
    losses, _ = hypersphere_loss(h, centre, torch.full((1, 2), 0.5), none, torch.tensor([7.0]))
    assert losses.item() == pytest.approx(2.0)


@pytest.mark.parametrize("pairs", [1, 2**22])
@pytest.mark.parametrize("anomalous", [3, 0])
def test_gradient_in_closed_form_equals_autograd(monkeypatch, pairs: int, anomalous: int) -> None:
    monkeypatch.setattr("gadcore.detectors.sphere.objective.PAIRS", pairs)
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(2, 5 + anomalous, 4, generator=generator, dtype=torch.float64).requires_grad_()
    centres, lambdas = torch.randn(2, 4, generator=generator).double(), torch.tensor([1.0, 50.0]).double()
    wn = torch.full((2, 5), 0.2, dtype=torch.float64)
    wa = torch.full((2, anomalous), 1 / 3, dtype=torch.float64)
    losses, _ = hypersphere_loss(h, centres, wn, wa, lambdas)
    (closed,) = torch.autograd.grad(losses.sum(), h)
    scores = (h - centres[:, None]).square().sum(dim=2)
    plain = (scores[:, :5] * wn).sum(dim=1)
    if anomalous:
        above = torch.sigmoid(scores[:, 5:, None] - scores[:, None, :5])
        plain = plain - lambdas * above.mean(dim=(1, 2))
    torch.testing.assert_close(losses, plain)
    torch.testing.assert_close(closed, torch.autograd.grad(plain.sum(), h)[0])


def test_label_weights_are_means_over_the_labels_seen() -> None:
    graph = make_graph(range(4), [[0], [1]])
    labels = Labels.from_indices(graph, normal=[0, 1], anomalous=[2, 3])
    labels = replace(labels, weight={1: 3.0})
    hidden = np.array([[False] * 4, [True, False, False, True]])
    normal, anomalous = label_weights(labels, hidden)
    np.testing.assert_allclose(normal, [[0.25, 0.75], [0.0, 1.0]])
    np.testing.assert_allclose(anomalous, [[0.5, 0.5], [1.0, 0.0]])


def test_centre_is_the_mean_normal_embedding_and_n_pushes_it_from_zero() -> None:
    graph = make_graph(range(4), [[0, 1, 2], [1, 2, 3]], np.eye(4, 3))
    encoder, domain = make_encoder("gcn", depth=2, width=4, k=6), Domain(graph, CPU)
    weights = encoder.initialise(domain, [0])
    field, mean = domain.field(np.array([0, 1, 3]), 2), torch.tensor([[0.5, 0.5]])
    embedded = encoder.embed(weights, field)[0].detach()
    centre = first_centres(encoder, weights, field, mean, push=False)
    torch.testing.assert_close(centre[0], embedded[:2].mean(dim=0))
    pushed = first_centres(encoder, weights, field, mean, push=True)
    assert pushed.abs().min() >= CENTRE_MARGIN
    far = centre.abs() >= CENTRE_MARGIN
    torch.testing.assert_close(pushed[far], centre[far])
    zero = encoder.initialise(domain, [0])
    with torch.no_grad():
        zero["layer1.weight"].zero_()
    assert (first_centres(encoder, zero, field, mean, push=True) == CENTRE_MARGIN).all()


def test_training_gradients_equal_full_batch(planted, planted_labels) -> None:
    graph, _ = planted
    encoder, domain = make_encoder("gcn", depth=2, width=8, k=8), Domain(graph, CPU)
    nodes = torch.tensor(planted_labels.indices)
    normal, anomalous = (
        torch.tensor(part) for part in label_weights(planted_labels, np.zeros((2, len(planted_labels)), bool))
    )
    gradients = []
    for whole in (False, True):
        weights = encoder.initialise(domain, [1, 2])
        field = domain.field(planted_labels.indices, 2)
        sphere = SphereBatch(encoder, weights, first_centres(encoder, weights, field, normal, push=False))
        if whole:
            h, lambdas = sphere.embed(domain.whole(2))[:, nodes], torch.tensor([1.0, 100.0])
            loss, _ = hypersphere_loss(h, sphere.centres, normal, anomalous, lambdas)
        else:
            lambdas = torch.tensor([1.0, 100.0])
            loss = SphereTask(sphere, field, lambdas, normal, anomalous, None, True).loss()
        loss.sum().backward()
        gradients.append([tensor.grad for tensor in weights.parameters()])
    for small, full in zip(*gradients):
        assert (small - full).abs().max() <= 1e-5 * max(1.0, float(full.abs().max()))


def test_training_without_autograd_has_its_gradients(planted, planted_labels) -> None:
    graph, _ = planted
    encoder, domain = make_encoder("gcn", depth=3, width=8, k=8), Domain(graph, CPU)
    weights, field = encoder.initialise(domain, [1, 2]), domain.field(planted_labels.indices, 3)
    seen = [torch.tensor(w) for w in label_weights(planted_labels, np.zeros((2, len(planted_labels)), bool))]
    sphere = SphereBatch(encoder, weights, first_centres(encoder, weights, field, seen[0], push=False))
    task = SphereTask(sphere, field, torch.tensor([1.0, 100.0]), seen[0], seen[1], None, True)
    losses = task.loss()
    losses.sum().backward()
    autograd = [weight.grad for weight in weights.parameters()]
    closed = task.gradients()
    torch.testing.assert_close(closed, losses)
    for mine, theirs in zip(weights.parameters(), autograd):
        torch.testing.assert_close(mine.grad, theirs)
