"""Dominant (Ding et al., SDM 2019): a GCN auto-encoder of structure and attributes; no labels, so no weights.

    Z = GCN(X),  Â_uv = z_u · z_v,  X̂ = Â Z W
    score(v) = (1 − α) ‖x_v − x̂_v‖ + α ‖a_v − â_v‖

The structure error is exact without the N × N matrix:

    ‖a_v − â_v‖² = Σ a_vu² − 2 Σ_{u∈N(v)} a_vu z_v·z_u + z_vᵀ(ZᵀZ)z_v

Both errors are divided by what an empty reconstruction has in the mean (‖x_v‖, ‖a_v‖), so that α weighs like
with like. The loss is the mean score. Adam 1e-3, at most 500 epochs; with ``validation`` the epoch is the one
of the smallest mean score of its normal nodes, the paper's rule for methods that use no anomalous label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gadcore.detectors.base import NO_LABELS, Given
from gadcore.detectors.nn.devices import pick_device, thread_count
from gadcore.detectors.nn.encoders import FIRST, Encoder, glorot
from gadcore.detectors.nn.ops import SparseMatrix
from gadcore.detectors.nn.receptive_field import Domain, attribute_columns
from gadcore.detectors.nn.supervised import Network
from gadcore.detectors.nn.training import Schedule, Task, Values, train
from gadcore.detectors.nn.weights import Weights
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels


@dataclass(eq=False, repr=False)
class Dominant(Network):
    """Reconstruction error of a graph auto-encoder."""

    name: ClassVar[str] = "dominant"
    needs: ClassVar[str] = NO_LABELS
    revision: ClassVar[int] = 2
    architecture: ClassVar[str] = "gcn"

    seed: int = 0
    width: int = 32
    k: int = 32
    depth: int = 2
    alpha: float = 0.5
    epochs: int = 500
    lr: float = 1e-3
    patience: int | None = 100
    device: str = "auto"
    threads: int | None = None

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = NO_LABELS
        self.columns_ = attribute_columns(graph)
        with thread_count(self.threads):
            domain = Domain(graph, pick_device(self.device))
            held = None if given.validation is None else given.validation.normal
            task = ReconstructionTask(self.encode(), domain, self._draw(domain), self.alpha, held)
            schedule = Schedule(self.epochs, self.lr, patience=self.patience)
            trained = train(task, schedule, on_epoch=given.on_epoch)
            self.history_, self.weights_ = trained.history, task.weights
            with torch.no_grad():
                self.scores_ = task.errors()[0].cpu().numpy()
                self.embedding_ = task.embedding()[0].cpu().numpy()

    def score_new(self, graph: Graph) -> FloatArray:
        with thread_count(self.threads), torch.no_grad():
            domain = Domain(graph, self.weights_[FIRST].device, self.columns_)
            errors = ReconstructionTask(self.encode(), domain, self.weights_, self.alpha).errors()
            scores: FloatArray = errors[0].cpu().numpy()
            return scores

    def _draw(self, domain: Domain) -> Weights:
        generator = torch.Generator().manual_seed(self.seed)
        drawn = self.encode().draw(domain, generator)
        drawn["decoder"] = glorot((self.k, int(domain.x.shape[1])), generator)
        return Weights.stack([drawn], frozenset((FIRST,)), domain.device)


class ReconstructionTask(Task):
    """Both errors of every node, with gradients and without forming X̂ or Â."""

    def __init__(
        self, encoder: Encoder, domain: Domain, weights: Weights, alpha: float, held: IntArray | None = None
    ) -> None:
        self.encoder, self.weights = encoder, weights
        self.held = None if held is None or not len(held) else torch.as_tensor(held, device=domain.device)
        self._last = torch.empty(0)  # (N,) scores of the last loss
        self.field = domain.whole(encoder.hops)
        graph = domain.graph
        self.adjacency = SparseMatrix(sp.csr_array(graph.adjacency), domain.device)
        squared = np.asarray(graph.adjacency.multiply(graph.adjacency).sum(axis=1)).ravel()
        self.degree = torch.tensor(squared.astype(np.float32), device=domain.device)
        x = domain.x
        length = np.asarray((x * x).sum(axis=1)).ravel()
        self.length = torch.tensor(length.astype(np.float32), device=domain.device)
        self.by_x = (1 - alpha) / self.length.sqrt().mean().clamp_min(1e-12)
        self.by_a = alpha / self.degree.sqrt().mean().clamp_min(1e-12)

    def embedding(self) -> Tensor:
        return self.encoder.embed(self.weights, self.field)

    def errors(self) -> Tensor:
        """(1, N) weighted reconstruction errors."""
        z = self.embedding()[0]
        around = self.adjacency @ z
        structure = self.degree - 2 * (z * around).sum(1) + ((z @ (z.T @ z)) * z).sum(1)
        structure = structure.clamp_min(1e-12).sqrt()
        attributes = self._attribute_error(self.field.domain.operator @ z).clamp_min(1e-12).sqrt()
        return (self.by_x * attributes + self.by_a * structure)[None, :]

    def _attribute_error(self, smoothed: Tensor) -> Tensor:
        """‖x_v − s_v W‖² = ‖x_v‖² − 2 (X Wᵀ)_v · s_v + s_vᵀ W Wᵀ s_v."""
        decoder = self.weights["decoder"][0]
        across = decoder.T.contiguous()
        cross = (self.field.attributes(across) * smoothed).sum(1)
        return self.length - 2 * cross + ((smoothed @ (decoder @ across)) * smoothed).sum(1)

    def loss(self) -> Tensor:
        errors = self.errors()
        self._last = errors.detach()[0]
        return errors.mean(dim=1)

    def evaluate(self) -> Values | None:
        """Minus the mean score of held-out normal nodes; None without them."""
        return None if self.held is None else np.array([-float(self._last[self.held].mean())])
