"""Tables in the layout of the paper, drawn from result rows alone.

A cell is mean (std) of test AUC in per cent over the splits measured; fewer than ten splits are marked with
their number. Bold: the best mean of a row, and every method that a paired t-test at 5 % does not tell from
it, among those with most splits. Below each line of ours stand the paper's and the difference; ``*`` marks a
mean more than the paper's std away from the paper's mean.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gadcore.studies import deviations, extension_tables, findings
from gadcore.studies.published import GRAPHS, METHODS, PUBLISHED, RATES
from gadcore.studies.results import SPLITS, Results, best_methods, collect
from gadcore.studies.rows import K

BEYOND = ("an+", "sgc-lr", "appnp", "bwgnn", "xgb-graph", "label-propagation", "isolation-forest")
__all__ = ["best_methods", "collect", "render"]

FIGURES = (("auc", "AUC"), ("ap", "Average precision"), ("precision_at_k", f"Precision at {K}"))


def render(
    rows: Iterable[dict[str, Any]],
    extensions: Iterable[dict[str, Any]] = (),
    deviating: Iterable[dict[str, Any]] = (),
) -> str:
    """The whole page in Markdown."""
    rows = list(rows)
    parts = [
        _HEAD,
        findings.section(collect(row for row in rows if not row.get("stratified"))),
        deviations.section(rows, deviating),
    ]
    for stratified, title in ((False, "Purely random splits"), (True, "Stratified splits")):
        kept = [row for row in rows if bool(row.get("stratified")) == stratified]
        if not kept:
            continue
        parts.append(f"## {title}\n")
        for metric, name in FIGURES:
            results = collect(kept, metric)
            for rate in RATES:
                if any(key[0] == rate for key in results):
                    parts.append(_table(results, rate, name, paper=metric == "auc" and not stratified))
    return "\n".join([*parts, extension_tables.section(extensions)])


def _table(results: Results, rate: float, name: str, *, paper: bool) -> str:
    columns = [m for m in (*METHODS, *BEYOND) if any(key[0] == rate and key[2] == m for key in results)]
    lines = [f"### {name}, {rate:.1%} labelled\n", "| graph | " + " | ".join(columns) + " |"]
    lines.append("| --- |" + " --- |" * len(columns))
    for graph in GRAPHS:
        cells = {m: results[rate, graph, m] for m in columns if (rate, graph, m) in results}
        if not cells:
            continue
        bold = best_methods(cells)
        shown = [
            _cell(cells.get(m), m in bold, PUBLISHED.get((rate, graph, m)) if paper else None)
            for m in columns
        ]
        lines.append(f"| {graph} | " + " | ".join(shown) + " |")
        if paper:
            lines.append(f"| *paper* | {' | '.join(_published(rate, graph, m) for m in columns)} |")
            gaps = [_difference(cells.get(m), PUBLISHED.get((rate, graph, m))) for m in columns]
            lines.append(f"| *difference* | {' | '.join(gaps)} |")
    return "\n".join(lines) + "\n"


def _cell(values: dict[int, float] | None, bold: bool, published: tuple[float, float] | None) -> str:
    if not values:
        return "–"
    found = np.array(list(values.values()))
    text = f"{found.mean():.1f} ({found.std(ddof=1) if len(found) > 1 else 0:.1f})"
    text = f"**{text}**" if bold else text
    if published and abs(found.mean() - published[0]) > published[1]:
        text += " \\*"
    return text if len(found) >= SPLITS else f"{text} n={len(found)}"


def _published(rate: float, graph: str, method: str) -> str:
    if (rate, graph, method) not in PUBLISHED:
        return ""
    mean, std = PUBLISHED[rate, graph, method]
    return f"*{mean:.1f} ({std:.1f})*"


def _difference(values: dict[int, float] | None, published: tuple[float, float] | None) -> str:
    """Ours less the paper's mean."""
    return f"{np.mean(list(values.values())) - published[0]:+.1f}" if values and published else ""


_HEAD = """# The paper's tables

Drawn by `python -m gadcore experiments paper --render` from `benchmarks/results/paper.jsonl` (tables and
findings), `extensions.jsonl` and `deviations.jsonl` alone. Mean (std) of the test figure in per cent over ten
splits; a cell with fewer says how many (n). Bold: the best of a row and all that a paired t-test at 5 % does
not tell from it, among methods with as many splits as any; a test on three would find nothing different. In
italics what the paper reports and ours less that; \\* marks a mean that is more than the paper's std away.
Methods after `imverde` are not in the paper. Hyper-parameters are the defaults, the same for all graphs, but
for the limit of epochs of the paper's methods: 500, and on Photo and Computers 1000 as in the paper
(stratified splits, which the paper does not have: 500). Every choice is made on the validation labels.
"""
