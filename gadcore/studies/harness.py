"""One harness for all studies: cells are measured once, rows are kept in files, pages are drawn from them.

A cell is a small frozen value that any process can be handed; its fields are the key of its row. What a file
holds is not measured again, so that a study can be stopped and gone on with at any time. A row that does not
count any more (``Cell.holds``) is measured again and replaced.

A new study is one module with a ``STUDY`` and one line in ``gadcore.studies.STUDIES``.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from tqdm import tqdm

from gadcore.errors import InputError
from gadcore.settings import ROOT
from gadcore.studies import find_study

Row = dict[str, Any]
Params = tuple[tuple[str, Any], ...]
RowsOf = Callable[[str], list[Row]]  # name of a result file -> its rows
COMMAND = "ringfence experiments"
RESULTS = Path(__file__).parent / "results"  # shipped with the package
NAMED = "gadcore/studies/results"  # as pages name it
DOCS = ROOT / "docs"  # of a checkout
PACKAGES = ("torch", "scikit-learn", "numpy", "scipy", "xgboost-cpu")  # that figures depend on


@dataclass(frozen=True)
class Cell:
    """One thing to measure; its fields say which, and are columns of its row."""

    graph: str
    method: str
    alone: ClassVar[bool] = False  # measured in this process, one after the other

    @classmethod
    def of(cls, row: Row) -> Self:
        """The cell that a row measured."""
        known = {one.name: row[one.name] for one in fields(cls) if one.name in row}
        if "params" in known:
            known["params"] = tuple(sorted(known["params"].items()))
        return cls(**known)

    def columns(self) -> Row:
        """The fields as a row has them."""
        known = asdict(self)
        return {**known, "params": dict(known["params"])} if "params" in known else known

    def measure(self) -> Row:
        """The other columns of the row."""
        raise TypeError(f"{type(self).__name__} is not measured")

    def holds(self, row: Row) -> bool:
        """Whether a row of this cell still counts."""
        return True

    def told(self, row: Row) -> str:
        """A word on a row for who watches."""
        auc = f" AUC {row['auc']:.3f}" if row.get("auc") is not None else ""
        return f"{self.graph} {self.method}{auc}"


C = TypeVar("C", bound=Cell)


def measured(cell: Cell) -> Row:
    """The whole row of a cell: a plain function of a small value, for any worker to call."""
    return {**cell.columns(), **cell.measure(), "versions": {name: version(name) for name in PACKAGES}}


def load_rows(path: Path) -> list[Row]:
    """Rows of a file; a half-written last line is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def missing(cells: Sequence[C], path: Path) -> list[C]:
    """Cells (of one kind) that the file does not hold, or holds a row of that does not count any more."""
    held = _held(cells, path)
    return [cell for cell in cells if cell not in held or not cell.holds(held[cell])]


def _held(cells: Sequence[C], path: Path) -> dict[C, Row]:
    return {type(cells[0]).of(row): row for row in load_rows(path)} if cells else {}


def run(cells: Sequence[C], path: Path, command: str, jobs: int = 1) -> Iterator[tuple[C, Row]]:
    """Measure what is missing, append each row when it is there, and yield it."""
    held = _held(cells, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for cell, row in _rows(missing(cells, path), jobs):
        if cell in held:
            _forget(cell, path)  # only now: a study that is stopped has lost nothing
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "command": command}) + "\n")
        yield cell, row


def _forget(cell: Cell, path: Path) -> None:
    """Take the row of a cell out of a file."""
    kept = [row for row in load_rows(path) if type(cell).of(row) != cell]
    path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def _rows(cells: Sequence[C], jobs: int) -> Iterator[tuple[C, Row]]:
    if jobs == 1 or (cells and cells[0].alone):
        _one_thread()
        yield from ((cell, measured(cell)) for cell in cells)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        waiting = {pool.submit(measured, cell): cell for cell in cells}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def _one_thread() -> None:
    """Several pools of spinning threads on few cores cost more than they give."""
    import torch

    torch.set_num_threads(1)


def result_path(name: str) -> Path:
    """The file that rows go to: the package's own, or its copy in the current folder if that is read-only."""
    own, copy = RESULTS / f"{name}.jsonl", Path.cwd() / f"{name}.jsonl"
    if os.access(RESULTS, os.W_OK):
        return own
    if own.exists() and not copy.exists():
        shutil.copyfile(own, copy)  # what was measured before is not measured again
    return copy


@dataclass(frozen=True)
class Option:
    """One option of a study; a tuple as default means one value or several, False a switch."""

    name: str
    default: Any
    help: str = ""
    choices: Sequence[str] | None = None
    condition: bool = False  # what a row is measured under: part of the command that the row names

    def add_to(self, parser: ArgumentParser) -> None:
        """Let the parser know it."""
        if self.default is False:
            parser.add_argument(f"--{self.name}", action="store_true", help=self.help)
            return
        several = isinstance(self.default, tuple)
        kind = type(self.default[0]) if several and self.default else str if several else type(self.default)
        parser.add_argument(
            f"--{self.name}",
            nargs="+" if several else None,
            type=kind,
            default=self.default,
            choices=self.choices,
            metavar=self.name.upper().rstrip("S"),
            help=self.help,
        )

    def said(self, given: Namespace) -> str:
        """The option as given, "" where it is no condition or has its default."""
        value = getattr(given, self.name)
        if not self.condition or value == self.default:
            return ""
        return f" --{self.name}" if value is True else f" --{self.name} {value}"


_JOBS = Option("jobs", 1, "processes, each with one thread")
_RENDER = Option("render", False, "draw the pages and measure nothing")
_QUICK = Option("quick", False, "a small part of it")


@dataclass(frozen=True)
class Study:
    """An experiment: its options, its cells by result file, and the pages drawn from all rows."""

    name: str  # ringfence experiments NAME
    words: str
    options: tuple[Option, ...]
    cells: Callable[[Namespace], Sequence[tuple[str, Sequence[Cell]]]]  # in the order of worth per second
    pages: Callable[[RowsOf], Mapping[str, str]] | None = None  # file below docs -> its text
    drawn_by: str = ""  # the study whose pages show the rows, if it has none of its own
    quick: Mapping[str, Any] = field(default_factory=dict)  # what --quick sets

    def carry_out(self, argv: list[str]) -> Row:
        """Measure what is missing and draw the pages; the answer says what went where."""
        given = self._parser().parse_args(argv)
        if given.quick:
            vars(given).update(self.quick)
        counts = {} if given.render else self._measure(given)
        painter = find_study(self.drawn_by) if self.drawn_by else self
        pages = [] if given.file else painter.draw()
        return {"study": self.name, "measured": counts, "pages": list(map(str, pages))}

    def draw(self) -> list[Path]:
        """Write the pages into docs of the checkout, or without one into the current folder."""
        folder = DOCS if DOCS.is_dir() else Path.cwd()
        texts = self.pages(lambda name: load_rows(result_path(name))) if self.pages else {}
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return [folder / name for name in texts]

    def _measure(self, given: Namespace) -> dict[str, int]:
        """How many cells were measured, by result file."""
        command = f"{COMMAND} {self.name}" + "".join(option.said(given) for option in self.options)
        counts: dict[str, int] = {}
        parts = self.cells(given)
        if given.file and len({name for name, _ in parts}) > 1:
            raise InputError(f"--file {given.file}", "one result file: this study has several")
        for name, cells in parts:
            path = given.file or result_path(name)
            todo = len(missing(cells, path))
            counts[str(path)] = counts.get(str(path), 0) + todo
            with tqdm(total=len(cells), initial=len(cells) - todo, file=sys.stderr, desc=name) as bar:
                for cell, row in run(cells, path, command, given.jobs):
                    bar.set_postfix_str(cell.told(row))
                    bar.update()
        return counts

    def _parser(self) -> ArgumentParser:
        parser = ArgumentParser(
            prog=f"{COMMAND} {self.name}", description=self.words, formatter_class=RawDescriptionHelpFormatter
        )
        for option in (*self.options, _JOBS, _RENDER, _QUICK):
            option.add_to(parser)
        parser.add_argument("--file", type=Path, help="where the rows go; another one leaves the pages alone")
        return parser
