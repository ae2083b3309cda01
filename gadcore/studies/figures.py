"""``python -m gadcore experiments figures``: the figures of the paper, measured here.

    lambda      AUC against λ for an and doc-an, 2.5 % labelled, five splits           (figures.jsonl)
    embeddings  t-SNE of six embeddings of Cora, 10 % labelled                         (embeddings.jsonl)
    times       CPU time of 500 epochs on Cora, 10 % labelled, five repeats            (times.jsonl)
    k           AUC against K for eight methods, 2.5 % labelled, three splits          (figures.jsonl)

Rows are appended to these files in benchmarks/results, and what they hold is not measured again;
docs/paper_figures.md and docs/figures are drawn from them alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

from tqdm import tqdm

from gadcore.settings import ROOT
from gadcore.studies import embeddings, times
from gadcore.studies.figure_page import write_page
from gadcore.studies.published import GRAPHS
from gadcore.studies.rows import C, Cell, Row, carry_out, missing, not_held, run

FOLDER = ROOT / "benchmarks" / "results"
SWEEPS, EMBEDDINGS, TIMES = (FOLDER / f"{name}.jsonl" for name in ("figures", "embeddings", "times"))
DOCS = ROOT / "docs"
COMMAND = "python -m gadcore experiments figures"
PARTS = ("lambda", "embeddings", "times", "k")  # in the order of worth per second

RATE = 0.025
LAMBDAS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
WIDTHS = (8, 16, 32, 64, 128)
FAST = ("an", "n", "doc-an", "doc-n", "dsad")
SLOW = ("dominant", "deepwalk", "imverde")
SMALL = ("cora", "citeseer")  # the graphs that slow methods are swept on


def main(argv: list[str]) -> int:
    """Measure what is missing and draw the page."""
    given = _parser().parse_args(argv)
    if not given.render:
        _measure(given)
    write_page(DOCS, sweeps=SWEEPS, embeddings=EMBEDDINGS, times=TIMES)
    return 0


def lambda_cells(graphs: Sequence[str], splits: int = 5) -> list[Cell]:
    """Split by split, so that a stopped study has all values of λ on fewer splits."""
    return [
        Cell(graph, method, RATE, seed, params=(("lambda_", value),))
        for seed, graph, method, value in product(range(splits), graphs, ("an", "doc-an"), LAMBDAS)
    ]


def width_cells(graphs: Sequence[str], splits: int = 3) -> list[Cell]:
    """Split by split; methods that take minutes on the larger graphs come last, on the two small ones."""
    small = [graph for graph in graphs if graph in SMALL]
    return [
        Cell(graph, method, RATE, seed, params=(("k", value),))
        for methods, where in ((FAST, graphs), (SLOW, small))
        for seed, graph, method, value in product(range(splits), where, methods, WIDTHS)
    ]


def _measure(given: argparse.Namespace) -> None:
    if "lambda" in given.parts:
        _sweep("λ", lambda_cells(given.graphs), given.jobs)
    if "embeddings" in given.parts:
        shown = [embeddings.EmbeddingCell(method) for method in embeddings.METHODS]
        _carry_out("t-SNE", shown, embeddings.measure, embeddings.key_of, EMBEDDINGS, given.jobs)
    if "times" in given.parts:
        turns = [times.TimeCell(m, r) for r, m in product(range(times.REPEATS), times.METHODS)]
        _carry_out("times", turns, times.measure, times.key_of, TIMES, 1)  # in turns: one process
    if "k" in given.parts:
        _sweep("K", width_cells(given.graphs), given.jobs)


def _sweep(name: str, cells: list[Cell], jobs: int) -> None:
    todo = len(missing(cells, SWEEPS))
    _show(name, len(cells), len(cells) - todo, run(cells, SWEEPS, COMMAND, jobs))


def _carry_out(
    name: str,
    cells: list[C],
    measured: Callable[[C], Row],
    key: Callable[[Row], str],
    path: Path,
    jobs: int,
) -> None:
    todo = not_held(cells, path, key)
    _show(name, len(cells), len(cells) - len(todo), carry_out(todo, measured, path, COMMAND, jobs))


def _show(name: str, total: int, done: int, rows: Iterator[tuple[object, Row]]) -> None:
    """A progress bar over rows as they come."""
    with tqdm(total=total, initial=done, file=sys.stderr, unit="fit", desc=name) as bar:
        for _, row in rows:
            bar.set_postfix_str(f"{row['graph']} {row['method']}")
            bar.update()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS, metavar="PART")
    parser.add_argument("--graphs", nargs="+", default=list(GRAPHS), metavar="GRAPH", help="of λ and K")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--render", action="store_true", help="draw the page and measure nothing")
    return parser
