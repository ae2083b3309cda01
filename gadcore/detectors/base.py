"""The contract that every detector keeps, and the fitted attributes that every reader may rely on.

A constructor only stores its keywords. ``fit`` learns from a Graph and its Labels and returns self:

    scores_       (N,) float32, higher = more anomalous, in evaluation mode, finite
    embedding_    (N, K) float32, or None for a detector without one
    centre_       (K,) float32, hypersphere centre c in the space of embedding_, or None
    basis_        what the ranking rests on: "both labels", "normal labels", "anomalous labels" or "no labels"
    auc_          out-of-fold (or validation) AUC on the labels given, or None when it cannot be had
    out_of_fold_  (N,) float32: a score from models that did not see that label, comparable with scores_ and
                  between folds; nan where unlabelled; or None
    spread_       (N,) float32 disagreement of ensemble members, or None
    history_      list[Progress], one entry per reported epoch
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from gadcore.detectors.arrays import SavedModel, save_arrays
from gadcore.errors import Cancelled, LabelError, ModelError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels

BOTH, NORMAL_ONLY, NO_LABELS = "both labels", "normal labels", "no labels"
ANOMALOUS_ONLY = "anomalous labels"  # a basis only: no detector needs it


@dataclass(frozen=True)
class Progress:
    """Where a fit stands: real epochs and losses, never an estimate."""

    epoch: int
    epochs: int
    loss: float
    auc: float | None = None
    stage: str = "training"


OnEpoch = Callable[[Progress], bool | None]  # True asks the fit to stop


class Reporter:
    """Collects and passes on the Progress of a fit; raises ``Cancelled`` when the listener asks to stop."""

    def __init__(self, on_epoch: OnEpoch | None, epochs: int) -> None:
        self.history: list[Progress] = []
        self.epochs = epochs
        self._on_epoch = on_epoch

    def step(self, loss: float, auc: float | None = None, stage: str = "training") -> None:
        """One more of ``epochs`` steps is done."""
        self.listen(Progress(len(self.history) + 1, self.epochs, loss, auc, stage))

    def listen(self, progress: Progress) -> None:
        """Record a report made elsewhere, pass it on, and stop if asked to."""
        self.history.append(progress)
        if self._on_epoch is not None and self._on_epoch(progress):
            raise Cancelled(f"Stopped on request after step {progress.epoch} of {progress.epochs}.")


@dataclass(frozen=True)
class Given:
    """What a fit may be given beside graph and labels."""

    validation: Labels | None = None  # selects λ, epoch and grid
    on_epoch: OnEpoch | None = None  # returning True stops within one epoch and raises ``Cancelled``
    warm_start: Detector | None = None  # an earlier fit


class Detector:
    """Base of all detectors: parameters, label checks, save and load."""

    name: ClassVar[str]
    needs: ClassVar[str] = BOTH  # least labels that fit accepts: BOTH, NORMAL_ONLY or NO_LABELS
    fitted: ClassVar[tuple[str, ...]] = ()  # attributes to save, arrays or JSON, by name without underscores
    revision: ClassVar[int] = 1  # raised when a change of code, not of a parameter, changes the scores

    scores_: FloatArray
    embedding_: FloatArray | None = None
    centre_: FloatArray | None = None
    basis_: str
    auc_: float | None = None
    out_of_fold_: FloatArray | None = None
    spread_: FloatArray | None = None
    history_: list[Progress]

    def fit(
        self,
        graph: Graph,
        labels: Labels,
        *,
        validation: Labels | None = None,
        on_epoch: OnEpoch | None = None,
        warm_start: Detector | None = None,
    ) -> Self:
        """Learn from the labels and return self; see ``Given`` for the rest.

        ``labels.weights`` weigh the labels in the loss; figures on held-out labels count each label once,
        those of ``an+`` out of fold by its weight.
        """
        self._fit(graph, labels, Given(validation, on_epoch, warm_start))
        return self

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        """Set the fitted attributes."""
        raise ModelError(f"{type(self).__name__} has no fit")

    def score_new(self, graph: Graph) -> FloatArray:
        """Scores of all nodes of a graph that has grown since training; nothing is refitted."""
        raise ModelError(f"The model {self.name!r} cannot score nodes that arrive later. Retrain instead.")

    def carried_to(self, graph: Graph) -> Self:
        """This model on another version of its graph: all nodes are scored anew, nothing is refitted."""
        other = copy(self)
        other.scores_, other.history_ = self.score_new(graph), []
        other.embedding_ = other.spread_ = other.out_of_fold_ = None
        return other

    def save(self, folder: Path) -> None:
        """Write detector.json (name, parameters) and arrays as safetensors; never a pickle."""
        folder.mkdir(parents=True, exist_ok=True)
        state = {"name": self.name, "params": self.get_params(), "auc": self.auc_, "basis": self.basis_}
        saved = SavedModel(folder, state, {})
        self._write(saved)
        save_arrays(folder, {"scores": self.scores_, "out_of_fold": self.out_of_fold_, **saved.arrays})
        (folder / "detector.json").write_text(json.dumps(state), encoding="utf-8")

    def restore(self, saved: SavedModel) -> None:
        """Become the fitted model that was saved; ModelError when something is missing."""
        try:
            self.scores_, self.out_of_fold_ = saved.arrays["scores"], saved.arrays.get("out_of_fold")
            self.auc_, self.basis_ = saved.state.get("auc"), saved.state.get("basis", self.needs)
            self.history_ = []
            self._read(saved)
        except (KeyError, IndexError, RuntimeError) as error:
            raise ModelError(
                f"{saved.folder} holds no complete {self.name!r} model ({error}). Train it again."
            ) from error

    def _write(self, saved: SavedModel) -> None:
        """Add what is fitted beside scores and figures: state (JSON), arrays, files."""
        for name in self.fitted:
            value = getattr(self, name)
            (saved.arrays if isinstance(value, np.ndarray) else saved.state)[name.strip("_")] = value

    def _read(self, saved: SavedModel) -> None:
        """Restore what ``_write`` added."""
        for name in self.fitted:
            setattr(self, name, {**saved.state, **saved.arrays}[name.strip("_")])

    def get_params(self) -> dict[str, Any]:
        """Constructor keywords and their values."""
        return {key: getattr(self, key) for key in signature(type(self)).parameters}

    def check_labels(self, labels: Labels) -> str:
        """The basis that these labels give, or a LabelError that says how many of which are missing."""
        if len(labels.normal) and len(labels.anomalous):
            return BOTH
        if self.needs == BOTH:
            raise LabelError(
                f"The model {self.name!r} needs at least one normal and one anomalous label; there are "
                f"{len(labels.normal)} normal and {len(labels.anomalous)} anomalous. "
                "Label more nodes, or train 'an+', which ranks with any labels or none."
            )
        if len(labels.normal):
            return NORMAL_ONLY
        if self.needs == NORMAL_ONLY:
            raise LabelError(
                f"The model {self.name!r} needs at least one normal label; there is none. "
                "Label a normal node, or train 'an+', which ranks with any labels or none."
            )
        return NO_LABELS

    def __repr__(self) -> str:
        given = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({given})"
