"""doctor."""

from __future__ import annotations

from argparse import Namespace

from gadcore.cli.parser import Commands
from gadcore.cli.show import out
from gadcore.settings import Settings


def add_commands(commands: Commands) -> None:
    commands.add("doctor", examine, "say what works here and what does not", "doctor --json")


def examine(given: Namespace) -> int:
    """A line for everything that Ringfence needs; exit code 1 when something does not work."""
    from gadcore.checkup import check_up
    from gadcore.checkup.finding import PROBLEM

    found = list(check_up(Settings.from_env()))
    lines = [f"{each.state:<8} {each.what:<10} {each.seen}" for each in found]
    fixes = [f"{'':<19} → {each.to_do}" if each.to_do else "" for each in found]
    out(given, found, *(text for pair in zip(lines, fixes) for text in pair if text))
    return 1 if any(each.state == PROBLEM for each in found) else 0
