"""The connection to the store: SQLite in WAL mode by default, PostgreSQL by setting.

Several threads and processes use one database at once. Reads never wait; writes queue for at most
``BUSY_SECONDS``. A write transaction takes the one write lock when it begins, so that what it reads stays
true: SQLite has such a lock, PostgreSQL is given one. What is committed is on the disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import (
    ArgumentError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
    TimeoutError,
)

from gadcore.errors import StoreError, Unavailable
from gadcore.store.folders import Folders
from gadcore.store.migrations import migrate

BUSY_SECONDS = 20

T = TypeVar("T")


class Database:
    """An engine with ``reading()`` and ``writing()`` transactions; the schema is up to date."""

    def __init__(self, url: str, folders: Folders) -> None:
        self.url = url
        self._engine = make_engine(url)
        self._writer = self._engine.execution_options(writes=True)
        self._thread = threading.local()
        try:
            with self.writing() as connection:
                migrate(connection, folders)
        except StoreError:
            self._engine.dispose()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database; within ``writing``, that transaction."""
        joined = self._of_thread("connection") or self._of_thread("snapshot")
        if joined is not None:
            yield joined
            return
        with plain_errors(self.url), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """One state of the database for all reading of this thread within."""
        with self.reading() as connection:
            self._thread.snapshot = connection
            try:
                yield connection
            finally:
                self._thread.snapshot = None

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """What this thread reads by ``once`` within holds to the end, or until it writes something."""
        self._thread.read = {}
        try:
            yield
        finally:
            self._thread.read = None

    def once(self, key: Hashable, read: Callable[[], T]) -> T:
        """What ``read`` finds; within ``remembering`` it is asked once for each key."""
        known: dict[Hashable, Any] | None = getattr(self._thread, "read", None)
        if known is None or self._of_thread("connection") is not None:
            return read()
        if key not in known:
            known[key] = read()
        found: T = known[key]
        return found

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, or undone by an error.

        One that begins within another of the same thread is a part of it: they happen together or not at all.
        """
        if (joined := self._of_thread("connection")) is not None:
            yield joined
            return
        with plain_errors(self.url), self._writer.begin() as connection:
            self._thread.connection = connection
            try:
                yield connection
            finally:
                self._thread.connection = None
                if getattr(self._thread, "read", None):
                    self._thread.read = {}

    def _of_thread(self, kind: str) -> Connection | None:
        """The write transaction (``connection``) or the ``snapshot`` that this thread is in, if any."""
        found: Connection | None = getattr(self._thread, kind, None)
        return found

    def rows(self, query: Executable) -> list[Row[Any]]:
        """What a query finds; within ``writing``, as that transaction sees it."""
        with self.reading() as connection:
            return list(connection.execute(query))

    def scalar(self, query: Executable) -> Any:
        """The first value of the first row that a query finds, or None."""
        return next((row[0] for row in self.rows(query)), None)

    def change(self, statement: Executable, rows: Sequence[dict[str, Any]] | None = None) -> int:
        """Carry out a statement as ``writing`` would; returns how many rows it touched."""
        with self.writing() as connection:
            return connection.execute(statement, rows).rowcount

    def close(self) -> None:
        """Close it: its files may then be moved or deleted."""
        self._engine.dispose()


def make_engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        backend = parsed.get_backend_name()
        if backend not in _BEGIN:
            raise ArgumentError(f"{backend} is no database that is tested")
        if backend == "sqlite" and parsed.database and parsed.database != ":memory:":
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed, **_OPTIONS[backend], hide_parameters=True)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise StoreError(
            f"The store URL {_shown(url)!r} cannot be used ({error}). Expected: a SQLAlchemy URL such as "
            "sqlite:////folder/ringfence.sqlite or postgresql+psycopg://host/name, with its driver installed "
            "(pip install 'ringfence[postgres]')."
        ) from error
    except OSError as error:
        raise StoreError(
            f"The folder of the database cannot be made ({error}). Set GAD_HOME to a writable folder."
        ) from error
    if backend == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _BEGIN[backend])
    return engine


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins nothing on its own; _begin_sqlite does
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")  # a commit returns when it is on the disk
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE" if _writes(connection) else "BEGIN")


def _begin_postgres(connection: Connection) -> None:
    """Take the write lock of this schema, or see one state of the database throughout."""
    if not _writes(connection):
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = {BUSY_SECONDS * 1000}")
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock(hashtext('ringfence'), hashtext(current_schema()))"
    )


def _writes(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get("writes"))


_BEGIN = {"sqlite": _begin_sqlite, "postgresql": _begin_postgres}
_OPTIONS: dict[str, dict[str, Any]] = {
    "sqlite": {"pool_size": 8, "max_overflow": 32},
    "postgresql": {"pool_size": 8, "max_overflow": 32, "pool_pre_ping": True},
}


@contextmanager
def plain_errors(url: str) -> Iterator[None]:
    """Errors of the database in one line, without the statement and without what was to be stored."""
    try:
        yield
    except (OperationalError, TimeoutError) as error:
        raise Unavailable(
            f"The database {_shown(url)} does not answer ({_cause(error)}). "
            "Check that its folder is writable, that the disk is not full and that no other program locks it."
        ) from error
    except SQLAlchemyError as error:
        raise StoreError(f"The database {_shown(url)} refused: {_cause(error)}") from error


def _cause(error: SQLAlchemyError) -> str:
    """What the driver said, up to the details: those name values of rows."""
    said = str(getattr(error, "orig", None) or error).strip()
    return said.splitlines()[0] if said else type(error).__name__


def _shown(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(unreadable)"
