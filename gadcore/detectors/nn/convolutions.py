"""The layers of a GCN for M members, with their gradients in closed form.

    U_0 = Â X W_0,   P_ℓ = Â σ(U_{ℓ−1}),   U_ℓ = P_ℓ W_ℓ,   embedding U_{L−1}
    ∂W_ℓ = P_ℓᵀ ∂U_ℓ,   ∂U_{ℓ−1} = Âᵀ(∂U_ℓ W_ℓᵀ) ⊙ [U_{ℓ−1} > 0],   ∂W_0 = (ÂX)ᵀ ∂U_0

On graphs of a few thousand nodes a third of an epoch was upkeep of autograd; a task that knows the gradient
of its loss in the embedding needs none of it. ``convolutions`` is the same as one node of an autograd graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from gadcore.detectors.nn.receptive_field import Field


class ForwardPass:
    """Embeddings of the field's targets and what their gradients need; weights (D, M, H), (M, H, O), …"""

    def __init__(self, field: Field, weights: Sequence[Tensor]) -> None:
        first, *self._later = weights
        self._field, self._shape = field, first.shape
        self._active: list[Tensor] = []  # σ(U), (n, M·H)
        self._spread: list[Tensor] = []  # P, (M, n, H)
        self.embedding = self._run(field.aggregated(first.reshape(first.shape[0], -1)))

    def _run(self, u: Tensor) -> Tensor:
        last = len(self._later) - 1
        for number, weight in enumerate(self._later):
            self._active.append(torch.relu(u))
            spread = self._field.block(last - number) @ self._active[-1]
            self._spread.append(by_member(spread, self._shape[1]))
            out = torch.bmm(self._spread[-1], weight)
            if number == last:
                return out
            u = side_by_side(out)
        return by_member(u, self._shape[1])

    def gradients(self, grad: Tensor) -> list[Tensor]:
        """Of each weight, from the gradient (M, n, K) of the embedding."""
        found: list[Tensor] = []
        for number in reversed(range(len(self._later))):
            found.insert(0, torch.bmm(self._spread[number].transpose(1, 2), grad))
            inner = side_by_side(torch.bmm(grad, self._later[number].transpose(1, 2)))
            back = self._field.block(len(self._later) - 1 - number).transposed(inner)
            masked = torch.ops.aten.threshold_backward(back, self._active[number], 0)
            grad = by_member(masked, self._shape[1])
        return [self._field.aggregated_transposed(side_by_side(grad)).view(self._shape), *found]


class _Convolutions(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, field: Field, *weights: Tensor) -> Tensor:
        ctx.made = ForwardPass(field, [weight.detach() for weight in weights])
        embedding: Tensor = ctx.made.embedding
        return embedding

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return None, *ctx.made.gradients(grads[0])


def convolutions(field: Field, weights: Sequence[Tensor]) -> Tensor:
    """(M, n, K), differentiable in the weights."""
    embedding: Tensor = _Convolutions.apply(field, *weights)  # type: ignore[no-untyped-call]
    return embedding


def by_member(h: Tensor, members: int) -> Tensor:
    """(n, M·w) -> (M, n, w)."""
    return h.view(h.shape[0], members, -1).transpose(0, 1)


def side_by_side(h: Tensor) -> Tensor:
    """(M, n, w) -> (n, M·w)."""
    return h.transpose(0, 1).reshape(h.shape[1], -1)
