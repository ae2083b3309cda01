"""Backup and restore of a whole workspace.

A backup is an archive with all rows as a SQLite database, whatever the store is, and the files of all
projects. It shows one moment: rows are read in one transaction, and of files only those are taken that these
rows know of, which never change. It can be restored into either kind of database.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, insert, select, text

from gadcore import __version__
from gadcore.errors import StoreError
from gadcore.store.archive import project_files, read_about, unpack, write_archive
from gadcore.store.database import Database
from gadcore.store.folders import Folders
from gadcore.store.schema import metadata, schema_version
from gadcore.store.verify import ANCHORS, anchor

if TYPE_CHECKING:
    from gadcore.store import Store

KIND = "backup of a workspace"
ROWS = "database.sqlite"
_BATCH = 5000


def backup(store: Store, path: Path, by: str) -> dict[str, Any]:
    """Write a backup of a workspace that may be in use; returns what it is: projects, head, sha256."""
    with tempfile.TemporaryDirectory() as folder, store.database.snapshot() as source:
        rows = Path(folder) / ROWS
        _copy_to_file(source, rows, store)
        files = {ROWS: rows}
        names = {row.id: row.name for row in store.projects.all()}
        for project_id in names:
            done = [run.id for run in store.runs.of_project(project_id, "done")]
            found = project_files(store.folders, project_id, done)
            files |= {f"projects/{project_id}/{place}": file for place, file in found.items()}
        number, head = store.trail.head()
        about = {"kind": KIND, "version": __version__, "projects": names, "trail": [number, head]}
        proof = write_archive(path, about, files)
    anchor(store.folders.home / ANCHORS, number, head)
    store.trail.add("backup", by, file=path.name, sha256=proof)
    return {"file": str(path), "projects": names, "files": len(files), "head": head, "sha256": proof}


def restore(store: Store, path: Path, by: str) -> dict[str, Any]:
    """Fill an empty workspace from a backup; StoreError when it is not empty. All or nothing is restored."""
    about, home = read_about(path, KIND), store.folders.home
    if store.trail.head()[0] or any((home / "projects").glob("*")):
        raise StoreError(
            f"The workspace {home} is not empty. Set GAD_HOME (and GAD_STORE) to a new one to restore into."
        )
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home, prefix="restoring-") as folder:
        unpack(path, about, Path(folder))
        with closing(Database(f"sqlite:///{folder}/{ROWS}", Folders(Path(folder)))) as kept:
            _take_over(store, kept, Path(folder) / "projects", by, path.name)
    return {"projects": about["projects"], "head": about["trail"][1]}


def _take_over(store: Store, kept: Database, files: Path, by: str, name: str) -> None:
    """Copy all rows and move all files of a backup to their place; an error leaves none of them."""
    target = store.folders.home / "projects"
    with kept.reading() as source, store.database.writing() as connection:
        copy_rows(source, connection)
        store.trail.add("restored", by, file=name)
        if files.exists():
            shutil.rmtree(target, ignore_errors=True)  # it is empty
            os.replace(files, target)


def _copy_to_file(source: Connection, path: Path, store: Store) -> None:
    with closing(Database(f"sqlite:///{path}", store.folders)) as copy, copy.writing() as target:
        copy_rows(source, target)


def copy_rows(source: Connection, target: Connection) -> None:
    """Copy the rows of all tables from one database to another, whose tables are empty."""
    for table in metadata.sorted_tables:
        if table is schema_version:
            continue
        found = source.execute(select(table)).mappings()
        while rows := found.fetchmany(_BATCH):
            target.execute(insert(table), [dict(row) for row in rows])
        follow_ids(target, table)


def follow_ids(connection: Connection, table: Table) -> None:
    """Have PostgreSQL count on behind rows that came with their ids; SQLite does so by itself."""
    column = table.autoincrement_column
    if connection.dialect.name == "postgresql" and column is not None:
        last = f"SELECT coalesce(max({column.name}), 0) + 1 FROM {table.name}"
        place = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
        connection.execute(text(f"SELECT setval({place}, ({last}), false)"))
