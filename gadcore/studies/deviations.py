"""``python -m gadcore experiments deviations``: what a method gives where its settings are read otherwise.

Where our figures are away from the paper's, a setting is varied on the splits of the tables (and further
ones), all else as there. Some of them the paper fixes (length of walks, α, K): they show what a figure hangs
on, and prove nothing of what the paper did. Rows are appended to benchmarks/results/deviations.jsonl;
``experiments paper --render`` sets them beside the tables in docs/paper_tables.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from gadcore.settings import ROOT
from gadcore.studies.published import PUBLISHED
from gadcore.studies.rows import Cell, Row, missing, run

RESULTS = ROOT / "benchmarks" / "results" / "deviations.jsonl"
COMMAND = "python -m gadcore experiments deviations"
Params = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Question:
    """A cell of the tables, and the settings that may explain its distance from the paper."""

    graph: str
    method: str
    rate: float
    variants: tuple[Params, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    more: tuple[int, ...] = ()  # further splits with the settings of the tables

    def cells(self) -> list[Cell]:
        """What is to be measured."""
        varied = [self._cell(seed, params) for seed in self.seeds for params in self.variants]
        return varied + [self._cell(seed, ()) for seed in self.more]

    def _cell(self, seed: int, params: Params) -> Cell:
        return Cell(self.graph, self.method, self.rate, seed, params=params)


_SHORT: tuple[Params, ...] = ((("walks", 1),), (("length", 20), ("walks", 1)))
QUESTIONS = (
    Question("citeseer", "an", 0.1, ((("depth", 3),),), tuple(range(10)), tuple(range(10, 30))),
    *(Question(graph, "deepwalk", 0.025, _SHORT) for graph in ("cora", "citeseer", "photo")),
    *(Question(graph, "imverde", 0.025, ((("batches", 100),),)) for graph in ("photo", "computers")),
    Question("citeseer", "dominant", 0.025, ((("alpha", 0.0),), (("alpha", 1.0),))),
    Question("pubmed", "n", 0.025, ((("k", 8),), (("depth", 3),)), tuple(range(5))),
)


def main(argv: list[str]) -> int:
    """Measure what is missing."""
    given = _parser().parse_args(argv)
    cells = [cell for question in QUESTIONS if question.method in given.methods for cell in question.cells()]
    todo = missing(cells, RESULTS)
    with tqdm(total=len(cells), initial=len(cells) - len(todo), file=sys.stderr, unit="fit") as bar:
        for cell, row in run(cells, RESULTS, COMMAND, given.jobs):
            bar.set_postfix_str(f"{cell.graph} {cell.method} {dict(cell.params)} AUC {row['auc']:.3f}")
            bar.update()
    return 0


def section(tables: Iterable[Row], rows: Iterable[Row]) -> str:
    """Markdown that sets the variants beside the tables and the paper; empty without rows."""
    rows, tables = list(rows), [row for row in tables if not row.get("stratified")]
    lines = [line for question in QUESTIONS for line in _lines(question, tables, rows)]
    return "\n".join([_HEAD, *lines]) + "\n" if lines else ""


def _lines(question: Question, tables: Sequence[Row], rows: Sequence[Row]) -> list[str]:
    found = [
        (_words(params), _values(rows, question, params, question.seeds)) for params in question.variants
    ]
    found.append(("as in the tables, other splits", _values(rows, question, (), question.more)))
    measured = [(words, values) for words, values in found if values]
    if not measured:
        return []
    paper = "{:.1f} ({:.1f})".format(*PUBLISHED[question.rate, question.graph, question.method])
    usual = _values(tables, question, (), question.seeds)
    told = [("as in the tables", usual), *measured] if usual else measured
    place = f"{question.method} | {question.graph} | {question.rate:.1%}"
    return [f"| {place} | {words} | {_figure(values)} | {paper} |" for words, values in told]


def _values(rows: Iterable[Row], question: Question, params: Params, seeds: Sequence[int]) -> list[float]:
    place = (question.graph, question.method, question.rate)
    return [
        100 * row["auc"]
        for row in rows
        if (row["graph"], row["method"], row["rate"]) == place
        and row["params"] == dict(params)
        and row["seed"] in seeds
    ]


def _words(params: Params) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in params)


def _figure(values: Sequence[float]) -> str:
    spread = np.std(values, ddof=1) if len(values) > 1 else 0.0
    return f"{np.mean(values):.1f} ({spread:.1f}) n={len(values)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    known = sorted({question.method for question in QUESTIONS})
    parser.add_argument("--methods", nargs="+", default=known, choices=known, metavar="METHOD")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    return parser


_HEAD = """### What may explain the larger differences

Settings varied on the same splits (`python -m gadcore experiments deviations`, rows in `deviations.jsonl`).
Test AUC, mean (std). The paper leaves the number of walks, batches and the reading of depth open; it gives
walks of length 80, α = 0.5 and K = 32, so that those lines show what a figure hangs on, not what the paper
did.

| method | graph | labelled | settings | here | paper |
| --- | --- | --- | --- | --- | --- |"""
