"""The hypersphere objective of the paper, for M members at once.

    a(v) = ‖h_v − c‖²                                                        (1)
    L_nor = Σ_{n∈N} w_n a(v_n)                         w_n = 1/|N|           (4)
    R_AUC = Σ_{n∈A} Σ_{m∈N} w_n w_m f(a(v_n) − a(v_m)),  f the sigmoid       (5)
    L = L_nor − λ R_AUC                                                      (6)

Label weights other than 1 make the means weighted means. Targets stand in the order of ``Labels.indices``:
normal nodes first, then anomalous ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gadcore.detectors.nn.encoders import FIRST, SKIP, Encoder, Gcn
from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.training import Task, Values
from gadcore.detectors.nn.weights import Weights
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

CENTRE_MARGIN = 0.1  # least |c_k| of the N-variant, as in Deep SVDD: a centre at 0 is reached by zero weights
CENTRE = "centre"
PAIRS = 2**22  # (anomalous, normal) pairs of scores that are compared at a time

FloatMatrix = npt.NDArray[np.float32]
SphereJudge = Callable[["SphereTask"], Values]


@dataclass(frozen=True, eq=False)
class SphereBatch:
    """M encoders of one architecture, each with its centre."""

    encoder: Encoder
    weights: Weights
    centres: Tensor  # (M, K)

    @classmethod
    def from_members(
        cls, encoder: Encoder, members: Sequence[dict[str, npt.NDArray[Any]]], device: torch.device
    ) -> SphereBatch:
        """From arrays of each member, as ``member`` gives them."""
        tensors = [{name: torch.tensor(array) for name, array in one.items()} for one in members]
        centres = torch.stack([one.pop(CENTRE) for one in tensors]).to(device)
        return cls(encoder, Weights.stack(tensors, frozenset((FIRST, SKIP)), device), centres)

    def embed(self, field: Field) -> Tensor:
        """(M, n, K)."""
        return self.encoder.embed(self.weights, field)

    def scores(self, field: Field) -> Tensor:
        """(M, n) squared distances to the centre."""
        return (self.embed(field) - self.centres[:, None, :]).square().sum(dim=2)

    def on(self, device: torch.device) -> SphereBatch:
        """The same on a device."""
        if self.centres.device == device:
            return self
        members = [self.member(index) for index in range(self.weights.count)]
        return SphereBatch.from_members(self.encoder, members, device)

    def select(self, members: Sequence[int]) -> SphereBatch:
        return SphereBatch(self.encoder, self.weights.select(members), self.centres[list(members)])

    def member(self, index: int) -> dict[str, npt.NDArray[np.float32]]:
        """Arrays of one member, its centre among them."""
        return {**self.weights.member(index), CENTRE: self.centres[index].cpu().numpy()}


class _Objective(torch.autograd.Function):
    """Losses (6) with their gradient in closed form: pairs are never kept for a backward pass.

    ∂L/∂a_m = w_m (1 + λ Σ_n w_n f'(a_n − a_m)) for normal m,  ∂L/∂a_n = −λ w_n Σ_m w_m f'(a_n − a_m) for
    anomalous n,  f' = f (1 − f),  ∂L/∂h = 2 (h − c) ∂L/∂a.
    """

    @staticmethod
    def forward(
        ctx: Any, h: Tensor, centres: Tensor, normal: Tensor, anomalous: Tensor, lambdas: Tensor
    ) -> tuple[Tensor, Tensor]:
        losses, scores, grad = value_and_gradient(h, centres, normal, anomalous, lambdas)
        ctx.save_for_backward(grad)
        ctx.mark_non_differentiable(scores)
        return losses, scores

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None, None]:
        return ctx.saved_tensors[0] * grads[0][:, None, None], None, None, None, None


def value_and_gradient(
    h: Tensor, centres: Tensor, normal: Tensor, anomalous: Tensor, lambdas: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Losses (M,), scores (M, n) and ∂L/∂h (M, n, K)."""
    away = h - centres.unsqueeze(1)
    scores = away.square().sum(dim=2)
    losses, slopes = _value_and_slope(scores, normal, anomalous, lambdas)
    return losses, scores, away * (2.0 * slopes).unsqueeze(2)


def _value_and_slope(
    scores: Tensor, normal: Tensor, anomalous: Tensor, lambdas: Tensor
) -> tuple[Tensor, Tensor]:
    """Losses (M,) and ∂L/∂a (M, n)."""
    split = normal.shape[1]
    inside, outside = scores[:, :split], scores[:, split:]
    losses = (inside * normal).sum(dim=1)
    if not outside.shape[1]:
        return losses, normal
    step = max(1, PAIRS // (split * outside.shape[1]))
    if step >= len(scores):
        ranked, slopes = _ranking(inside, outside, normal, anomalous, lambdas)
        return losses - ranked, slopes
    rows = [slice(first, first + step) for first in range(0, len(scores), step)]
    parts = [_ranking(*(each[m] for each in (inside, outside, normal, anomalous, lambdas))) for m in rows]
    return losses - torch.cat([ranked for ranked, _ in parts]), torch.cat([slopes for _, slopes in parts])


def _ranking(
    inside: Tensor, outside: Tensor, normal: Tensor, anomalous: Tensor, lambdas: Tensor
) -> tuple[Tensor, Tensor]:
    """λ R_AUC (m,) and ∂L/∂a (m, n) of m members."""
    above = torch.sigmoid(outside.unsqueeze(2) - inside.unsqueeze(1))  # (m, n_A, n_N)
    wide, tall = normal.unsqueeze(2), (anomalous * lambdas.unsqueeze(1)).unsqueeze(1)
    ranked = torch.bmm(torch.bmm(tall, above), wide).flatten()
    slope = torch.addcmul(above, above, above, value=-1)
    pull = torch.bmm(tall, slope).squeeze(1)
    push = torch.bmm(slope, wide).squeeze(2)
    return ranked, torch.cat([torch.addcmul(normal, normal, pull), push * -tall.squeeze(1)], dim=1)


def hypersphere_loss(
    h: Tensor, centres: Tensor, normal: Tensor, anomalous: Tensor, lambdas: Tensor
) -> tuple[Tensor, Tensor]:
    """Losses (6) of M members, differentiable in h, and the scores a (M, n), constant.

    h (M, n, K), centres (M, K), λ (M,); weights normal (M, n_N) and anomalous (M, n_A), rows of sum 1.
    """
    losses, scores = _Objective.apply(h, centres, normal, anomalous, lambdas)  # type: ignore[no-untyped-call]
    return losses, scores


@dataclass(eq=False)
class SphereTask(Task):
    """Members of a sphere learning from labelled targets."""

    sphere: SphereBatch
    field: Field
    lambdas: Tensor
    normal: Tensor  # (M, n_N) weights of the labels
    anomalous: Tensor  # (M, n_A)
    judge: SphereJudge | None
    measures_auc: bool

    def __post_init__(self) -> None:
        self.weights, self.scores = self.sphere.weights, torch.empty(0)

    def loss(self) -> Tensor:
        h = self.sphere.embed(self.field)
        losses, self.scores = hypersphere_loss(
            h, self.sphere.centres, self.normal, self.anomalous, self.lambdas
        )
        return losses

    def gradients(self) -> Tensor | None:
        """Losses, with .grad of the weights set in closed form; None when the encoder has none."""
        encoder = self.sphere.encoder
        if not isinstance(encoder, Gcn):
            return None
        with torch.no_grad():
            made = encoder.forward_pass(self.weights, self.field)
            if made is None:
                return None
            losses, self.scores, grad = value_and_gradient(
                made.embedding, self.sphere.centres, self.normal, self.anomalous, self.lambdas
            )
            for weight, each in zip(self.weights.parameters(), made.gradients(grad)):
                weight.grad = each
        return losses

    def evaluate(self) -> Values | None:
        return None if self.judge is None else self.judge(self)


def first_centres(encoder: Encoder, weights: Weights, field: Field, normal: Tensor, *, push: bool) -> Tensor:
    """(M, K) weighted means of the labelled-normal embeddings; ``push`` keeps coordinates away from 0."""
    with torch.no_grad():
        embedded = encoder.embed(weights, field)[:, : normal.shape[1]]
        centres = torch.bmm(normal[:, None, :], embedded)[:, 0]
    if not push:
        return centres
    sign = torch.where(centres < 0, -1.0, 1.0)
    return torch.where(centres.abs() < CENTRE_MARGIN, sign * CENTRE_MARGIN, centres)


def label_weights(labels: Labels, held_out: npt.NDArray[np.bool_]) -> tuple[FloatMatrix, FloatMatrix]:
    """Weights (M, n_N) and (M, n_A) with rows of sum 1; held_out (M, n) marks labels to hide."""
    seen = np.where(held_out, 0.0, labels.weights).astype(np.float32)
    split = len(labels.normal)
    parts = seen[:, :split], seen[:, split:]
    normal, anomalous = (part / np.maximum(part.sum(axis=1, keepdims=True), 1e-12) for part in parts)
    return normal, anomalous


def validation_judge(domain: Domain, encoder: Encoder, validation: Labels, *, one_class: bool) -> SphereJudge:
    """(M,) AUC on validation labels; with ``one_class`` minus the mean score of its normal nodes."""
    nodes = validation.normal if one_class else validation.indices
    field, truth = domain.field(nodes, encoder.hops), validation.targets

    def judge(task: SphereTask) -> Values:
        scores = task.sphere.scores(field).cpu().numpy()
        return -scores.mean(axis=1).astype(np.float64) if one_class else _aucs(truth, scores)

    return judge


def fold_judge(labels: Labels, folds: npt.NDArray[np.int64], specs: int, *, one_class: bool) -> SphereJudge:
    """The same measures on held-out labels, mean over folds; a spec and its folds share the value."""
    truth, count = labels.targets, int(folds.max()) + 1

    def judge(task: SphereTask) -> Values:
        held = task.scores[specs:].cpu().numpy().reshape(specs, count, -1)
        per_fold = np.empty((count, specs))
        for fold in range(count):
            mine = (folds == fold) & ((truth == 0) | (not one_class))
            scores = held[:, fold, mine]
            per_fold[fold] = -scores.mean(axis=1) if one_class else _aucs(truth[mine], scores)
        value = per_fold.mean(axis=0)
        return np.concatenate([value, np.repeat(value, count)])

    return judge


def _aucs(truth: npt.NDArray[np.int8], scores: FloatMatrix) -> Values:
    return np.array([auc(truth, row) for row in scores])
