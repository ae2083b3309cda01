"""run."""

from __future__ import annotations

import runpy
import sys
from argparse import Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gadcore.cli.projects import open_demo
from gadcore.errors import InputError
from gadcore.settings import APP

if TYPE_CHECKING:
    from gadcore.cli.parser import Commands


def add_commands(commands: Commands) -> None:
    run = commands.add("run", run_app, "open the app, with the demo ready to label", "run --port 8600")
    run.add_argument(
        "--port", type=int, metavar="N", help="port on 127.0.0.1 (default: the first free from 8501)"
    )
    run.add_argument("--no-browser", action="store_true", help="serve only, and open no browser")


def run_app(given: Namespace) -> None:
    """Make the demo ready, then be the server until it is ended."""
    if find_spec("streamlit") is None:
        raise InputError(
            "Streamlit, which serves the app, is not installed", fix="pip install 'ringfence[app]'"
        )
    open_demo(given)
    if not given.json:
        opens = "is served" if given.no_browser else "opens in your browser,"
        print(f"Ringfence {opens} at the address in the next line. Ctrl+C ends it.", flush=True)
    port = [] if given.port is None else [f"--server.port={given.port}"]
    sys.argv = ["streamlit", "run", *port, f"--server.headless={given.no_browser}", str(APP / "app.py")]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
