"""The trail: who did what and when, as a chain in which every entry carries the hash of all before it.

    hash(n) = sha256(JSON of [hash(n − 1), n, at, who, action, project, details]),  hash(0) = ""

An entry is written in the transaction of the act that it tells of. One that is changed, left out or put in
later breaks the chain from there on. What was cut off at the end leaves a chain that is whole: ``anchors``,
hashes that were noted outside the database, tell of that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, insert, select

from gadcore.graph.labels import LabelEvent
from gadcore.records import TrailEntry, as_json
from gadcore.store.schema import now, trail

if TYPE_CHECKING:
    from gadcore.store.database import Database

AT_ONCE = 1000  # entries that are read at a time


class Trail:
    """The trail of all projects; an entry stays when its project is deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, action: str, who: str, project: str = "", **details: Any) -> None:
        """Add an entry; within ``Database.writing``, to that transaction."""
        with self._database.writing() as connection:
            write_entry(connection, action, who, project, details)

    def head(self) -> tuple[int, str]:
        """Number and hash of the last entry; (0, "") when there is none."""
        return _head(self._database.rows(_LAST))

    def newest(self, n: int, **wanted: str) -> list[TrailEntry]:
        """The last ``n`` entries, newest first; only those with the ``wanted`` who, action and project."""
        query = select(trail).where(*(trail.c[name] == value for name, value in wanted.items() if value))
        return [_entry(row) for row in self._database.rows(query.order_by(trail.c.number.desc()).limit(n))]

    def words(self, column: str) -> list[str]:
        """Every value of who, action or project, in the order of the alphabet."""
        found = self._database.rows(select(trail.c[column]).distinct().order_by(trail.c[column]))
        return [row[0] for row in found]

    def walk(self) -> Iterator[tuple[TrailEntry, bool]]:
        """Every entry from the first on, and whether its hash is right."""
        before, last = "", 0
        while rows := self._database.rows(
            select(trail).where(trail.c.number > last).order_by(trail.c.number).limit(AT_ONCE)
        ):
            for row in rows:
                entry = _entry(row)
                yield entry, entry.hash == _hash(before, entry)
                before, last = entry.hash, entry.number

    def hash_of(self, number: int) -> str:
        """The hash of an entry; "" where there is none."""
        return self._database.scalar(select(trail.c.hash).where(trail.c.number == number)) or ""


_LAST = select(trail.c.number, trail.c.hash).order_by(trail.c.number.desc()).limit(1)


def write_entry(connection: Connection, action: str, who: str, project: str, details: dict[str, Any]) -> None:
    """Add an entry in a transaction that holds the write lock."""
    number, before = _head(connection.execute(_LAST))
    made = TrailEntry(number + 1, now(), who, action, project, as_json(details), "")
    row = {name: getattr(made, name) for name in ("number", "at", "who", "action", "project", "details")}
    connection.execute(insert(trail).values(**row, hash=_hash(before, made)))


def events_digest(events: Iterable[LabelEvent]) -> dict[str, Any]:
    """What an entry keeps of label events of one project: the first and last id, and a hash of all."""
    listed = list(events)
    content = "\n".join(json.dumps(_told(event), sort_keys=True) for event in listed)
    ids = [listed[0].id, listed[-1].id] if listed else []
    return {"events": ids, "count": len(listed), "sha256": hashlib.sha256(content.encode()).hexdigest()}


def _told(event: LabelEvent) -> dict[str, Any]:
    """An event as it is hashed; one without a reason as before there were any."""
    told: dict[str, Any] = as_json(event)
    return told if event.reason else {key: value for key, value in told.items() if key != "reason"}


def _hash(before: str, entry: TrailEntry) -> str:
    told = [before, entry.number, _moment(entry.at), entry.who, entry.action, entry.project, entry.details]
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _moment(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


def _head(rows: Iterable[Row[Any]]) -> tuple[int, str]:
    return next(((row.number, row.hash) for row in rows), (0, ""))


def _entry(row: Row[Any]) -> TrailEntry:
    return TrailEntry(**row._mapping)
