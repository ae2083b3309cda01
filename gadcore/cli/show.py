"""Output: one JSON document for programs, or tables and a progress bar for people."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from gadcore.settings import MOST_SEED

if TYPE_CHECKING:
    from gadcore.detectors.base import Progress
    from gadcore.insight.moved import Mover
    from gadcore.records import QueueRow, RunInfo

BAR, MOST_PORT = 30, 65_535


def out(given: Namespace, document: Any, *lines: str) -> None:
    """The document with ``--json``, otherwise the lines."""
    if given.json:
        from gadcore.records import as_json

        print(json.dumps(as_json(document), ensure_ascii=False, indent=2))
    else:
        for line in lines:
            print(line)


def count(text: str) -> int:
    """An argument that counts something: 1 or more, or the command is not understood."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ArgumentTypeError(f"{text!r} is not a count; expected a whole number, 1 or more")
    return value


def port(text: str) -> int:
    """An argument that is a port to listen at; 0 is any that is free."""
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_PORT):
        raise ArgumentTypeError(f"{text!r} is no port; expected a whole number from 0 to {MOST_PORT}")
    return int(text)


def seed(text: str) -> int:
    """An argument that random numbers start from."""
    if not (text.isascii() and text.isdigit() and int(text) <= MOST_SEED):
        raise ArgumentTypeError(f"{text!r} is no seed; expected a whole number from 0 to {MOST_SEED}")
    return int(text)


def _within(expected: str, holds: Callable[[float], bool]) -> Callable[[str], float]:
    """The type of an argument that is a number in a range; another one is not understood."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = nan  # lies in no range
        if not holds(value):
            raise ArgumentTypeError(f"{text!r} is out of range; expected a number {expected}")
        return value

    return parse


share = _within("above 0 and below 1", lambda value: 0 < value < 1)
part = _within("from 0 to 1", lambda value: 0 <= value <= 1)
number = _within("that is finite", isfinite)
rate = _within("from 0 to below 1", lambda value: 0 <= value < 1)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns in line: numbers to the right, text to the left."""
    cells = [[_cell(value) for value in row] for row in rows]
    if not cells:
        return "(none)"
    widths = [max(map(len, column)) for column in zip(head, *([text for text, _ in row] for row in cells))]
    lines = ["  ".join(name.ljust(width) for name, width in zip(head, widths)).rstrip()]
    for row in cells:
        padded = [text.rjust(w) if number else text.ljust(w) for (text, number), w in zip(row, widths)]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _cell(value: Any) -> tuple[str, bool]:
    if value is None:
        return "", False
    if isinstance(value, bool):
        return ("yes" if value else ""), False
    if isinstance(value, float):
        return f"{value:.4g}", True
    if isinstance(value, int):
        return f"{value:,}", True
    return str(value).replace("\n", " "), False


def queue_table(rows: Sequence[QueueRow]) -> str:
    """Rows of the queue; with a column for the provisional move where verdicts have changed the order."""
    head = ("rank", "node", "name", "score", "percentile", "moved", "verdict", "reason")
    moves = [f"{row.moved:+,}" if row.moved else "" for row in rows]
    cells = [
        (r.rank, r.node_id, name_beside(r), r.score, f"{r.percentile:.2f}", moved, r.verdict, _reason(r))
        for r, moved in zip(rows, moves)
    ]
    if not any(row.provisional_rank for row in rows):
        return table(head, cells)
    return table(("provisional", *head), [(_provisional(row), *cell) for row, cell in zip(rows, cells)])


def name_beside(row: QueueRow | Mover) -> str:
    """The name of a node, to stand beside its id; none where the id is the name."""
    return row.name if row.name != row.node_id else ""


def _reason(row: QueueRow) -> str:
    """Why a case is asked for; one drawn at random says so before why it scores as it does."""
    from gadcore.loop.strategies import STRATEGIES

    if row.strategy not in STRATEGIES or not STRATEGIES[row.strategy].is_random_check:
        return row.reason
    said = row.reason.removeprefix("random check").strip()
    return f"random check: {said}" if said else "random check"


def _provisional(row: QueueRow) -> str:
    """Provisional rank and the places that verdicts since the run have moved the node."""
    if row.provisional_rank is None:
        return ""
    places = row.rank - row.provisional_rank
    mark = f" {'▲' if places > 0 else '▼'}{abs(places):,}" if places else ""
    return f"{row.provisional_rank:,}{mark}"


def run_table(runs: Sequence[RunInfo]) -> str:
    head = ("run", "version", "status", "model", "labels", "AUC", "seconds", "device", "in use", "message")
    labels = [f"{run.normal} normal, {run.anomalous} anomalous" for run in runs]
    rows = [
        (r.number, r.version, r.status, r.model, counted, r.auc, r.seconds, r.device, r.in_use, r.message)
        for r, counted in zip(runs, labels)
    ]
    return table(head, rows)


class Bar:
    """Real epochs on one line of the terminal; silent when stderr is no terminal or JSON is asked for."""

    def __init__(self, given: Namespace) -> None:
        self._shown = sys.stderr.isatty() and not given.json
        self._drawn = False

    def __call__(self, progress: Progress) -> None:
        if not self._shown:
            return
        done = round(BAR * progress.epoch / max(1, progress.epochs))
        auc = "" if progress.auc is None else f"  AUC {progress.auc:.3f}"
        bar = "█" * done + "░" * (BAR - done)
        text = f"\r{bar} {progress.epoch}/{progress.epochs} {progress.stage}  loss {progress.loss:.4g}{auc}"
        print(f"{text:<90}", end="", file=sys.stderr, flush=True)
        self._drawn = True

    def end(self) -> None:
        if self._drawn:
            print(file=sys.stderr)
