"""The command line: everything the app can do, scripted.

Exit codes: 0 done · 1 it could not be done, the reason is on stderr · 2 the command was not understood.
"""

from __future__ import annotations

import os
import sys
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence

from gadcore import __version__
from gadcore.cli import (
    cases,
    cluster,
    doctor,
    insight,
    keeping,
    labels,
    links,
    practice,
    programs,
    projects,
    runs,
    studies,
    team,
    users,
    versions,
)
from gadcore.cli.parser import CommandParser, Commands
from gadcore.errors import GadError, UsageError

__all__ = ["main", "make_parser"]

EXAMPLES = """examples:
  ringfence run
  ringfence import demo --project demo
  ringfence update demo --edges tomorrow.csv
  ringfence label --project demo A10434 anomalous --note "shares a device with A10838"
  ringfence labels import labels.csv --project demo
  ringfence train --project demo
  ringfence queue --project demo -n 20
  ringfence explain --project demo A10434
  ringfence links --project demo A10434 --since 2025-03 --direction in
  ringfence paths --project demo A10434 A10838
  ringfence export --project demo --out flagged.csv --top 100

Every command takes --json. GAD_HOME names the workspace folder (default: data/workspace in a checkout,
otherwise a folder of this user).
exit codes: 0 done, 1 not possible (the reason is on stderr), 2 command not understood
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = make_parser().parse_args(arguments)
    try:
        return int(given.command(given) or 0)
    except GadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, for instance head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def make_parser() -> CommandParser:
    """The parser of all commands; ``command`` of what it parses is the function to call."""
    parser = CommandParser(
        prog="ringfence",
        description="Ringfence: teach a graph anomaly detector by labelling nodes.",
        epilog=EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Ringfence {__version__}")
    commands = Commands(parser)
    modules = (
        projects,
        versions,
        labels,
        team,
        runs,
        cases,
        links,
        insight,
        practice,
        keeping,
        studies,
        users,
        programs,
        cluster,
        doctor,
    )
    for module in modules:
        module.add_commands(commands)
    return parser
