"""From any older schema to the present one, forward only.

A change of the tables adds one to ``schema.VERSION`` and a step here, under the version it leads to.
A step gets a connection inside the transaction that also raises the version: it happens whole or not at all.
Before the first step the database is copied into a file of the workspace folder.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    Table,
    create_engine,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.schema import CreateColumn

from gadcore.errors import StoreError
from gadcore.graph import Graph
from gadcore.store import schema
from gadcore.store.events import events_of
from gadcore.store.folders import Folders
from gadcore.store.trail import events_digest, write_entry

Step = Callable[[Connection, Folders], None]


def _add_column(connection: Connection, column: Column[Any]) -> None:
    """Add a column of the present schema, with its default in the rows that are there.

    Nothing is done where an earlier step has made the table as it is now.
    """
    if column.name in {found["name"] for found in inspect(connection).get_columns(column.table.name)}:
        return
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
    ids: Any = Graph.load(folders.graph(project_id, 1)).node_ids if orders else []
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
    fresh = {"turn": 0, "progress": so_far, "attempts": 1, "cancel": bool(old.get("cancel"))}
    return row | of_run | fresh


def _trail_and_order(connection: Connection, _: Folders) -> None:
    """Begin the trail with what there is; give runs and jobs an order that does not depend on a clock."""
    _add_column(connection, schema.runs.c.ended_after)
    _add_column(connection, schema.jobs.c.turn)
    _add_column(connection, schema.label_events.c.reason)  # of a later version: events are read whole below
    connection.execute(text("ALTER TABLE projects DROP COLUMN n_events"))
    connection.execute(
        text(
            "UPDATE runs SET ended_after = coalesce((SELECT max(e.id) FROM label_events e, jobs j "
            "WHERE j.id = runs.id AND e.project_id = runs.project_id AND e.at <= j.ended_at), 0)"
        )
    )
    ids = connection.execute(select(schema.jobs.c.id).order_by(schema.jobs.c.created_at)).scalars().all()
    for turn, job_id in enumerate(ids, start=1):
        connection.execute(update(schema.jobs).where(schema.jobs.c.id == job_id).values(turn=turn))
    schema.trail.create(connection)
    for project_id in connection.execute(select(schema.projects.c.id)).scalars().all():
        write_entry(
            connection, "trail begun", "", project_id, events_digest(events_of(connection, project_id))
        )


def _users_and_taken_cases(connection: Connection, _: Folders) -> None:
    for table in (schema.taken, schema.users, schema.logins, schema.failures):
        table.create(connection)


def _reasons_and_assigned_cases(connection: Connection, _: Folders) -> None:
    _add_column(connection, schema.label_events.c.reason)
    schema.assigned.create(connection)


def _programs(connection: Connection, _: Folders) -> None:
    """Let programs in, and tell them of events."""
    _add_column(connection, schema.receipts.c.answer)
    for table in (schema.tokens, schema.webhooks, schema.deliveries):
        table.create(connection)


def _versions_of_graphs(connection: Connection, _: Folders) -> None:
    """Every graph becomes the first version of itself."""
    for table in (schema.graph_versions, schema.arrivals, schema.watchlist):
        table.create(connection)
    _add_column(connection, schema.projects.c.version)
    _add_column(connection, schema.runs.c.version)
    told = ("created_at", "fingerprint", "n_nodes", "n_edges", "n_features", "has_truth")
    same = (schema.projects.c[name] for name in told)
    for row in connection.execute(select(schema.projects.c.id, schema.projects.c.owner, *same)).mappings():
        first = {"project_id": row["id"], "by": row["owner"], **{name: row[name] for name in told}}
        connection.execute(insert(schema.graph_versions).values(first | schema.FIRST_VERSION))


STEPS: dict[int, Step] = {
    2: lambda connection, _: _add_column(connection, schema.runs.c.for_use),
    3: lambda connection, _: _add_column(connection, schema.label_events.c.drawn_after),
    4: _offers_and_receipts,
    5: _one_table_of_jobs,
    6: _trail_and_order,
    7: _users_and_taken_cases,
    8: _reasons_and_assigned_cases,
    9: _programs,
    10: _versions_of_graphs,
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
    _copy_first(connection, folders.home / f"before-version-{schema.VERSION}.sqlite")
    for version in range(found + 1, schema.VERSION + 1):
        STEPS[version](connection, folders)
    connection.execute(update(schema.schema_version).values(version=schema.VERSION))
    return found


def version_of(connection: Connection) -> int:
    """Schema version of a database; 0 for an empty one."""
    if not inspect(connection).has_table("schema_version"):
        return 0
    return int(connection.execute(select(schema.schema_version.c.version)).scalar_one())


def _copy_first(connection: Connection, path: Path) -> None:
    """Copy a database of an older version, as it is, into a SQLite file, unless that is there."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        if connection.dialect.name == "sqlite":
            # By another connection: this one is in a transaction, which a copy would wait for.
            file = str(connection.engine.url.database)
            with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(part)) as target:
                source.backup(target)
        else:
            _copy_any(connection, part)
        os.replace(part, path)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"The database cannot be copied to {path} before it is changed ({error}). Nothing was changed. "
            "Free some disk space and open it again."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _copy_any(connection: Connection, path: Path) -> None:
    """Copy whatever tables there are, without their constraints."""
    old, plain = MetaData(), MetaData()
    old.reflect(connection)
    for table in old.sorted_tables:
        columns = (Column(c.name, c.type.as_generic(), primary_key=c.primary_key) for c in table.columns)
        Table(table.name, plain, *columns)
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as target:
        plain.create_all(target)
        for table in old.sorted_tables:
            if rows := connection.execute(select(table)).mappings().all():
                target.execute(insert(plain.tables[table.name]), [dict(row) for row in rows])
    engine.dispose()
