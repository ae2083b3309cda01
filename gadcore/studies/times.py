"""CPU time of 500 epochs on Cora, 10 % labelled, K = 32, as the paper gives it; no early stopping.

``an`` trains one λ and ``n`` includes its pre-training. All evaluate on the validation labels every fifth
epoch, as they do in the tables. Repeats go in turns: a busy moment of the machine falls on all methods.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from gadcore.studies.rows import known_graph, versions
from gadcore.studies.splits import random_split

EXPERIMENT = "training time"
METHODS = ("an", "n", "slgcn")
REPEATS, EPOCHS = 5, 500
PARAMS: dict[str, dict[str, Any]] = {m: {"k": 32, "patience": None} for m in METHODS}
PARAMS["an"]["lambda_"] = 1.0


@dataclass(frozen=True)
class TimeCell:
    """One training to time."""

    method: str
    repeat: int
    graph: str = "cora"
    rate: float = 0.1
    epochs: int = EPOCHS

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def key_of(row: dict[str, Any]) -> str:
    """The key of the training that a row timed."""
    return TimeCell(row["method"], row["repeat"], row["graph"], row["rate"], row["epochs"]).key()


def measure(cell: TimeCell) -> dict[str, Any]:
    """Train for all epochs; libraries are loaded and warm before the clock starts."""
    _warm_up(cell.graph, cell.rate, cell.method)
    start = time.process_time()
    trained = _train(cell.graph, cell.rate, cell.method, cell.epochs)
    seconds = time.process_time() - start
    return {
        "experiment": EXPERIMENT,
        **asdict(cell),
        "params": PARAMS[cell.method],
        "epochs_pretrained": trained - cell.epochs,
        "cpu_seconds": round(seconds, 3),
        "versions": versions(),
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
