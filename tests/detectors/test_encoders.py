"""Encoders against dense formulas, and receptive fields against the full batch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gadcore.detectors.arrays import normalised_adjacency
from gadcore.detectors.nn.encoders import ENCODERS, Mlp, make_encoder
from gadcore.detectors.nn.receptive_field import Domain
from gadcore.errors import ModelError
from gadcore.graph import make_graph

CPU = torch.device("cpu")


def random_graph(n: int = 60, features: int | None = 9, *, sparse: bool = True, seed: int = 0):
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, n, (2, 2 * n))
    x = None
    if features:
        dense = rng.random((n, features)) * (rng.random((n, features)) < 0.3)
        x = sp.csr_array(dense) if sparse else dense
    return make_graph(range(n), edges, x, weights=rng.uniform(0.2, 2.0, 2 * n))


def encoder_on(graph, name: str, *, members: int = 2, **sizes):
    encoder = make_encoder(name, **{"depth": 2, "width": 5, "k": 4, **sizes})
    domain = Domain(graph, CPU)
    return encoder, domain, encoder.initialise(domain, range(members))


def dense_x(graph) -> np.ndarray:
    return graph.x.toarray() if sp.issparse(graph.x) else np.asarray(graph.x)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_gcn_is_the_papers_propagation_rule(depth: int) -> None:
    graph = random_graph()
    encoder, domain, weights = encoder_on(graph, "gcn", depth=depth)
    embedded = encoder.embed(weights, domain.whole(encoder.hops)).detach().numpy()
    a = normalised_adjacency(graph).toarray()
    for member in range(2):
        h = dense_x(graph)
        arrays = weights.member(member)
        for layer in range(depth):
            h = a @ h @ arrays[f"layer{layer}.weight"]
            h = np.maximum(h, 0) if layer < depth - 1 else h
        np.testing.assert_allclose(embedded[member], h, atol=1e-5)


def test_skip_adds_the_nodes_own_attributes() -> None:
    graph = random_graph()
    encoder, domain, weights = encoder_on(graph, "gcn", skip=True)
    plain = make_encoder("gcn", depth=2, width=5, k=4).embed(weights, domain.whole(2))
    own = np.einsum("nd,dmk->mnk", dense_x(graph), weights["skip.weight"].detach().numpy())
    np.testing.assert_allclose(
        (encoder.embed(weights, domain.whole(2)) - plain).detach().numpy(), own, atol=1e-5
    )


def test_appnp_spreads_the_mlp_by_personalised_pagerank() -> None:
    graph = random_graph()
    encoder, domain, weights = encoder_on(graph, "appnp")
    start = Mlp(2, 5, 4).embed(weights, domain.whole(0)).detach().numpy()
    a, z = normalised_adjacency(graph).toarray(), start
    for _ in range(encoder.steps):
        z = 0.9 * np.einsum("nv,mvk->mnk", a, z) + 0.1 * start
    embedded = encoder.embed(weights, domain.whole(encoder.hops)).detach().numpy()
    np.testing.assert_allclose(embedded, z, atol=1e-5)


def test_feed_forward_sees_shares_of_sparse_attributes_and_dense_ones_as_they_are() -> None:
    for sparse in (True, False):
        graph = random_graph(sparse=sparse)
        twice = make_graph(graph.node_ids, np.array(sp.triu(graph.adjacency).nonzero()), graph.x * 2)
        encoder, domain, weights = encoder_on(graph, "mlp")
        one = encoder.embed(weights, domain.whole(0)).detach().numpy()
        other = encoder.embed(weights, Domain(twice, domain.device).whole(0)).detach().numpy()
        np.testing.assert_allclose(other, one if sparse else 2 * one, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("kind", ["sparse", "dense", "identity"])
def test_receptive_field_equals_full_batch(name: str, kind: str) -> None:
    graph = random_graph(features=None if kind == "identity" else 9, sparse=kind == "sparse")
    encoder, domain, weights = encoder_on(graph, name, skip=True)
    targets = np.array([17, 3, 40])  # order must not matter
    grads = []
    for field, rows in (
        (domain.field(targets, encoder.hops), slice(None)),
        (domain.whole(encoder.hops), targets),
    ):
        for tensor in weights.parameters():
            tensor.grad = None
        embedded = encoder.embed(weights, field)[:, rows]
        embedded.square().sum().backward()
        grads.append([embedded.detach(), *(tensor.grad.clone() for tensor in weights.parameters())])
    for small, full in zip(*grads):
        assert (small - full).abs().max() <= 1e-5 * max(1.0, float(full.abs().max()))


def test_field_is_smaller_than_the_graph() -> None:
    n = 200  # a path: two hops around one node are five nodes
    graph = make_graph(range(n), [list(range(n - 1)), list(range(1, n))], np.ones((n, 2)))
    field = Domain(graph, CPU).field(np.array([100]), 2)
    assert [len(shell) for shell in field.shells] == [1, 3, 5]
    assert field.block(0).shape == (1, 3)
    assert field.block(1).shape == (3, 5)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_member_does_not_depend_on_its_neighbours_in_the_stack(name: str) -> None:
    graph = random_graph()
    encoder, domain, both = encoder_on(graph, name, members=2)
    alone = encoder.initialise(domain, [1])
    whole = domain.whole(encoder.hops)
    torch.testing.assert_close(encoder.embed(both, whole)[1], encoder.embed(alone, whole)[0])


def test_initialise_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    encoder_on(random_graph(), "gat")
    assert torch.equal(before, torch.get_rng_state())


def test_feed_forward_weights_start_within_one_by_the_root_of_the_inputs() -> None:
    graph = random_graph(features=100)
    spans = {}
    for name in ("mlp", "gcn", "appnp"):
        drawn = encoder_on(graph, name)[2].member(0)
        spans[name] = [float(np.abs(drawn[f"layer{layer}.weight"]).max()) for layer in range(2)]
    assert 0.09 < spans["mlp"][0] <= 0.1  # ±1/√100
    assert spans["mlp"][1] <= 1 / np.sqrt(5)
    for name in ("gcn", "appnp"):
        assert 0.2 < spans[name][0] <= np.sqrt(6 / 105)  # Glorot


def test_unknown_encoder_and_bad_sizes_are_told() -> None:
    with pytest.raises(ModelError, match="no encoder 'rnn'"):
        make_encoder("rnn", depth=2, width=4, k=4)
    with pytest.raises(ModelError, match="depth=0"):
        make_encoder("gcn", depth=0, width=4, k=4)
