"""Reports of a fit that has steps rather than epochs: recorded, passed on, and able to stop it."""

from __future__ import annotations

from gadcore.detectors.base import OnEpoch, Progress
from gadcore.errors import Cancelled


class Reporter:
    """Collects Progress and raises ``Cancelled`` when the listener asks to stop."""

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
