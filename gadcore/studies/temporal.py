"""As it would have been: a model that knows what was known on a day, on what came after it.

amlsim_cycle says for half of its frauds on which day they happen. On day 60 twenty frauds of before and
eighty honest accounts are labelled, and the transfers up to that day are known. Every twenty days the new
transfers arrive, all accounts are scored, and an analyst checks the hundred highest that were never checked.
A fraud is found when it is checked on the day that it happened, or after it. Those without a day never are.

A row of temporal.jsonl has ``graph, method, way, seed, auc, ap, undated_auc, found, happened, delay, curve``.
``way``: "as it was" (the model of day 60 scores what comes), "retrained" (it learns from every check), or
"random split" (trained and scored with all transfers at once, labels drawn from all days: what a study that
ignores time would report). ``auc`` and ``ap`` are of frauds after day 60 against honest accounts on the last
day, by the model of the first labels; ``undated_auc`` is of frauds without a day. ``delay`` is the median of
days from a fraud to its check. The page: docs/temporal.md.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.detectors import make_detector
from gadcore.detectors.base import Detector
from gadcore.graph import Graph
from gadcore.graph.labels import Labels
from gadcore.ingest import Mapping, encoding_of, read, seen_with
from gadcore.settings import Settings
from gadcore.studies.fits import ranked
from gadcore.studies.harness import Cell, Option, Row, Study
from gadcore.studies.markdown import grouped, mean_std, table
from gadcore.studies.transactions import AMLSIM

DAYS = (60, 80, 100, 120, 149)  # the first one is the day that the model knows
BUDGET = 100  # checks on each day
ANOMALOUS, NORMAL = 20, 80
AS_IT_WAS, RETRAINED, RANDOM_SPLIT = "as it was", "retrained", "random split"
WAYS = (AS_IT_WAS, RETRAINED, RANDOM_SPLIT)

Nodes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Answers:
    """When each account turned out to be fraudulent: its day, 0 never, -1 on an unknown day."""

    day: Nodes

    def fraud(self, until: int, after: int = 0) -> Nodes:
        """Frauds that happened after one day, up to another."""
        return np.flatnonzero((self.day > after) & (self.day <= until))

    @property
    def undated(self) -> Nodes:
        """Frauds whose day is not known."""
        return np.flatnonzero(self.day == -1)

    @property
    def honest(self) -> Nodes:
        return np.flatnonzero(self.day == 0)


def _folder() -> Path:
    return Settings.from_env().datasets / AMLSIM


@lru_cache(maxsize=1)
def answers() -> Answers:
    """Of amlsim_cycle."""
    nodes = pd.read_csv(_folder() / "nodes.csv")
    return Answers(np.where(nodes["isFraud"] == 0, 0, nodes["fraudStep"]).astype(np.int64))


@lru_cache(maxsize=len(DAYS))
def graph_of(day: int) -> Graph:
    """All accounts, and the transfers up to a day."""
    own = Mapping(
        id="nodeid", truth="isFraud", ignore=("fraudStep",), source="sourceNodeId", target="targetNodeId"
    )
    links = pd.read_csv(_folder() / "transactions.csv", dtype=str)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transactions.csv"
        links[links["time"].astype(int) <= day].to_csv(path, index=False)
        return read(_folder() / "nodes.csv", edges=path, mapping=own).graph


@dataclass
class Analyst:
    """Checks the highest accounts that were never checked; knows what happened so far."""

    known: Answers
    normal: list[int]
    anomalous: list[int]
    delays: list[int] = field(default_factory=list)  # of frauds that checks found
    found: list[int] = field(default_factory=list)

    def labels(self, graph: Graph) -> Labels:
        return Labels.from_indices(graph, self.normal, self.anomalous)

    def check(self, scores: npt.NDArray[Any], day: int, budget: int = BUDGET) -> None:
        """Look at the next accounts; one that is not yet fraudulent looks normal, and is not asked again."""
        closed = {*self.normal, *self.anomalous, *self.known.undated.tolist()}
        waiting = [int(node) for node in np.argsort(-scores, kind="stable") if int(node) not in closed]
        for node in waiting[:budget]:
            since = int(self.known.day[node])
            if 0 < since <= day:
                self.anomalous.append(node)
                self.found.append(node)
                self.delays.append(day - since)
            else:
                self.normal.append(node)


@dataclass(frozen=True)
class LaterFrauds(Cell):
    """One way to meet what comes."""

    way: str
    seed: int

    def measure(self) -> Row:
        known, last = answers(), DAYS[-1]
        first = last if self.way == RANDOM_SPLIT else DAYS[0]
        rng = np.random.default_rng(self.seed)
        anomalous = rng.choice(known.fraud(first), ANOMALOUS, replace=False).tolist()
        normal = rng.choice(known.honest, NORMAL, replace=False).tolist()
        analyst = Analyst(known, [*normal], [*anomalous])
        scores, curve = self._days(analyst, first)
        later = np.setdiff1d(known.fraud(last, DAYS[0]), anomalous)
        honest = np.setdiff1d(known.honest, normal)
        return {
            **_figures(scores, later, honest),
            "undated_auc": _figures(scores, known.undated, honest)["auc"],
            "found": len(analyst.found),
            "happened": len(np.setdiff1d(known.fraud(last), anomalous)),
            "delay": float(np.median(analyst.delays)) if analyst.delays else None,
            "curve": curve,
        }

    def _days(self, analyst: Analyst, first: int) -> tuple[npt.NDArray[Any], Row]:
        """Go through the days; also gives the scores on the last one, by the model of the first labels."""
        curve: Row = {"day": [], "found": [], "happened": []}
        begun, whole = [*analyst.anomalous], self.way == RANDOM_SPLIT
        model = beginner = self._fit(graph_of(first), analyst)
        for day in DAYS:
            graph = graph_of(first if whole else day)
            if self.way == RETRAINED and day > first:
                model = self._fit(graph, analyst)
            learnt = graph if self.way == RETRAINED else graph_of(first)
            scores = _scores(model, learnt, graph)
            analyst.check(scores, DAYS[-1] if whole else day)
            happened = len(np.setdiff1d(analyst.known.fraud(day), begun))
            for name, value in (("day", day), ("found", len(analyst.found)), ("happened", happened)):
                curve[name].append(value)
        return _scores(beginner, graph_of(first), graph), curve

    def _fit(self, graph: Graph, analyst: Analyst) -> Detector:
        return make_detector(self.method, seed=self.seed).fit(graph, analyst.labels(graph))


def _scores(model: Detector, learnt: Graph, graph: Graph) -> npt.NDArray[Any]:
    """Scores of a graph by a model that learnt on another day."""
    if learnt is graph:
        return model.scores_
    return model.carried_to(seen_with(graph, encoding_of(learnt))).scores_


def _figures(scores: npt.NDArray[Any], frauds: Nodes, honest: Nodes) -> Row:
    rest = np.concatenate([frauds, honest])
    found = ranked(np.isin(rest, frauds), scores[rest])
    return {name: found[name] for name in ("auc", "ap")}


def cells(given: Namespace) -> list[tuple[str, list[LaterFrauds]]]:
    seeds = range(given.first, given.first + given.seeds)
    return [("temporal", [LaterFrauds(AMLSIM, given.method, way, seed) for seed in seeds for way in WAYS])]


def pages(rows_of: Any) -> dict[str, str]:
    by = grouped(rows_of("temporal"), "way")
    lines = [(way, *_line(way, by[(way,)])) for way in WAYS if by.get((way,))]
    head = (
        "way",
        "AUC",
        "AP",
        "AUC, no day known",
        "frauds found",
        "of",
        "median days to the check",
        "draws",
    )
    return {"temporal.md": "\n".join([_HEAD, table(head, lines, ""), _over_time(by)])}


def _line(way: str, rows: list[Row]) -> tuple[Any, ...]:
    shares = (mean_std([100 * row[name] for row in rows]) for name in ("auc", "ap", "undated_auc"))
    delays = [row["delay"] for row in rows if row["delay"] is not None]
    waited = mean_std(delays) if delays and way != RANDOM_SPLIT else "–"
    return (
        *shares,
        *(mean_std([row[name] for row in rows]) for name in ("found", "happened")),
        waited,
        len(rows),
    )


def _over_time(by: dict[tuple[Any, ...], list[Row]]) -> str:
    """Frauds found by each day, beside those that have happened."""
    ways = [way for way in WAYS if by.get((way,))]
    lines = []
    for place, day in enumerate(DAYS):
        found = [mean_std([row["curve"]["found"][place] for row in by[(way,)]]) for way in ways]
        happened = mean_std([row["curve"]["happened"][place] for row in by[(ways[0],)]])
        lines.append((day, happened, *found))
    return table(("day", "happened so far", *ways), lines, "\n## Over the days\n\n") if ways else ""


_HEAD = f"""# As it would have been

What a model that knows one day finds of what comes later, on amlsim_cycle. On day {DAYS[0]} {ANOMALOUS}
frauds of before and {NORMAL} honest accounts are labelled, and the transfers up to that day are known. On
the days {", ".join(map(str, DAYS))} the transfers since are added, all accounts are scored by `an+`, and
the {BUDGET} highest that were never checked are checked. AUC and AP, in per cent, are of frauds after day
{DAYS[0]} against honest accounts, on the last day, by the model of the first labels. Mean (std) over the
draws of labels. Command: `ringfence experiments temporal`; rows in `gadcore/studies/results/temporal.jsonl`.

- *{AS_IT_WAS}*: the model of day {DAYS[0]} scores what comes; nothing is learnt.
- *{RETRAINED}*: after every round of checks it learns anew, from all verdicts and transfers so far.
- *{RANDOM_SPLIT}*: labels drawn from all days, trained and scored with all transfers at once, and the same
  number of checks. It is what a study that ignores time would promise.

**Beware of the simulator.** The file says the day of half of the frauds (463 of 945), and just these give
themselves away: each has sent an amount that hardly anybody else sends ("rarest amount out" alone has an AUC
of 100 on them). So the figures on dated frauds tell how soon, not how hard. *AUC, no day known* is of the
other half, on the last day: these are the hard ones, and nobody ever labelled one here.
"""

STUDY = Study(
    "temporal",
    __doc__,
    (
        Option("method", "an+", "the model"),
        Option("seeds", 8, "how many draws"),
        Option("first", 0, "the first seed"),
    ),
    cells,
    pages,
    quick={"method": "sgc-lr", "seeds": 1},
)
