"""run, import, projects, delete, demo."""

from __future__ import annotations

import runpy
import sys
from argparse import Namespace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import gadcore
from gadcore.cli.parser import Commands
from gadcore.cli.show import out, table
from gadcore.errors import InputError
from gadcore.settings import APP

if TYPE_CHECKING:
    from gadcore.ingest import Mapping
    from gadcore.workspace import Workspace

PARTS = ("id", "label", "truth", "source", "target", "weight")
IMPORT = "import accounts.csv --edges transfers.csv --project payments --truth is_fraud"


def add_commands(commands: Commands) -> None:
    run = commands.add("run", run_app, "open the app, with the demo ready to label", "run --port 8600")
    run.add_argument(
        "--port", type=int, metavar="N", help="port on 127.0.0.1 (default: the first free from 8501)"
    )
    run.add_argument("--no-browser", action="store_true", help="serve only, and open no browser")

    add = commands.add("import", import_graph, "read a graph into a new project", IMPORT)
    add.last_words = _formats
    add.add_argument("path", help="node table, edge table, archive, folder, the name of a benchmark, or demo")
    add.add_argument("--edges", metavar="PATH", help="edge table, when PATH is a node table")
    add.add_argument("--project", "-p", required=True, metavar="NAME", help="name of the new project")
    add.add_argument("--format", help="one of the formats below (default: recognised)")
    for part in PARTS:
        add.add_argument(
            f"--{part}", metavar="COLUMN", help=f"column that is the {part} (default: recognised)"
        )
    add.add_argument("--attributes", metavar="A,B,…", help="columns that are attributes (else all)")
    add.add_argument("--ignore", metavar="A,B,…", help="columns that are not read")
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

    chosen: dict[str, Any] = {part: getattr(given, part) for part in PARTS if getattr(given, part)}
    for name in ("attributes", "ignore"):
        if getattr(given, name):
            chosen[name] = tuple(word.strip() for word in getattr(given, name).split(",") if word.strip())
    return Mapping(**chosen) if chosen else None


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
    open_demo(given)
    if not given.json:
        opens = "is served" if given.no_browser else "opens in your browser,"
        print(f"Ringfence {opens} at the address in the next line. Ctrl+C ends it.", flush=True)
    port = [] if given.port is None else [f"--server.port={given.port}"]
    sys.argv = ["streamlit", "run", *port, f"--server.headless={given.no_browser}", str(APP / "app.py")]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
