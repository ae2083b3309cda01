"""The section of docs/paper_tables.md on extensions, drawn from the rows of that study alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from gadcore.studies.harness import NAMED, Row
from gadcore.studies.markdown import NONE, mean_std, table
from gadcore.studies.published import GRAPHS

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
    "graph", "arrived", "AUC, scored on arrival", "AUC, trained with them", "difference", "splits", "",
)  # fmt: skip
_INDUCTIVE_WORDS = """### Nodes that arrive after training

`an` is trained on the graph without a fifth of its nodes and their edges, all of them
test nodes. They arrive with their edges and are scored with the weights as they are; beside it `an` trained
on the whole graph with the same labels. Both AUCs are of the arrived nodes only.

"""
