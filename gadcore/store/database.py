"""The connection to the store: SQLite in WAL mode by default, any SQLAlchemy URL by setting.

Several threads and processes use one database at once. Reads never wait; writes queue for at most
``BUSY_SECONDS``. A write transaction takes the write lock when it begins, so that what it reads stays true.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError, SQLAlchemyError

from gadcore.errors import StoreError
from gadcore.store.migrations import migrate

BUSY_SECONDS = 20
_OPENING = threading.Lock()
_OPEN: dict[str, Database] = {}


class Database:
    """An engine with ``reading()`` and ``writing()`` transactions; the schema is up to date."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._engine = _engine(url)
        self._writer = self._engine.execution_options(sqlite_begin="BEGIN IMMEDIATE")
        try:
            with self.writing() as connection:
                migrate(connection)
        except StoreError:
            self._engine.dispose()
            raise

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database."""
        with _plain_errors(self.url), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, or undone by an error."""
        with _plain_errors(self.url), self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        self._engine.dispose()


def open_database(url: str) -> Database:
    """The database behind a URL, opened once per process."""
    with _OPENING:
        if url not in _OPEN:
            _OPEN[url] = Database(url)
        return _OPEN[url]


def close_databases() -> None:
    """Close every open database of this process (its files may then be moved or deleted)."""
    with _OPENING:
        while _OPEN:
            _OPEN.popitem()[1].close()


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
        raise StoreError(
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
