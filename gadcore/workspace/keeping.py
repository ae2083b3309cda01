"""Copies of what is kept: a backup of the workspace, one project as a file, and the way back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gadcore.settings import Settings
from gadcore.store import backup as copies
from gadcore.store import open_store
from gadcore.store.archive import unpack
from gadcore.store.project_file import add_rows, check_new, read_project, save_project
from gadcore.workspace.catalogue import settled


def backup(path: Path, settings: Settings) -> dict[str, Any]:
    """Write a backup of the whole workspace, which may be in use."""
    return copies.backup(open_store(settings), path, settings.analyst)


def restore(path: Path, settings: Settings) -> dict[str, Any]:
    """Fill an empty workspace from a backup."""
    return copies.restore(open_store(settings), path, settings.analyst)


def save(project: str, path: Path, settings: Settings) -> str:
    """Write one project to a file; returns its hash, which is the same wherever that project is saved."""
    store = open_store(settings)
    return save_project(store, store.projects.get(project).id, path, settings.analyst)


def load(path: Path, settings: Settings) -> str:
    """Add a project from a file; returns its id."""
    store, about = open_store(settings), read_project(path)
    check_new(store, about)
    project_id = str(about["tables"]["projects"][0]["id"])
    with settled(store, project_id, lambda part: unpack(path, about, part)):
        add_rows(store, path, about, settings.analyst)
    return project_id
