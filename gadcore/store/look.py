"""A look at a database that changes nothing: not its tables, and it makes none."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from gadcore.store.database import make_engine, plain_errors
from gadcore.store.migrations import version_of
from gadcore.store.schema import VERSION, jobs, now, trail, users


@dataclass(frozen=True)
class Seen:
    """What a database says of itself."""

    kind: str  # sqlite or postgresql
    release: tuple[int, ...]
    schema: int  # 0: it is empty
    seconds: float  # that it took to answer
    unsafe: tuple[str, ...]  # settings by which a commit may be lost
    clock: datetime  # its own
    latest: datetime | None = None  # of the newest entry of the trail
    waiting: int = 0  # jobs
    users: int = 0


def look(url: str) -> Seen | None:
    """What is found at a store URL; None where no SQLite file is yet. StoreError if it does not answer."""
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").is_file():
            return None
    except ArgumentError:
        pass  # make_engine says it in plain words
    engine, began = make_engine(url), time.monotonic()
    try:
        with plain_errors(url), engine.connect() as connection:
            return _seen(connection, began)
    finally:
        engine.dispose()


def _seen(connection: Connection, began: float) -> Seen:
    kind, schema = connection.dialect.name, version_of(connection)
    seconds = time.monotonic() - began
    clock = connection.scalar(select(func.now())) if kind == "postgresql" else now()
    release = tuple(part for part in connection.dialect.server_version_info or () if isinstance(part, int))
    rows = _rows(connection) if schema == VERSION else (None, 0, 0)  # older tables may differ
    return Seen(kind, release, schema, seconds, _unsafe(connection), clock or now(), *rows)


def _rows(connection: Connection) -> tuple[datetime | None, int, int]:
    """Time of the newest entry of the trail, jobs that wait, users."""
    latest = select(trail.c.at).order_by(trail.c.number.desc()).limit(1)
    waiting = select(func.count()).select_from(jobs).where(jobs.c.status == "queued")
    people = select(func.count()).select_from(users)
    return (
        connection.scalar(latest),
        int(connection.scalar(waiting) or 0),
        int(connection.scalar(people) or 0),
    )


def _unsafe(connection: Connection) -> tuple[str, ...]:
    """Settings of the database by which what was committed may not be on the disk."""
    if connection.dialect.name == "sqlite":
        mode = str(connection.exec_driver_sql("PRAGMA journal_mode").scalar_one())
        return () if mode in ("wal", "memory") else (f"journal_mode={mode}",)
    asked = ("fsync", "synchronous_commit", "full_page_writes")
    found = {name: connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in asked}
    return tuple(f"{name}={value}" for name, value in found.items() if value == "off")
