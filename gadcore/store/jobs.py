"""Rows of the jobs table: every long piece of work, from the queue to its outcome."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.sql.functions import max as largest

from gadcore.errors import NotFound, RunError
from gadcore.store.database import Database
from gadcore.store.schema import jobs, now, progress, runs
from gadcore.store.trail import Trail
from gadcore.store.webhooks import RUN_ENDED, WATCHED_ROSE, Deliveries

LIVE = ("queued", "running")
HOST = socket.gethostname()


class JobRows:
    """Jobs with and without a project; a status changes only from the one it is expected to have.

    ``payload``, ``progress`` and ``result`` are JSON; large arrays travel as files.
    """

    def __init__(self, database: Database, trail: Trail, deliveries: Deliveries) -> None:
        self._database, self._trail, self._deliveries = database, trail, deliveries

    def add(
        self,
        kind: str,
        payload: dict[str, Any],
        project_id: str | None = None,
        *,
        alone: bool = False,
        job_id: str | None = None,
    ) -> str:
        """Queue a job, once: an equal one that is not finished is returned instead.

        ``alone``: RunError while the project has any other of this kind. With ``job_id`` it is taken at once
        by this process, which holds its lock; it never waits in the queue.
        """
        live = jobs.c.status.in_(LIVE)
        query = select(jobs).where(jobs.c.project_id == project_id, jobs.c.kind == kind, live)
        with self._database.writing():
            for row in self._database.rows(query):
                if alone:
                    raise RunError(f"A {kind} of this project is running. Wait for its end, or stop it.")
                if row.payload == payload:
                    return str(row.id)
            return self.insert(kind, payload, project_id, job_id)

    def insert(self, kind: str, payload: dict[str, Any], project_id: str | None, job_id: str | None) -> str:
        """Write the row of a new job and return its id; one that has its id already is taken at once."""
        columns = _taken() | {"attempts": 1} if job_id else {"status": "queued", "attempts": 0}
        job_id = job_id or uuid.uuid4().hex
        row = {"id": job_id, "project_id": project_id, "kind": kind, "payload": payload, "progress": {}}
        with self._database.writing():
            turn = (self._database.scalar(select(largest(jobs.c.turn))) or 0) + 1
            self._database.change(insert(jobs).values(**row, **columns, turn=turn, created_at=now()))
        return job_id

    def get(self, job_id: str) -> Row[Any]:
        for row in self._database.rows(select(jobs).where(jobs.c.id == job_id)):
            return row
        raise NotFound(f"There is no job {job_id!r}; its project may have been deleted.")

    def queued(self, kinds: Iterable[str]) -> list[Row[Any]]:
        """Jobs of some kinds that wait for a worker, oldest first."""
        waiting = select(jobs).where(jobs.c.kind.in_(list(kinds)), jobs.c.status == "queued")
        return self._database.rows(waiting.order_by(jobs.c.turn))

    def running(self, project_id: str | None) -> list[Row[Any]]:
        """Jobs of a project, or of none, that a process has taken."""

        def read() -> list[Row[Any]]:
            running = (jobs.c.project_id == project_id, jobs.c.status == "running")
            return self._database.rows(select(jobs).where(*running))

        return self._database.once(("running", project_id), read)

    def live(self, kind: str) -> list[Row[Any]]:
        """Jobs of a kind that have not ended."""
        return self._database.rows(select(jobs).where(jobs.c.kind == kind, jobs.c.status.in_(LIVE)))

    def of_project(self, project_id: str, kind: str) -> list[Row[Any]]:
        """Jobs of a project, newest first."""
        query = select(jobs).where(jobs.c.project_id == project_id, jobs.c.kind == kind)
        return self._database.rows(query.order_by(jobs.c.turn.desc()))

    def claim(self, job_id: str) -> bool:
        """Take a queued job for this process; False when another was quicker or it was cancelled."""
        return self.change(job_id, ("queued",), **_taken(), attempts=jobs.c.attempts + 1)

    def beat(
        self, job_id: str, so_far: dict[str, Any] | None = None, epochs: Iterable[dict[str, Any]] = ()
    ) -> bool:
        """Heartbeat, with the progress so far and new epochs of a run; True asks the job to stop."""
        rows = [{**row, "run_id": job_id} for row in epochs]
        news = {} if so_far is None else {"progress": so_far}
        with self._database.writing():
            kept = self.change(job_id, ("running",), heartbeat_at=now(), **news)
            if kept and rows:
                self._database.change(insert(progress), rows)
        return not kept or self.cancelled(job_id)

    def cancelled(self, job_id: str) -> bool:
        """Whether a stop was asked for, or the job is gone."""
        flag = self._database.scalar(select(jobs.c.cancel).where(jobs.c.id == job_id))
        return flag is None or bool(flag)

    def cancel(self, job_id: str) -> None:
        """Ask a live job to stop; a queued one is cancelled at once."""
        if not self.change(job_id, ("queued",), status="cancelled", ended_at=now(), cancel=True):
            self.change(job_id, ("running",), cancel=True)

    def finish(self, job_id: str, status: str, **values: Any) -> bool:
        """End a live job with its outcome; False when somebody has ended it already."""
        return self.change(job_id, LIVE, status=status, ended_at=now(), **values)

    def change(self, job_id: str, expected: tuple[str, ...], **values: Any) -> bool:
        """Fill columns of a job that has one of the expected statuses; False when it has not."""
        query = update(jobs).where(jobs.c.id == job_id, jobs.c.status.in_(expected)).values(**values)
        with self._database.writing():
            changed = bool(self._database.change(query))
            if changed and values.get("status", LIVE[0]) not in LIVE:
                self._tell_of_run(job_id, values["status"])
        return changed

    def _tell_of_run(self, job_id: str, status: str) -> None:
        """Write into the trail how a run has ended, and tell those who want to hear of it."""
        wanted = (jobs.c.project_id, jobs.c.message, runs.c.number, runs.c.model)
        own = select(*wanted).join(runs, runs.c.id == jobs.c.id)
        for row in self._database.rows(own.where(jobs.c.id == job_id)):
            self._trail.add(f"run {status}", "", row.project_id, run=job_id, number=row.number)
            run = {"id": job_id, "number": row.number, "model": row.model, "status": status}
            told = {"run": {**run, "message": row.message or ""}}
            self._deliveries.tell(self, row.project_id, RUN_ENDED, told)

    def tell_of_rise(self, project_id: str, node_id: str, *, before: int, rank: int, run: str) -> int:
        """Tell that a watched node has risen in a run; returns how many addresses wanted to hear of it."""
        told = {"node_id": node_id, "before": before, "rank": rank, "run": run}
        return self._deliveries.tell(self, project_id, WATCHED_ROSE, told)

    def remove(self, job_id: str) -> None:
        self._database.change(delete(jobs).where(jobs.c.id == job_id))


def _taken() -> dict[str, Any]:
    """Columns of a job that this process has just taken."""
    return {"status": "running", "started_at": (moment := now()), "heartbeat_at": moment, "host": HOST}
