"""assign, team."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from typing import TYPE_CHECKING

from gadcore.cli.parser import Commands
from gadcore.cli.show import count, out, table
from gadcore.errors import UsageError

if TYPE_CHECKING:
    from gadcore.workspace import Workspace


def add_commands(commands: Commands) -> None:
    add = commands.add_for_project
    assign = add(
        "assign",
        assign_cases,
        "give cases to an analyst, or take them back",
        "assign -p demo A10434 A10838 --to eva\n  ringfence assign -p demo --first 20 --to eva"
        "\n  ringfence assign -p demo --back --of eva",
    )
    assign.add_argument("nodes", nargs="*", metavar="NODE", help="node ids without a verdict")
    assign.add_argument("--first", type=count, metavar="N", help="the next N cases of the queue")
    assign.add_argument("--to", metavar="ANALYST", help="who is asked about them, and nobody else")
    assign.add_argument(
        "--back", action="store_true", help="take back the nodes, or with none named all open"
    )
    assign.add_argument("--of", metavar="ANALYST", help="take back only what this analyst has")
    assign.add_argument("--analyst", help="who you are (default: GAD_ANALYST or the login name)")

    team = add(
        "team",
        show_team,
        "assigned cases, second opinions and the reasons to choose from",
        "team -p demo --overlap 10\n  ringfence team -p demo --reasons 'mule account' 'account takeover'",
    )
    team.add_argument(
        "--overlap",
        type=_per_cent,
        metavar="PERCENT",
        help="so many of the decided cases are asked of a second analyst, blind",
    )
    team.add_argument("--reasons", nargs="+", metavar="TEXT", help="the reasons that verdicts can have")


def _per_cent(text: str) -> float:
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ArgumentTypeError(f"{text!r} is no percentage; expected a number from 0 to 100")
    return share


def assign_cases(given: Namespace, project: Workspace) -> None:
    """Assign nodes or the first of the queue, or take them back."""
    if given.back == bool(given.to) or (given.first and given.nodes):
        raise UsageError("Name nodes or --first N, with --to ANALYST; or give --back.")
    if given.back:
        back = project.cases.take_back(given.nodes or None, of=given.of, analyst=given.analyst)
        out(given, {"taken_back": back}, f"{len(back):,} case(s) taken back.")
        return
    if not (given.nodes or given.first):
        raise UsageError("No case is named. Expected: node ids, or --first N.")
    done = project.cases.assign(given.nodes or given.first, given.to, analyst=given.analyst)
    left = len(given.nodes) - len(done) if given.nodes else 0
    rest = f" {left:,} had a verdict already." if left > 0 else ""
    out(given, {"assigned": done, "to": given.to}, f"{len(done):,} case(s) assigned to {given.to}.{rest}")


def show_team(given: Namespace, project: Workspace) -> None:
    """What each analyst has been given, and the settings of the team."""
    if given.overlap is not None:
        project.set_preference("overlap", given.overlap)
    if given.reasons:
        project.set_preference("reasons", given.reasons)
    found, reasons = project.cases.assigned(), project.verdicts.reasons()
    share = float(project.preference("overlap", 0) or 0)
    waiting = {name: len(project.cases.second_opinions(analyst=name)) for name in project.cases.team()}
    rows = [(each.analyst, len(each.open), each.done) for each in found]
    asked = ", ".join(f"{name} {times:,}" for name, times in waiting.items() if times) or "none"
    document = {"assigned": found, "overlap": share, "second_opinions": waiting, "reasons": reasons}
    out(
        given,
        document,
        table(("analyst", "open", "decided"), rows) if rows else "No case is assigned.",
        f"Second opinions: {100 * share:g} % of decided cases. Cases that each may be asked about: {asked}.",
        f"Reasons: {'; '.join(reasons)}",
    )
