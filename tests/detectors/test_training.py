"""The training loop: early stopping, kept weights, cancel, members that learn as if alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from gadcore.detectors.nn.training import Schedule, Task, train
from gadcore.detectors.nn.weights import Weights
from gadcore.errors import Cancelled, ModelError


class Parabola(Task):
    """Members walk from 0 to their own goal; quality is read off a script by epoch."""

    measures_auc = True

    def __init__(self, goals: list[float], script=None) -> None:
        self.goals = torch.tensor(goals)
        self.weights = Weights.stack(
            [{"at": torch.zeros(1)} for _ in goals], frozenset(), torch.device("cpu")
        )
        self.script, self.seen = script, 0

    def loss(self):
        return (self.weights["at"][:, 0] - self.goals).square()

    def evaluate(self):
        self.seen += 1
        return None if self.script is None else np.array(self.script(self.seen), dtype=float)


def test_members_learn_exactly_as_alone() -> None:
    both, alone = Parabola([1.0, -3.0]), Parabola([-3.0])
    for task in (both, alone):
        train(task, Schedule(epochs=30, lr=0.1))
    torch.testing.assert_close(both.weights["at"][1], alone.weights["at"][0], rtol=0, atol=0)


def test_history_has_every_epoch_and_real_losses() -> None:
    history = train(Parabola([2.0]), Schedule(epochs=4, lr=0.1)).history
    assert [p.epoch for p in history] == [1, 2, 3, 4]
    assert history[0].loss == 4.0
    assert all(a.loss > b.loss for a, b in pairwise(history))
    assert {p.auc for p in history} == {None}


def test_the_loss_told_does_not_jump_when_another_member_leads() -> None:
    task = Parabola([1.0, 9.0], script=lambda seen: (0.9, 0.0) if seen < 3 else (0.9, 0.95))
    history = train(task, Schedule(epochs=6, lr=0.1, evaluate_every=1, patience=None)).history
    assert history[0].loss == pytest.approx((1.0 + 81.0) / 2)
    assert all(a.loss > b.loss for a, b in pairwise(history))
    assert [p.auc for p in history] == [0.9, 0.9, 0.95, 0.95, 0.95, 0.95]


def test_weights_of_the_best_evaluation_are_kept_for_each_member() -> None:
    task = Parabola([1.0, 1.0], script=lambda seen: (1.0 / seen, seen / 100))
    train(task, Schedule(epochs=40, lr=0.01, evaluate_every=1, patience=None))
    first, second = task.weights["at"][:, 0].tolist()
    assert first == 0.0  # best at epoch 1, before the first step
    assert second == pytest.approx(0.39, abs=0.05)


def test_patience_stops_early() -> None:
    task = Parabola([1.0], script=lambda seen: [0.9 if seen == 1 else 0.5])
    trained = train(task, Schedule(epochs=500, evaluate_every=5, patience=20))
    assert len(trained.history) == 25
    assert trained.history[-1].auc == 0.9


def test_tolerance_prefers_longer_training() -> None:
    task = Parabola([1.0], script=lambda seen: [0.9 if seen == 1 else 0.88])
    trained = train(task, Schedule(epochs=10, evaluate_every=1, tolerance=0.05))
    assert trained.epoch.tolist() == [10]
    assert trained.best.tolist() == [0.9]


def test_nan_evaluations_are_never_kept() -> None:
    task = Parabola([1.0, 1.0], script=lambda seen: (float("nan"), 0.5))
    trained = train(task, Schedule(epochs=10, evaluate_every=5))
    assert trained.epoch.tolist() == [0, 10]


def test_cancel_within_one_epoch() -> None:
    seen = []

    def stop(progress):
        seen.append(progress.epoch)
        return progress.epoch == 3

    with pytest.raises(Cancelled, match="epoch 3 of 500"):
        train(Parabola([1.0]), Schedule(), on_epoch=stop)
    assert seen == [1, 2, 3]


def test_divergence_is_told() -> None:
    with pytest.raises(ModelError, match="diverged"):
        train(Parabola([float("inf")]), Schedule(epochs=3))


def test_weights_select_and_overwrite_by_member() -> None:
    members = [{"table": torch.full((3, 2), float(i)), "w": torch.full((2,), float(i))} for i in range(4)]
    weights = Weights.stack(members, frozenset(("table",)), torch.device("cpu"))
    assert weights["table"].shape == (3, 4, 2)
    assert weights.count == 4
    chosen = weights.select([2, 0])
    assert chosen.member(0)["table"].tolist() == [[2.0, 2.0]] * 3
    weights.overwrite(np.array([1]), weights.select([3, 3, 3, 3]))
    assert weights.member(1)["w"].tolist() == [3.0, 3.0]
    assert weights.member(2)["w"].tolist() == [2.0, 2.0]
