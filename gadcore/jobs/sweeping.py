"""What processes that were killed have left behind; removed when a worker starts, never that of a living one.

A folder is looked at before its lock, and the lock before the database: what a living process completes
meanwhile is then either still locked or known.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from gadcore.jobs.lost import end_lost
from gadcore.store import LIVE, Folders, Store, is_held


def sweep(store: Store) -> None:
    """Remove what was written aside, folders of runs and projects that came to nothing, and unheld locks."""
    _sweep_aside(store.folders)
    _sweep_projects(store)
    for row in store.projects.all():
        end_lost(store, row.id)
        _sweep_runs(store, row.id)
    for lock in (store.folders.home / "locks").glob("*.lock"):
        if not is_held(lock):
            lock.unlink(missing_ok=True)


def _sweep_aside(folders: Folders) -> None:
    for pattern in ("projects/*/*", "projects/*/runs/*", "projects/*/runs/*/*", "incoming/*/*"):
        for part in folders.home.glob(f"{pattern}.part*"):
            owner = re.search(r"([^.]+)\.part", part.name)
            if owner and not is_held(folders.lock(f"job-{owner[1]}")):
                shutil.rmtree(part, ignore_errors=True) if part.is_dir() else part.unlink(missing_ok=True)


def _sweep_projects(store: Store) -> None:
    """Remove projects that were being made or deleted; any other that the database lacks is left alone."""
    for folder in _folders(store.folders.home / "projects"):
        project_id = folder.name.removesuffix(".part")
        if is_held(store.folders.lock(f"project-{project_id}")):
            continue
        mark = store.folders.unsettled(project_id)
        if folder.name.endswith(".part") or (mark.exists() and store.projects.find(project_id) is None):
            shutil.rmtree(folder, ignore_errors=True)
        else:
            mark.unlink(missing_ok=True)


def _sweep_runs(store: Store, project_id: str) -> None:
    """Remove the results of runs that did not end well or are deleted."""
    found = _folders(store.folders.runs(project_id))
    free = [folder for folder in found if not is_held(store.folders.lock(f"job-{folder.name}"))]
    kept = {run.id for run in store.runs.of_project(project_id, "done", *LIVE)}
    for folder in free:
        if folder.name not in kept and ".part" not in folder.name:
            shutil.rmtree(folder, ignore_errors=True)


def _folders(parent: Path) -> list[Path]:
    return [path for path in parent.iterdir() if path.is_dir()] if parent.is_dir() else []
