"""Deep one-class methods on attributes alone: ``doc-n``, ``doc-an`` and ``dsad``.

DOC-N and DOC-AN are the paper's own objective with a feed-forward encoder instead of the graph encoder:
a(v) = ‖h_v − c‖², λ = 0 or the differentiable AUC. DSAD (Ruff et al., ICLR 2020) also learns from unlabelled
nodes:

    L = (1/n) Σ_unlabelled d(v) + (η/m) Σ_labelled d(v)^{t_v},    d(v) = ‖h_v − c‖² (+ ε for t_v = −1)

with t_v = +1 for normal and −1 for anomalous labels; η comes from {1e-2, …, 1e4} by validation AUC, else by
that of label folds. DOC-N and DSAD start from the weights of an attribute auto-encoder, have a weight decay
of 1e-6, and c is the mean embedding of the labelled normal nodes before training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from gadcore.detectors.base import Progress
from gadcore.detectors.nn.pretraining import MAX_NODES, pretrain
from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.supervised import Supervised, SupervisedTask
from gadcore.detectors.nn.training import Schedule
from gadcore.detectors.nn.weights import Weights
from gadcore.detectors.sphere.hypersphere import AN, N
from gadcore.detectors.sphere.objective import CENTRE, first_centres
from gadcore.errors import ModelError

EPSILON = 1e-6
DECAY = 1e-6
ETAS = tuple(10.0**e for e in range(-2, 5))
FALLBACK_ETA = 1.0  # when labels do not suffice to select one


@dataclass(eq=False, repr=False)
class DocAn(AN):
    """DOC-AN: the hypersphere with the AUC term on attributes alone."""

    name: ClassVar[str] = "doc-an"

    encoder: str = "mlp"


@dataclass(eq=False, repr=False)
class DocN(N):
    """DOC-N: one-class Deep SVDD on labelled normal nodes."""

    name: ClassVar[str] = "doc-n"
    revision: ClassVar[int] = 2

    encoder: str = "mlp"
    weight_decay: float = DECAY


@dataclass(eq=False, repr=False)
class Dsad(Supervised):
    """DSAD: labelled and unlabelled nodes around one centre, with ``eta`` given or selected."""

    name: ClassVar[str] = "dsad"
    revision: ClassVar[int] = 2

    weight_decay: float = DECAY
    eta: float | str = "auto"
    pretrain_epochs: int = 100

    def grid(self) -> int:
        return len(self._etas())

    def fallback(self) -> int:
        etas = self._etas()
        return etas.index(FALLBACK_ETA) if FALLBACK_ETA in etas else 0

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        return {**self.encode().draw(domain, generator), CENTRE: torch.zeros(1, self.k)}

    def prepare(self, domain: Domain, weights: Weights, task: SupervisedTask) -> list[Progress]:
        free = np.setdiff1d(np.arange(domain.graph.n_nodes), task.labels.indices)
        chosen = np.random.default_rng(self.seed).permutation(free)[:MAX_NODES]
        self._unlabelled = domain.field(chosen if len(chosen) else task.labels.indices, 0)
        history = self._pretrain(domain, weights, task)
        normal = task.seen[:, : len(task.labels.normal)]
        normal = normal / normal.sum(dim=1, keepdim=True).clamp_min(1e-12)
        centres = first_centres(self.encode(), weights, task.field, normal, push=True)
        with torch.no_grad():
            weights[CENTRE].copy_(centres[:, None])
        weights[CENTRE].requires_grad_(False)
        etas = torch.tensor(self._etas(), device=domain.device)
        self._eta = etas.repeat_interleave(weights.count // len(etas))
        return history

    def _pretrain(self, domain: Domain, weights: Weights, task: SupervisedTask) -> list[Progress]:
        """All members start from the weights of one auto-encoder."""
        one = weights.select([0])
        layers = Weights(
            {name: tensor for name, tensor in one.tensors.items() if name != CENTRE},
            {name: axis for name, axis in one.axes.items() if name != CENTRE},
        )
        schedule = Schedule(self.pretrain_epochs, self.lr, patience=None)
        history = pretrain(domain, self.encode(), layers, schedule, seed=self.seed, on_epoch=task.on_epoch)
        weights.overwrite(np.arange(weights.count), one.select([0] * weights.count))
        return history

    def outputs(self, weights: Weights, where: Field) -> Tensor:
        return (self.encode().embed(weights, where) - weights[CENTRE]).square().sum(dim=2)

    def losses(self, task: SupervisedTask) -> Tensor:
        distance = task.outputs()
        powered = torch.where(task.targets > 0, 1.0 / (distance + EPSILON), distance)
        labelled = (task.seen * powered).sum(dim=1) / task.seen.sum(dim=1)
        return self.outputs(task.weights, self._unlabelled).mean(dim=1) + self._eta * labelled

    def _etas(self) -> tuple[float, ...]:
        if self.eta == "auto":
            return ETAS
        if isinstance(self.eta, str) or self.eta < 0:
            raise ModelError(f"eta={self.eta!r}. Expected: 'auto' or a number of 0 or more.")
        return (float(self.eta),)
