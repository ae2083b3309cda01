"""train, runs."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import TYPE_CHECKING, Any

from gadcore.cli.parser import Commands
from gadcore.cli.show import Bar, out, run_table, seed
from gadcore.errors import RunError, UsageError

if TYPE_CHECKING:
    from gadcore.records import RunInfo
    from gadcore.workspace import Workspace


def add_commands(commands: Commands) -> None:
    add = commands.add_for_project
    train_ = add("train", train, "train on the labels, rank all nodes", "train -p demo --set k=16 --seed 1")
    train_.add_argument("--model", default="an+", help="an+ (default), an, n, sgc-lr, xgb-graph, …")
    train_.add_argument("--device", default="auto", help="auto, cpu, cuda or mps (default: auto)")
    train_.add_argument("--seed", type=seed, default=0)
    train_.add_argument("--cold", action="store_true", help="do not start from the run in use")
    train_.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="parameter of the model; repeat it"
    )

    runs = add("runs", list_runs, "list, use, cancel or delete runs", "runs -p demo --use 3")
    action = runs.add_mutually_exclusive_group()
    action.add_argument("--use", metavar="RUN", help="show the scores of this run (roll back)")
    action.add_argument("--cancel", metavar="RUN", help="stop this run")
    action.add_argument("--delete", metavar="RUN", help="delete this run")


def train(given: Namespace, project: Workspace) -> None:
    """Train in this process, with a bar of real epochs."""
    bar = Bar(given)
    run = project.runs.train(
        given.model,
        params=parameters(given.set),
        device=given.device,
        seed=given.seed,
        warm=not given.cold,
        on_progress=bar,
    )
    bar.end()
    if run.status != "done":
        raise RunError(f"Run {run.number} {run.status}. {run.message}")
    auc = "" if run.auc is None else f", out-of-fold AUC {run.auc:.3f}"
    basis = f"{run.normal} normal and {run.anomalous} anomalous labels" if run.normal else run.basis
    out(
        given,
        run,
        f"Run {run.number}: {run.model} on {basis}{auc}, {run.seconds:.1f} s on {run.device}.",
        *_trouble(run, project.name),
        f"Next: ringfence queue --project {project.name!r}",
    )


def _trouble(run: RunInfo, project: str) -> list[str]:
    """What is wrong with a run that is done, and how it is used all the same."""
    if not run.message:
        return []
    use = f" Use it all the same: ringfence runs --project {project!r} --use {run.number}"
    return [f"Warning: {run.message}{'' if run.in_use else use}"]


def parameters(pairs: list[str]) -> dict[str, Any]:
    """KEY=VALUE pairs; a value is JSON where it reads as such (8, 0.1, true, null), otherwise text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set {pair!r}. Expected: --set KEY=VALUE, for instance --set epochs=200.")
        try:
            found[key.strip()] = json.loads(value)
        except ValueError:
            found[key.strip()] = value
    return found


def list_runs(given: Namespace, project: Workspace) -> None:
    """List runs, after doing what was asked with one of them."""
    for action in ("use", "cancel", "delete"):
        if run := getattr(given, action):
            getattr(project.runs, action)(run)
    found = project.runs.all()
    out(given, found, run_table(found))
