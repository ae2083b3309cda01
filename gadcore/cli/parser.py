"""How commands are added: what they share, and how their help is shown."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import Any, NoReturn

import gadcore

Command = Callable[[Namespace], int | None]
OnProject = Callable[[Namespace, Any], None]  # also given the open Workspace


class CommandParser(ArgumentParser):
    """The parser of one command, or of all."""

    last_words: Callable[[], str] = str  # the end of its help, looked up only when help is asked for

    def format_help(self) -> str:
        return super().format_help() + self.last_words()

    def error(self, message: str) -> NoReturn:
        """One line, as every other mistake has."""
        self.exit(2, f"error: {' '.join(message.split())} (see: {self.prog} --help)\n")


class Commands:
    """Adds commands that share --json and the way their examples are shown."""

    def __init__(self, parser: ArgumentParser) -> None:
        self._subparsers = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=CommandParser)

    def add(self, name: str, command: Command, summary: str, example: str) -> CommandParser:
        """A command: a function of the arguments given."""
        parser: CommandParser = self._subparsers.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=f"example:\n  ringfence {example}",
            formatter_class=RawDescriptionHelpFormatter,
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.set_defaults(command=command)
        return parser

    def add_for_project(self, name: str, command: OnProject, summary: str, example: str) -> CommandParser:
        """A command that is also given the Workspace that --project names."""

        def on_project(given: Namespace) -> None:
            command(given, gadcore.Workspace.open(given.project, version=given.at_version))

        parser = self.add(name, on_project, summary, example)
        parser.add_argument("--project", "-p", required=True, metavar="P", help="name or id of the project")
        parser.add_argument(
            "--at-version", type=int, metavar="N", help="look at an earlier version of the graph"
        )
        return parser
