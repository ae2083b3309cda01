"""From any older schema to the present one, forward only.

A change of the tables adds one to ``schema.VERSION`` and a step here, under the version it leads to.
A step gets a connection inside the transaction that also raises the version: it happens whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Connection, MetaData, insert, inspect, select, text, update
from sqlalchemy.schema import CreateColumn

from gadcore.errors import StoreError
from gadcore.graph import Graph
from gadcore.store import schema
from gadcore.store.folders import Folders

Step = Callable[[Connection, Folders], None]


def _add_column(connection: Connection, column: Column[Any]) -> None:
    """Add a column of the present schema, with its default in the rows that are there."""
    described = CreateColumn(column).compile(dialect=connection.dialect)
    connection.execute(text(f"ALTER TABLE {column.table.name} ADD COLUMN {described}"))


def _offers_and_receipts(connection: Connection, folders: Folders) -> None:
    """Orders of cases were files beside a run; those of the runs in use become offers."""
    schema.receipts.create(connection)
    schema.offers.create(connection)
    _add_column(connection, schema.label_events.c.offer_id)
    for project_id, run_id in connection.execute(select(schema.projects.c.id, schema.projects.c.run_in_use)):
        if run_id and (rows := list(_offers_in_files(folders, project_id, run_id))):
            connection.execute(insert(schema.offers), rows)


def _offers_in_files(folders: Folders, project_id: str, run_id: str) -> Iterator[dict[str, Any]]:
    """Rows of the order files of a run: the one made when it ended, unless it was kept again later."""
    run, moment = folders.run(project_id, run_id), schema.now()
    orders = {}
    for path in [run / "order.json", *sorted(run.glob("orders/*.json"))]:
        with suppress(OSError, ValueError, KeyError):
            order = json.loads(path.read_text(encoding="utf-8"))
            orders[json.dumps(order["choice"])] = order["queries"]
    ids: Any = Graph.load(folders.graph(project_id)).node_ids if orders else []
    for choice, queries in orders.items():
        for place, query in enumerate(queries):
            seen = query["inclusion_probability"] is None or query.get("shown", False)
            yield {
                "project_id": project_id,
                "run_id": run_id,
                "choice": choice,
                "place": place,
                "planned_after": query.get("drawn_after") or 0,
                "node_id": str(ids[query["node"]]),
                "strategy": query["strategy"],
                "reason": query["reason"],
                "probability": query["inclusion_probability"],
                "drawn_after": query.get("drawn_after"),
                "shown_at": moment if seen else None,
            }


_PROGRESS = ("epoch", "epochs", "stage", "loss", "auc")
_LEFT = ("status", "warm", "created_at", "started_at", "ended_at", "seconds", *_PROGRESS, "message",
         "heartbeat_at", "cancel", "pid", "host")  # fmt: skip


def _one_table_of_jobs(connection: Connection, _: Folders) -> None:
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
    2: lambda connection, _: _add_column(connection, schema.runs.c.for_use),
    3: lambda connection, _: _add_column(connection, schema.label_events.c.drawn_after),
    4: _offers_and_receipts,
    5: _one_table_of_jobs,
}


def migrate(connection: Connection, folders: Folders) -> int:
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
        STEPS[version](connection, folders)
    connection.execute(update(schema.schema_version).values(version=schema.VERSION))
    return found


def version_of(connection: Connection) -> int:
    """Schema version of a database; 0 for an empty one."""
    if not inspect(connection).has_table("schema_version"):
        return 0
    return int(connection.execute(select(schema.schema_version.c.version)).scalar_one())
