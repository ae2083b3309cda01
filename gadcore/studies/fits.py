"""One method fitted to one split of a benchmark graph: the cells of the paper's tables and sweeps.

A row has ``graph, method, rate, seed, stratified, auc, ap, precision_at_k, k, cpu_seconds, params, settings,
versions, command``; auc and ap are shares. ``params`` are those that a study varies, ``settings`` all that
the method was run with and the revision of its code. A row of other settings is measured again.

Settings are the defaults, but for the paper's methods on purely random splits of Photo and Computers: there
they may train for 1000 epochs.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.base import Detector
from gadcore.errors import GadError
from gadcore.graph import FloatArray, Graph, Truth
from gadcore.ingest import read
from gadcore.metrics import auc, average_precision, precision_at
from gadcore.studies.harness import Cell, Params, Row
from gadcore.studies.published import EPOCHS, LONGER, METHODS
from gadcore.studies.splits import Split, random_split

K = 50  # of precision at k
DEMO = "demo"  # the graph that comes with the app
NOT_SETTINGS = ("seed", "device", "threads")  # where and from what seed, not how


@lru_cache(maxsize=2)
def known_graph(name: str) -> tuple[Graph, Truth]:
    """A benchmark graph by name, or the demo, with the truth to measure against."""
    reading = read(name)
    if reading.truth is None:
        raise GadError(f"{name!r} has no truth to measure against.")
    return reading.graph, reading.truth


@dataclass(frozen=True)
class Fit(Cell):
    """One fit to measure."""

    rate: float
    seed: int
    stratified: bool = False
    params: Params = ()

    def measure(self) -> Row:
        """Fit on the split's training labels, select on its validation labels, score its test nodes."""
        graph, truth = known_graph(self.graph)
        split = random_split(graph, truth, self.rate, seed=self.seed, stratified=self.stratified)
        start = time.process_time()
        found = self.figures(graph, truth, split)
        seconds = round(time.process_time() - start, 3)
        return {**found, "cpu_seconds": seconds, "settings": self.settings()}

    def figures(self, graph: Graph, truth: Truth, split: Split) -> Row:
        """What the method comes to on this split."""
        detector = self.detector().fit(graph, split.train, validation=split.validation)
        return ranked(truth.y[split.test] == 1, detector.scores_[split.test])

    def detector(self) -> Detector:
        """The method as it is measured: on the paper's splits its own eleven train longer on some graphs."""
        from gadcore.detectors import make_detector

        params = dict(self.params)
        detector = make_detector(self.method, seed=self.seed, **params)
        usual = detector.get_params().get("epochs") == EPOCHS
        if self.stratified or not (usual and self.method in METHODS and self.graph in LONGER):
            return detector
        return make_detector(self.method, seed=self.seed, **{"epochs": LONGER[self.graph], **params})

    def settings(self) -> Row:
        """What a method is run with, as JSON gives it back: its keywords with defaults, and its revision."""
        detector = self.detector()
        kept = {key: value for key, value in detector.get_params().items() if key not in NOT_SETTINGS}
        found: Row = json.loads(json.dumps({**kept, "revision": detector.revision}))
        return found

    def holds(self, row: Row) -> bool:
        """Whether a row has these settings; rows from before settings were kept had the defaults."""
        now = self.settings()
        if "settings" in row:
            return bool(row["settings"] == now)
        return now.get("epochs") not in LONGER.values()


def ranked(y: npt.NDArray[np.bool_], scores: FloatArray) -> dict[str, Any]:
    """The figures of a ranking that every row has."""
    found = {"auc": auc(y, scores), "ap": average_precision(y, scores)}
    return {**found, "precision_at_k": precision_at(y, scores, K), "k": K}
