"""trail, verify, backup, restore, save-project, load-project."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from gadcore.cli.parser import Commands
from gadcore.cli.show import count, out, table
from gadcore.settings import Settings

if TYPE_CHECKING:
    from gadcore.records import TrailEntry
    from gadcore.workspace import Workspace


def add_commands(commands: Commands) -> None:
    trail = commands.add("trail", show_trail, "who did what, newest first", "trail --action export -n 50")
    trail.add_argument("-n", type=count, default=50, help="entries (default: 50)")
    for name in ("who", "action", "project"):
        trail.add_argument(f"--{name}", default="", help=f"only entries with this {name}")
    trail.add_argument("--out", metavar="FILE", help="write them as CSV")

    verify = commands.add(
        "verify", verify_trail, "check that neither trail nor labels were changed or cut", "verify"
    )
    verify.add_argument(
        "--anchors", metavar="FILE", help="noted heads of the trail (default: trail-anchors.txt in GAD_HOME)"
    )

    for name, command, summary, example in (
        ("backup", back_up, "copy the whole workspace, also while it is in use", "backup monday.zip"),
        ("restore", put_back, "fill an empty workspace from a backup", "restore monday.zip"),
        ("load-project", load_project, "add a project from a file", "load-project payments.zip"),
    ):
        commands.add(name, command, summary, example).add_argument("file", metavar="FILE")
    save = commands.add_for_project(
        "save-project", save_project, "write one project to a file", "save-project -p demo demo.zip"
    )
    save.add_argument("file", metavar="FILE")


def show_trail(given: Namespace) -> None:
    """Entries of the trail, as a table or a CSV file."""
    from gadcore.workspace import trail

    wanted = {"who": given.who, "action": given.action, "project": given.project}
    found = trail.entries(Settings.from_env(), given.n, **wanted)
    if given.out:
        from gadcore.output.files import write_file

        write_file(Path(given.out), trail.as_csv(found))
        out(given, {"written": len(found)}, f"{len(found):,} entries written to {given.out}.")
        return
    out(given, found, table(("number", "at", "who", "action", "project", "details"), map(_line, found)))


def _line(entry: TrailEntry) -> tuple[object, ...]:
    told = ", ".join(f"{key} {value}" for key, value in entry.details.items() if key != "sha256")
    return entry.number, f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.who, entry.action, entry.project, told


def verify_trail(given: Namespace) -> int:
    """Say whether all is as the trail tells; exit code 1 otherwise."""
    from gadcore.workspace import trail

    found = trail.verified(Settings.from_env(), Path(given.anchors) if given.anchors else None)
    said = f"{found.entries:,} entries, {found.anchors:,} anchors compared, head {found.head or 'none'}."
    out(given, found, said, *(found.problems or ["Nothing was changed, left out or cut off."]))
    return 1 if found.problems else 0


def back_up(given: Namespace) -> None:
    """Write a backup; the workspace may be in use."""
    from gadcore.workspace import keeping

    made = keeping.backup(Path(given.file), Settings.from_env())
    said = f"{len(made['projects']):,} project(s), {made['files']:,} files written to {given.file}."
    out(given, made, said, f"sha256 of its contents: {made['sha256']}")


def put_back(given: Namespace) -> None:
    """Fill an empty workspace from a backup."""
    from gadcore.workspace import keeping

    found = keeping.restore(Path(given.file), Settings.from_env())
    names = ", ".join(found["projects"].values()) or "none"
    out(given, found, f"Restored: {names}.", "Check it with: ringfence verify")


def save_project(given: Namespace, project: Workspace) -> None:
    from gadcore.workspace import keeping

    proof = keeping.save(project.id, Path(given.file), project.settings)
    said = f"Saved {project.name!r} to {given.file}."
    out(given, {"file": given.file, "sha256": proof}, said, f"sha256 of its contents: {proof}")


def load_project(given: Namespace) -> None:
    from gadcore.workspace import keeping

    project_id = keeping.load(Path(given.file), Settings.from_env())
    out(given, {"project": project_id}, f"Loaded as {project_id}.")
