"""Do the intervals of the audit hold what they promise?

200 simulated sessions on each of two graphs: 200 labels in batches of ten with the settings of the app, then
200 cases of the random audit alone; and as many in which nobody retrains after the first 50. The demo has
fewer (--graphs demo --seeds 50).

A row of audit.jsonl is the record of one session, not an estimate: ``graph, method`` (the model), ``seed,
labels, still`` (labels of the last retraining), ``nodes, anomalies, verdicts`` (one character each, 1
anomalous), ``draws`` (inclusion probability → positions among the verdicts of the audit cases drawn with it),
``batches`` (verdicts given when each batch was drawn), ``tops`` (labels given → the best LIST nodes of the
ranking then, a character each: a or n with a verdict, A or N without, by the truth),
``cpu_seconds, versions, command``.

docs/audit.md is drawn from the files alone: the estimators of gadcore/loop/audit.py are applied to the
records, so that a change of an estimator needs no session to be simulated again.
"""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from gadcore.detectors import Detector
from gadcore.graph import Graph, Truth
from gadcore.loop.strategies import diversity_basis
from gadcore.studies.audit_tables import render
from gadcore.studies.fits import known_graph
from gadcore.studies.harness import Cell, Option, Row, Study
from gadcore.studies.sessions import LABELS, Session, simulate

GRAPHS = ("cora", "citeseer")
FAST = "sgc-lr/64"  # sgc-lr on 64 directions of Â²X with one strength: the audit needs a ranking and no more
DIRECTIONS, STRENGTH = 64, 10.0
LIST = 100  # length of the list whose precision the app shows first
CHECKS = 200  # random checks after the labels: what the app advises where it cannot tell
EVERY = 50  # labels between two looks
STILL = 50  # labels of the last retraining in sessions without one later


@dataclass(frozen=True)
class AuditSession(Cell):
    """One session to simulate; its method is the model."""

    seed: int
    labels: int = LABELS
    checks: int = CHECKS
    still: int | None = None

    def measure(self) -> Row:
        """Simulate one session and keep its record."""
        truth = known_graph(self.graph)[1]
        tops: dict[str, str] = {}

        def look(session: Session, detector: Detector | None) -> None:
            if detector is not None and session.asked and len(session.asked) % EVERY == 0:
                tops[str(len(session.asked))] = _top(session, detector, truth)

        start = time.process_time()
        size = {"labels": self.labels, "checks": self.checks, "still": self.still}
        session = simulated(self.graph, self.method, **size, seed=self.seed, on_fit=look)
        return {
            "nodes": int(truth.known.sum()),
            "anomalies": session.anomalies,
            "verdicts": "".join(map(str, session.verdicts)),
            "draws": _draws(session),
            "batches": session.batches,
            "tops": tops,
            "cpu_seconds": round(time.process_time() - start, 3),
        }


def simulated(graph: str, method: str, **settings: Any) -> Session:
    """A session with a model of the app, or the fast stand-in, in which every node may be asked about."""
    own, truth = known_graph(graph)
    if method == FAST:
        own, method = _reduced(graph), "sgc-lr"
        settings["params"] = {"max_hops": 0, "strengths": (STRENGTH,)}
    return simulate(own, truth, model=method, holdout=0.0, **settings)


@lru_cache(maxsize=2)
def _reduced(name: str) -> Graph:
    """A graph whose attributes are the directions of Â²X with most variance."""
    graph = known_graph(name)[0]
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


def cells(given: Namespace) -> list[tuple[str, list[AuditSession]]]:
    """Graph by graph, with and without retraining."""
    seeds = range(given.first, given.first + given.seeds)
    wanted = product(given.graphs, (None, STILL), seeds)
    size = given.labels, given.checks
    return [
        ("audit", [AuditSession(graph, given.model, seed, *size, still) for graph, still, seed in wanted])
    ]


STUDY = Study(
    "audit",
    __doc__,
    (
        Option("graphs", GRAPHS),
        Option("model", FAST, condition=True),
        Option("seeds", 200, "how many"),
        Option("first", 0, "the first seed; 1000 and above for development"),
        Option("labels", LABELS, "verdicts per session"),
        Option("checks", CHECKS, "random checks after them"),
    ),
    cells,
    pages=lambda rows: {"audit.md": render(rows("audit"), rows("calibration"))},
    quick={"seeds": 2},
)
