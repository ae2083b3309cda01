"""The training loop of every torch detector: fit → epoch → step, with early stopping and cancel.

A task holds the weights of M members, gives one loss per member, and may evaluate them. Losses are summed,
and Adam works element by element, so each member learns exactly as it would alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gadcore.detectors.base import OnEpoch, Progress
from gadcore.detectors.nn.weights import Weights
from gadcore.errors import Cancelled, ModelError

Values = npt.NDArray[np.float64]


class Task:
    """What the loop trains."""

    weights: Weights
    measures_auc: bool = False  # whether ``evaluate`` gives AUCs, to be shown as such

    def loss(self) -> Tensor:
        """(M,) losses of the current weights."""
        raise NotImplementedError

    def gradients(self) -> Tensor | None:
        """Set .grad of every weight in closed form and return the losses; None to differentiate ``loss``."""
        return None

    def evaluate(self) -> Values | None:
        """(M,) quality of the weights that ``loss`` last saw, higher is better; None without a measure."""
        return None


@dataclass(frozen=True)
class Schedule:
    """How long and how fast.

    ``patience``: epochs without a better evaluation; None never stops early. ``tolerance``: the kept weights
    are the longest trained ones whose evaluation is at most so much below the best.
    """

    epochs: int = 500
    lr: float = 1e-3
    weight_decay: float = 0.0
    evaluate_every: int = 5
    patience: int | None = 100
    tolerance: float = 0.0


@dataclass
class _Watch:
    """Best evaluation of each member and the weights to keep."""

    best: Values
    kept: Weights
    epoch: npt.NDArray[np.int64]  # of the kept weights; 0 before any
    tolerance: float = 0.0
    improved_at: int = 0

    def see(self, values: Values | None, weights: Weights, epoch: int) -> None:
        """Keep weights that are as good as the best, within tolerance; only a gain renews patience."""
        if values is None:
            return
        known = np.nan_to_num(values, nan=-np.inf)
        members = np.flatnonzero((known >= self.best - self.tolerance) & np.isfinite(known))
        if (known > self.best).any():
            self.improved_at = epoch
        if len(members):
            self.best[members] = np.maximum(self.best[members], known[members])
            self.epoch[members] = epoch
            self.kept.overwrite(members, weights)


@dataclass(frozen=True)
class Trained:
    """Outcome; the task's weights are those that early stopping kept."""

    history: list[Progress]
    best: Values  # (M,) best evaluation, -inf where there was none
    epoch: npt.NDArray[np.int64] = field(repr=False)


def train(
    task: Task, schedule: Schedule, *, on_epoch: OnEpoch | None = None, stage: str = "training"
) -> Trained:
    """Minimise the task's losses; raises ``Cancelled`` within one epoch of ``on_epoch`` returning True."""
    weights, count = task.weights, task.weights.count
    optimiser, ones = _adam(weights, schedule), torch.ones(count, device=weights.parameters()[0].device)
    kept, epochs = weights.select(range(count)), np.zeros(count, dtype=np.int64)
    watch = _Watch(np.full(count, -np.inf), kept, epochs, schedule.tolerance)
    history: list[Progress] = []
    for epoch in range(1, schedule.epochs + 1):
        losses = _gradients(task, ones)
        if epoch % schedule.evaluate_every == 0 or epoch == schedule.epochs:
            with torch.no_grad():
                watch.see(task.evaluate(), weights, epoch)
        optimiser.step()
        progress = _progress(epoch, schedule.epochs, losses, watch, task.measures_auc, stage)
        history.append(progress)
        if on_epoch is not None and on_epoch(progress):
            raise Cancelled(f"Stopped on request at epoch {epoch} of {schedule.epochs} ({stage}).")
        if _exhausted(watch, schedule, epoch):
            break
    weights.overwrite(np.flatnonzero(watch.epoch), watch.kept)
    if not weights.finite():
        raise ModelError("Training diverged: weights are not finite. Lower lr, or check the attributes.")
    return Trained(history, watch.best, watch.epoch)


def _gradients(task: Task, ones: Tensor) -> Tensor:
    """The losses, with .grad of the weights set: by the task's closed form, or by autograd."""
    losses = task.gradients()
    if losses is None:
        for weight in task.weights.parameters():
            weight.grad = None
        losses = task.loss()
        losses.backward(ones)  # type: ignore[no-untyped-call]
    return losses


def _adam(weights: Weights, schedule: Schedule) -> torch.optim.Optimizer:
    parameters = weights.parameters()
    fused = parameters[0].device.type in ("cpu", "cuda")
    return torch.optim.Adam(parameters, lr=schedule.lr, weight_decay=schedule.weight_decay, fused=fused)


def _progress(
    epoch: int, epochs: int, losses: Tensor, watch: _Watch, measures_auc: bool, stage: str
) -> Progress:
    """Mean loss, for one that follows the leader would jump with each new one, and the best AUC."""
    auc = float(watch.best.max()) if measures_auc and watch.epoch.any() else None
    return Progress(epoch, epochs, losses.mean().item(), auc, stage)


def _exhausted(watch: _Watch, schedule: Schedule, epoch: int) -> bool:
    if schedule.patience is None or not watch.epoch.any():
        return False
    return epoch - watch.improved_at >= schedule.patience
