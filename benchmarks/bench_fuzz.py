"""Damaged and odd files of every format: only a GadError may come out, in bounded time and memory.

    ringfence bench fuzz [--mutations 100000] [--seed 100] [--only FORMAT] [--json]

Files are read one after another in a child process. If one of them ends the child, that is written down and
another child goes on behind it. The same seed makes the same files; ``--keep FOLDER`` keeps what failed.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.sample_files import Sample, samples
from gadcore.errors import GadError
from gadcore.ingest import peek, read
from gadcore.settings import import_environment

SECONDS = 5.0  # of the processor, for a file of some kilobytes
GROWTH_MB = 250  # by which one file may raise the peak of the process
_PEEK_EVERY, _SAVE_EVERY = 4, 8
_QUICK = "/dev/shm"  # files in memory, where there is such a folder
_ENDED = 4 * SECONDS  # after which the system ends a child that does not come back


@dataclass
class Outcome:
    """What became of one file: "read", "refused", or what else happened and where."""

    word: str
    where: str = ""
    seconds: float = 0.0


@dataclass
class Tally:
    """Counts by format, and the first file of every sort of failure."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    slowest: float = 0.0

    def add(self, name: str, number: int, outcome: Outcome) -> None:
        self.counts.setdefault(name, Counter())[outcome.word] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        if outcome.word == "failed":
            first = self.failures.setdefault(
                outcome.where, {"format": name, "number": number, "times": 0, "seconds": outcome.seconds}
            )
            first["times"] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    given = _given(arguments)
    chosen = [s for s in samples() if given.only in (None, s.name)]
    if given.start is not None:
        _child(chosen, given)
        return 0
    tally = _all(chosen, given)
    if given.json:
        print(json.dumps({"counts": tally.counts, "failures": tally.failures, "slowest": tally.slowest}))
    else:
        _show(tally)
    return 1 if tally.failures else 0


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="ringfence bench fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mutations", type=int, default=100_000, help="files in all")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--only", help="one of " + ", ".join(s.name for s in samples()))
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--start", type=int, help=argparse.SUPPRESS)  # a child that begins with this file
    return parser.parse_args(arguments)


def _all(chosen: Sequence[Sample], given: argparse.Namespace) -> Tally:
    """Every file, by as many children as are needed."""
    tally, at = Tally(), 0
    with suppress(KeyboardInterrupt):  # then what was counted until now is shown
        while at < given.mutations:
            at = _by_one_child(chosen, given, at, tally)
    return tally


def _by_one_child(chosen: Sequence[Sample], given: argparse.Namespace, start: int, tally: Tally) -> int:
    """Let a child go on from a file; the number of the file to go on with after it has ended."""
    options = [f"--mutations={given.mutations}", f"--seed={given.seed}", f"--start={start}"]
    options += [f"--only={given.only}"] * bool(given.only) + [f"--keep={given.keep}"] * bool(given.keep)
    command = [sys.executable, "-m", "benchmarks.bench_fuzz", *options]
    at = start - 1
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=import_environment(), text=True) as child:
        for line in child.stdout or ():
            at, word, where, seconds = json.loads(line)
            tally.add(chosen[at % len(chosen)].name, at, Outcome(word, where, seconds))
    if child.returncode:
        at += 1
        sign = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
        tally.add(chosen[at % len(chosen)].name, at, Outcome("failed", f"the process ended: {sign}"))
    return at + 1


def _child(chosen: Sequence[Sample], given: argparse.Namespace) -> None:
    """Read the files from ``start`` on and print a line for each."""
    with tempfile.TemporaryDirectory(dir=_QUICK if Path(_QUICK).is_dir() else None) as folder:
        _warm_up(chosen, Path(folder))
        for at, sample, data in mutations(chosen, given.seed, given.start, given.mutations):
            signal.setitimer(signal.ITIMER_PROF, _ENDED)
            outcome = attempt(Path(folder) / sample.file, data, at)
            if given.keep and outcome.word == "failed":
                (given.keep / f"{at}-{sample.file}").write_bytes(data)
            print(json.dumps([at, outcome.word, outcome.where, outcome.seconds]), flush=True)


def _warm_up(chosen: Sequence[Sample], folder: Path) -> None:
    """Read the files as they are: what is loaded and compiled for the first of them is not its fault."""
    for sample in chosen:
        path = folder / sample.file
        path.write_bytes(sample.build(None))
        read(path)


def mutations(
    chosen: Sequence[Sample], seed: int, start: int, stop: int
) -> Iterator[tuple[int, Sample, bytes]]:
    """(number, kind, bytes) of the files from ``start`` to ``stop``, the kinds in turn."""
    for at in range(start, stop):
        sample = chosen[at % len(chosen)]
        yield at, sample, sample.mutated(Random(f"{seed}/{sample.name}/{at}"))


def attempt(path: Path, data: bytes, at: int) -> Outcome:
    """Write, look at and read one file; some that can be read are stored too."""
    path.write_bytes(data)
    peak, begin = _peak(), time.process_time()
    try:
        if at % _PEEK_EVERY == 0:
            peek(path)
        found = read(path)
        found.report.text()
        assert np.isfinite(sp.csr_array(found.graph.x).data).all(), "attributes that are not finite"
        if at % _SAVE_EVERY == 0:
            found.graph.save(path.parent / "graph")
        outcome = Outcome("read")
    except GadError:
        outcome = Outcome("refused")
    except Exception as error:  # noqa: BLE001 (this is what is looked for)
        outcome = Outcome("failed", f"{type(error).__name__} at {_place(error)}")
    outcome.seconds = time.process_time() - begin
    if outcome.word != "failed" and outcome.seconds > SECONDS:
        return Outcome("failed", f"more than {SECONDS:g} s: {path.suffix}", outcome.seconds)
    if outcome.word != "failed" and _peak() - peak > GROWTH_MB:
        return Outcome("failed", f"more than {GROWTH_MB} MB: {path.suffix}", outcome.seconds)
    return outcome


def _place(error: Exception) -> str:
    """The last line of this package that the error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "gadcore" in f.filename] or list(frames)
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}"


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _show(tally: Tally) -> None:
    print(f"{'format':<18}{'files':>9}{'read':>9}{'refused':>9}{'failed':>9}")
    total: Counter[str] = Counter()
    for name, counts in tally.counts.items():
        total += counts
        print(_line(name, counts))
    print(_line("all", total))
    print(f"slowest file: {tally.slowest:.2f} CPU-s")
    for where, first in sorted(tally.failures.items()):
        print(f"{first['times']:>6} × {where}; first: {first['format']} number {first['number']}")
    print("only GadErrors came out: " + ("no" if tally.failures else "yes"))


def _line(name: str, counts: Counter[str]) -> str:
    figures = (counts.total(), counts["read"], counts["refused"], counts["failed"])
    return f"{name:<18}" + "".join(f"{figure:>9,}" for figure in figures)


if __name__ == "__main__":
    raise SystemExit(main())
