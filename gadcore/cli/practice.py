"""practice."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

import gadcore
from gadcore.cli.show import out, table

if TYPE_CHECKING:
    from gadcore.cli.parser import Commands
    from gadcore.experiments.sessions import Step


def add_commands(commands: Commands) -> None:
    parser = commands.add_for_project(
        "practice",
        practise,
        "simulate analysts on a project with known answers: anomalies found per label",
        "practice -p demo --strategy greedy-diverse top random --labels 100",
    )
    parser.add_argument(
        "--strategy", nargs="+", default=["greedy-diverse", "random"], metavar="S", help="one session each"
    )
    parser.add_argument("--labels", type=int, default=100, help="verdicts per session (default: 100)")
    parser.add_argument("--wrong", type=float, default=0.0, help="share of wrong verdicts (default: 0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="an+", help="model that learns from the verdicts (default: an+)")


def practise(given: Namespace) -> None:
    """Simulate and show the discovery curve; labels and runs of the project are left alone."""
    from gadcore.practice import practise as run

    def report(strategy: str, step: Step) -> None:
        if sys.stderr.isatty() and not given.json:
            text = f"\r{strategy}: {step.labels} of {given.labels} labels, {step.found} found"
            print(f"{text:<70}", end="", file=sys.stderr, flush=True)

    document = run(
        gadcore.Workspace.open(given.project),
        given.strategy,
        labels=given.labels,
        wrong=given.wrong,
        seed=given.seed,
        model=given.model,
        on_progress=report,
    )
    if sys.stderr.isatty() and not given.json:
        print(file=sys.stderr)
    curves = document["curves"]
    longest = max((curve["labels"] for curve in curves.values()), key=len)
    found = [dict(zip(curve["labels"], curve["found"])) for curve in curves.values()]
    figures = [
        (name, curve["found"][-1], curve["auc"][-1], curve["ap"][-1], curve["labels"][-1])
        for name, curve in curves.items()
    ]
    out(
        given,
        document,
        f"Anomalies found, of {document['anomalies']} among {document['askable']:,} nodes:",
        table(("labels", *curves), [(point, *(line.get(point) for line in found)) for point in longest]),
        "",
        table(("strategy", "found", "held-out AUC", "held-out AP", "labels"), figures),
    )
