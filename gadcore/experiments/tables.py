"""Tables in the layout of the paper, drawn from result rows alone.

A cell is mean (std) of test AUC in per cent over the splits measured; fewer than ten splits are marked with
their number. Bold: the best mean of a row, and every method that a paired t-test at 5 % does not tell from
it. Below each line of ours stands the paper's; ``*`` marks a mean more than the paper's std away from the
paper's mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.experiments.published import GRAPHS, METHODS, PUBLISHED, RATES

SPLITS = 10
BEYOND = ("an+", "sgc-lr", "appnp", "bwgnn", "xgb-graph", "label-propagation", "isolation-forest")
Results = dict[tuple[float, str, str], dict[int, float]]  # (rate, graph, method) -> seed -> value


def render(rows: Iterable[dict[str, Any]]) -> str:
    """The whole page in Markdown."""
    rows = list(rows)
    parts = [_HEAD]
    for stratified, title in ((False, "Purely random splits"), (True, "Stratified splits")):
        kept = [row for row in rows if bool(row.get("stratified")) == stratified]
        if not kept:
            continue
        parts.append(f"## {title}\n")
        for metric, name in (("auc", "AUC"), ("ap", "Average precision")):
            results = collect(kept, metric)
            for rate in RATES:
                if any(key[0] == rate for key in results):
                    parts.append(_table(results, rate, name, paper=metric == "auc" and not stratified))
    return "\n".join(parts)


def collect(rows: Iterable[dict[str, Any]], metric: str = "auc") -> Results:
    """Values in per cent by (rate, graph, method) and seed; rows with own parameters are left out."""
    results: Results = defaultdict(dict)
    for row in rows:
        if row.get(metric) is not None and not row.get("params"):
            results[row["rate"], row["graph"], row["method"]][row["seed"]] = 100 * row[metric]
    return dict(results)


def best_methods(cells: dict[str, dict[int, float]], level: float = 0.05) -> set[str]:
    """The method of the highest mean, and those that a paired t-test does not tell from it."""
    if not cells:
        return set()
    top = max(cells, key=lambda method: float(np.mean(list(cells[method].values()))))
    return {method for method in cells if method == top or _p_value(cells[top], cells[method]) > level}


def _p_value(one: dict[int, float], other: dict[int, float]) -> float:
    """Two-sided paired t-test; 0 without two common splits (nothing can be claimed to be equal)."""
    from scipy.stats import t

    seeds = sorted(set(one) & set(other))
    if len(seeds) < 2:
        return 0.0
    gaps: npt.NDArray[np.float64] = np.array([one[s] - other[s] for s in seeds])
    spread = float(gaps.std(ddof=1))
    if spread == 0:
        return 1.0 if gaps.mean() == 0 else 0.0
    return float(2 * t.sf(abs(gaps.mean()) / (spread / np.sqrt(len(seeds))), len(seeds) - 1))


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


_HEAD = """# The paper's tables

Drawn by `python -m gadcore experiments paper --render` from `benchmarks/results/paper.jsonl` alone. Mean
(std) of the test AUC in per cent over ten splits; a cell with fewer says how many (n). Bold: the best of a
row and all that a paired t-test at 5 % does not tell from it. In italics what the paper reports; \\* marks
a mean that is more than the paper's std away. Methods after `imverde` are not in the paper.
Hyper-parameters are the defaults, the same for all graphs; every choice is made on the validation labels.
"""
