"""Measurements of methods on benchmark splits, one JSON line each, appended to a file as they come.

A row has ``graph, method, rate, seed, stratified, auc, ap, precision_at_k, k, cpu_seconds, params, settings,
versions, command``; auc and ap are shares. ``params`` are those that a study varies, ``settings`` all that
the method was run with and the revision of its code. What a file already holds is not measured again, so that
a study can be stopped and gone on with at any time; a row of other settings is measured again and replaced.

Settings are the defaults, but for the paper's methods on purely random splits of Photo and Computers: there
they may train for 1000 epochs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from gadcore.detectors.base import Detector
from gadcore.errors import GadError
from gadcore.graph import FloatArray, Graph, Truth
from gadcore.ingest import Reading, read
from gadcore.metrics import auc, average_precision, precision_at
from gadcore.settings import DEMO_FOLDER
from gadcore.studies.published import EPOCHS, LONGER, METHODS
from gadcore.studies.splits import random_split

K = 50  # of precision at k
PACKAGES = ("torch", "scikit-learn", "numpy", "scipy", "xgboost-cpu")
DEMO = "demo"  # the graph that comes with the app
NOT_SETTINGS = ("seed", "device", "threads")  # where and from what seed, not how


class Measurable(Protocol):
    """Anything that a study measures once."""

    def key(self) -> str: ...


class Fit(Measurable, Protocol):
    """What is measured by fitting one method to one graph."""

    @property
    def graph(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def params(self) -> tuple[tuple[str, Any], ...]: ...
    @property
    def stratified(self) -> bool: ...


C = TypeVar("C", bound=Measurable)
F = TypeVar("F", bound=Fit)
Row = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One fit to measure."""

    graph: str
    method: str
    rate: float
    seed: int
    stratified: bool = False
    params: tuple[tuple[str, Any], ...] = field(default=())

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True, default=list)


def measure(cell: Cell) -> dict[str, Any]:
    """Fit on the split's training labels, select on its validation labels, score its test nodes."""
    graph, truth = known_graph(cell.graph)
    split = random_split(graph, truth, cell.rate, seed=cell.seed, stratified=cell.stratified)
    detector = detector_of(cell, cell.seed)
    start = time.process_time()
    detector.fit(graph, split.train, validation=split.validation)
    seconds = time.process_time() - start
    return {
        **asdict(cell),
        "params": dict(cell.params),
        **ranked(truth.y[split.test] == 1, detector.scores_[split.test]),
        "cpu_seconds": round(seconds, 3),
        "settings": settings_of(cell),
        "versions": versions(),
    }


def detector_of(fit: Fit, seed: int = 0) -> Detector:
    """The method as it is measured: on the paper's splits its own eleven train longer on some graphs."""
    from gadcore.detectors import make_detector

    params = dict(fit.params)
    detector = make_detector(fit.method, seed=seed, **params)
    usual = detector.get_params().get("epochs") == EPOCHS
    if not (usual and fit.method in METHODS and fit.graph in LONGER) or fit.stratified:
        return detector
    return make_detector(fit.method, seed=seed, **{"epochs": LONGER[fit.graph], **params})


def settings_of(fit: Fit) -> dict[str, Any]:
    """What a method is run with, as JSON gives it back: its keywords with defaults, and its revision."""
    detector = detector_of(fit)
    kept = {key: value for key, value in detector.get_params().items() if key not in NOT_SETTINGS}
    found: dict[str, Any] = json.loads(json.dumps({**kept, "revision": detector.revision}))
    return found


def ranked(y: npt.NDArray[np.bool_], scores: FloatArray) -> dict[str, Any]:
    """The figures of a ranking that every row has."""
    return {
        "auc": auc(y, scores),
        "ap": average_precision(y, scores),
        "precision_at_k": precision_at(y, scores, K),
        "k": K,
    }


def load_rows(path: Path) -> list[dict[str, Any]]:
    """Rows of a file; a half-written last line is left out."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    return rows


def key_of(row: dict[str, Any]) -> str:
    """The key of the cell that a row measured."""
    params = tuple(sorted(row.get("params", {}).items()))
    return Cell(
        row["graph"], row["method"], row["rate"], row["seed"], row.get("stratified", False), params
    ).key()


def missing(cells: Iterable[F], path: Path, key_of: Callable[[Row], str] = key_of) -> list[F]:
    """Cells that the file does not hold, or holds with other settings than the present ones."""
    held = {key_of(row): row for row in load_rows(path)}
    return [cell for cell in cells if not _holds(held.get(cell.key()), cell)]


def _holds(row: Row | None, cell: Fit) -> bool:
    """Whether a row measured this cell; rows from before settings were kept had the defaults."""
    if row is None:
        return False
    now = settings_of(cell)
    if "settings" in row:
        return bool(row["settings"] == now)
    return now.get("epochs") not in LONGER.values()


def not_held(cells: Iterable[C], path: Path, key_of: Callable[[Row], str]) -> list[C]:
    """Cells of any study that its file does not hold."""
    done = {key_of(row) for row in load_rows(path)}
    return [cell for cell in cells if cell.key() not in done]


def run(cells: list[Cell], path: Path, command: str, jobs: int = 1) -> Iterator[tuple[Cell, Row]]:
    """Measure what is missing, append each row when it is there, and yield it."""
    return renew(cells, measure, key_of, path, command, jobs)


def renew(
    cells: list[F],
    measure: Callable[[F], Row],
    key_of: Callable[[Row], str],
    path: Path,
    command: str,
    jobs: int = 1,
) -> Iterator[tuple[F, Row]]:
    """``run`` for the cells of any study of fits."""
    todo = missing(cells, path, key_of)
    forget(path, {cell.key() for cell in todo}, key_of)
    return carry_out(todo, measure, path, command, jobs)


def forget(path: Path, keys: set[str], key_of: Callable[[Row], str]) -> None:
    """Take the rows of these cells out of a file."""
    rows = load_rows(path)
    kept = [row for row in rows if key_of(row) not in keys]
    if len(kept) < len(rows):
        path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")


def carry_out(
    cells: list[C], measure: Callable[[C], Row], path: Path, command: str, jobs: int = 1
) -> Iterator[tuple[C, Row]]:
    """Measure these cells of any study; ``measure`` is a function of a module, for processes to import."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for cell, row in _measured(cells, measure, jobs):
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**row, "command": command}) + "\n")
        yield cell, row


def _measured(cells: list[C], measure: Callable[[C], Row], jobs: int) -> Iterator[tuple[C, Row]]:
    if jobs == 1:
        _one_thread()
        yield from ((cell, measure(cell)) for cell in cells)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        waiting = {pool.submit(measure, cell): cell for cell in cells}
        for future in as_completed(waiting):
            yield waiting[future], future.result()


def versions() -> dict[str, str]:
    """Of the packages that figures depend on."""
    return {name: version(name) for name in PACKAGES}


def _one_thread() -> None:
    """Several pools of spinning threads on few cores cost more than they give."""
    import torch

    torch.set_num_threads(1)


@lru_cache(maxsize=2)
def reading_of(name: str) -> Reading:
    """A benchmark graph by name, or the demo."""
    return read(DEMO_FOLDER if name == DEMO else name)


def known_graph(name: str) -> tuple[Graph, Truth]:
    """A graph by name with the truth to measure against."""
    reading = reading_of(name)
    if reading.truth is None:
        raise GadError(f"{name!r} has no truth to measure against.")
    return reading.graph, reading.truth
