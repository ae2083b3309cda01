"""practice: simulated analysts, or a person on a practice copy."""

from __future__ import annotations

import sys
from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import gadcore
from gadcore.cli.parser import Commands
from gadcore.cli.show import count, out, rate, seed, table

if TYPE_CHECKING:
    from gadcore.practice.person import Score
    from gadcore.studies.sessions import Step
    from gadcore.workspace import Workspace

DEFAULTS = ("greedy-diverse", "random")
STRATEGIES = (  # of SESSION_STRATEGIES
    *("greedy-diverse", "top", "uncertainty", "bisection", "medoids", "audit"),
    *("ring", "unchecked", "plain", "random", "entropy"),
)


def add_commands(commands: Commands) -> None:
    parser = commands.add_for_project(
        "practice",
        practise,
        "practise on a project with known answers: anomalies found per label",
        "practice -p demo --strategy greedy-diverse top random --labels 100\n"
        "  ringfence practice -p demo --yourself\n"
        "  ringfence practice -p demo --score",
    )
    person = parser.add_mutually_exclusive_group()
    person.add_argument("--yourself", action="store_true", help="make a copy without labels to label by hand")
    person.add_argument("--score", action="store_true", help="score the copies that people have labelled")
    person.add_argument(
        "--strategy",
        nargs="+",
        default=list(DEFAULTS),
        metavar="S",
        help=f"one simulated session each (default: {' '.join(DEFAULTS)}); some of: {', '.join(STRATEGIES)}",
    )
    parser.add_argument("--labels", type=count, default=100, help="verdicts per session (default: 100)")
    parser.add_argument(
        "--wrong", type=rate, default=0.0, metavar="W", help="share of wrong verdicts (default: 0)"
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the simulated analysts (default: 0)")
    parser.add_argument("--model", default="an+", help="model that learns from the verdicts (default: an+)")


def practise(given: Namespace, workspace: Workspace) -> None:
    """Simulate, or begin or score a person's practice; labels and runs of the project are left alone."""
    act = _begin if given.yourself else _score if given.score else _simulate
    act(given, workspace)


def _simulate(given: Namespace, workspace: Workspace) -> None:
    from gadcore.practice.simulated import practise as run

    def report(strategy: str, step: Step) -> None:
        if sys.stderr.isatty() and not given.json:
            text = f"\r{strategy}: {step.labels} of {given.labels} labels, {step.found} found"
            print(f"{text:<70}", end="", file=sys.stderr, flush=True)

    options = {key: getattr(given, key) for key in ("labels", "wrong", "seed", "model")}
    document = run(workspace, given.strategy, on_progress=report, **options)
    if sys.stderr.isatty() and not given.json:
        print(file=sys.stderr)
    curves = document["curves"]
    longest = max((curve["labels"] for curve in curves.values()), key=len)
    found = [_found(curve) for curve in curves.values()]
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


def _found(curve: dict[str, Any]) -> dict[int, int]:
    """Anomalies found by the number of labels."""
    return dict(zip(curve["labels"], curve["found"]))


def _begin(given: Namespace, workspace: Workspace) -> None:
    from gadcore.practice.person import LEAST, begin

    copy = begin(workspace)
    verdicts = sum(copy.verdicts.counts()[word] for word in ("normal", "anomalous", "unsure"))
    begun = f"with {verdicts:,} verdict{'s' * (verdicts != 1)}" if verdicts else "without labels"
    out(
        given,
        {"project": copy.data.info()},
        f"Your practice is the project {copy.name!r}, {begun}. Label it in the app, or with:",
        f"  ringfence train -p {copy.id}",
        f"  ringfence queue -p {copy.id}",
        f"  ringfence label -p {copy.id} NODE VERDICT",
        f"After {LEAST} verdicts or more see how you did:",
        f"  ringfence practice -p {copy.id} --score",
    )


def _score(given: Namespace, workspace: Workspace) -> None:
    """Everyone's practice on a project, and what simulated analysts found with as many labels."""
    from gadcore.practice.person import LEAST, base_of, copies, score

    base = base_of(workspace)
    base.data.truth()  # without known answers there is nothing to score, nor to begin with
    found = [score(gadcore.Workspace.open(info.id)) for info in copies(base)]
    scores = [one for one in found if one.enough]
    lines = [_scores_table(scores), "", *_curves(base, scores)] if scores else []
    lines += [
        f"{one.project!r} has {one.verdicts} verdict(s); its score is shown from {LEAST} on."
        for one in found
        if not one.enough
    ]
    if not found:
        lines = [f"Nobody has practised on {base.name!r}. Begin with: practice -p {base.id} --yourself."]
    out(
        given,
        {"scores": [_document(one) for one in scores], "waiting": [s.project for s in found if not s.enough]},
        *lines,
    )


def _document(one: Score) -> dict[str, Any]:
    rates = {"hit_rate": one.hit_rate, "times_chance": one.times_chance, "wrong_share": one.wrong_share}
    return {**asdict(one), **rates}


def _scores_table(scores: list[Score]) -> str:
    head = ("analyst", "verdicts", "found", "hit rate", "× chance", "wrong", "missed", "false alarms")
    last = ("hit_rate", "times_chance", "wrong_share", "missed", "false_alarms")
    rows = [(s.analyst, s.verdicts, s.found[-1], *(getattr(s, name) for name in last)) for s in scores]
    return table(head, rows)


def _curves(base: Workspace, scores: list[Score]) -> list[str]:
    """Found after every tenth verdict, beside the last simulated practice."""
    from gadcore.practice.simulated import state

    document = state(base) or {"curves": {}}
    simulated = {name: _found(curve) for name, curve in document["curves"].items()}
    longest = max(one.verdicts for one in scores)
    points = sorted({*range(10, longest + 1, 10), longest})
    head = ("verdicts", *(one.analyst for one in scores), *simulated, "by chance")
    rows = [
        (
            point,
            *(one.found[point - 1] if point <= one.verdicts else None for one in scores),
            *(line.get(point) for line in simulated.values()),
            point * scores[0].chance,
        )
        for point in points
    ]
    return ["Anomalies found:", table(head, rows)]
