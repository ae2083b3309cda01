"""bench, experiments."""

from __future__ import annotations

import subprocess
import sys
from argparse import REMAINDER, Namespace

from gadcore.cli.parser import Commands
from gadcore.cli.show import out
from gadcore.errors import InputError
from gadcore.settings import CHECKOUT, ROOT, import_environment

FOLDER = ROOT / "benchmarks"
JSON = "--json"


def add_commands(commands: Commands) -> None:
    bench = commands.add("bench", run_benchmark, "measure speed and accuracy beside peers", "bench training")
    bench.add_argument("name", nargs="?", help="which one, or all; without a name they are listed")
    bench.add_argument("options", nargs=REMAINDER, help="passed on to the benchmark")
    study = commands.add(
        "experiments",
        run_experiment,
        "reproduce the paper's tables and figures, and the labelling sessions",
        "experiments paper --quick",
    )
    study.add_argument(
        "name", nargs="?", help="which one, or all of the paper; without a name they are listed"
    )
    study.add_argument("options", nargs=REMAINDER, help="passed on to the experiment")


def run_experiment(given: Namespace) -> int:
    """Run one experiment in this process, or all that are about the paper."""
    from gadcore.studies import ALL, PAPER, STUDIES, find_study

    if given.name is None:
        out(given, [*STUDIES, ALL], *STUDIES, ALL)
        return 0
    given.json |= JSON in given.options
    options = [option for option in given.options if option != JSON]
    studies = [find_study(name) for name in (PAPER if given.name == ALL else (given.name,))]
    for study in studies:
        done = study.carry_out(options)
        lines = [f"{count} measured: {path}" for path, count in done["measured"].items()]
        out(given, done, *lines, *(f"drawn: {path}" for path in done["pages"]))
    return 0


def benchmark_names() -> list[str]:
    """Names of the scripts bench_NAME.py."""
    return sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def run_benchmark(given: Namespace) -> int:
    """Run benchmarks one after another, each in a process of its own, so that none warms another's caches."""
    if not CHECKOUT:
        print("error: bench needs a checkout of the repository; this is an installed copy", file=sys.stderr)
        return 2
    names = benchmark_names()
    if given.name is None:
        out(given, names, *names)
        return 0
    if given.name != "all" and given.name not in names:
        raise InputError(f"there is no benchmark {given.name!r}", f"all, or one of {', '.join(names)}")
    codes = [_run(name, given) for name in (names if given.name == "all" else [given.name])]
    return max(codes)


def _run(name: str, given: Namespace) -> int:
    if given.name == "all" and not given.json:
        print(f"── {name}", flush=True)
    options = [*given.options, *([JSON] if given.json else [])]
    command = [sys.executable, "-m", f"benchmarks.bench_{name}", *options]
    ended = subprocess.run(command, env=import_environment(), check=False)
    return min(1, abs(ended.returncode))
