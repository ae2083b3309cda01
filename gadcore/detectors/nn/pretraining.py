"""Auto-encoders that give one-class methods their first weights.

An encoder that sees edges learns to tell them from random pairs (Kipf and Welling's graph AE):

    p(edge u, v) = σ(h_u · h_v);   L = mean over edges of −log p + mean over random pairs of −log(1 − p)

One that does not learns to give the attributes back, L = mean ‖x P − h V‖², where P is a fixed random
projection of wide attributes. Large graphs learn from a fixed sample of edges or nodes.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

from gadcore.detectors.base import OnEpoch, Progress
from gadcore.detectors.nn.encoders import Encoder, glorot
from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.training import Schedule, Task, train
from gadcore.detectors.nn.weights import Weights

MAX_EDGES = 50_000
MAX_NODES = 2048
PROJECTED = 256  # columns that wide attributes are projected to


class EdgeTask(Task):
    """Reconstruction of edges against as many random pairs, drawn anew each epoch."""

    def __init__(self, domain: Domain, encoder: Encoder, weights: Weights, seed: int) -> None:
        rng = np.random.default_rng(seed)
        upper = sp.triu(domain.graph.adjacency, k=1).tocoo()
        chosen = rng.permutation(upper.nnz)[:MAX_EDGES]
        ends = np.vstack([upper.row[chosen], upper.col[chosen]]).astype(np.int64)
        nodes, position = np.unique(ends, return_inverse=True)
        self.encoder, self.weights = encoder, weights
        self.field = domain.field(nodes, encoder.hops)
        self.edges = torch.tensor(position.reshape(2, -1), device=domain.device)
        self._generator = torch.Generator().manual_seed(seed)

    def loss(self) -> Tensor:
        h = self.encoder.embed(self.weights, self.field)  # (M, n, K)
        pairs = torch.randint(h.shape[1], self.edges.shape, generator=self._generator).to(h.device)
        return F.softplus(-_products(h, self.edges)).mean(1) + F.softplus(_products(h, pairs)).mean(1)


class AttributeTask(Task):
    """Linear reconstruction of the attributes from the embedding; the decoder is forgotten afterwards."""

    def __init__(self, encoder: Encoder, weights: Weights, where: Field, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        features = int(where.domain.x.shape[1])
        width = min(features, PROJECTED)
        projection = glorot((features, width), generator).to(where.domain.device)
        self.encoder, self.field = encoder, where
        self.target = where.shares(projection)
        decoder = glorot((encoder.k, width), generator).to(where.domain.device)
        stacked = decoder.repeat(weights.count, 1, 1).requires_grad_()
        self.weights = Weights({**weights.tensors, "decoder": stacked}, {**weights.axes, "decoder": 0})

    def loss(self) -> Tensor:
        h = self.encoder.embed(self.weights, self.field)
        return (torch.bmm(h, self.weights["decoder"]) - self.target).square().mean(dim=(1, 2))


def pretrain(
    domain: Domain,
    encoder: Encoder,
    weights: Weights,
    schedule: Schedule,
    *,
    seed: int,
    on_epoch: OnEpoch | None = None,
) -> list[Progress]:
    """Train ``weights`` in place; a graph encoder without edges leaves them as they were drawn."""
    if not encoder.hops:
        nodes = np.random.default_rng(seed).permutation(domain.graph.n_nodes)[:MAX_NODES]
        task: Task = AttributeTask(encoder, weights, domain.field(np.sort(nodes), 0), seed)
    elif domain.graph.n_edges:
        task = EdgeTask(domain, encoder, weights, seed)
    else:
        return []
    return train(task, schedule, on_epoch=on_epoch, stage="pre-training").history


def _products(h: Tensor, pairs: Tensor) -> Tensor:
    """(M, E) inner products of the embeddings at both ends."""
    return (h[:, pairs[0]] * h[:, pairs[1]]).sum(dim=2)
