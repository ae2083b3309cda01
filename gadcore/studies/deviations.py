"""What a method gives where its settings are read otherwise.

Where our figures are away from the paper's, a setting is varied on the splits of the tables (and further
ones), all else as there. Some of them the paper fixes (length of walks, α, K): they show what a figure
depends on, and prove nothing of what the paper did. Rows are kept in deviations.jsonl and stand beside the
tables in docs/paper_tables.md.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gadcore.studies.fits import Fit
from gadcore.studies.harness import Option, Params, Row, Study
from gadcore.studies.markdown import mean_std, table
from gadcore.studies.published import PUBLISHED


@dataclass(frozen=True)
class Question:
    """A cell of the tables, and the settings that may explain its distance from the paper."""

    graph: str
    method: str
    rate: float
    variants: tuple[Params, ...]
    seeds: tuple[int, ...] = (0, 1, 2)
    more: tuple[int, ...] = ()  # further splits with the settings of the tables

    def fits(self) -> list[Fit]:
        """What is to be measured."""
        varied = [(seed, params) for seed in self.seeds for params in self.variants]
        wanted = [*varied, *((seed, ()) for seed in self.more)]
        return [Fit(self.graph, self.method, self.rate, seed, params=params) for seed, params in wanted]


_SHORT: tuple[Params, ...] = ((("walks", 1),), (("length", 20), ("walks", 1)))
QUESTIONS = (
    Question("citeseer", "an", 0.1, ((("depth", 3),),), tuple(range(10)), tuple(range(10, 30))),
    *(Question(graph, "deepwalk", 0.025, _SHORT) for graph in ("cora", "citeseer", "photo")),
    *(Question(graph, "imverde", 0.025, ((("batches", 100),),)) for graph in ("photo", "computers")),
    Question("citeseer", "dominant", 0.025, ((("alpha", 0.0),), (("alpha", 1.0),))),
    Question("pubmed", "n", 0.025, ((("k", 8),), (("depth", 3),)), tuple(range(5))),
)
METHODS = tuple(sorted({question.method for question in QUESTIONS}))


def cells(given: Namespace) -> list[tuple[str, list[Fit]]]:
    """Question by question."""
    asked = [question for question in QUESTIONS if question.method in given.methods]
    return [("deviations", [fit for question in asked for fit in question.fits()])]


STUDY = Study(
    "deviations",
    __doc__,
    (Option("methods", METHODS, choices=METHODS),),
    cells,
    drawn_by="paper",
    quick={"methods": ("an",)},
)


def section(tables: Iterable[Row], rows: Iterable[Row]) -> str:
    """Markdown that sets the variants beside the tables and the paper; empty without rows."""
    rows, tables = list(rows), [row for row in tables if not row.get("stratified")]
    lines = [line for question in QUESTIONS for line in _lines(question, tables, rows)]
    return table(("method", "graph", "labelled", "settings", "here", "paper"), lines, _HEAD) if lines else ""


def _lines(question: Question, tables: Sequence[Row], rows: Sequence[Row]) -> list[tuple[str, ...]]:
    found = [
        (_words(params), _values(rows, question, params, question.seeds)) for params in question.variants
    ]
    found.append(("as in the tables, other splits", _values(rows, question, (), question.more)))
    if not any(values for _, values in found):
        return []
    told = [("as in the tables", _values(tables, question, (), question.seeds)), *found]
    place = question.method, question.graph, f"{question.rate:.1%}"
    paper = "{:.1f} ({:.1f})".format(*PUBLISHED[question.rate, question.graph, question.method])
    return [(*place, words, f"{mean_std(own)} n={len(own)}", paper) for words, own in told if own]


def _values(rows: Iterable[Row], question: Question, params: Params, seeds: Sequence[int]) -> list[float]:
    place = (question.graph, question.method, question.rate, dict(params))
    return [
        100 * row["auc"]
        for row in rows
        if (row["graph"], row["method"], row["rate"], row["params"]) == place and row["seed"] in seeds
    ]


def _words(params: Params) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in params)


_HEAD = """### What may explain the larger differences

Settings varied on the same splits (`ringfence experiments deviations`, rows in `deviations.jsonl`).
Test AUC, mean (std). The paper leaves the number of walks, batches and the reading of depth open; it gives
walks of length 80, α = 0.5 and K = 32, so that those lines show what a figure depends on, not what the paper
did.

"""
