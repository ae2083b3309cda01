"""Graph auto-encoder pre-training of the N-variant: embeddings of joined nodes get a high inner product.

    p(edge u, v) = σ(h_u · h_v);   L = mean over edges of −log p + mean over random pairs of −log(1 − p)

The paper cites Kipf and Welling's graph AE. Large graphs learn from a fixed sample of edges.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

from gadcore.detectors.base import OnEpoch, Progress
from gadcore.detectors.encoders import Encoder
from gadcore.detectors.fields import Domain
from gadcore.detectors.training import Schedule, Values, train
from gadcore.detectors.weights import Weights

MAX_EDGES = 50_000


class AutoencoderTask:
    """Reconstruction of edges against as many random pairs, drawn anew each epoch."""

    measures_auc = False

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

    def evaluate(self) -> Values | None:
        return None


def pretrain(
    domain: Domain,
    encoder: Encoder,
    weights: Weights,
    schedule: Schedule,
    *,
    seed: int,
    on_epoch: OnEpoch | None = None,
) -> list[Progress]:
    """Train ``weights`` in place; a graph without edges leaves them as they were drawn."""
    if not domain.graph.n_edges:
        return []
    task = AutoencoderTask(domain, encoder, weights, seed)
    return train(task, schedule, on_epoch=on_epoch, stage="pre-training").history


def _products(h: Tensor, pairs: Tensor) -> Tensor:
    """(M, E) inner products of the embeddings at both ends."""
    return (h[:, pairs[0]] * h[:, pairs[1]]).sum(dim=2)
