"""``python -m gadcore experiments loop``: simulated analysts, strategy against strategy, graph by graph.

Batches of 10, 200 labels, five seeds (``--seeds`` for more); ``--wrong 0.05`` for analysts who err. Rows are
appended to benchmarks/results/loop.jsonl and docs/loop.md is drawn from that file alone. A row has ``graph,
method`` (the strategy), ``seed, labels, wrong, model, anomalies, askable, curve`` (lists: labels, found, auc,
ap), ``auc, ap`` (held out, at the end), ``revision, cpu_seconds, versions, command``. A session of another
revision of the loop is simulated again.
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

from tqdm import tqdm

from gadcore.errors import GadError
from gadcore.loop.strategies import DEFAULT
from gadcore.settings import ROOT
from gadcore.studies.loop_tables import render
from gadcore.studies.published import GRAPHS
from gadcore.studies.rows import DEMO, carry_out, forget, load_rows, reading_of, versions
from gadcore.studies.sessions import (
    ENTROPY,
    LABELS,
    PLAIN,
    RANDOM,
    SESSION_STRATEGIES,
    STARTS_AS_DEFAULT,
    UNCHECKED,
    simulate,
)

RESULTS = ROOT / "benchmarks" / "results" / "loop.jsonl"
PAGE = ROOT / "docs" / "loop.md"
COMMAND = "python -m gadcore experiments loop"
MODEL = "an+"
REVISION = 4  # of the model without validation labels and of the queue: raised when sessions differ
REVISIONS = dict.fromkeys(STARTS_AS_DEFAULT, REVISION + 1)  # of strategies that changed since
SELDOM = 5  # batches between the fits that only measure
ALL_GRAPHS = (*GRAPHS, "reddit", "amazon_fraud", DEMO)
# What matters most is there first when the study is stopped.
_FIRST = (DEFAULT, UNCHECKED, PLAIN, "top", RANDOM, ENTROPY)
ORDER = (*_FIRST, *(name for name in SESSION_STRATEGIES if name not in _FIRST))


@dataclass(frozen=True)
class LoopCell:
    """One session to simulate."""

    graph: str
    method: str  # the query strategy
    seed: int
    labels: int = LABELS
    wrong: float = 0.0
    model: str = MODEL

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def key_of(row: dict[str, Any]) -> str:
    """The key of the session that a row is of."""
    return LoopCell(row["graph"], row["method"], row["seed"], row["labels"], row["wrong"], row["model"]).key()


def revision_of(method: str) -> int:
    """The revision of the loop that a strategy's sessions are of."""
    return REVISIONS.get(method, REVISION)


def outdated(cells: list[LoopCell], path: Path) -> list[LoopCell]:
    """Sessions that the file does not hold, or holds of another revision of the loop."""
    held = {key_of(row) for row in load_rows(path) if row.get("revision") == revision_of(row["method"])}
    return [cell for cell in cells if cell.key() not in held]


def measure(cell: LoopCell) -> dict[str, Any]:
    """Simulate one session."""
    reading = reading_of(cell.graph)
    if reading.truth is None:
        raise GadError(f"{cell.graph!r} has no truth to take verdicts from.")
    start = time.process_time()
    session = simulate(
        reading.graph,
        reading.truth,
        cell.method,
        model=cell.model,
        labels=cell.labels,
        wrong=cell.wrong,
        seed=cell.seed,
        seldom=SELDOM,
    )
    return {
        **asdict(cell),
        "experiment": "labelling sessions",
        "revision": revision_of(cell.method),
        "protocol": f"{cell.wrong:.0%} of the verdicts wrong" if cell.wrong else "",
        "anomalies": session.anomalies,
        "askable": int(reading.truth.known.sum()) - len(session.held_out),
        "curve": session.curve(),
        "auc": session.steps[-1].auc,
        "ap": session.steps[-1].ap,
        "cpu_seconds": round(time.process_time() - start, 3),
        "versions": versions(),
    }


def main(argv: list[str]) -> int:
    """Simulate what is missing and draw the tables."""
    given = _parser().parse_args(argv)
    if not given.render:
        _simulate(given)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(load_rows(RESULTS)), encoding="utf-8")
    return 0


def _simulate(given: argparse.Namespace) -> None:
    cells = [
        LoopCell(graph, strategy, seed, given.labels, given.wrong, given.model)
        for seed, graph, strategy in product(range(given.seeds), given.graphs, given.strategies)
    ]
    todo = outdated(cells, RESULTS)
    forget(RESULTS, {cell.key() for cell in todo}, key_of)
    command = COMMAND + f" --labels {given.labels}" + (f" --wrong {given.wrong:g}" if given.wrong else "")
    with tqdm(total=len(cells), initial=len(cells) - len(todo), file=sys.stderr, unit="session") as bar:
        for cell, row in carry_out(todo, measure, RESULTS, command, given.jobs):
            found = row["curve"]["found"][-1]
            bar.set_postfix_str(f"{cell.graph} {cell.method}: {found} of {row['anomalies']} found")
            bar.update()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--graphs", nargs="+", default=list(ALL_GRAPHS), metavar="GRAPH")
    parser.add_argument(
        "--strategies",
        nargs="+",
        default=list(ORDER),
        choices=ORDER,
        metavar="STRATEGY",
        help=", ".join(ORDER),
    )
    parser.add_argument("--seeds", type=int, default=5, help="seeds 0 to SEEDS − 1")
    parser.add_argument("--labels", type=int, default=LABELS, help="verdicts per session")
    parser.add_argument("--wrong", type=float, default=0.0, help="share of wrong verdicts, for instance 0.05")
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--render", action="store_true", help="draw the tables and simulate nothing")
    return parser
