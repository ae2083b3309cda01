"""The section of docs/paper_tables.md on extensions, drawn from the rows of that study alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gadcore.studies.published import GRAPHS

Row = dict[str, Any]
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
    lines = ["| model | " + " | ".join(graphs) + " |", "| --- |" + " --- |" * len(graphs)]
    for line, words in LINES.items():
        cells = [_cell(found.get((*line, graph), {}), found.get((*PLAIN, graph), {})) for graph in graphs]
        if any(cell != "–" for cell in cells):
            lines.append(f"| {words} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(own: dict[int, Row], plain: dict[int, Row]) -> str:
    """Mean (std), and the mean difference from the plain model over the splits that both have."""
    if not own:
        return "–"
    text = f"{_spread([100 * row['auc'] for row in own.values()])} n={len(own)}"
    if own is plain or not (shared := sorted(set(own) & set(plain))):
        return text
    return f"{text}, {_mean([100 * (own[s]['auc'] - plain[s]['auc']) for s in shared]):+.1f}"


def _inductive(found: Cells) -> str:
    lines = [
        "### Nodes that arrive after training\n",
        _INDUCTIVE_WORDS,
        "| graph | arrived | AUC, scored on arrival | AUC, trained with them | difference | splits | |",
        "| --- |" + " --- |" * 6,
    ]
    for graph in GRAPHS:
        rows = list(found.get(("inductive", "an", "", graph), {}).values())
        if not rows:
            continue
        late, whole = ([100 * row[name] for row in rows] for name in ("auc", "auc_transductive"))
        gap = _mean(late) - _mean(whole)
        verdict = f"within {NEAR:g} points" if abs(gap) <= NEAR else f"more than {NEAR:g} points away"
        verdict = "ahead" if gap > NEAR else verdict
        figures = f"{_spread(late)} | {_spread(whole)} | {gap:+.1f} | {len(rows)} | {verdict}"
        lines.append(f"| {graph} | {rows[0]['arrived']:,} | {figures} |")
    return "\n".join(lines) + "\n" if len(lines) > 4 else ""


def _spread(values: Sequence[float]) -> str:
    return f"{_mean(values):.1f} ({np.std(values, ddof=1) if len(values) > 1 else 0:.1f})"


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


_WORDS = """From `benchmarks/results/extensions.jsonl`, made by `python -m gadcore experiments extensions`.
Test AUC in per cent, 2.5 % labelled, purely random splits (n of them); after the comma the difference from
`an` as in the tables on the same splits. Given normal labels alone, `an` refuses (it needs both) and `n` is
its form.
"""
_INDUCTIVE_WORDS = """`an` is trained on the graph without a fifth of its nodes and their edges, all of them
test nodes. They arrive with their edges and are scored with the weights as they are; beside it `an` trained
on the whole graph with the same labels. Both AUCs are of the arrived nodes only.
"""
