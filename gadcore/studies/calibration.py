"""Are the probabilities that the app shows true?

Two kinds of labels: random splits (2.5, 5 and 10 % of the nodes; no validation set, as in the app) and
labelling sessions, whose labels are chosen for their score except for the audit share. A row of
calibration.jsonl has ``kind`` (split or session), ``graph, method`` (the model), ``rate`` (split) or
``labels`` (session), ``seed, unlabelled, share`` (of anomalies among the unlabelled) and, by calibration
(weighted: as in the app; unweighted: every label counts 1; none: the model's own output), ``ece`` and
``mean`` probability over the unlabelled; None with ``reason`` where the app shows no probability. It is a
section of docs/audit.md.
"""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors import Detector, make_detector
from gadcore.errors import GadError
from gadcore.graph import Truth
from gadcore.graph.labels import Labels
from gadcore.loop.calibrate import calibration_error, probabilities
from gadcore.studies import audit_sessions
from gadcore.studies.fits import known_graph
from gadcore.studies.harness import Cell, Option, Row, Study
from gadcore.studies.published import RATES
from gadcore.studies.sessions import LABELS, Session
from gadcore.studies.splits import random_split

SPLIT, SESSION = "split", "session"
SPLIT_GRAPHS = ("cora", "citeseer", "photo", "pubmed", "computers")
WEIGHTED, UNWEIGHTED, NONE = "weighted", "unweighted", "none"


@dataclass(frozen=True)
class CalibrationFit(Cell):
    """One fit whose probabilities are measured; its method is the model."""

    kind: str
    seed: int
    rate: float | None = None
    labels: int | None = None

    def measure(self) -> Row:
        """Fit, calibrate, and compare with the truth of the nodes without a label."""
        truth = known_graph(self.graph)[1]
        start = time.process_time()
        detector, labels = self._split(truth) if self.kind == SPLIT else self._session()
        found = errors(detector, labels, truth)
        return {**found, "cpu_seconds": round(time.process_time() - start, 3)}

    def told(self, row: Row) -> str:
        return f"{self.graph} {self.kind} {row['ece'][WEIGHTED]}"

    def _split(self, truth: Truth) -> tuple[Detector, Labels]:
        graph = known_graph(self.graph)[0]
        labels = random_split(graph, truth, self.rate or 0.0, seed=self.seed).train
        return make_detector(self.method, seed=self.seed).fit(graph, labels), labels

    def _session(self) -> tuple[Detector, Labels]:
        last: list[Detector] = []

        def keep(session: Session, detector: Detector | None) -> None:
            last[:] = [detector] if detector is not None else []

        size = {"labels": self.labels or LABELS, "seed": self.seed}
        session = audit_sessions.simulated(self.graph, self.method, **size, on_fit=keep)
        if not last:
            raise GadError(f"{self.labels} labels of {self.graph!r} did not suffice for a model.")
        return last[0], session.labels(known_graph(self.graph)[0])


def errors(detector: Detector, labels: Labels, truth: Truth) -> dict[str, Any]:
    """Calibration error on the unlabelled nodes by each calibration."""
    n = len(truth.y)
    unseen = truth.known & (labels.as_array(n) == -1)
    y = truth.y[unseen] == 1
    plain = Labels(labels.normal, labels.anomalous)
    weighted, reason = probabilities(detector.scores_, detector.out_of_fold_, labels)
    shown = {
        WEIGHTED: weighted,
        UNWEIGHTED: probabilities(detector.scores_, detector.out_of_fold_, plain)[0],
        NONE: _own(detector.scores_),
    }
    return {
        "unlabelled": int(unseen.sum()),
        "share": round(float(y.mean()), 5),
        "ece": {
            k: None if p is None else round(calibration_error(y, p[unseen]), 5) for k, p in shown.items()
        },
        "mean": {k: None if p is None else round(float(p[unseen].mean()), 5) for k, p in shown.items()},
        "reason": "" if weighted is not None else reason,
    }


def _own(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What could pass for a probability: the score where it lies in [0, 1], else its logistic function."""
    if scores.min() >= 0 and scores.max() <= 1:
        return scores
    return 0.5 * (1.0 + np.tanh(0.5 * scores.astype(np.float64)))


def cells(given: Namespace) -> list[tuple[str, list[CalibrationFit]]]:
    """The kinds asked for."""
    seeds = range(given.first, given.first + given.seeds)
    splits = product(seeds, given.graphs or SPLIT_GRAPHS, given.rates)
    sessions = product(given.graphs or audit_sessions.GRAPHS, seeds, given.labels)
    kinds = {
        SPLIT: [CalibrationFit(g, given.model, SPLIT, seed, rate=rate) for seed, g, rate in splits],
        SESSION: [CalibrationFit(g, given.model, SESSION, seed, labels=n) for g, seed, n in sessions],
    }
    return [("calibration", [cell for kind in kinds if kind in given.kinds for cell in kinds[kind]])]


STUDY = Study(
    "calibration",
    __doc__,
    (
        Option("kinds", (SPLIT, SESSION), choices=(SPLIT, SESSION)),
        Option("graphs", (), "default: those of the kind"),
        Option("model", "an+", f"{audit_sessions.FAST} (sessions) is the fast stand-in", condition=True),
        Option("rates", RATES, "shares of the nodes that are labelled"),
        Option("labels", (100, 200), "verdicts per session"),
        Option("seeds", 5, "how many"),
        Option("first", 0, "the first seed"),
    ),
    cells,
    drawn_by="audit",
    quick={"graphs": ("cora",), "seeds": 1},
)
