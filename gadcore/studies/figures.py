"""The figures of the paper, measured here.

    lambda      AUC against λ for an and doc-an, 2.5 % labelled, five splits           (figures.jsonl)
    embeddings  t-SNE of six embeddings of Cora, 10 % labelled                         (embeddings.jsonl)
    times       CPU time of 500 epochs on Cora, 10 % labelled, five repeats            (times.jsonl)
    k           AUC against K for eight methods, 2.5 % labelled, three splits          (figures.jsonl)

docs/paper_figures.md and docs/figures are drawn from the rows alone.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, ClassVar

from gadcore.studies import embeddings, figure_page
from gadcore.studies.fits import Fit, known_graph
from gadcore.studies.harness import Cell, Option, Row, Study
from gadcore.studies.published import EPOCHS, GRAPHS
from gadcore.studies.splits import random_split

PARTS = ("lambda", "embeddings", "times", "k")  # in the order of worth per second

CORA = "cora"  # what the paper draws and times
RATE = 0.025
LAMBDAS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
WIDTHS = (8, 16, 32, 64, 128)
FAST = ("an", "n", "doc-an", "doc-n", "dsad")
SLOW = ("dominant", "deepwalk", "imverde")
SMALL = ("cora", "citeseer")  # the graphs that slow methods are swept on
REPEATS = 5
_FIXED: dict[str, Any] = {"k": 32, "patience": None}
TIMED = {"an": {**_FIXED, "lambda_": 1.0}, "n": _FIXED, "slgcn": _FIXED}  # method -> its parameters


@dataclass(frozen=True)
class TimedTraining(Cell):
    """One training of 500 epochs to time, without early stopping, as the paper gives it.

    ``an`` trains one λ and ``n`` includes its pre-training. All evaluate on the validation labels every fifth
    epoch, as they do in the tables. Repeats go in turns: a busy moment of the machine falls on all methods.
    """

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
            "params": TIMED[self.method],
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
    detector = make_detector(method, seed=0, epochs=epochs, **TIMED[method])
    return len(detector.fit(graph, split.train, validation=split.validation).history_)


def lambda_fits(graphs: Sequence[str], splits: int = 5) -> list[Fit]:
    """Split by split, so that a stopped study has all values of λ on fewer splits."""
    return [
        Fit(graph, method, RATE, seed, params=(("lambda_", value),))
        for seed, graph, method, value in product(range(splits), graphs, ("an", "doc-an"), LAMBDAS)
    ]


def width_fits(graphs: Sequence[str], splits: int = 3) -> list[Fit]:
    """Split by split; methods that take minutes on the larger graphs come last, on the two small ones."""
    small = [graph for graph in graphs if graph in SMALL]
    return [
        Fit(graph, method, RATE, seed, params=(("k", value),))
        for methods, where in ((FAST, graphs), (SLOW, small))
        for seed, graph, method, value in product(range(splits), where, methods, WIDTHS)
    ]


def cells(given: Namespace) -> list[tuple[str, Sequence[Cell]]]:
    """The parts asked for."""
    turns = product(range(REPEATS), TIMED)
    parts: dict[str, tuple[str, Sequence[Cell]]] = {
        "lambda": ("figures", lambda_fits(given.graphs)),
        "embeddings": ("embeddings", [embeddings.EmbeddingMap(CORA, m) for m in embeddings.METHODS]),
        "times": ("times", [TimedTraining(CORA, method, repeat) for repeat, method in turns]),
        "k": ("figures", width_fits(given.graphs)),
    }
    return [parts[name] for name in PARTS if name in given.parts]


STUDY = Study(
    "figures",
    __doc__,
    (Option("parts", PARTS, choices=PARTS), Option("graphs", GRAPHS, "of λ and K")),
    cells,
    figure_page.pages,
    quick={"parts": ("lambda",), "graphs": (CORA,)},
)
