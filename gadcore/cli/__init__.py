"""The command line: everything the app can do, scripted.

Exit codes: 0 done · 1 it could not be done, the reason is on stderr · 2 the command was not understood.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gadcore.cli.parser import make_parser
from gadcore.errors import GadError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = make_parser().parse_args(arguments)
    try:
        return int(given.command(given) or 0)
    except GadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader, for instance head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


__all__ = ["main"]
