"""The first queue: what an analyst meets before and with the first verdicts, on banks with planted groups.

first_queue.jsonl    share of the six planted kinds with a confirmed case within 20 and 50 verdicts. The
                     ``method`` is the queue of the app with a simulated analyst, or a ranking that is
                     followed from its top; the ``graph`` is one of BANKS.
first_groups.jsonl   the groups that G proposes for every planted account and for 300 honest ones
first_ranking.jsonl  AUC and average precision without a label on graphs that nobody planted, with the views
                     of the graph and without

The page is docs/first_queue.md. Seeds from 100 on were for choices.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.derive.views import views_of
from gadcore.detectors import make_detector
from gadcore.detectors.plus.ensemble import AnPlus
from gadcore.detectors.plus.members.loud import Loud
from gadcore.detectors.plus.members.unusual import Scale, neighbour_residual
from gadcore.graph import Graph, Truth
from gadcore.graph.labels import Labels
from gadcore.insight.groups import propose_group
from gadcore.metrics import percentile_ranks
from gadcore.studies.fits import DEMO, known_graph, ranked
from gadcore.studies.harness import Cell, Option, Row, RowsOf, Study
from gadcore.studies.markdown import grouped, mean_std, table
from gadcore.studies.planted_groups import KINDS, Planted, kinds_hit, planted_bank
from gadcore.studies.sessions import simulate
from gadcore.studies.transactions import AMLSIM, linked_graph

BANKS = {  # name -> attributes are informative, groups are quiet
    "attributes say nothing": (False, False),
    "attributes say something": (True, False),
    "quiet groups, attributes say nothing": (False, True),
    "quiet groups, attributes say something": (True, True),
}
QUEUE, WITH, WITHOUT = "queue of the app", "an+", "an+ without views"
VERDICTS = (20, 50)
HONEST = 300  # accounts for which a group is asked, beside all planted ones
FOUND = ("amazon_fraud", "reddit", "disney", DEMO, AMLSIM)

Scores = npt.NDArray[Any]


def unlabelled(graph: Graph, *, views: bool) -> Scores:
    """The ranking of ``an+`` before any verdict, with or without what the views of the graph say."""
    model = AnPlus().fit(graph, Labels.none())
    if views:
        return model.scores_
    kept = [(m, w) for m, w in zip(model.members_, model.weights_) if not isinstance(m, Loud)]
    total = np.zeros(graph.n_nodes)
    for member, weight in kept:
        total += weight * percentile_ranks(member.scores)
    return total.astype(np.float32)  # as the model does, so that ties stay ties


def _detector(name: str) -> Callable[[Graph], Scores]:
    return lambda graph: make_detector(name).fit(graph, Labels.none()).scores_


RANKINGS: dict[str, Callable[[Graph], Scores]] = {
    WITH: lambda graph: unlabelled(graph, views=True),
    WITHOUT: lambda graph: unlabelled(graph, views=False),
    "isolation-forest": _detector("isolation-forest"),
    "degree": lambda graph: np.diff(graph.adjacency.indptr).astype(float),
    "x − Āx": lambda graph: neighbour_residual(Scale.of(graph), graph),
    "dominant": _detector("dominant"),
}


def bank_of(name: str, seed: int) -> Planted:
    informative, quiet = BANKS[name]
    return planted_bank(seed, informative=informative, quiet=quiet)


@dataclass(frozen=True)
class FirstVerdicts(Cell):
    """What is found first on a made bank."""

    seed: int

    def measure(self) -> Row:
        bank = bank_of(self.graph, self.seed)
        start = time.process_time()
        asked = self._asked(bank)
        seconds = round(time.process_time() - start, 3)
        hit = {f"kinds_{n}": kinds_hit(asked[:n], bank.kind) for n in VERDICTS}
        found = {f"found_{n}": int((bank.kind[asked[:n]] >= 0).sum()) for n in VERDICTS}
        return {**hit, **found, "cpu_seconds": seconds}

    def _asked(self, bank: Planted) -> list[int]:
        if self.method == QUEUE:
            return simulate(bank.graph, bank.truth, labels=max(VERDICTS), seed=self.seed, holdout=0.0).asked
        scores = RANKINGS[self.method](bank.graph)
        return [int(node) for node in np.argsort(-scores, kind="stable")[: max(VERDICTS)]]

    def told(self, row: Row) -> str:
        return f"{self.graph}, {self.method}: {row['kinds_20']:.2f} of the kinds within 20"


@dataclass(frozen=True)
class Proposals(Cell):
    """The groups that are proposed on a made bank."""

    seed: int

    def measure(self) -> Row:
        bank = bank_of(self.graph, self.seed)
        views = views_of(bank.graph)
        honest = np.random.default_rng(self.seed).choice(np.flatnonzero(bank.kind < 0), HONEST, replace=False)
        scores = unlabelled(bank.graph, views=True)

        def proposed(node: int) -> set[int]:
            group = propose_group(bank.graph, node, scores=scores, views=views)
            return set(bank.graph.node_ids.rows(group.node_ids).tolist())

        sizes = [len(proposed(int(node))) for node in honest]
        return {
            "by_kind": {kind: _precision_recall(bank, kind, proposed) for kind in KINDS},
            "honest_alone": float(np.mean(np.array(sizes) == 1)),
        }


def _precision_recall(bank: Planted, kind: str, proposed: Callable[[int], set[int]]) -> list[float]:
    """Mean precision and recall of the groups proposed for each member of a kind."""
    found = []
    for own in (set(nodes.tolist()) for name, nodes in bank.groups if name == kind):
        for node in own:
            group = proposed(node)
            found.append((len(group & own) / len(group), len(group & own) / len(own)))
    return [float(value) for value in np.mean(found, axis=0)]


@dataclass(frozen=True)
class FirstRanking(Cell):
    """A ranking without labels of a graph that nobody planted."""

    def measure(self) -> Row:
        graph, truth = _found(self.graph)
        scores = unlabelled(graph, views=self.method == WITH)
        known = truth.known
        return ranked(truth.y[known] == 1, scores[known])


def _found(name: str) -> tuple[Graph, Truth]:
    return linked_graph(name) if name in (DEMO, AMLSIM) else known_graph(name)


def cells(given: Namespace) -> list[tuple[str, Sequence[Cell]]]:
    seeds, methods = range(given.first, given.first + given.seeds), (QUEUE, *RANKINGS)
    return [
        (
            "first_ranking",
            [FirstRanking(graph, method) for graph in given.found for method in (WITH, WITHOUT)],
        ),
        ("first_groups", [Proposals(bank, "G", seed) for seed in seeds for bank in BANKS]),
        ("first_queue", [FirstVerdicts(b, m, seed) for seed in seeds for b in BANKS for m in methods]),
    ]


def pages(rows_of: RowsOf) -> dict[str, str]:
    parts = [_HEAD, _hits(rows_of("first_queue")), _groups(rows_of("first_groups"))]
    return {"first_queue.md": "\n".join([*parts, _rankings(rows_of("first_ranking"))])}


def _hits(rows: Sequence[Row]) -> str:
    by = grouped(rows, "graph", "method")
    lines = []
    for bank in BANKS:
        for method in (QUEUE, *RANKINGS):
            if own := by.get((bank, method)):
                shares = (mean_std([100 * row[f"kinds_{n}"] for row in own]) for n in VERDICTS)
                found = (f"{np.mean([row[f'found_{n}'] for row in own]):.1f}" for n in VERDICTS)
                lines.append((bank, method, *shares, *found, len(own)))
    head = ("bank", "method", "% of kinds in 20", "in 50", "planted found in 20", "in 50", "banks")
    return table(head, lines, "## Kinds hit\n\n")


def _groups(rows: Sequence[Row]) -> str:
    lines = []
    for bank, own in sorted(grouped(rows, "graph").items()):
        told = [np.mean([row["by_kind"][kind] for row in own], axis=0) for kind in KINDS]
        alone = 100 * float(np.mean([row["honest_alone"] for row in own]))
        lines.append((bank[0], *(f"{p:.2f} / {r:.2f}" for p, r in told), f"{alone:.0f} %"))
    head = ("bank", *KINDS, "honest cases that stand alone")
    return table(head, lines, "## Groups proposed: precision / recall\n\n")


def _rankings(rows: Sequence[Row]) -> str:
    by = {(row["graph"], row["method"]): row for row in rows}
    lines = [
        (graph, *(f"{100 * by[graph, m][name]:.1f}" for name in ("auc", "ap") for m in (WITHOUT, WITH)))
        for graph in FOUND
        if (graph, WITH) in by and (graph, WITHOUT) in by
    ]
    head = ("graph", "AUC without views", "with", "AP without views", "with")
    return table(head, lines, "## Without a label, on graphs that nobody planted\n\n")


_HEAD = f"""# The first queue

What an analyst meets before the first labels have taught anything. Banks are made (`planted_groups.py`):
3,000 accounts, six kinds of planted groups, each beside honest accounts that look much like it. Command:
`ringfence experiments first-queue`; rows in `gadcore/studies/results/first_*.jsonl`. Mean (std) over banks.

- *{QUEUE}*: a simulated analyst works through the default queue, random checks included; the model learns
  every ten verdicts. All others are rankings that are followed from their top.
- *views*: how rare a node's place in the graph is (`derive/views.py`): dense groups, stars, fans in and out,
  bursts, amounts passed on, outlying links. A view that is loud at a node lifts it, has its turn in the queue
  until a verdict hits or three have missed, and says why.
- The banks were made together with the views. They tell that each kind is met early and that honest
  look-alikes do not crowd it out, not how frauds of a real bank look.
"""

STUDY = Study(
    "first-queue",
    __doc__,
    (
        Option("found", FOUND, "graphs that nobody planted"),
        Option("seeds", 5, "how many banks"),
        Option("first", 0, "the first seed"),
    ),
    cells,
    pages,
    quick={"found": ("disney",), "seeds": 1},
)
