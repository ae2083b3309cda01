"""What the paper names but does not measure.

    encoder             an with graph convolutions (gcn, as in the tables), GraphSAGE and GAT
    no attributes       an and an+ where X = I: edges are all there is
    normal labels only  n and an+ given the normal labels alone
    inductive           an trained before a fifth of the nodes arrived; auc is that of the arrived nodes, and
                        auc_transductive that of an trained on the whole graph, on the same nodes

2.5 % labelled, five random splits, the same for all. Rows are kept in extensions.jsonl and are a section of
docs/paper_tables.md. ``an`` itself refuses normal labels alone: ``n`` is its form then.
"""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import scipy.sparse as sp

from gadcore.graph import Graph, IntArray, NodeIds, NodeTable, Truth
from gadcore.graph.labels import Labels
from gadcore.metrics import auc
from gadcore.studies.fits import Fit, ranked
from gadcore.studies.harness import NAMED, Option, Params, Row, Study
from gadcore.studies.markdown import NONE, mean_std, table
from gadcore.studies.published import GRAPHS
from gadcore.studies.splits import Split

RATE = 0.025
ARRIVING = 0.2  # share of the nodes that are absent while the inductive model is trained
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
PLAIN = ("encoder", "an", "gcn")
LINES = {  # (experiment, method, encoder) -> what a reader sees
    PLAIN: "`an` as in the tables",
    ("encoder", "an", "sage"): "`an`, GraphSAGE encoder",
    ("encoder", "an", "gat"): "`an`, GAT encoder",
    ("no attributes", "an", ""): "`an`, no attributes (X = I)",
    ("no attributes", "an+", ""): "`an+`, no attributes (X = I)",
    ("normal labels only", "n", ""): "`n`, normal labels only",
    ("normal labels only", "an+", ""): "`an+`, normal labels only",
}
NEAR = 2.0  # points that an inductive model may be away from the transductive one
Cells = dict[tuple[str, str, str, str], dict[int, Row]]  # (experiment, method, encoder, graph) -> seed -> row


@dataclass(frozen=True)
class ExtensionFit(Fit):
    """One fit under the conditions of an extension."""

    experiment: str = ""

    def figures(self, graph: Graph, truth: Truth, split: Split) -> Row:
        """As the paper's tables have them, but for what the extension changes."""
        if self.experiment == "inductive":
            return self._inductive(graph, truth, split)
        if self.experiment == "no attributes":
            graph = without_attributes(graph)
        if self.experiment == "normal labels only":
            held = split.validation and _normal(split.validation)
            split = replace(split, train=_normal(split.train), validation=held)
        return super().figures(graph, truth, split)

    def _inductive(self, graph: Graph, truth: Truth, split: Split) -> Row:
        late = arriving(split, graph.n_nodes)
        before, row = without_nodes(graph, late)
        held = split.validation and _moved(split.validation, row)
        early = self.detector().fit(before, _moved(split.train, row), validation=held)
        arrived = early.score_new(graph)[late]
        known = self.detector().fit(graph, split.train, validation=split.validation).scores_[late]
        y = truth.y[late] == 1
        return {**ranked(y, arrived), "auc_transductive": auc(y, known), "arrived": len(late)}


def without_attributes(graph: Graph) -> Graph:
    """The same nodes and edges with X = I."""
    names = tuple(graph.node_ids)
    identity = sp.eye_array(graph.n_nodes, dtype=np.float32, format="csr")
    return replace(
        graph, x=identity, feature_names=names, feature_columns=names, attribute_free=True, extra={}
    )


def without_nodes(graph: Graph, absent: IntArray) -> tuple[Graph, IntArray]:
    """The graph before these nodes and their edges arrived, and the new row of each old node (-1: absent)."""
    kept = np.setdiff1d(np.arange(graph.n_nodes), absent)
    row = np.full(graph.n_nodes, -1, dtype=np.int64)
    row[kept] = np.arange(len(kept))
    table = NodeTable.of(graph.node_table.rows(kept))
    adjacency = sp.csr_array(graph.adjacency[kept][:, kept])
    adjacency.sort_indices()
    ids, x = NodeIds.of(graph.node_ids[kept]), graph.x[kept]
    return replace(graph, node_ids=ids, adjacency=adjacency, x=x, node_table=table), row


def arriving(split: Split, n: int) -> IntArray:
    """A fifth of the nodes, all from the test part: the labels are those of the transductive model."""
    rng = np.random.default_rng((split.seed, n))
    return np.sort(rng.choice(split.test, min(round(ARRIVING * n), len(split.test)), replace=False))


def _normal(labels: Labels) -> Labels:
    return replace(labels, anomalous=labels.anomalous[:0])


def _moved(labels: Labels, row: IntArray) -> Labels:
    """The same labels under the new row numbers."""
    return Labels(row[labels.normal], row[labels.anomalous])


def fits(graphs: Sequence[str], variants: Sequence[str], splits: int) -> list[ExtensionFit]:
    """Split by split, the costly variants last: a stopped study has whole splits of the others."""
    quick, slow = ([name for name in variants if (name in COSTLY) == costly] for costly in (False, True))
    wanted = [each for names in (quick, slow) for each in product(range(splits), graphs, names)]
    return [
        ExtensionFit(graph, method, RATE, seed, params=params, experiment=experiment)
        for seed, graph, name in wanted
        for experiment, method, params in (VARIANTS[name],)
    ]


def cells(given: Namespace) -> list[tuple[str, list[ExtensionFit]]]:
    """All that the options ask for."""
    return [("extensions", fits(given.graphs, given.variants, given.splits))]


STUDY = Study(
    "extensions",
    __doc__,
    (
        Option("graphs", GRAPHS),
        Option("variants", tuple(VARIANTS), ", ".join(VARIANTS), choices=tuple(VARIANTS)),
        Option("splits", 5, "seeds 0 to SPLITS − 1"),
    ),
    cells,
    drawn_by="paper",
    quick={"graphs": ("cora", "citeseer"), "splits": 1},
)


def section(rows: Iterable[Row]) -> str:
    """The whole section in Markdown; empty without rows."""
    found = _collect(rows)
    if not found:
        return ""
    return "\n".join(["## Extensions\n", _WORDS, _table(found), _inductive(found)])


def _collect(rows: Iterable[Row]) -> Cells:
    found: Cells = defaultdict(dict)
    for row in rows:
        encoder = str(row["params"].get("encoder", ""))
        found[row["experiment"], row["method"], encoder, row["graph"]][row["seed"]] = row
    return dict(found)


def _table(found: Cells) -> str:
    graphs = [graph for graph in GRAPHS if any(key[3] == graph for key in found)]
    lines = (
        [words, *(_cell(found.get((*line, graph), {}), found.get((*PLAIN, graph), {})) for graph in graphs)]
        for line, words in LINES.items()
    )
    return table(["model", *graphs], (line for line in lines if set(line[1:]) - {NONE}))


def _cell(own: dict[int, Row], plain: dict[int, Row]) -> str:
    """Mean (std), and the mean difference from the plain model over the splits that both have."""
    if not own:
        return NONE
    text = f"{mean_std([100 * row['auc'] for row in own.values()])} n={len(own)}"
    if own is plain or not (shared := sorted(set(own) & set(plain))):
        return text
    return f"{text}, {np.mean([100 * (own[s]['auc'] - plain[s]['auc']) for s in shared]):+.1f}"


def _inductive(found: Cells) -> str:
    lines = []
    for graph in GRAPHS:
        rows = list(found.get(("inductive", "an", "", graph), {}).values())
        if not rows:
            continue
        late, whole = ([100 * row[name] for row in rows] for name in ("auc", "auc_transductive"))
        gap = float(np.mean(late) - np.mean(whole))
        verdict = f"within {NEAR:g} points" if abs(gap) <= NEAR else f"more than {NEAR:g} points away"
        verdict = "ahead" if gap > NEAR else verdict
        figures = mean_std(late), mean_std(whole), f"{gap:+.1f}", len(rows), verdict
        lines.append((graph, f"{rows[0]['arrived']:,}", *figures))
    return table(_INDUCTIVE, lines, _INDUCTIVE_WORDS).replace("|  |", "| |", 1) if lines else ""


_WORDS = f"""From `{NAMED}/extensions.jsonl`, made by `ringfence experiments extensions`.
Test AUC in per cent, 2.5 % labelled, purely random splits (n of them); after the comma the difference from
`an` as in the tables on the same splits. Given normal labels alone, `an` refuses (it needs both) and `n` is
its form.
"""
_INDUCTIVE = (
    "graph",
    "arrived",
    "AUC, scored on arrival",
    "AUC, trained with them",
    "difference",
    "splits",
    "",
)
_INDUCTIVE_WORDS = """### Nodes that arrive after training

`an` is trained on the graph without a fifth of its nodes and their edges, all of them
test nodes. They arrive with their edges and are scored with the weights as they are; beside it `an` trained
on the whole graph with the same labels. Both AUCs are of the arrived nodes only.

"""
