"""run, import, projects, delete, demo."""

from __future__ import annotations

import csv
import runpy
import signal
import ssl
import sys
import tomllib
from argparse import Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import gadcore
from gadcore import logs
from gadcore.cli.parser import Commands
from gadcore.cli.show import out, port, table
from gadcore.errors import InputError, UsageError
from gadcore.settings import APP, Settings, trust_no_forwarded_address

if TYPE_CHECKING:
    from gadcore.ingest import Mapping
    from gadcore.workspace import Workspace

PARTS = ("id", "label", "truth", "source", "target", "weight", "time", "amount", "kind")
IMPORT = "import accounts.csv --edges transfers.csv --project payments --truth is_fraud"


def add_commands(commands: Commands) -> None:
    run = commands.add("run", run_app, "open the app, with the demo ready to label", "run --port 8600")
    run.add_argument("--port", type=port, metavar="N", help="port (default: the first free from 8501)")
    run.add_argument(
        "--address",
        default="127.0.0.1",
        metavar="A",
        help="address to listen at (default: 127.0.0.1, this machine alone); others need users who log in",
    )
    run.add_argument("--cert", metavar="FILE", help="TLS certificate: the app is served as https")
    run.add_argument("--key", metavar="FILE", help="private key of the certificate")
    run.add_argument("--no-browser", action="store_true", help="serve only, and open no browser")

    add = commands.add("import", import_graph, "read a graph into a new project", IMPORT)
    add.last_words = _formats
    add.add_argument("path", help="node table, edge table, archive, folder, the name of a benchmark, or demo")
    add.add_argument("--edges", metavar="PATH", help="edge table, when PATH is a node table")
    add.add_argument("--project", "-p", required=True, metavar="NAME", help="name of the new project")
    add.add_argument("--format", help="one of the formats below (default: recognised)")
    for part in PARTS:
        add.add_argument(
            f"--{part}", metavar="COLUMN", help=f"column that is the {part} (default: recognised; '': none)"
        )
    add.add_argument(
        "--repeats", metavar="RULE", help="weight of a repeated link: " + "count, sum, mean, largest, one"
    )
    add.add_argument("--unknown", metavar="RULE", help="links to nodes not in the table: leave out, or add")
    add.add_argument("--attributes", metavar="A,B,…", help="columns that are attributes (else all)")
    add.add_argument("--ignore", metavar="A,B,…", help="columns that are not read, or not derived from links")
    add.add_argument(
        "--kinds",
        metavar="A=KIND,…",
        help="what columns of nodes hold: number, category, date, boolean, tags, text, identifier",
    )
    add.add_argument(
        "--merge", metavar="A,B,…", help="columns in which case, spaces and accents do not matter"
    )
    add.add_argument("--robust", action="store_true", help="outliers do not squeeze other numbers")
    add.add_argument("--dry-run", action="store_true", help="print the preflight report and store nothing")

    commands.add("projects", list_projects, "list projects", "projects --json")

    delete = commands.add_for_project("delete", delete_project, "delete a project", "delete -p old --yes")
    delete.add_argument("--yes", action="store_true", help="do not ask")

    commands.add("demo", open_demo, "open the bundled demo project, and rank it if it is not", "demo")


def _formats() -> str:
    from gadcore.ingest.formats import words

    return f"\nformats:\n  {', '.join(words())}\n"


def import_graph(given: Namespace) -> None:
    """Print the preflight report, then store the graph."""
    from gadcore.ingest import read

    options = {"edges": given.edges, "format": given.format, "robust": given.robust}
    reading = read(given.path, mapping=_mapping(given), **options)
    if given.dry_run:
        out(given, {"report": reading.report}, reading.report.text(), "Nothing was stored (--dry-run).")
        return
    project = gadcore.Workspace.create(given.project, reading)
    out(
        given,
        {"project": project.data.info(), "report": reading.report},
        reading.report.text(),
        f"Stored as project {project.name!r}. Next: ringfence train --project {project.name!r}",
    )


def _mapping(given: Namespace) -> Mapping | None:
    from gadcore.ingest import Mapping

    named = (*PARTS, "repeats", "unknown")
    chosen: dict[str, Any] = {
        part: getattr(given, part) for part in named if getattr(given, part) is not None
    }
    for name in ("attributes", "ignore", "merge", "kinds"):
        if getattr(given, name):
            words = next(csv.reader([getattr(given, name)], skipinitialspace=True))
            chosen[name] = tuple(word.strip() for word in words if word.strip())
    if "kinds" in chosen:
        chosen["kinds"] = {column: kind for column, _, kind in (w.rpartition("=") for w in chosen["kinds"])}
    return Mapping.from_json(chosen, "import") if chosen else None


def list_projects(given: Namespace) -> None:
    """All projects with their labels and last run."""
    found = gadcore.Workspace.projects()
    head = ("name", "id", "nodes", "edges", "normal", "anomalous", "unsure", "last run", "owner")
    last = [f"{p.last_run.number} {p.last_run.status}" if p.last_run else "" for p in found]
    rows = [
        (p.name, p.id, p.n_nodes, p.n_edges, p.normal, p.anomalous, p.unsure, run, p.owner)
        for p, run in zip(found, last)
    ]
    out(given, found, table(head, rows))


def delete_project(given: Namespace, project: Workspace) -> None:
    """Delete after a question, or at once with --yes."""
    if not given.yes:
        if not sys.stdin.isatty():
            raise InputError("delete without --yes and without a terminal to ask", fix="add --yes")
        counts = project.verdicts.counts()
        labels = counts["normal"] + counts["anomalous"] + counts["unsure"]
        answer = input(
            f"Delete {project.name!r} with {labels} label(s) and {len(project.runs.all())} run(s)? [y/N] "
        )
        if answer.strip().lower() not in ("y", "yes"):
            out(given, {"deleted": False}, "Nothing was deleted.")
            return
    gadcore.Workspace.delete(project.id)
    out(given, {"deleted": True, "project": project.id}, f"Deleted {project.name!r}.")


def open_demo(given: Namespace) -> None:
    """Import the demo once; its first ranking goes on in the background."""
    project = gadcore.Workspace.open_demo()
    run = project.runs.ensure_ranked()
    info = project.data.info()
    out(
        given,
        {"project": info, "run": run},
        f"Demo: {info.n_nodes:,} accounts, {info.n_edges:,} links. "
        + ("A first ranking is being made in the background." if run else "Ranked and ready."),
    )


def run_app(given: Namespace) -> None:
    """Make the demo ready, then be the server until it is ended."""
    if find_spec("streamlit") is None:
        raise InputError(
            "Streamlit, which serves the app, is not installed", fix="pip install 'ringfence[app]'"
        )
    from gadcore.gate import stop_unless_ready

    settings = Settings.from_env()
    _check_certificate(given.cert, given.key)
    stop_unless_ready(settings, given.address)
    if settings.log_json:
        logs.set_up(as_json=True)
        gadcore.Workspace.open_demo().runs.ensure_ranked()
    else:
        open_demo(given)
    if not given.json and not settings.log_json:
        opens = "is served" if given.no_browser else "opens in your browser,"
        print(f"Ringfence {opens} at the address in the next line. Ctrl+C ends it.", flush=True)
    trust_no_forwarded_address()
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))  # Ctrl+C is the way to end it
    sys.argv = ["streamlit", "run", *_server_options(given), str(APP / "pages" / "common" / "serve.py")]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)


def _check_certificate(cert: str | None, key: str | None) -> None:
    """UsageError unless there is a certificate with its key, or neither."""
    if not cert and not key:
        return
    if not cert or not key:
        raise UsageError("--cert and --key belong together. Give both, or neither.")
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(cert, key)
    except OSError as error:  # also what is wrong within them
        told = error.strerror or type(error).__name__
        raise UsageError(
            f"--cert {cert} and --key {key} cannot be used ({told}). Expected: PEM files."
        ) from error


def _server_options(given: Namespace) -> list[str]:
    """The settings that come with the app, whatever folder this starts in, and what was asked for."""
    own = tomllib.loads((APP / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    asked = {"port": given.port, "sslCertFile": given.cert, "sslKeyFile": given.key}
    asked |= {"address": given.address, "headless": given.no_browser}
    options = _flat(own) | {f"server.{name}": value for name, value in asked.items() if value is not None}
    return [f"--{name}={str(v).lower() if isinstance(v, bool) else v}" for name, v in options.items()]


def _flat(settings: dict[str, Any], above: str = "") -> dict[str, Any]:
    """Nested tables as one, with dots in the names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{above}{name}.") if inner else {f"{above}{name}": value}
    return found
