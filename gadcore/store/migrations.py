"""From any older schema to the present one, forward only.

A change of the tables adds one to ``schema.VERSION`` and a step here, under the version it leads to.
A step gets a connection inside the transaction that also raises the version: it happens whole or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Connection, MetaData, insert, inspect, select, text, update
from sqlalchemy.schema import CreateColumn

from gadcore.errors import StoreError
from gadcore.store import schema

Step = Callable[[Connection], None]


def _add_column(connection: Connection, column: Column[Any]) -> None:
    """Add a column of the present schema, with its default in the rows that are there."""
    described = CreateColumn(column).compile(dialect=connection.dialect)
    connection.execute(text(f"ALTER TABLE {column.table.name} ADD COLUMN {described}"))


_PROGRESS = ("epoch", "epochs", "stage", "loss", "auc")
_LEFT = ("status", "warm", "created_at", "started_at", "ended_at", "seconds", *_PROGRESS, "message",
         "heartbeat_at", "cancel", "pid", "host")  # fmt: skip


def _one_table_of_jobs(connection: Connection) -> None:
    """Give every run a job that tells how it goes; keep other jobs in the new table."""
    old = MetaData()
    old.reflect(connection, only=["runs", "jobs"])
    runs, jobs = old.tables["runs"], old.tables["jobs"]
    rows = [_job(row) for table in (runs, jobs) for row in connection.execute(select(table)).mappings()]
    jobs.drop(connection)
    schema.jobs.create(connection)
    if rows:
        connection.execute(insert(schema.jobs), rows)
    for index in runs.indexes:
        index.drop(connection)
    for name in _LEFT:
        connection.execute(text(f"ALTER TABLE runs DROP COLUMN {name}"))


def _job(old: Mapping[Any, Any]) -> dict[str, Any]:
    """The new row for an old run or an old job."""
    row = {
        column.name: value.replace(tzinfo=UTC) if isinstance(value, datetime) else value
        for column in schema.jobs.c
        for value in (old.get(column.name),)
    }
    of_run = {"kind": "train", "payload": {"warm": bool(old.get("warm"))}} if "number" in old else {}
    so_far = {key: old[key] for key in _PROGRESS if key in old}
    return row | of_run | {"progress": so_far, "attempts": 1, "cancel": bool(old.get("cancel"))}


STEPS: dict[int, Step] = {
    2: lambda connection: _add_column(connection, schema.runs.c.for_use),
    3: lambda connection: _add_column(connection, schema.label_events.c.drawn_after),
    4: lambda connection: None,
    5: _one_table_of_jobs,
}


def migrate(connection: Connection) -> int:
    """Bring the database to the present schema; returns the version it had (0 = it was empty)."""
    found = version_of(connection)
    if found > schema.VERSION:
        raise StoreError(
            f"This database has schema version {found}; this program knows versions up to {schema.VERSION}. "
            "It was written by a newer Ringfence: update the program, or set GAD_HOME to another folder."
        )
    if found == schema.VERSION:
        return found
    if found == 0:
        schema.metadata.create_all(connection)
        connection.execute(insert(schema.schema_version).values(version=schema.VERSION))
        return found
    for version in range(found + 1, schema.VERSION + 1):
        STEPS[version](connection)
    connection.execute(update(schema.schema_version).values(version=schema.VERSION))
    return found


def version_of(connection: Connection) -> int:
    """Schema version of a database; 0 for an empty one."""
    if not inspect(connection).has_table("schema_version"):
        return 0
    return int(connection.execute(select(schema.schema_version.c.version)).scalar_one())
