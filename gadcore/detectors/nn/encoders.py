"""Encoders: M members map the attributes around some target nodes to embeddings (M, n, K).

    gcn     H^(ℓ+1) = σ(Â H^(ℓ) W^(ℓ)), σ = ReLU, the last layer linear              (equation 2 of the paper)
    mlp     the same without Â: no graph
    appnp   H = mlp(X);  Z⁰ = H,  Z^(t+1) = (1−α) Â Z^t + α H;  embedding Z^T
    sage    GraphSAGE (mean) through torch_geometric; edge weights are not used
    gat     graph attention through torch_geometric; edge weights are not used

No encoder has a bias. ``skip`` adds X W_s, the node's own attributes, to the embedding. X = I makes the first
weight an embedding table. The members of gcn, mlp and appnp run as one product: first weight (D, M·H), later
layers batched. In sage and gat sparse attributes first pass a linear table (D → H), which keeps them sparse.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from itertools import pairwise
from typing import Any

import scipy.sparse as sp
import torch
from torch import Tensor
from torch.func import functional_call

from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.weights import Weights
from gadcore.errors import ModelError

FIRST, SKIP = "layer0.weight", "skip.weight"


class ForwardPass:
    """Embeddings of the field's targets and what their gradients need; weights (D, M, H), (M, H, O), …

        U_0 = Â X W_0,   P_ℓ = Â σ(U_{ℓ−1}),   U_ℓ = P_ℓ W_ℓ,   embedding U_{L−1}
        ∂W_ℓ = P_ℓᵀ ∂U_ℓ,   ∂U_{ℓ−1} = Âᵀ(∂U_ℓ W_ℓᵀ) ⊙ [U_{ℓ−1} > 0],   ∂W_0 = (ÂX)ᵀ ∂U_0

    On graphs of a few thousand nodes a third of an epoch was upkeep of autograd; a task that knows the
    gradient of its loss in the embedding needs none of it.
    """

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
    """(M, n, K): the same as one node of an autograd graph, differentiable in the weights."""
    embedding: Tensor = _Convolutions.apply(field, *weights)  # type: ignore[no-untyped-call]
    return embedding


def by_member(h: Tensor, members: int) -> Tensor:
    """(n, M·w) -> (M, n, w)."""
    return h.view(h.shape[0], members, -1).transpose(0, 1)


def side_by_side(h: Tensor) -> Tensor:
    """(M, n, w) -> (n, M·w)."""
    return h.transpose(0, 1).reshape(h.shape[1], -1)


@dataclass(frozen=True)
class Encoder:
    """Architecture only: ``initialise`` draws weights, ``embed`` applies them."""

    depth: int = 2
    width: int = 32
    k: int = 32
    skip: bool = False

    def __post_init__(self) -> None:
        if min(self.depth, self.width, self.k) < 1:
            raise ModelError(f"depth={self.depth}, width={self.width}, k={self.k}. Expected: each 1 or more.")

    @property
    def hops(self) -> int:
        """Aggregations, so the radius of the receptive field."""
        return self.depth

    def sizes(self, n_features: int) -> list[tuple[int, int]]:
        """(inputs, outputs) of each layer."""
        widths = [n_features, *[self.width] * (self.depth - 1), self.k]
        return list(pairwise(widths))

    def initialise(self, domain: Domain, seeds: Sequence[int]) -> Weights:
        """First weights, drawn for each member from its own seed."""
        members = [self.draw(domain, torch.Generator().manual_seed(seed)) for seed in seeds]
        return Weights.stack(members, frozenset((FIRST, SKIP)), domain.device)

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        """Weights of one member."""
        features = int(domain.x.shape[1])
        drawn = {
            f"layer{layer}.weight": self.first_weight(size, generator)
            for layer, size in enumerate(self.sizes(features))
        }
        if self.skip:
            drawn[SKIP] = glorot((features, self.k), generator)
        return drawn

    def first_weight(self, size: tuple[int, int], generator: torch.Generator) -> Tensor:
        """One layer's weight before training: Glorot-uniform, as in torch_geometric."""
        return glorot(size, generator)

    def embed(self, weights: Weights, field: Field) -> Tensor:
        """(M, n, K) embeddings of the field's targets."""
        embedding = self.convolve(weights, field)
        if not self.skip:
            return embedding
        return embedding + by_member(field.own_attributes(weights.table(SKIP)), weights.count)

    def convolve(self, weights: Weights, field: Field) -> Tensor:
        """The part of ``embed`` without the skip: graph convolutions."""
        return convolutions(field, [weights[f"layer{layer}.weight"] for layer in range(self.depth)])


@dataclass(frozen=True)
class Gcn(Encoder):
    """Graph convolutions on the field's blocks."""

    def forward_pass(self, weights: Weights, field: Field) -> ForwardPass | None:
        """``embed`` outside autograd, to be followed by its closed-form gradients; None with a skip."""
        if self.skip:
            return None
        return ForwardPass(field, [weights[f"layer{layer}.weight"].detach() for layer in range(self.depth)])


@dataclass(frozen=True)
class Mlp(Encoder):
    """Attributes only."""

    @property
    def hops(self) -> int:
        return 0

    def convolve(self, weights: Weights, field: Field) -> Tensor:
        h = self.inputs(field, weights.table(FIRST))
        for layer in range(1, self.depth):
            h = _dense_layer(torch.relu(h), weights[f"layer{layer}.weight"], last=layer == self.depth - 1)
        return h if self.depth > 1 else by_member(h, weights.count)

    def inputs(self, field: Field, weight: Tensor) -> Tensor:
        """What the first layer makes of the attributes."""
        return field.attributes(weight)


@dataclass(frozen=True)
class FeedForward(Mlp):
    """``mlp``: rows of sparse attributes sum to 1, and first weights are those of PyTorch's linear layers.

    With raw rows and Glorot weights the distances to the centre start so large that little is learnt. Test
    AUC, 2.5 % labelled, seeds 100 to 102, raw rows against these (the paper): ``dsad`` 51.7 and 89.9 (81.9)
    on Photo, 55.0 and 68.7 (69.6) on Cora; ``nn`` 77.9 and 89.0 (87.1), 65.6 and 71.6 (72.7).
    """

    def inputs(self, field: Field, weight: Tensor) -> Tensor:
        return field.shares(weight)

    def first_weight(self, size: tuple[int, int], generator: torch.Generator) -> Tensor:
        return (torch.rand(size, generator=generator) * 2 - 1) / math.sqrt(size[0])


@dataclass(frozen=True)
class PageRankMlp(Mlp):
    """An MLP whose outputs spread by personalised PageRank with teleport α over T steps."""

    steps: int = 10
    alpha: float = 0.1

    @property
    def hops(self) -> int:
        return self.steps

    def convolve(self, weights: Weights, field: Field) -> Tensor:
        start = side_by_side(super().convolve(weights, field))
        z = start
        for step in range(self.steps):
            level = self.steps - 1 - step
            local = start if field.whole else start[field.positions(level)]
            z = (1 - self.alpha) * (field.block(level) @ z) + self.alpha * local
        return by_member(z, weights.count)


@dataclass(frozen=True)
class Wavelet(Mlp):
    """Attributes through an MLP, then C + 1 Beta wavelet bands, each with its own weight.

    Band-pass filters on the graph, so that nodes unlike their neighbours stand out:

        W_{p,q} = β_{p,q}(L/2) = (L/2)^p (I − L/2)^q / (2 B(p+1, q+1)),   p + q = C,   L = I − Â
        embedding = Σ_p W_{p,C−p} relu(mlp(X)) U_p

    L/2 = (I − Â)/2 has its spectrum in [0, 1], and I − L/2 = (I + Â)/2; both are applied step by step.
    """

    order: int = 2  # C

    @property
    def hops(self) -> int:
        return self.order

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        bands = {f"band{p}.weight": glorot((self.k, self.k), generator) for p in range(self.order + 1)}
        return {**super().draw(domain, generator), **bands}

    def convolve(self, weights: Weights, field: Field) -> Tensor:
        start = torch.relu(super().convolve(weights, field))  # (M, n_L, K)
        bands = range(self.order + 1)
        parts = (torch.bmm(self._filter(start, field, p), weights[f"band{p}.weight"]) for p in bands)
        return reduce(torch.add, parts)

    def _filter(self, h: Tensor, field: Field, high: int) -> Tensor:
        """W_{high, C−high} h at the field's targets."""
        flat = side_by_side(h)
        for step in range(self.order):
            level = self.order - 1 - step
            sign = -1.0 if step < high else 1.0
            inside = field.shells[level + 1].searchsorted(field.shells[level])  # S_level in S_{level+1}
            local = flat if field.whole else flat[torch.as_tensor(inside, device=flat.device)]
            flat = 0.5 * (local + sign * (field.block(level) @ flat))
        # 1 / (2 B(p+1, q+1)) = (C+1)! / (2 p! q!)
        scale = math.factorial(self.order + 1) / (
            2 * math.factorial(high) * math.factorial(self.order - high)
        )
        return scale * by_member(flat, h.shape[0])


@dataclass(frozen=True)
class MessagePassing(Encoder):
    """Layers of torch_geometric on the field's edges, one member after the other."""

    layer: str = "SAGEConv"

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        sparse = sp.issparse(domain.x)
        features = int(domain.x.shape[1])
        drawn = {FIRST: glorot((features, self.width), generator)} if sparse else {}
        sizes = self.sizes(self.width if sparse else features)
        for number, size in enumerate(sizes):
            for name, tensor in _module(self.layer, *size).named_parameters():
                drawn[f"conv{number}.{name}"] = glorot(tuple(tensor.shape), generator)
        if self.skip:
            drawn[SKIP] = glorot((features, self.k), generator)
        return drawn

    def convolve(self, weights: Weights, field: Field) -> Tensor:
        table = FIRST in weights.tensors
        x = by_member(field.attributes(weights.table(FIRST)), weights.count) if table else None
        members = [
            self._one(weights, m, field.dense_attributes if x is None else x[m], field)
            for m in range(weights.count)
        ]
        return torch.stack(members)[:, field.positions(0)]

    def _one(self, weights: Weights, member: int, h: Tensor, field: Field) -> Tensor:
        for number, size in enumerate(self.sizes(h.shape[1])):
            prefix = f"conv{number}."
            own = {
                name.removeprefix(prefix): tensor[member]
                for name, tensor in weights.tensors.items()
                if name.startswith(prefix)
            }
            h = h if number == 0 else torch.relu(h)
            h = functional_call(_module(self.layer, *size), own, (h, field.edge_index))
        return h


@cache
def _module(layer: str, inputs: int, outputs: int) -> Any:
    """A layer of torch_geometric without weights of its own."""
    with warnings.catch_warnings():  # its import meets a deprecation in torch
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch_geometric import nn
    with torch.device("meta"):  # only the shape is wanted: no values, no draw from the global generator
        return getattr(nn, layer)(inputs, outputs, bias=False)


ENCODERS: dict[str, Callable[[int, int, int, bool], Encoder]] = {
    "gcn": Gcn,
    "mlp": FeedForward,
    "appnp": PageRankMlp,
    "sage": partial(MessagePassing, layer="SAGEConv"),
    "gat": partial(MessagePassing, layer="GATConv"),
}


def make_encoder(name: str, *, depth: int, width: int, k: int, skip: bool = False) -> Encoder:
    """An encoder by name; ModelError lists the names there are."""
    if name not in ENCODERS:
        raise ModelError(f"There is no encoder {name!r}. Expected one of: {', '.join(ENCODERS)}.")
    return ENCODERS[name](depth, width, k, skip)


def glorot(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Uniform in ±√(6 / (fan in + fan out)) over the last two axes."""
    fans = shape[-1] + (shape[-2] if len(shape) > 1 else 1)
    bound: float = math.sqrt(6.0 / fans)
    return (torch.rand(shape, generator=generator) * 2 - 1) * bound


def _dense_layer(h: Tensor, weight: Tensor, *, last: bool) -> Tensor:
    """(n, M·H) times (M, H, O) -> (M, n, O) for the last layer, else (n, M·O)."""
    out = torch.bmm(by_member(h, weight.shape[0]), weight)
    return out if last else side_by_side(out)
