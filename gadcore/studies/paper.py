"""Tables 1 to 3 of the paper, measured here, beside its own figures.

2.5, 5 and 10 % of the nodes labelled, 10 % for validation, ten splits (purely random; --stratified for the
other kind). docs/paper_tables.md is drawn from the rows in paper.jsonl, extensions.jsonl and deviations.jsonl
alone. --quick takes two graphs and three splits.

A cell of a table is mean (std) of test AUC in per cent over the splits measured; fewer than ten splits are
marked with their number. Bold: the best mean of a row, and every method that a paired t-test at 5 % does not
tell from it, among those with most splits. Below each line of ours stand the paper's and the difference;
* marks a mean more than the paper's std away from the paper's mean.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from itertools import product

import numpy as np

from gadcore.studies import deviations, extensions, findings
from gadcore.studies.fits import Fit, K
from gadcore.studies.harness import NAMED, Option, Row, RowsOf, Study
from gadcore.studies.markdown import NONE, mean_std, table
from gadcore.studies.published import GRAPHS, METHODS, PUBLISHED, RATES
from gadcore.studies.significance import SPLITS, Results, best_methods, collect

BEYOND = ("an+", "sgc-lr", "appnp", "bwgnn", "xgb-graph", "label-propagation", "isolation-forest")
# In the order of worth per second: what matters most is there first when the study is stopped.
ORDER = (
    "an+",
    "an",
    "sgc-lr",
    "slgcn",
    "nn",
    "doc-an",
    "label-propagation",
    "osvm",
    "xgb-graph",
    "appnp",
    "bwgnn",
    "n",
    "doc-n",
    "dsad",
    "isolation-forest",
    "dominant",
    "deepwalk",
    "imverde",
)
FIGURES = (("auc", "AUC"), ("ap", "Average precision"), ("precision_at_k", f"Precision at {K}"))


def cells(given: Namespace) -> list[tuple[str, list[Fit]]]:
    """Split by split, so that a stopped study has all methods on fewer splits."""
    wanted = product(range(given.splits), given.rates, given.graphs, given.methods)
    return [("paper", [Fit(graph, m, rate, seed, given.stratified) for seed, rate, graph, m in wanted])]


def pages(rows: RowsOf) -> dict[str, str]:
    """The tables with what may explain them and what goes beyond them."""
    return {"paper_tables.md": render(rows("paper"), rows("extensions"), rows("deviations"))}


STUDY = Study(
    "paper",
    __doc__,
    (
        Option("graphs", GRAPHS),
        Option("methods", ORDER, choices=ORDER),
        Option("rates", RATES, "shares of the nodes that are labelled"),
        Option("splits", SPLITS, "seeds 0 to SPLITS − 1"),
        Option("stratified", False, "keep the share of anomalies in each part", condition=True),
    ),
    cells,
    pages,
    quick={"graphs": ("cora", "citeseer"), "splits": 3},
)


def render(rows: Iterable[Row], extending: Iterable[Row] = (), deviating: Iterable[Row] = ()) -> str:
    """The whole page in Markdown."""
    rows = list(rows)
    found = findings.section(collect(row for row in rows if not row.get("stratified")))
    parts = [_HEAD, found, deviations.section(rows, deviating)]
    for stratified, title in ((False, "Purely random splits"), (True, "Stratified splits")):
        kept = [row for row in rows if bool(row.get("stratified")) == stratified]
        parts += [f"## {title}\n"] * bool(kept)
        for metric, name in FIGURES:
            results = collect(kept, metric)
            for rate in (rate for rate in RATES if any(key[0] == rate for key in results)):
                parts.append(_table(results, rate, name, paper=metric == "auc" and not stratified))
    return "\n".join([*parts, extensions.section(extending)])


def _table(results: Results, rate: float, name: str, *, paper: bool) -> str:
    columns = [m for m in (*METHODS, *BEYOND) if any(key[0] == rate and key[2] == m for key in results)]
    lines: list[list[str]] = []
    for graph in GRAPHS:
        own = {m: results.get((rate, graph, m), {}) for m in columns}
        if not any(own.values()):
            continue
        known = {m: PUBLISHED.get((rate, graph, m)) if paper else None for m in columns}
        bold = best_methods({m: values for m, values in own.items() if values})
        lines.append([graph, *(_cell(own[m], m in bold, known[m]) for m in columns)])
        if paper:
            lines.append(["*paper*", *("*{:.1f} ({:.1f})*".format(*p) if p else "" for p in known.values())])
            lines.append(["*difference*", *(_difference(own[m], known[m]) for m in columns)])
    return table(["graph", *columns], lines, f"### {name}, {rate:.1%} labelled\n\n")


def _cell(values: dict[int, float], bold: bool, published: tuple[float, float] | None) -> str:
    if not values:
        return NONE
    text = f"**{mean_std(values.values())}**" if bold else mean_std(values.values())
    if published and abs(np.mean(list(values.values())) - published[0]) > published[1]:
        text += " \\*"
    return text if len(values) >= SPLITS else f"{text} n={len(values)}"


def _difference(values: dict[int, float], published: tuple[float, float] | None) -> str:
    """Ours less the paper's mean."""
    return f"{np.mean(list(values.values())) - published[0]:+.1f}" if values and published else ""


_HEAD = f"""# The paper's tables

Drawn by `ringfence experiments paper --render` from `{NAMED}/paper.jsonl` (tables and
findings), `extensions.jsonl` and `deviations.jsonl` alone. Mean (std) of the test figure in per cent over ten
splits; a cell with fewer says how many (n). Bold: the best of a row and all that a paired t-test at 5 % does
not tell from it, among methods with as many splits as any; a test on three would find nothing different. In
italics what the paper reports and ours less that; \\* marks a mean that is more than the paper's std away.
Methods after `imverde` are not in the paper. Hyper-parameters are the defaults, the same for all graphs, but
for the limit of epochs of the paper's methods: 500, and on Photo and Computers 1000 as in the paper
(stratified splits, which the paper does not have: 500). Every choice is made on the validation labels.
"""
