"""CPU time of 500 epochs on Cora, 10 % labelled, K = 32, as the paper gives it; no early stopping.

``an`` trains one λ and ``n`` includes its pre-training. All evaluate on the validation labels every fifth
epoch, as they do in the tables. Repeats go in turns: a busy moment of the machine falls on all methods.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from gadcore.studies.fits import known_graph
from gadcore.studies.harness import Cell, Row
from gadcore.studies.splits import random_split

METHODS = ("an", "n", "slgcn")
REPEATS, EPOCHS = 5, 500
PARAMS: dict[str, dict[str, Any]] = {m: {"k": 32, "patience": None} for m in METHODS}
PARAMS["an"]["lambda_"] = 1.0


@dataclass(frozen=True)
class TimedTraining(Cell):
    """One training to time."""

    repeat: int
    rate: float = 0.1
    epochs: int = EPOCHS
    alone: ClassVar[bool] = True

    def measure(self) -> Row:
        """Train for all epochs; libraries are loaded and warm before the clock starts."""
        _warm_up(self.graph, self.rate, self.method)
        start = time.process_time()
        trained = _train(self.graph, self.rate, self.method, self.epochs)
        seconds = time.process_time() - start
        return {
            "experiment": "training time",
            "params": PARAMS[self.method],
            "epochs_pretrained": trained - self.epochs,
            "cpu_seconds": round(seconds, 3),
        }


@cache
def _warm_up(graph: str, rate: float, method: str) -> None:
    _train(graph, rate, method, 5)


def _train(name: str, rate: float, method: str, epochs: int) -> int:
    """Epochs that were run, those of pre-training included."""
    from gadcore.detectors import make_detector

    graph, truth = known_graph(name)
    split = random_split(graph, truth, rate, seed=0)
    detector = make_detector(method, seed=0, epochs=epochs, **PARAMS[method])
    return len(detector.fit(graph, split.train, validation=split.validation).history_)
