"""``python -m gadcore experiments calibration``: are the probabilities that the app shows true?

Two kinds of labels: random splits (2.5, 5 and 10 % of the nodes; no validation set, as in the app) and
labelling sessions, whose labels are chosen for their score except for the audit share. A row of
benchmarks/results/calibration.jsonl has ``kind`` (split or session), ``graph, method`` (the model),
``rate`` (split) or ``labels`` (session), ``seed, unlabelled, share`` (of anomalies among the unlabelled)
and, by calibration (weighted: as in the app; unweighted: every label counts 1; none: the model's own
output), ``ece`` and ``mean`` probability over the unlabelled; None with ``reason`` where the app shows no
probability. docs/audit.md is drawn from the file.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from gadcore.detectors import Detector, make_detector
from gadcore.errors import GadError
from gadcore.graph import Truth
from gadcore.graph.labels import Labels
from gadcore.loop.calibrate import calibration_error, probabilities
from gadcore.studies import audit
from gadcore.studies.published import RATES
from gadcore.studies.rows import carry_out, not_held, reading_of, versions
from gadcore.studies.sessions import LABELS, Session, simulate
from gadcore.studies.splits import random_split

RESULTS = audit.CALIBRATION
COMMAND = "python -m gadcore experiments calibration"
SPLIT, SESSION = "split", "session"
SPLIT_GRAPHS = ("cora", "citeseer", "photo", "pubmed", "computers")
MODEL = "an+"
WEIGHTED, UNWEIGHTED, NONE = "weighted", "unweighted", "none"


@dataclass(frozen=True)
class CalibrationCell:
    """One fit whose probabilities are measured."""

    kind: str
    graph: str
    method: str
    seed: int
    rate: float | None = None
    labels: int | None = None

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def key_of(row: dict[str, Any]) -> str:
    """The key of the fit that a row is of."""
    return CalibrationCell(
        row["kind"], row["graph"], row["method"], row["seed"], row["rate"], row["labels"]
    ).key()


def measure(cell: CalibrationCell) -> dict[str, Any]:
    """Fit, calibrate, and compare with the truth of the nodes without a label."""
    truth = reading_of(cell.graph).truth
    if truth is None:
        raise GadError(f"{cell.graph!r} has no truth to measure against.")
    start = time.process_time()
    detector, labels = _split(cell, truth) if cell.kind == SPLIT else _session(cell, truth)
    return {
        **asdict(cell),
        **errors(detector, labels, truth),
        "cpu_seconds": round(time.process_time() - start, 3),
        "versions": versions(),
    }


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


def _split(cell: CalibrationCell, truth: Truth) -> tuple[Detector, Labels]:
    graph = reading_of(cell.graph).graph
    labels = random_split(graph, truth, cell.rate or 0.0, seed=cell.seed).train
    return make_detector(cell.method, seed=cell.seed).fit(graph, labels), labels


def _session(cell: CalibrationCell, truth: Truth) -> tuple[Detector, Labels]:
    graph, model, params = audit.model_of(cell.graph, cell.method)
    last: list[Detector] = []

    def keep(session: Session, detector: Detector | None) -> None:
        last[:] = [detector] if detector is not None else []

    session = simulate(
        graph,
        truth,
        model=model,
        params=params,
        labels=cell.labels or LABELS,
        seed=cell.seed,
        holdout=0.0,
        on_fit=keep,
    )
    if not last:
        raise GadError(f"{cell.labels} labels of {cell.graph!r} did not suffice for a model.")
    return last[0], session.labels(graph)


def main(argv: list[str]) -> int:
    """Measure what is missing and draw the page."""
    given = _parser().parse_args(argv)
    if not given.render:
        _measure(given)
    if given.file == RESULTS:
        audit.draw_page()
    return 0


def _measure(given: argparse.Namespace) -> None:
    seeds = range(given.first, given.first + given.seeds)
    cells = []
    if SPLIT in given.kinds:
        cells += [
            CalibrationCell(SPLIT, graph, given.model, seed, rate=rate)
            for seed, graph, rate in product(seeds, given.graphs or SPLIT_GRAPHS, given.rates)
        ]
    if SESSION in given.kinds:
        cells += [
            CalibrationCell(SESSION, graph, given.model, seed, labels=labels)
            for graph, seed, labels in product(given.graphs or audit.GRAPHS, seeds, given.labels)
        ]
    todo = not_held(cells, given.file, key_of)
    command = f"{COMMAND} --model {given.model}"
    with tqdm(total=len(cells), initial=len(cells) - len(todo), file=sys.stderr, unit="fit") as bar:
        for cell, row in carry_out(todo, measure, given.file, command, given.jobs):
            bar.set_postfix_str(f"{cell.graph} {cell.kind} {row['ece'][WEIGHTED]}")
            bar.update()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=[SPLIT, SESSION], choices=(SPLIT, SESSION))
    parser.add_argument("--graphs", nargs="+", metavar="GRAPH", help="default: those of the kind")
    parser.add_argument("--model", default=MODEL, help=f"{audit.FAST} (sessions) is the fast stand-in")
    parser.add_argument("--rates", nargs="+", type=float, default=list(RATES), metavar="SHARE")
    parser.add_argument("--labels", nargs="+", type=int, default=[100, 200], help="verdicts per session")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument(
        "--file", type=Path, default=RESULTS, help="where the rows go (default: what the page is drawn from)"
    )
    parser.add_argument("--render", action="store_true", help="draw the page and measure nothing")
    return parser
