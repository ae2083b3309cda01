"""What the links add: graphs whose edges are tables of transfers, with and without what these tables say.

Twenty anomalous and eighty normal nodes, drawn at random, are labelled; all others are scored. A row of
transactions.jsonl has ``graph, method, inputs, labels, seed, auc, ap, precision_at_k, k, cpu_seconds``.
``inputs``: all; none (attributes and undirected edges alone); or a group of derived columns, alone ("only
times") or left out ("no times"). ``labels`` 0: the first ranking, before any verdict. The peer is a random
forest on the group-bys that an analyst would write in twenty lines of pandas. The page: docs/transactions.md.

amlsim_cycle is read from the folder GAD_DATASETS: nodes.csv and transactions.csv of IBM's AMLSim.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.derive import GROUPS
from gadcore.detectors import make_detector
from gadcore.detectors.arrays import dense
from gadcore.errors import GadError
from gadcore.graph import Graph, Truth
from gadcore.graph.labels import Labels
from gadcore.ingest import Mapping, Reading, read
from gadcore.settings import Settings
from gadcore.studies.fits import DEMO, ranked
from gadcore.studies.harness import Cell, Option, Row, Study
from gadcore.studies.markdown import grouped, mean_std, table

AMLSIM = "amlsim_cycle"
GRAPHS = (AMLSIM, DEMO)
ANOMALOUS, NORMAL = 20, 80
ALL, NONE, ONLY, WITHOUT = "all", "none", "only ", "no "
PRODUCT, PEER = "an+", "forest on group-bys"
ABSENT = {AMLSIM: ("kinds",)}  # groups of columns that the links of a graph do not give
METHODS = (PRODUCT, "xgb-graph", "sgc-lr", "an", PEER)


@lru_cache(maxsize=2)
def linked_graph(name: str) -> tuple[Graph, Truth]:
    """A graph with links by name, and the truth to measure against."""
    reading = read(name) if name != AMLSIM else _amlsim()
    if reading.truth is None or reading.graph.links is None:
        raise GadError(f"{name!r} has no truth, or no table of links.")
    return reading.graph, reading.truth


def _amlsim() -> Reading:
    folder = Settings.from_env().datasets / AMLSIM
    own = Mapping(
        id="nodeid", truth="isFraud", ignore=("fraudStep",), source="sourceNodeId", target="targetNodeId"
    )
    return read(folder / "nodes.csv", edges=folder / "transactions.csv", mapping=own)


def with_columns(graph: Graph, columns: str) -> Graph:
    """The graph with some of its derived columns; without any of them, without its links too."""
    kept = {name for name, column in graph.derived.items() if _wanted(column["group"], columns)}
    dropped = set(graph.derived) - kept
    stay = [i for i, column in enumerate(graph.feature_columns) if column not in dropped]
    return replace(
        graph,
        x=graph.x[:, stay],
        feature_names=tuple(graph.feature_names[i] for i in stay),
        feature_columns=tuple(graph.feature_columns[i] for i in stay),
        node_table=graph.node_table.without(list(dropped)),
        extra={**graph.extra, "derived": [graph.derived[name] for name in graph.derived if name in kept]},
        links=graph.links if kept else None,
    )


def _wanted(group: str, columns: str) -> bool:
    if columns.startswith(ONLY):
        return group == columns.removeprefix(ONLY)
    return columns != NONE and group != columns.removeprefix(WITHOUT)


def drawn(truth: Truth, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Normal and anomalous nodes to label."""
    rng = np.random.default_rng(seed)
    sizes = ((1, ANOMALOUS), (0, NORMAL))
    anomalous, normal = (rng.choice(np.flatnonzero(truth.y == y), n, replace=False) for y, n in sizes)
    return normal, anomalous


def group_bys(graph: Graph) -> npt.NDArray[np.float64]:
    """(N, columns) what twenty lines of pandas get out of the table of links."""
    links = graph.links
    if links is None:
        raise GadError(f"{graph.name!r} has no links.")
    ends = pd.DataFrame({"source": links.source, "target": links.target})
    rows = ends.assign(amount=links.amount, time=links.time)
    parts = [pd.DataFrame(dense(with_columns(graph, NONE).x))]
    for own, other in (("source", "target"), ("target", "source")):
        found = rows.groupby(own).agg(
            count=(other, "size"),
            partners=(other, "nunique"),
            **{how: ("amount", how) for how in ("sum", "mean", "max", "min", "std")},
            first=("time", "min"),
            last=("time", "max"),
            spread=("time", "std"),
        )
        parts.append(found.reindex(range(graph.n_nodes)))
    return np.asarray(pd.concat(parts, axis=1).fillna(0.0), dtype=np.float64)


@dataclass(frozen=True)
class LinkedFit(Cell):
    """One fit on a graph with links."""

    inputs: str
    labels: int
    seed: int

    def measure(self) -> Row:
        graph, truth = linked_graph(self.graph)
        labels = Labels.none()
        if self.labels:
            normal, anomalous = drawn(truth, self.seed)
            labels = Labels.from_indices(graph, normal, anomalous)
        start = time.process_time()
        scores = self._scores(graph, labels)
        seconds = round(time.process_time() - start, 3)
        rest = np.setdiff1d(np.flatnonzero(truth.known), labels.indices)
        return {**ranked(truth.y[rest] == 1, scores[rest]), "cpu_seconds": seconds}

    def _scores(self, graph: Graph, labels: Labels) -> npt.NDArray[Any]:
        if self.method != PEER:
            detector = make_detector(self.method, seed=self.seed)
            return detector.fit(with_columns(graph, self.inputs), labels).scores_
        from sklearn.ensemble import RandomForestClassifier

        rows = group_bys(graph)
        forest = RandomForestClassifier(500, class_weight="balanced", random_state=self.seed)
        forest.fit(rows[labels.indices], labels.targets)
        return np.asarray(forest.predict_proba(rows)[:, 1])


def cells(given: Namespace) -> list[tuple[str, list[LinkedFit]]]:
    """Methods first, then the first ranking, then the groups of columns."""
    seeds, labels = range(given.first, given.first + given.seeds), ANOMALOUS + NORMAL
    found = []
    for graph in given.graphs:
        fits = [(method, inputs) for method in METHODS for inputs in (ALL, NONE)]
        fits.remove((PEER, NONE))
        own = [group for group in GROUPS if group not in ABSENT.get(graph, ())]
        fits += [(PRODUCT, word + group) for group in own for word in (ONLY, WITHOUT)]
        found += [LinkedFit(graph, *fit, labels, seed) for seed in seeds for fit in fits]
        found += [LinkedFit(graph, PRODUCT, inputs, 0, given.first) for inputs in (ALL, NONE)]
    return [("transactions", found)]


def pages(rows_of: Any) -> dict[str, str]:
    rows = rows_of("transactions")
    parts = [_HEAD, *(_section(graph, rows) for graph in GRAPHS)]
    return {"transactions.md": "\n".join(part for part in parts if part)}


def _section(graph: str, rows: Iterable[Row]) -> str:
    own = [row for row in rows if row["graph"] == graph]
    if not own:
        return ""
    by = grouped(own, "labels", "method", "inputs")
    labelled = sorted(((*key[1:], found) for key, found in by.items() if key[0]), key=_place)
    methods = [line for line in labelled if line[1] in (ALL, NONE)]
    ablation = [line for line in labelled if line[0] == PRODUCT and line[1] not in (NONE,)]
    first = sorted(((*key[1:], found) for key, found in by.items() if not key[0]), key=_place)
    return "\n".join(
        [
            f"## {graph}\n",
            _table(methods, "### Methods\n\n"),
            _table(first, "### The first ranking, without a label\n\n"),
            _table(ablation, "### Groups of columns, `an+`\n\n"),
        ]
    )


def _place(line: tuple[str, str, list[Row]]) -> tuple[int, bool, str]:
    """Methods as they are listed, each with all columns first."""
    method, inputs, _ = line
    return METHODS.index(method), inputs != ALL, inputs


def _table(lines: Sequence[tuple[str, str, list[Row]]], title: str) -> str:
    told = [
        (method, columns, *(mean_std([100 * row[name] for row in found]) for name in ("auc", "ap")),
         f"{np.mean([row['cpu_seconds'] for row in found]):.1f}", len(found))
        for method, columns, found in lines
    ]  # fmt: skip
    return table(("method", "columns of links", "AUC", "AP", "CPU s", "draws"), told, title)


_HEAD = f"""# Transactions

What the links add. {ANOMALOUS} anomalous and {NORMAL} normal nodes are drawn at random and labelled. Figures
are on all other nodes, in per cent, mean (std) over the draws. Command: `ringfence experiments transactions`;
rows in `gadcore/studies/results/transactions.jsonl`.

- *all*: with the columns derived from the links, and the members that read them. *none*: attributes and
  undirected edges alone. *only* and *no*: one group of derived columns alone, or all but it.
- *{PEER}*: the peer. A random forest on counts, counterparties, sums, means, extremes, deviations
  and times of each node's links, in and out, and on its attributes: twenty lines of pandas and scikit-learn.
- Beware of the simulator: frauds of amlsim_cycle give themselves away by unusually small payments.
"""

STUDY = Study(
    "transactions",
    __doc__,
    (
        Option("graphs", GRAPHS, choices=GRAPHS),
        Option("seeds", 10, "how many draws"),
        Option("first", 0, "the first seed"),
    ),
    cells,
    pages,
    quick={"graphs": (DEMO,), "seeds": 1},
)
