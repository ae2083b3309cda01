"""One project as a file: saved from one workspace, loaded into another, with the same hashes.

The file has the rows of the project and its files. Label events and offers are numbered from 1 in it, and
get the next free numbers where it is loaded; what refers to them follows. Runs that have not ended, receipts
of browser tabs and the trail stay where they are.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, func, insert, select

from gadcore.errors import StoreError
from gadcore.records import as_json
from gadcore.store.archive import project_files, read_about, write_archive
from gadcore.store.backup import follow_ids
from gadcore.store.events import events_of
from gadcore.store.jobs import LIVE
from gadcore.store.schema import (
    UtcTime,
    arrivals,
    assigned,
    graph_versions,
    jobs,
    label_events,
    offers,
    preferences,
    projects,
    runs,
    watchlist,
)
from gadcore.store.trail import events_digest

if TYPE_CHECKING:
    from gadcore.store import Store

KIND = "project"
MOMENTS = ("drawn_after", "planned_after", "ended_after")  # columns with the id of a label event, or 0
Rows = list[dict[str, Any]]
_TABLES = (
    projects,
    preferences,
    jobs,
    runs,
    offers,
    label_events,
    graph_versions,
    arrivals,
    watchlist,
    assigned,
)


def save_project(store: Store, project_id: str, path: Path, by: str) -> str:
    """Write a project to a file; returns the hash that is equal wherever the same project is saved."""
    with store.database.snapshot() as connection:
        about = {"kind": KIND, "tables": as_json(_tables(connection, project_id))}
        done = [run.id for run in store.runs.of_project(project_id, "done")]
        proof = write_archive(path, about, project_files(store.folders, project_id, done))
    store.trail.add("project saved", by, project_id, file=path.name, sha256=proof)
    return proof


def _tables(connection: Connection, project_id: str) -> dict[str, Rows]:
    def rows(table: Table, *order: str) -> Rows:
        own = table.c.id if table is projects else table.c.project_id
        query = select(table).where(own == project_id).order_by(*(table.c[name] for name in order))
        return [dict(row) for row in connection.execute(query).mappings()]

    ended = [
        row for row in rows(jobs, "turn") if row["kind"] in ("train", "carry") and row["status"] not in LIVE
    ]
    kept = {row["id"] for row in ended}
    found = {
        "projects": rows(projects, "id"),
        "preferences": rows(preferences, "key"),
        "jobs": [{**row, "turn": turn} for turn, row in enumerate(ended, start=1)],
        "runs": [row for row in rows(runs, "number") if row["id"] in kept],
        "offers": [row for row in rows(offers, "id") if row["run_id"] in kept],
        "label_events": rows(label_events, "id"),
        "graph_versions": rows(graph_versions, "number"),
        "arrivals": rows(arrivals, "sha256"),
        "watchlist": rows(watchlist, "analyst", "node_id"),
        "assigned": [_without_id(row) for row in rows(assigned, "id")],
    }
    event_ids = [row["id"] for row in found["label_events"]]
    places = {row["id"]: place for place, row in enumerate(found["offers"], start=1)}
    return _renumbered(found, places, lambda moment: bisect_right(event_ids, moment))


def _without_id(row: dict[str, Any]) -> dict[str, Any]:
    """A row that nothing refers to by its number, which it gets where it is loaded."""
    return {key: value for key, value in row.items() if key != "id"}


def _renumbered(tables: dict[str, Rows], offer_ids: dict[int, int], moment: Any) -> dict[str, Rows]:
    """The same rows with other numbers of offers and events."""

    def changed(name: str, row: dict[str, Any]) -> dict[str, Any]:
        new = {key: moment(row[key]) for key in MOMENTS if row.get(key) is not None}
        if name == "label_events":
            new |= {"id": moment(row["id"]), "offer_id": offer_ids.get(row["offer_id"])}
        if name == "offers":
            new["id"] = offer_ids[row["id"]]
        return row | new

    return {name: [changed(name, row) for row in rows] for name, rows in tables.items()}


def read_project(path: Path) -> dict[str, Any]:
    """The document of a project file."""
    return read_about(path, KIND)


def add_rows(store: Store, path: Path, about: dict[str, Any], by: str) -> None:
    """Add the rows of a project file; StoreError as ``check_new``."""
    tables: dict[str, Rows] = about["tables"]
    project = tables["projects"][0]
    with store.database.writing() as connection:
        check_new(store, about)
        event_base, offer_base = _last(connection, label_events.c.id), _last(connection, offers.c.id)
        turn_base = _last(connection, jobs.c.turn)
        places = {row["id"]: offer_base + row["id"] for row in tables["offers"]}
        moved = _renumbered(tables, places, lambda moment: event_base + moment)
        moved["jobs"] = [{**row, "turn": turn_base + row["turn"]} for row in moved["jobs"]]
        for table in _TABLES:
            if rows := [_typed(table, row) for row in moved.get(table.name, [])]:
                connection.execute(insert(table), rows)
            follow_ids(connection, table)
        known = events_digest(events_of(connection, project["id"]))
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        store.trail.add("project loaded", by, project["id"], name=project["name"], file=sha256, **known)


def check_new(store: Store, about: dict[str, Any]) -> None:
    """StoreError when the project of a file, or a run of it, is in this workspace already."""
    tables: dict[str, Rows] = about["tables"]
    project = tables["projects"][0]
    for word in (project["name"], project["id"]):
        if store.projects.find(word) is not None:
            raise StoreError(f"The project {word!r} is in this workspace already. Delete it first.")
    ids = [row["id"] for row in tables["jobs"]]
    if ids and store.database.rows(select(jobs.c.id).where(jobs.c.id.in_(ids))):
        raise StoreError(f"A run of {project['name']!r} is in this workspace already, in another project.")


def _last(connection: Connection, column: Any) -> int:
    return int(connection.execute(select(func.coalesce(func.max(column), 0))).scalar_one())


def _typed(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """A row with times as times."""
    times = {column.name for column in table.columns if isinstance(column.type, UtcTime)}
    return {key: datetime.fromisoformat(v) if key in times and v else v for key, v in row.items()}
