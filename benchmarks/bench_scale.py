"""What a large graph costs: import, open, rank, train, re-rank, explain, look around, draw.

    ringfence bench scale [--nodes 100000 1000000] [--links N] [--attributes 64] [--parquet]
                          [--folder FOLDER] [--only STEP …] [--json]

The graph is made (power_law_graph.py) and written to files. Every step is a process of its own, so that its
CPU time and its peak of resident memory are its own; wall time stands beside them. The peak counts pages of
mapped files too; "own MB" is what a step holds at its end beside them. Two sizes or more show how
each step grows: 1.0 is linear. With ``--folder`` files and workspace stay there; ``--only`` repeats steps in
it. Targets are those of a million nodes, ten million links, 64 attributes and 1,000 labels on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.csv

from benchmarks.power_law_graph import PowerLawGraph
from benchmarks.scale_steps import LABELS, MORE, STEPS
from gadcore.settings import import_environment

# Of a million nodes: column -> most. CPU and wall in seconds, memory in MB.
TARGETS: dict[str, dict[str, float]] = {
    "import": {"cpu": 60, "peak": 2000},
    "open": {"wall": 1, "peak": 300},
    "first ranking": {"cpu": 60, "peak": 3000},
    "cold run": {"cpu": 120, "peak": 3000},
    "warm run": {"wall": 20, "peak": 3000},
    "re-rank": {"p95": 0.5, "peak": 500},
    "why": {"peak": 500},
    "ego-net": {"p95": 0.05, "peak": 500},
    "map": {"peak": 3000},
}
GROWTH = 1.2  # times linear
LESS = 50.0  # times less CPU for an epoch than the same model as full batch
AT = 1_000_000


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="bench scale", description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--links", type=int, help="transfers (default: ten for each account)")
    parser.add_argument("--attributes", type=int, default=64)
    parser.add_argument("--parquet", action="store_true", help="read Parquet instead of CSV")
    parser.add_argument("--folder", type=Path, help="keep files and workspace here")
    parser.add_argument("--only", nargs="+", choices=list(STEPS), help="steps to repeat in --folder")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(argv)
    with _folder(given.folder) as folder:
        found = {nodes: _measure(folder / f"{nodes}", nodes, given) for nodes in given.nodes}
    misses = [miss for nodes, rows in found.items() for miss in _misses(nodes, rows)]
    if given.json:
        print(json.dumps({"sizes": found, "missed": misses}, indent=2))
    elif len(found) > 1:
        _show_growth(found)
    for miss in misses:
        print(f"MISSED: {miss}", file=sys.stderr)
    return 1 if misses else 0


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given.absolute()
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _measure(folder: Path, nodes: int, given: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Figures of each step at one size."""
    graph = PowerLawGraph(nodes, given.links or 10 * nodes, given.attributes)
    files = folder / "files"
    if not files.is_dir():
        graph.write(files, parquet=given.parquet)
        pyarrow.csv.write_csv(graph.labels(LABELS), files / "labels.csv")
        pyarrow.csv.write_csv(graph.labels(MORE, after=LABELS), files / "more_labels.csv")
    rows: dict[str, dict[str, Any]] = {}
    if not given.json:
        print(f"{nodes:,} nodes, {graph.links:,} links, {graph.attributes} attributes")
        print(f"{'':14} {'CPU s':>8} {'wall s':>8} {'peak MB':>8}")
    for name in given.only or STEPS:
        rows[name] = _run(name, folder)
        if not given.json:
            _show(name, rows[name])
    return rows


def _run(name: str, folder: Path) -> dict[str, Any]:
    """One step in a process of its own: what it says, and what it took."""
    command = [sys.executable, "-m", "benchmarks.scale_steps", name, str(folder / "files")]
    environment = {**import_environment(), "GAD_HOME": str(folder / "home")}
    start = time.perf_counter()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        told = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"the step {name!r} ended with {process.returncode}")
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.perf_counter() - start,
        **json.loads(told.splitlines()[-1]),
    }


def _show(name: str, row: dict[str, Any]) -> None:
    own = {key: value for key, value in row.items() if key not in ("cpu", "wall", "peak", "inside")}
    words = (
        f"{key} {value:,.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in own.items()
    )
    print(
        f"{name:14} {row['cpu']:8.1f} {row['wall']:8.1f} {row['peak']:8,.0f}   {', '.join(words)}", flush=True
    )


def _misses(nodes: int, rows: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Targets that are not met; only at the size they are meant for."""
    for name, targets in TARGETS.items() if nodes == AT else ():
        for column, most in targets.items():
            if name in rows and rows[name][column] > most:
                yield f"{name}: {column} {rows[name][column]:,.3g}, target {most:g}"
    if nodes == AT and (beside := rows.get("beside PyG")) and beside["ratio"] < LESS:
        yield f"beside PyG: {beside['ratio']:.0f} times less CPU for an epoch, target {LESS:g}"


def _show_growth(found: dict[int, dict[str, dict[str, Any]]]) -> None:
    sizes = sorted(found)
    small, large = found[sizes[0]], found[sizes[-1]]
    times = sizes[-1] / sizes[0]
    print(f"growth of CPU time from {sizes[0]:,} to {sizes[-1]:,} nodes, 1 = linear, target {GROWTH:g}")
    for name in large:
        print(f"{name:14} {large[name]['cpu'] / small[name]['cpu'] / times:8.2f}")


if __name__ == "__main__":
    sys.exit(main())
