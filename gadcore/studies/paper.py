"""``python -m gadcore experiments paper``: tables 1 to 3 of the paper, measured here, beside its own figures.

2.5, 5 and 10 % of the nodes labelled, 10 % for validation, ten splits (purely random; ``--stratified`` for
the other kind). Rows are appended to benchmarks/results/paper.jsonl and docs/paper_tables.md is drawn from
that file, extensions.jsonl and deviations.jsonl alone. ``--quick`` takes two graphs and three splits.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product

from tqdm import tqdm

from gadcore.detectors import detector_names
from gadcore.settings import ROOT
from gadcore.studies.deviations import RESULTS as DEVIATIONS
from gadcore.studies.published import GRAPHS, RATES
from gadcore.studies.rows import Cell, load_rows, missing, run
from gadcore.studies.tables import render

RESULTS = ROOT / "benchmarks" / "results" / "paper.jsonl"
EXTENSIONS = RESULTS.with_name("extensions.jsonl")
PAGE = ROOT / "docs" / "paper_tables.md"
# In the order of worth per second: what matters most is there first when the study is stopped.
ORDER = (
    "an+", "an", "sgc-lr", "slgcn", "nn", "doc-an", "label-propagation", "osvm", "xgb-graph", "appnp",
    "bwgnn", "n", "doc-n", "dsad", "isolation-forest", "dominant", "deepwalk", "imverde",
)  # fmt: skip


def main(argv: list[str]) -> int:
    """Measure what is missing and draw the tables."""
    given = _parser().parse_args(argv)
    if not given.render:
        _measure(given)
    PAGE.write_text(
        render(load_rows(RESULTS), load_rows(EXTENSIONS), load_rows(DEVIATIONS)), encoding="utf-8"
    )
    return 0


def _measure(given: argparse.Namespace) -> None:
    graphs, splits = (("cora", "citeseer"), 3) if given.quick else (given.graphs, given.splits)
    cells = [
        Cell(graph, method, rate, seed, given.stratified)
        for seed, rate, graph, method in product(range(splits), given.rates, graphs, given.methods)
    ]
    todo = missing(cells, RESULTS)
    command = "python -m gadcore experiments paper" + (" --stratified" if given.stratified else "")
    with tqdm(total=len(cells), initial=len(cells) - len(todo), file=sys.stderr, unit="fit") as bar:
        for cell, row in run(cells, RESULTS, command, given.jobs):
            bar.set_postfix_str(f"{cell.graph} {cell.method} {cell.rate:.1%} AUC {row['auc']:.3f}")
            bar.update()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gadcore experiments paper", description=__doc__)
    known = [name for name in ORDER if name in detector_names()]
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="GRAPH")
    parser.add_argument("--methods", nargs="+", default=known, choices=known, metavar="METHOD")
    parser.add_argument("--rates", nargs="+", type=float, default=list(RATES), metavar="SHARE")
    parser.add_argument("--splits", type=int, default=10, help="seeds 0 to SPLITS − 1")
    parser.add_argument("--stratified", action="store_true", help="keep the share of anomalies in each part")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--quick", action="store_true", help="Cora and Citeseer, three splits")
    parser.add_argument("--render", action="store_true", help="draw the tables and measure nothing")
    return parser
