"""update, versions, watch, watchlist: data that keeps coming."""

from __future__ import annotations

import time
from argparse import Namespace
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import gadcore
from gadcore.cli.parser import Commands
from gadcore.cli.show import count, out, table
from gadcore.errors import UsageError

if TYPE_CHECKING:
    from gadcore.records.versions import Changes
    from gadcore.workspace import Workspace

UPDATE = "update payments accounts.csv --edges transfers_2025-06-02.csv --as-of 2025-06-02"


def add_commands(commands: Commands) -> None:
    update = commands.add("update", update_project, "add files to a project, or replace its data", UPDATE)
    update.add_argument("project", metavar="PROJECT", help="name or id of the project")
    update.add_argument("path", nargs="?", help="node table, archive or folder; none: the links alone")
    update.add_argument("--edges", metavar="PATH", help="edge table")
    way = update.add_mutually_exclusive_group()
    way.add_argument("--append", action="store_true", help="add to what there is (this is the default)")
    way.add_argument("--replace", action="store_true", help="the files are all there is from now on")
    update.add_argument(
        "--unknown", metavar="RULE", help="links to nodes not in the table: leave out, or add"
    )
    update.add_argument("--as-of", default="", metavar="DATE", help="the day that the data stand for")
    update.add_argument("--force", action="store_true", help="store it even if something is lost")
    update.add_argument("--dry-run", action="store_true", help="say what would change and store nothing")
    update.add_argument("--retrain", action="store_true", help="then learn from it, in the background")

    versions = commands.add(
        "versions",
        show_versions,
        "versions of a project's graph, and the way back",
        "versions payments --use 3",
    )
    versions.add_argument("project", metavar="PROJECT", help="name or id of the project")
    versions.add_argument("--use", type=count, metavar="N", help="go to this version")

    watch = commands.add(
        "watch", watch_folder, "take files as they appear in a folder", "watch payments inbox"
    )
    watch.add_argument("project", metavar="PROJECT", help="name or id of the project")
    watch.add_argument("folder", metavar="FOLDER", help="files go here; those not taken: its subfolder aside")
    watch.add_argument(
        "--every", type=float, default=2.0, metavar="S", help="seconds between looks (default: 2)"
    )
    watch.add_argument("--once", action="store_true", help="take what is there, then end")
    watch.add_argument("--retrain", action="store_true", help="after each file, learn from it")

    listed = commands.add_for_project(
        "watchlist", watch_nodes, "nodes whose rise you want to hear of", "watchlist -p demo --add A10434"
    )
    listed.add_argument("--add", nargs="+", default=[], metavar="NODE", help="put these on the list")
    listed.add_argument("--remove", nargs="+", default=[], metavar="NODE", help="take these off the list")
    listed.add_argument("--seen", action="store_true", help="count a rise from the ranks of now on")
    listed.add_argument("--analyst", help="whose list (default: GAD_ANALYST or the login name)")


def update_project(given: Namespace) -> None:
    """Say what changes, store it, and rank by the model in use."""
    from gadcore.ingest import Mapping

    path = given.path or given.edges
    if path is None:
        raise UsageError("An update without a file. Name a node table, or an edge table with --edges.")
    project = gadcore.Workspace.open(given.project)
    edges = given.edges if given.path else None
    way = "replace" if given.replace else "append"
    mapping = Mapping.from_json({"unknown": given.unknown}, "update") if given.unknown else None
    update = project.data.preview(path, edges, way=way, mapping=mapping, as_of=given.as_of)
    if not given.json:
        print("\n".join(_told(update.changes)))
    if given.dry_run:
        out(
            given,
            {"changes": update.changes, "stops": update.changes.stops},
            "Nothing was stored (--dry-run).",
        )
        return
    version = project.data.store(update, force=given.force, retrain=given.retrain or None)
    run = project.runs.in_use()
    ranked = f", ranked by run {run.number}" if run else ""
    out(given, {"version": version, "run": run}, f"Stored as version {version.number}{ranked}.")


def _told(changes: Changes) -> list[str]:
    stops = [f"STOP: {stop}" for stop in changes.stops]
    return [*changes.lines(), *stops]


def show_versions(given: Namespace) -> None:
    """List the versions, or go to one of them."""
    project = gadcore.Workspace.open(given.project)
    if given.use:
        version = project.data.use_version(given.use)
        run = project.runs.in_use()
        ranked = f", ranked by run {run.number}" if run else "; it has no scores: train it"
        out(given, version, f"{project.name} is at version {version.number}{ranked}.")
        return
    found = project.data.versions()
    head = ("version", "made", "of", "by", "as of", "nodes", "edges", "changes", "present")
    rows = [
        (v.number, f"{v.created_at:%Y-%m-%d %H:%M}", v.parent or v.way, v.by, v.as_of, v.n_nodes, v.n_edges,
         v.summary, v.present)
        for v in found
    ]  # fmt: skip
    out(given, found, table(head, rows))


def watch_folder(given: Namespace) -> None:
    """Take files until Ctrl+C."""
    from gadcore.workspace.folder_watch import FolderWatch

    project = gadcore.Workspace.open(given.project)
    watch = FolderWatch(project, Path(given.folder), given.retrain or None)
    if not given.json:
        print(f"Watching {given.folder} for {project.name!r}. Ctrl+C ends it.", flush=True)
    for _ in range(2) if given.once else repeat(None):
        for taken in watch.look():
            outcome = (
                f"version {taken.version}: {taken.told}" if taken.version else f"put aside: {taken.told}"
            )
            out(given, taken, f"{taken.name}: {outcome}")
        time.sleep(given.every)


def watch_nodes(given: Namespace, project: Workspace) -> None:
    """Change the list, then show it."""
    for node in given.add:
        project.cases.watch(node, analyst=given.analyst)
    for node in given.remove:
        project.cases.unwatch(node, analyst=given.analyst)
    found = project.cases.watched(analyst=given.analyst)
    if given.seen:
        project.cases.rises_seen(analyst=given.analyst)
    rows = [
        (w.node_id, w.name if w.name != w.node_id else "", w.told, w.risen, f"{w.at:%Y-%m-%d}") for w in found
    ]
    out(given, found, table(("node", "name", "rank", "risen", "since"), rows))
