"""Deep one-class methods on attributes alone: ``doc-n``, ``doc-an`` and ``dsad``.

DOC-N and DOC-AN are the paper's own objective with a feed-forward encoder instead of the graph encoder:
a(v) = ‖h_v − c‖², λ = 0 or the differentiable AUC. DSAD (Ruff et al., ICLR 2020) also learns from unlabelled
nodes:

    L = (1/n) Σ_unlabelled d(v) + (η/m) Σ_labelled d(v)^{t_v},    d(v) = ‖h_v − c‖² (+ ε for t_v = −1)

with t_v = +1 for normal and −1 for anomalous labels. Its weights start from an auto-encoder of attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from gadcore.detectors.base import Progress
from gadcore.detectors.encoders import Encoder, glorot, make_encoder
from gadcore.detectors.fields import Domain, Field
from gadcore.detectors.hypersphere import AN, N
from gadcore.detectors.members import Options
from gadcore.detectors.supervised import Supervised, SupervisedTask
from gadcore.detectors.training import Schedule, Values, train
from gadcore.detectors.weights import Weights

EPSILON = 1e-6
SAMPLE = 2048  # unlabelled nodes that an epoch of DSAD sees


@dataclass(eq=False, repr=False)
class DocAn(AN):
    """DOC-AN: the hypersphere with the AUC term on attributes alone."""

    name: ClassVar[str] = "doc-an"

    encoder: str = "mlp"


@dataclass(eq=False, repr=False)
class DocN(N):
    """DOC-N: one-class Deep SVDD on labelled normal nodes."""

    name: ClassVar[str] = "doc-n"

    encoder: str = "mlp"

    def _options(self, *, one_class: bool) -> Options:
        """No graph auto-encoder: this method must not see an edge."""
        return replace(super()._options(one_class=one_class), pretrain_epochs=0)


@dataclass(eq=False, repr=False)
class Dsad(Supervised):
    """DSAD: labelled and unlabelled nodes around one centre."""

    name: ClassVar[str] = "dsad"

    eta: float = 1.0
    pretrain_epochs: int = 100

    def encode(self) -> Encoder:
        return make_encoder("mlp", depth=self.depth, width=self.width, k=self.k)

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        return {**self.encode().draw(domain, generator), "centre": torch.zeros(1, self.k)}

    def prepare(self, domain: Domain, weights: Weights, task: SupervisedTask) -> list[Progress]:
        rng = np.random.default_rng(self.seed)
        labelled = set(task.labels.indices.tolist())
        free = np.array([v for v in range(domain.graph.n_nodes) if v not in labelled], dtype=np.int64)
        chosen = rng.permutation(free)[:SAMPLE] if len(free) else task.labels.indices
        self._unlabelled = domain.field(chosen, 0)
        pre = _Autoencoder(self.encode(), weights, self._unlabelled, self.seed)
        history = train(
            pre, Schedule(self.pretrain_epochs, self.lr), on_epoch=task.on_epoch, stage="pre-training"
        ).history
        with torch.no_grad():
            centre = self.encode().embed(weights, self._unlabelled).mean(dim=1, keepdim=True)
            sign = torch.where(centre < 0, -1.0, 1.0)
            weights["centre"].copy_(torch.where(centre.abs() < 0.1, 0.1 * sign, centre))
        weights["centre"].requires_grad_(False)
        return history

    def outputs(self, weights: Weights, where: Field) -> Tensor:
        return (self.encode().embed(weights, where) - weights["centre"]).square().sum(dim=2)

    def losses(self, task: SupervisedTask) -> Tensor:
        distance = task.outputs()
        powered = torch.where(task.targets > 0, 1.0 / (distance + EPSILON), distance)
        labelled = (task.seen * powered).sum(dim=1) / task.seen.sum(dim=1)
        return self.outputs(task.weights, self._unlabelled).mean(dim=1) + self.eta * labelled


class _Autoencoder:
    """Linear reconstruction of random projections of the attributes from the embedding."""

    measures_auc = False

    def __init__(self, encoder: Encoder, weights: Weights, where: Field, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        features = int(where.domain.x.shape[1])
        width = min(features, 256)  # a wide sparse X is reconstructed through a fixed random projection
        projection = glorot((features, width), generator).to(where.domain.device)
        self.encoder, self.where = encoder, where
        self.target = where.shares(projection)
        own = {name: tensor for name, tensor in weights.tensors.items() if name != "centre"}
        decoder = glorot((encoder.k, width), generator).to(where.domain.device)
        stacked = decoder.repeat(weights.count, 1, 1).requires_grad_()
        axes = {name: weights.axes[name] for name in own}
        self.weights = Weights({**own, "decoder": stacked}, {**axes, "decoder": 0})

    def loss(self) -> Tensor:
        h = self.encoder.embed(self.weights, self.where)
        return (torch.bmm(h, self.weights["decoder"]) - self.target).square().mean(dim=(1, 2))

    def evaluate(self) -> Values | None:
        return None
