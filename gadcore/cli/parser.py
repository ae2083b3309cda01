"""The commands and their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from gadcore import __version__
from gadcore.cli import app, cases, insight, labels, practice, projects, runs, studies

Command = Callable[[argparse.Namespace], int | None]

EXAMPLES = """examples:
  ringfence run
  ringfence import demo --project demo
  ringfence label --project demo A10434 anomalous --note "shares a device with A10838"
  ringfence labels import labels.csv --project demo
  ringfence train --project demo
  ringfence queue --project demo -n 20
  ringfence explain --project demo A10434
  ringfence export --project demo --out flagged.csv --top 100

Every command takes --json. GAD_HOME names the workspace folder (default: data/workspace in a checkout,
otherwise a folder of this user).
exit codes: 0 done, 1 not possible (the reason is on stderr), 2 command not understood
"""


class Commands:
    """Adds commands that share --json and the way their examples are shown."""

    def __init__(self, subparsers: Any) -> None:
        self._subparsers = subparsers

    def add(self, name: str, command: Command, summary: str, example: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._subparsers.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=f"example:\n  ringfence {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.set_defaults(command=command)
        return parser

    def add_for_project(
        self, name: str, command: Command, summary: str, example: str
    ) -> argparse.ArgumentParser:
        parser = self.add(name, command, summary, example)
        parser.add_argument("--project", "-p", required=True, metavar="P", help="name or id of the project")
        return parser


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands; ``command`` of what it parses is the function to call."""
    parser = argparse.ArgumentParser(
        prog="ringfence",
        description="Ringfence: teach a graph anomaly detector by labelling nodes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"Ringfence {__version__}")
    commands = Commands(parser.add_subparsers(metavar="COMMAND", required=True))
    for module in (app, projects, labels, runs, cases, insight, practice, studies):
        module.add_commands(commands)
    return parser
