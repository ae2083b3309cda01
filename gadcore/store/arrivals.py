"""Files that a watched folder has brought: each is taken once, whatever its name."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, select

from gadcore.store.database import Database
from gadcore.store.schema import arrivals, now


class Arrivals:
    """Files of all projects, by the hash of what is in them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def taken(self, project_id: str, sha256: str) -> bool:
        """Whether a file made a version; one that was put aside may come again."""
        made = (*_this(project_id, sha256), arrivals.c.version.is_not(None))
        return bool(self._database.rows(select(arrivals.c.at).where(*made)))

    def of(self, project_id: str) -> list[Row[Any]]:
        """All of a project, the oldest first."""
        query = select(arrivals).where(arrivals.c.project_id == project_id).order_by(arrivals.c.at)
        return self._database.rows(query)

    def add(self, project_id: str, sha256: str, name: str, version: int | None, reason: str = "") -> None:
        """Keep that a file made a version, or why it could not."""
        row = {"project_id": project_id, "sha256": sha256, "name": name, "version": version}
        refused = (*_this(project_id, sha256), arrivals.c.version.is_(None))
        with self._database.writing() as connection:
            connection.execute(delete(arrivals).where(*refused))
            connection.execute(insert(arrivals).values(**row, reason=reason, at=now()))


def _this(project_id: str, sha256: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return arrivals.c.project_id == project_id, arrivals.c.sha256 == sha256
