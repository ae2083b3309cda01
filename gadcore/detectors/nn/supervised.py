"""What torch detectors with one output per node share: members for label folds, selection, scoring, files.

A subclass gives the encoder, its extra weights, the output (M, n) of a field and the loss per member. The
first member sees all labels; without ``validation`` one more member per label fold chooses the epoch and
gives honest scores of the labels. A subclass with a grid has so many members for each value of it, value by
value, and the value of the best AUC is kept. All are trained in one pass by training.py.

Saved: detector.json has ``columns`` (what the rows of the first weight stand for), ``auc`` and ``basis``;
model.safetensors has the weights of the first member by name, the arrays of ``extras``, ``scores`` (N,) and
``out_of_fold`` (N,). Label weights are the weights of the loss; held-out AUCs count each label once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import Detector, Given, Progress
from gadcore.detectors.held_out import assign_folds, folds_of, on_own_scale
from gadcore.detectors.nn.devices import pick_device, thread_count
from gadcore.detectors.nn.encoders import FIRST, SKIP, Encoder, make_encoder
from gadcore.detectors.nn.receptive_field import Domain, Field, attribute_columns
from gadcore.detectors.nn.training import Schedule, Task, Values, train
from gadcore.detectors.nn.weights import Weights
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

TABLES = frozenset((FIRST, SKIP))


class Network(Detector):
    """A detector with an encoder: its weights and files."""

    architecture: ClassVar[str] = "mlp"  # encoder by name
    extras: ClassVar[dict[str, str]] = {}  # arrays saved beside the weights: name in the file -> attribute

    width: int
    k: int
    depth: int
    device: str
    weights_: Weights
    columns_: tuple[str, ...]

    def encode(self) -> Encoder:
        """The architecture."""
        return make_encoder(self.architecture, depth=self.depth, width=self.width, k=self.k)

    def _write(self, saved: SavedModel) -> None:
        saved.arrays.update(self.weights_.member(0))
        saved.arrays.update({name: getattr(self, attribute) for name, attribute in self.extras.items()})
        saved.state["columns"] = list(self.columns_)

    def _read(self, saved: SavedModel) -> None:
        arrays = saved.own
        for name, attribute in self.extras.items():
            setattr(self, attribute, arrays.pop(name))
        tensors = {name: torch.tensor(array) for name, array in arrays.items()}
        self.weights_ = Weights.stack([tensors], TABLES, pick_device(self.device))
        self.columns_ = tuple(saved.state["columns"])


@dataclass(eq=False, repr=False)
class Supervised(Network):
    """Base: parameters of the network and of its training."""

    seed: int = 0
    width: int = 32
    k: int = 32
    depth: int = 2
    epochs: int = 500
    lr: float = 1e-3
    weight_decay: float = 0.0
    patience: int | None = 100
    folds: int = 5
    device: str = "auto"
    threads: int | None = None

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        """First weights of one member."""
        return self.encode().draw(domain, generator)

    def outputs(self, weights: Weights, where: Field) -> Tensor:
        """(M, n) scores of a field's targets, differentiable."""
        raise AttributeError(f"{type(self).__name__} has no outputs")

    def losses(self, task: SupervisedTask) -> Tensor:
        """(M,) losses of the task's weights."""
        raise AttributeError(f"{type(self).__name__} has no losses")

    def grid(self) -> int:
        """How many variants of the loss are trained side by side."""
        return 1

    def fallback(self) -> int:
        """Which of them to keep when no label is left to measure by."""
        return 0

    def prepare(self, domain: Domain, weights: Weights, task: SupervisedTask) -> list[Progress]:
        """Work before training (pre-training, centres); returns its history."""
        return []

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = self.check_labels(labels)
        self.columns_ = attribute_columns(graph)
        with thread_count(self.threads):
            domain = Domain(graph, pick_device(self.device))
            assigned = {} if given.validation else assign_folds(graph, labels, self.folds, seed=self.seed)
            fold = folds_of(graph, labels, assigned) if assigned else None
            each = 1 if fold is None else 2 + int(fold.max())
            weights = self._first_weights(domain, self.grid() * each)
            task = SupervisedTask(self, domain, weights, labels, fold, given)
            early = self.prepare(domain, weights, task)
            schedule = Schedule(self.epochs, self.lr, self.weight_decay, patience=self.patience)
            trained = train(task, schedule, on_epoch=given.on_epoch)
            self.history_ = early + trained.history
            measured = trained.best[::each]
            chosen = int(np.argmax(measured)) if np.isfinite(measured).any() else self.fallback()
            self.auc_ = float(measured[chosen]) if np.isfinite(measured[chosen]) else None
            kept = range(chosen * each, (chosen + 1) * each)
            self._score(domain, labels, fold, weights.select(kept))

    def score_new(self, graph: Graph) -> FloatArray:
        with thread_count(self.threads), torch.no_grad():
            domain = Domain(graph, self.weights_.parameters()[0].device, self.columns_)
            return self.outputs(self.weights_, domain.whole(self.encode().hops))[0].cpu().numpy()

    def _first_weights(self, domain: Domain, members: int) -> Weights:
        """All members start from one draw: folds then differ by their labels alone."""
        one = self.draw(domain, torch.Generator().manual_seed(self.seed))
        return Weights.stack([one] * members, TABLES, domain.device)

    def _score(
        self, domain: Domain, labels: Labels, fold: npt.NDArray[np.int64] | None, weights: Weights
    ) -> None:
        with torch.no_grad():
            everywhere = domain.whole(self.encode().hops)
            scores = self.outputs(weights, everywhere).cpu().numpy()
            self.weights_ = weights.select([0])
            self.embedding_ = self.encode().embed(self.weights_, everywhere)[0].cpu().numpy()
        self.scores_ = scores[0]
        if fold is not None:
            self.out_of_fold_ = on_own_scale(self.scores_, scores[1:], labels.indices, fold)


class SupervisedTask(Task):
    """Members of a detector on labelled targets; targets stand in the order of ``Labels.indices``."""

    measures_auc = True

    def __init__(
        self,
        detector: Supervised,
        domain: Domain,
        weights: Weights,
        labels: Labels,
        fold: npt.NDArray[np.int64] | None,
        given: Given,
    ) -> None:
        self.detector, self.weights, self.labels, self.on_epoch = detector, weights, labels, given.on_epoch
        hops = detector.encode().hops
        self.field = domain.field(labels.indices, hops)
        self.targets = torch.tensor(labels.targets.astype(np.float32), device=domain.device)
        self.seen = torch.tensor(_seen(labels, fold, weights.count), device=domain.device)
        self._fold, self._validation = fold, given.validation
        self._held = None if given.validation is None else domain.field(given.validation.indices, hops)
        self._last = torch.empty(0)

    def loss(self) -> Tensor:
        return self.detector.losses(self)

    def outputs(self) -> Tensor:
        """(M, n) outputs of the labelled targets; kept for the evaluation of folds."""
        outputs = self.detector.outputs(self.weights, self.field)
        self._last = outputs.detach()
        return outputs

    def evaluate(self) -> Values | None:
        """(M,) AUC on validation labels, else mean AUC over held-out folds, else None."""
        if self._held is not None and self._validation is not None:
            scores = self.detector.outputs(self.weights, self._held).cpu().numpy()
            return np.array([auc(self._validation.targets, row) for row in scores])
        if self._fold is None:
            return None
        scores, y = self._last.cpu().numpy(), self.labels.targets
        held = [self._fold == f for f in range(int(self._fold.max()) + 1)]
        each = 1 + len(held)
        values = [
            np.mean([auc(y[mask], scores[start + 1 + f, mask]) for f, mask in enumerate(held)])
            for start in range(0, self.weights.count, each)
        ]
        return np.repeat(values, each)


def _seen(labels: Labels, fold: npt.NDArray[np.int64] | None, members: int) -> npt.NDArray[np.float32]:
    """(M, n) weight of each label for each member: 0 where its fold is held out."""
    seen = np.tile(labels.weights.astype(np.float32), (members, 1))
    if fold is not None:
        seen[np.arange(members)[:, None] % (2 + int(fold.max())) - 1 == fold] = 0.0
    return seen
