"""Beta wavelet filters: band-pass filters on the graph, so that nodes unlike their neighbours stand out.

    W_{p,q} = β_{p,q}(L/2) = (L/2)^p (I − L/2)^q / (2 B(p+1, q+1)),   p + q = C,   L = I − Â
    embedding = Σ_p W_{p,C−p} relu(mlp(X)) U_p

L/2 = (I − Â)/2 has its spectrum in [0, 1], and I − L/2 = (I + Â)/2; both are applied step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import torch
from torch import Tensor

from gadcore.detectors.nn.encoders import Mlp, glorot
from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.weights import Weights


@dataclass(frozen=True)
class Wavelet(Mlp):
    """Attributes through an MLP, then C + 1 bands, each with its own weight."""

    order: int = 2  # C

    @property
    def hops(self) -> int:
        return self.order

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        bands = {f"band{p}.weight": glorot((self.k, self.k), generator) for p in range(self.order + 1)}
        return {**super().draw(domain, generator), **bands}

    def convolve(self, weights: Weights, field: Field) -> Tensor:
        start = torch.relu(super().convolve(weights, field))  # (M, n_L, K)
        total = None
        for band in range(self.order + 1):
            filtered = self._filter(start, field, band)
            part = torch.bmm(filtered, weights[f"band{band}.weight"])
            total = part if total is None else total + part
        return start if total is None else total

    def _filter(self, h: Tensor, field: Field, high: int) -> Tensor:
        """W_{high, C−high} h at the field's targets."""
        members, _, k = h.shape
        flat = h.transpose(0, 1).reshape(h.shape[1], -1)
        for step in range(self.order):
            level = self.order - 1 - step
            sign = -1.0 if step < high else 1.0
            local = flat if field.whole else flat[self._inside(field, level)]
            flat = 0.5 * (local + sign * (field.block(level) @ flat))
        # 1 / (2 B(p+1, q+1)) = (C+1)! / (2 p! q!)
        scale = factorial(self.order + 1) / (2 * factorial(high) * factorial(self.order - high))
        return scale * flat.view(-1, members, k).transpose(0, 1)

    @staticmethod
    def _inside(field: Field, level: int) -> Tensor:
        """Where S_level stands in S_{level+1}."""
        outer, inner = field.shells[level + 1], field.shells[level]
        return torch.as_tensor(outer.searchsorted(inner), device=field.domain.device)
