"""Node classifiers with cross-entropy: ``nn`` (attributes alone), ``slgcn`` (GCN), ``appnp`` and ``bwgnn``.

    f(v) = w · relu(h_v) + b,      L = Σ_v ω_v log(1 + exp(−t_v f(v))) / Σ_v ω_v,   t_v = ±1

h is the embedding of the encoder. ω_v = 1 as in the paper for nn and slgcn; ``balanced`` gives both classes
the same total weight, the usual choice today, and is the default of appnp and bwgnn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from gadcore.detectors.nn.encoders import Encoder, Wavelet, glorot
from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.supervised import Supervised, SupervisedTask
from gadcore.detectors.nn.weights import Weights


@dataclass(eq=False, repr=False)
class Classifier(Supervised):
    """An encoder with a logistic head."""

    balanced: bool = False

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        head = {"head.weight": glorot((self.encode().k, 1), generator), "head.bias": torch.zeros(1)}
        return {**self.encode().draw(domain, generator), **head}

    def outputs(self, weights: Weights, where: Field) -> Tensor:
        h = torch.relu(self.encode().embed(weights, where))
        return torch.bmm(h, weights["head.weight"])[:, :, 0] + weights["head.bias"]

    def losses(self, task: SupervisedTask) -> Tensor:
        weight = balance(task.seen, task.targets) if self.balanced else task.seen
        loss = F.softplus(-(2 * task.targets - 1) * task.outputs())
        return (weight * loss).sum(dim=1) / weight.sum(dim=1)


def balance(seen: Tensor, targets: Tensor) -> Tensor:
    """(M, n) weights with the same total for both classes."""
    anomalous = seen * targets
    normal = seen - anomalous
    of_class = [part / part.sum(1, keepdim=True).clamp_min(1e-12) for part in (anomalous, normal)]
    return of_class[0] + of_class[1]


@dataclass(eq=False, repr=False)
class Nn(Classifier):
    """NN of the paper: a feed-forward classifier on attributes."""

    name: ClassVar[str] = "nn"


@dataclass(eq=False, repr=False)
class Slgcn(Classifier):
    """SLGCN of the paper: a GCN classifier."""

    name: ClassVar[str] = "slgcn"
    architecture: ClassVar[str] = "gcn"


@dataclass(eq=False, repr=False)
class Appnp(Classifier):
    """An MLP whose outputs spread by personalised PageRank."""

    name: ClassVar[str] = "appnp"
    architecture: ClassVar[str] = "appnp"

    weight_decay: float = 5e-4
    lr: float = 1e-2
    balanced: bool = True


@dataclass(eq=False, repr=False)
class Bwgnn(Classifier):
    """BWGNN (Tang et al., ICML 2022): Beta wavelet filters of the attributes, several frequency bands."""

    name: ClassVar[str] = "bwgnn"

    lr: float = 1e-2
    balanced: bool = True
    order: int = 2

    def encode(self) -> Encoder:
        return Wavelet(self.depth, self.width, self.k, order=self.order)
