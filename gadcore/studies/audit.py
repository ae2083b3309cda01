"""``python -m gadcore experiments audit``: do the intervals of the audit hold what they promise?

200 simulated sessions on each of three graphs: 200 labels in batches of ten with the settings of the app,
then 200 cases of the random audit alone; and as many in which nobody retrains after the first 50. A row of
benchmarks/results/audit.jsonl is the record of one session, not an estimate: ``graph, method`` (the model),
``seed, labels, still`` (labels of the last retraining), ``nodes, anomalies, verdicts`` (one character each, 1
anomalous), ``draws`` (inclusion probability → positions among the verdicts of the audit cases drawn with it),
``batches`` (verdicts given when each batch was drawn), ``tops`` (labels given → the best LIST nodes of the
ranking then, a character each: a or n with a verdict, A or N without, by the truth), ``cpu_seconds, versions,
command``.

docs/audit.md is drawn from the files alone: the estimators of gadcore/audit.py are applied to the records, so
that a change of an estimator needs no session to be simulated again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from gadcore.detectors import Detector
from gadcore.errors import GadError
from gadcore.graph import Graph, Truth
from gadcore.loop.strategies import diversity_basis
from gadcore.settings import ROOT
from gadcore.studies.audit_tables import render
from gadcore.studies.rows import DEMO, carry_out, load_rows, not_held, reading_of, versions
from gadcore.studies.sessions import LABELS, Session, simulate

RESULTS = ROOT / "benchmarks" / "results" / "audit.jsonl"
CALIBRATION = RESULTS.with_name("calibration.jsonl")
PAGE = ROOT / "docs" / "audit.md"
COMMAND = "python -m gadcore experiments audit"
GRAPHS = ("cora", "citeseer", DEMO)
FAST = "sgc-lr/64"  # sgc-lr on 64 directions of Â²X with one strength: the audit needs a ranking and no more
DIRECTIONS, STRENGTH = 64, 10.0
LIST = 100  # length of the list whose precision the app shows first
CHECKS = 200  # random checks after the labels: what the app advises where it cannot tell
EVERY = 50  # labels between two looks
STILL = 50  # labels of the last retraining in sessions without one later


@dataclass(frozen=True)
class AuditCell:
    """One session to simulate."""

    graph: str
    method: str  # the model
    seed: int
    labels: int = LABELS
    checks: int = CHECKS
    still: int | None = None

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def key_of(row: dict[str, Any]) -> str:
    """The key of the session that a row is of."""
    names = ("graph", "method", "seed", "labels", "checks", "still")
    return AuditCell(**{name: row[name] for name in names}).key()


def measure(cell: AuditCell) -> dict[str, Any]:
    """Simulate one session and keep its record."""
    truth = reading_of(cell.graph).truth
    if truth is None:
        raise GadError(f"{cell.graph!r} has no truth to take verdicts from.")
    tops: dict[str, str] = {}

    def look(session: Session, detector: Detector | None) -> None:
        if detector is not None and session.asked and len(session.asked) % EVERY == 0:
            tops[str(len(session.asked))] = _top(session, detector, truth)

    start = time.process_time()
    graph, model, params = model_of(cell.graph, cell.method)
    session = simulate(
        graph,
        truth,
        model=model,
        params=params,
        labels=cell.labels,
        checks=cell.checks,
        still=cell.still,
        seed=cell.seed,
        holdout=0.0,
        on_fit=look,
    )
    return {
        **asdict(cell),
        "nodes": int(truth.known.sum()),
        "anomalies": session.anomalies,
        "verdicts": "".join(map(str, session.verdicts)),
        "draws": _draws(session),
        "batches": session.batches,
        "tops": tops,
        "cpu_seconds": round(time.process_time() - start, 3),
        "versions": versions(),
    }


def model_of(graph: str, method: str) -> tuple[Graph, str, dict[str, Any]]:
    """Graph, model and its parameters of a method: a model of the app, or the fast stand-in."""
    if method != FAST:
        return reading_of(graph).graph, method, {}
    return _reduced(graph), "sgc-lr", {"max_hops": 0, "strengths": (STRENGTH,)}


@lru_cache(maxsize=2)
def _reduced(name: str) -> Graph:
    """A graph whose attributes are the directions of Â²X with most variance."""
    graph = reading_of(name).graph
    columns = tuple(f"direction {i + 1}" for i in range(DIRECTIONS))
    basis = diversity_basis(graph, rank=DIRECTIONS)
    return replace(graph, x=basis, feature_names=columns, feature_columns=columns)


def _draws(session: Session) -> dict[str, list[int]]:
    """Positions of the audit cases by their inclusion probability, of which a session has few."""
    found: dict[str, list[int]] = {}
    for at, node in enumerate(session.asked):
        if node in session.inclusion:
            found.setdefault(repr(session.inclusion[node]), []).append(at)
    return found


def _top(session: Session, detector: Detector, truth: Truth) -> str:
    """The best nodes of the ranking: a, n with a verdict; A, N without one."""
    asked = set(session.asked)
    order = np.argsort(-detector.scores_, kind="stable")
    best = order[truth.known[order]][:LIST]
    return "".join(("an" if int(node) in asked else "AN")[int(truth.y[node] != 1)] for node in best)


def main(argv: list[str]) -> int:
    """Simulate what is missing and draw the page."""
    given = _parser().parse_args(argv)
    if not given.render:
        _simulate(given)
    draw_page()
    return 0


def draw_page() -> None:
    """Write docs/audit.md from the rows of this study and of the calibration study."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(load_rows(RESULTS), load_rows(CALIBRATION)), encoding="utf-8")


def _simulate(given: argparse.Namespace) -> None:
    seeds = range(given.first, given.first + given.seeds)
    cells = [
        AuditCell(graph, given.model, seed, given.labels, given.checks, still)
        for graph, still, seed in product(given.graphs, (None, STILL), seeds)
    ]
    todo = not_held(cells, given.file, key_of)
    command = f"{COMMAND} --model {given.model}"
    with tqdm(total=len(cells), initial=len(cells) - len(todo), file=sys.stderr, unit="session") as bar:
        for cell, _ in carry_out(todo, measure, given.file, command, given.jobs):
            bar.set_postfix_str(f"{cell.graph} {cell.method} seed {cell.seed}")
            bar.update()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="GRAPH")
    parser.add_argument("--model", default=FAST)
    parser.add_argument("--seeds", type=int, default=200, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed; 1000 and above for development")
    parser.add_argument("--labels", type=int, default=LABELS, help="verdicts per session")
    parser.add_argument("--checks", type=int, default=CHECKS, help="random checks after them")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--file", type=Path, default=RESULTS, help="of the rows; another one for development")
    parser.add_argument("--render", action="store_true", help="draw the page and simulate nothing")
    return parser
