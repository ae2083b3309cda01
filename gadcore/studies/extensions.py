"""``python -m gadcore experiments extensions``: what the paper names but does not measure.

    encoder             an with graph convolutions (gcn, as in the tables), GraphSAGE and GAT
    no attributes       an and an+ where X = I: edges are all there is
    normal labels only  n and an+ given the normal labels alone
    inductive           an trained before a fifth of the nodes arrived; auc is that of the arrived nodes, and
                        auc_transductive that of an trained on the whole graph, on the same nodes

2.5 % labelled, five random splits, the same for all. Rows are appended to
benchmarks/results/extensions.jsonl and are a section of docs/paper_tables.md. ``an`` itself refuses normal
labels alone: ``n`` is its form then.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

from gadcore.graph import Graph, IntArray, Truth
from gadcore.graph.labels import Labels
from gadcore.metrics import auc
from gadcore.studies.paper import EXTENSIONS
from gadcore.studies.published import GRAPHS
from gadcore.studies.rows import detector_of, known_graph, missing, ranked, renew, settings_of, versions
from gadcore.studies.splits import Split, random_split

COMMAND = "python -m gadcore experiments extensions"
RATE = 0.025
ARRIVING = 0.2  # share of the nodes that are absent while the inductive model is trained
Params = tuple[tuple[str, Any], ...]
VARIANTS: dict[str, tuple[str, str, Params]] = {  # name -> experiment, method, parameters; quick ones first
    "plain": ("encoder", "an", (("encoder", "gcn"),)),
    "inductive": ("inductive", "an", ()),
    "identity": ("no attributes", "an", ()),
    "identity-plus": ("no attributes", "an+", ()),
    "normal": ("normal labels only", "n", ()),
    "normal-plus": ("normal labels only", "an+", ()),
    "sage": ("encoder", "an", (("encoder", "sage"),)),
    "gat": ("encoder", "an", (("encoder", "gat"),)),
}
COSTLY = ("sage", "gat")


@dataclass(frozen=True)
class ExtensionCell:
    """One fit to measure."""

    experiment: str
    graph: str
    method: str
    seed: int
    rate: float = RATE
    stratified: bool = False
    params: Params = field(default=())

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, default=list)


def key_of(row: dict[str, Any]) -> str:
    """The key of the cell that a row measured."""
    params = tuple(sorted(row["params"].items()))
    return ExtensionCell(
        row["experiment"], row["graph"], row["method"], row["seed"], row["rate"], row["stratified"], params
    ).key()


def measure(cell: ExtensionCell) -> dict[str, Any]:
    """Fit and score under the conditions of the extension."""
    graph, truth = known_graph(cell.graph)
    split = random_split(graph, truth, cell.rate, seed=cell.seed, stratified=cell.stratified)
    start = time.process_time()
    found = _MEASURED[cell.experiment](cell, graph, truth, split)
    seconds = time.process_time() - start
    return {
        **asdict(cell),
        "params": dict(cell.params),
        **found,
        "cpu_seconds": round(seconds, 3),
        "settings": settings_of(cell),
        "versions": versions(),
    }


def without_attributes(graph: Graph) -> Graph:
    """The same nodes and edges with X = I."""
    names = tuple(map(str, graph.node_ids))
    identity = sp.eye_array(graph.n_nodes, dtype=np.float32, format="csr")
    return replace(
        graph, x=identity, feature_names=names, feature_columns=names, attribute_free=True, extra={}
    )


def without_nodes(graph: Graph, absent: IntArray) -> tuple[Graph, IntArray]:
    """The graph before these nodes and their edges arrived, and the new row of each old node (-1: absent)."""
    kept = np.setdiff1d(np.arange(graph.n_nodes), absent)
    row = np.full(graph.n_nodes, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    table = graph.node_table.iloc[kept].reset_index(drop=True)
    adjacency = sp.csr_array(graph.adjacency[kept][:, kept])
    adjacency.sort_indices()
    smaller = replace(
        graph, node_ids=graph.node_ids[kept], adjacency=adjacency, x=graph.x[kept], node_table=table
    )
    return smaller, row


def arriving(split: Split, n: int) -> IntArray:
    """A fifth of the nodes, all from the test part: the labels are those of the transductive model."""
    rng = np.random.default_rng((split.seed, n))
    return np.sort(rng.choice(split.test, min(round(ARRIVING * n), len(split.test)), replace=False))


def _usual(cell: ExtensionCell, graph: Graph, truth: Truth, split: Split) -> dict[str, Any]:
    detector = detector_of(cell, cell.seed)
    detector.fit(graph, split.train, validation=split.validation)
    return ranked(truth.y[split.test] == 1, detector.scores_[split.test])


def _attribute_free(cell: ExtensionCell, graph: Graph, truth: Truth, split: Split) -> dict[str, Any]:
    return _usual(cell, without_attributes(graph), truth, split)


def _normal_only(cell: ExtensionCell, graph: Graph, truth: Truth, split: Split) -> dict[str, Any]:
    held = None if split.validation is None else _normal(split.validation)
    return _usual(cell, graph, truth, replace(split, train=_normal(split.train), validation=held))


def _inductive(cell: ExtensionCell, graph: Graph, truth: Truth, split: Split) -> dict[str, Any]:
    late = arriving(split, graph.n_nodes)
    before, row = without_nodes(graph, late)
    held = None if split.validation is None else _moved(split.validation, row)
    early, whole = (detector_of(cell, cell.seed) for _ in range(2))
    arrived = early.fit(before, _moved(split.train, row), validation=held).score_new(graph)[late]
    known = whole.fit(graph, split.train, validation=split.validation).scores_[late]
    y = truth.y[late] == 1
    return {**ranked(y, arrived), "auc_transductive": auc(y, known), "arrived": len(late)}


def _normal(labels: Labels) -> Labels:
    return replace(labels, anomalous=labels.anomalous[:0])


def _moved(labels: Labels, row: IntArray) -> Labels:
    """The same labels under the new row numbers."""
    return Labels(row[labels.normal], row[labels.anomalous])


_MEASURED: dict[str, Callable[[ExtensionCell, Graph, Truth, Split], dict[str, Any]]] = {
    "encoder": _usual,
    "no attributes": _attribute_free,
    "normal labels only": _normal_only,
    "inductive": _inductive,
}


def cells(graphs: Sequence[str], variants: Sequence[str], splits: int) -> list[ExtensionCell]:
    """Split by split, the costly variants last: a stopped study has whole splits of the others."""
    quick = [name for name in variants if name not in COSTLY]
    slow = [name for name in variants if name in COSTLY]
    return [
        ExtensionCell(VARIANTS[name][0], graph, VARIANTS[name][1], seed, params=VARIANTS[name][2])
        for names in (quick, slow)
        for seed, graph, name in product(range(splits), graphs, names)
    ]


def main(argv: list[str]) -> int:
    """Measure what is missing; ``experiments paper --render`` draws it."""
    given = _parser().parse_args(argv)
    _measure(cells(given.graphs, given.variants, given.splits), EXTENSIONS, given.jobs)
    return 0


def _measure(wanted: list[ExtensionCell], path: Path, jobs: int) -> None:
    todo = missing(wanted, path, key_of)
    with tqdm(total=len(wanted), initial=len(wanted) - len(todo), file=sys.stderr, unit="fit") as bar:
        for cell, row in renew(wanted, measure, key_of, path, COMMAND, jobs):
            bar.set_postfix_str(f"{cell.graph} {cell.experiment} {cell.method} AUC {row['auc']:.3f}")
            bar.update()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    names = ", ".join(VARIANTS)
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="GRAPH")
    parser.add_argument(
        "--variants", nargs="+", default=list(VARIANTS), choices=VARIANTS, metavar="VARIANT", help=names
    )
    parser.add_argument("--splits", type=int, default=5, help="seeds 0 to SPLITS − 1")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    return parser
