"""The connection to the store: SQLite in WAL mode by default, any SQLAlchemy URL by setting.

Several threads and processes use one database at once. Reads never wait; writes queue for at most
``BUSY_SECONDS``. A write transaction takes the write lock when it begins, so that what it reads stays true.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Executable, Row, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from gadcore.errors import StoreError, Unavailable
from gadcore.store.folders import Folders
from gadcore.store.migrations import migrate

BUSY_SECONDS = 20


class Database:
    """An engine with ``reading()`` and ``writing()`` transactions; the schema is up to date."""

    def __init__(self, url: str, folders: Folders) -> None:
        self.url = url
        self._engine = _engine(url)
        self._writer = self._engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")
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
        if (joined := self._joined()) is not None:
            yield joined
            return
        with _plain_errors(self.url), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, or undone by an error.

        One that begins within another of the same thread is a part of it: they happen together or not at all.
        """
        if (joined := self._joined()) is not None:
            yield joined
            return
        with _plain_errors(self.url), self._writer.begin() as connection:
            self._thread.connection = connection
            try:
                yield connection
            finally:
                self._thread.connection = None

    def _joined(self) -> Connection | None:
        """The write transaction that this thread is in, if any."""
        found: Connection | None = getattr(self._thread, "connection", None)
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


def _engine(url: str) -> Engine:
    try:
        parsed = make_url(url)
        sqlite = parsed.get_backend_name() == "sqlite"
        if sqlite and parsed.database and parsed.database != ":memory:":
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        options: dict[str, Any] = {"pool_size": 8, "max_overflow": 32} if sqlite else {"pool_pre_ping": True}
        engine = create_engine(parsed, **options)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise StoreError(
            f"The store URL {_shown(url)!r} cannot be used ({error}). Expected: a SQLAlchemy URL such as "
            "sqlite:////folder/ringfence.sqlite or postgresql+psycopg://host/name, with its driver installed."
        ) from error
    except OSError as error:
        raise StoreError(
            f"The folder of the database cannot be made ({error}). Set GAD_HOME to a writable folder."
        ) from error
    if sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins nothing on its own; _begin_sqlite does
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("sqlite_begin", "BEGIN"))


@contextmanager
def _plain_errors(url: str) -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise Unavailable(
            f"The database {_shown(url)} does not answer ({error.orig}). "
            "Check that its folder is writable, that the disk is not full and that no other program locks it."
        ) from error
    except SQLAlchemyError as error:
        raise StoreError(f"The database {_shown(url)} refused: {error}") from error


def _shown(url: str) -> str:
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return "(unreadable)"
