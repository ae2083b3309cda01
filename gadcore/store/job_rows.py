"""Rows of the jobs table: work for a worker process that is no training run."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import Row, delete, insert, select, update

from gadcore.errors import NotFound
from gadcore.store.database import Database
from gadcore.store.run_rows import HOST
from gadcore.store.schema import jobs, now


class JobRows:
    """Jobs of all projects. ``payload`` and ``result`` are JSON; large arrays travel as files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, project_id: str, kind: str, payload: dict[str, Any]) -> str:
        """Queue a job, once: an equal one that is not finished is returned instead."""
        live = jobs.c.status.in_(("queued", "running"))
        query = select(jobs).where(jobs.c.project_id == project_id, jobs.c.kind == kind, live)
        with self._database.writing() as connection:
            for row in connection.execute(query):
                if row.payload == payload:
                    return str(row.id)
            job_id = uuid.uuid4().hex
            connection.execute(
                insert(jobs).values(
                    id=job_id,
                    project_id=project_id,
                    kind=kind,
                    payload=payload,
                    status="queued",
                    created_at=now(),
                    message="",
                )
            )
        return job_id

    def get(self, job_id: str) -> Row[Any]:
        with self._database.reading() as connection:
            row = connection.execute(select(jobs).where(jobs.c.id == job_id)).first()
        if row is None:
            raise NotFound(f"There is no job {job_id!r}; its project may have been deleted.")
        return row

    def waiting(self, kind: str) -> list[Row[Any]]:
        """Queued jobs of a kind, oldest first."""
        return self._rows(kind, "queued")

    def running(self, kind: str) -> list[Row[Any]]:
        return self._rows(kind, "running")

    def of_project(self, project_id: str, kind: str) -> list[Row[Any]]:
        """Jobs of a project, newest first."""
        query = select(jobs).where(jobs.c.project_id == project_id, jobs.c.kind == kind)
        with self._database.reading() as connection:
            return list(connection.execute(query.order_by(jobs.c.created_at.desc())))

    def claim(self, job_id: str) -> bool:
        """Take a queued job for this process; False when another was quicker."""
        query = update(jobs).where(jobs.c.id == job_id, jobs.c.status == "queued")
        with self._database.writing() as connection:
            return bool(connection.execute(query.values(status="running", host=HOST)).rowcount)

    def finish(self, job_id: str, status: str, *, message: str = "", result: Any = None) -> None:
        query = update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(("queued", "running")))
        values = {"status": status, "ended_at": now(), "message": message, "result": result}
        with self._database.writing() as connection:
            connection.execute(query.values(values))

    def remove(self, job_id: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(jobs).where(jobs.c.id == job_id))

    def _rows(self, kind: str, status: str) -> list[Row[Any]]:
        query = select(jobs).where(jobs.c.kind == kind, jobs.c.status == status)
        with self._database.reading() as connection:
            return list(connection.execute(query.order_by(jobs.c.created_at)))
