"""Simulated analysts, strategy against strategy, graph by graph.

Batches of 10, 200 labels, five seeds (--seeds for more); --wrong 0.05 for analysts who err. docs/loop.md is
drawn from the rows in loop.jsonl alone. A row has ``graph, method`` (the strategy), ``seed, labels, wrong,
model, anomalies, askable, curve`` (lists: labels, found, auc, ap), ``auc, ap`` (held out, at the end),
``revision, cpu_seconds, versions, command``. A session of another revision of the loop is simulated again.
"""

from __future__ import annotations

import time
from argparse import Namespace
from dataclasses import dataclass
from itertools import product

from gadcore.loop.strategies import DEFAULT
from gadcore.studies import sessions
from gadcore.studies.fits import DEMO, known_graph
from gadcore.studies.harness import Cell, Option, Row, Study
from gadcore.studies.loop_tables import render
from gadcore.studies.published import GRAPHS
from gadcore.studies.sessions import ENTROPY, LABELS, PLAIN, RANDOM, STARTS_AS_DEFAULT, UNCHECKED, simulate

MODEL = "an+"
REVISION = 4  # of the model without validation labels and of the queue: raised when sessions differ
REVISIONS = dict.fromkeys(STARTS_AS_DEFAULT, REVISION + 1)  # of strategies that changed since
SELDOM = 5  # batches between the fits that only measure
ALL_GRAPHS = (*GRAPHS, "reddit", "amazon_fraud")  # not the demo: its links make every fit take seconds
# What matters most is there first when the study is stopped.
_FIRST = (DEFAULT, UNCHECKED, PLAIN, "top", RANDOM, ENTROPY)
ORDER = (*_FIRST, *(name for name in sessions.SESSION_STRATEGIES if name not in _FIRST))


@dataclass(frozen=True)
class LoopSession(Cell):
    """One session to simulate; its method is the query strategy."""

    seed: int
    labels: int = LABELS
    wrong: float = 0.0
    model: str = MODEL

    @property
    def revision(self) -> int:
        """The revision of the loop that the strategy's sessions are of."""
        return REVISIONS.get(self.method, REVISION)

    def holds(self, row: Row) -> bool:
        return bool(row.get("revision") == self.revision)

    def measure(self) -> Row:
        graph, truth = known_graph(self.graph)
        start = time.process_time()
        session = simulate(
            graph,
            truth,
            self.method,
            model=self.model,
            labels=self.labels,
            wrong=self.wrong,
            seed=self.seed,
            seldom=SELDOM,
        )
        return {
            "experiment": "labelling sessions",
            "revision": self.revision,
            "protocol": f"{self.wrong:.0%} of the verdicts wrong" if self.wrong else "",
            "anomalies": session.anomalies,
            "askable": int(truth.known.sum()) - len(session.held_out),
            "curve": session.curve(),
            "auc": session.steps[-1].auc,
            "ap": session.steps[-1].ap,
            "cpu_seconds": round(time.process_time() - start, 3),
        }

    def told(self, row: Row) -> str:
        return f"{self.graph} {self.method}: {row['curve']['found'][-1]} of {row['anomalies']} found"


def cells(given: Namespace) -> list[tuple[str, list[LoopSession]]]:
    """Seed by seed, so that a stopped study has all strategies with fewer seeds."""
    wanted = product(range(given.seeds), given.graphs, given.strategies)
    conditions = given.labels, given.wrong, given.model
    return [("loop", [LoopSession(graph, name, seed, *conditions) for seed, graph, name in wanted])]


STUDY = Study(
    "loop",
    __doc__,
    (
        Option("graphs", ALL_GRAPHS),
        Option("strategies", ORDER, ", ".join(ORDER), choices=ORDER),
        Option("seeds", 5, "seeds 0 to SEEDS − 1"),
        Option("labels", LABELS, "verdicts per session", condition=True),
        Option("wrong", 0.0, "share of wrong verdicts, for instance 0.05", condition=True),
        Option("model", MODEL, condition=True),
    ),
    cells,
    pages=lambda rows: {"loop.md": render(rows("loop"))},
    quick={"graphs": ("cora", DEMO), "strategies": _FIRST, "seeds": 1},
)
