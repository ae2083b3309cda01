"""Rows of the runs table: queue, claim, progress, heartbeat, outcome."""

from __future__ import annotations

import os
import socket
import uuid
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, select, update

from gadcore.errors import NotFound
from gadcore.graph.labels import Labels
from gadcore.records import RunInfo
from gadcore.store.database import Database
from gadcore.store.schema import now, progress, projects, runs

LIVE = ("queued", "running")
HOST = socket.gethostname()


class RunRows:
    """Runs of all projects; a status changes only from the one it is expected to have."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, project_id: str, values: dict[str, Any]) -> RunInfo:
        """Queue a run, with the next number of its project."""
        return self._add(project_id, uuid.uuid4().hex, {"status": "queued", **values})

    def add_claimed(self, project_id: str, run_id: str, values: dict[str, Any]) -> RunInfo:
        """A run that this process carries out at once; it never waits in the queue."""
        return self._add(project_id, run_id, values | _taken(values["device"]))

    def _add(self, project_id: str, run_id: str, values: dict[str, Any]) -> RunInfo:
        with self._database.writing() as connection:
            last = connection.execute(
                select(func.max(runs.c.number)).where(runs.c.project_id == project_id)
            ).scalar()
            row = {"id": run_id, "project_id": project_id, "number": (last or 0) + 1, "created_at": now()}
            connection.execute(insert(runs).values(**row, versions={}, **values))
        return self.get(run_id)

    def get(self, run_id: str) -> RunInfo:
        """A run by id; NotFound otherwise."""
        found = self._infos(_query().where(runs.c.id == run_id))
        if not found:
            raise NotFound(f"There is no run {run_id!r}. It may have been deleted; list them with: runs.")
        return found[0]

    def of_project(self, project_id: str, *statuses: str) -> list[RunInfo]:
        """Runs of a project, newest first; only those with the given statuses, if any are given."""
        query = _query().where(runs.c.project_id == project_id).order_by(runs.c.number.desc())
        return self._infos(query.where(runs.c.status.in_(statuses)) if statuses else query)

    def done_ids(self, project_id: str, fingerprint: str) -> list[str]:
        """Ids of the runs on this graph that ended well, oldest first."""
        same = (runs.c.project_id == project_id, runs.c.graph_fingerprint == fingerprint)
        query = select(runs.c.id).where(*same, runs.c.status == "done").order_by(runs.c.number)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def queued(self) -> list[RunInfo]:
        """What waits for a worker, oldest first."""
        return self._infos(_query().where(runs.c.status == "queued").order_by(runs.c.created_at))

    def row(self, run_id: str) -> Row[Any]:
        """All columns, also those that RunInfo leaves out: warm, cancel, pid, host, heartbeat_at."""
        with self._database.reading() as connection:
            row = connection.execute(select(runs).where(runs.c.id == run_id)).first()
        if row is None:
            raise NotFound(f"There is no run {run_id!r}.")
        return row

    def claim(self, run_id: str, device: str) -> bool:
        """Take a queued run for this process; False when another was quicker or it was cancelled."""
        return self._change(run_id, ("queued",), **_taken(device))

    def describe(self, run_id: str, **values: Any) -> bool:
        """Fill columns of a running run."""
        return self._change(run_id, ("running",), **values)

    def snapshot(self, run_id: str, labels: Labels, label_hash: str) -> None:
        """Write down the label set that the run is trained on."""
        counts = {name: len(getattr(labels, name)) for name in ("normal", "anomalous", "unsure")}
        self._change(run_id, LIVE, label_hash=label_hash, **counts)

    def beat(self, run_id: str, reported: Iterable[dict[str, Any]] = ()) -> bool:
        """Heartbeat with the epochs reported since the last one; True asks the run to stop."""
        rows = [{**row, "run_id": run_id} for row in reported]
        values: dict[str, Any] = {"heartbeat_at": now()}
        if rows:
            last = rows[-1]
            values |= {key: last[key] for key in ("epoch", "epochs", "loss", "stage")}
            aucs = [row["auc"] for row in rows if row["auc"] is not None]
            values |= {"auc": aucs[-1]} if aucs else {}
        with self._database.writing() as connection:
            kept = connection.execute(
                update(runs).where(runs.c.id == run_id, runs.c.status == "running").values(values)
            ).rowcount
            if kept and rows:
                connection.execute(insert(progress), rows)
        return not kept or self.cancelled(run_id)

    def cancelled(self, run_id: str) -> bool:
        """Whether a stop was asked for, or the run is gone."""
        with self._database.reading() as connection:
            flag = connection.execute(select(runs.c.cancel).where(runs.c.id == run_id)).scalar()
        return flag is None or bool(flag)

    def finish(self, run_id: str, status: str, *, use_for: str | None = None, **values: Any) -> bool:
        """End a live run with its outcome; False when somebody has ended it already.

        ``use_for`` names the project that shows the run's scores from now on, in the same transaction; a run
        that is not ``for_use`` takes that place only if it is empty.
        """
        moment = now()
        query = update(runs).where(runs.c.id == run_id, runs.c.status.in_(LIVE))
        with self._database.writing() as connection:
            began = connection.execute(select(runs.c.started_at).where(runs.c.id == run_id)).scalar()
            seconds = (moment - began).total_seconds() if began else None
            ended = connection.execute(
                query.values(status=status, ended_at=moment, seconds=seconds, **values)
            ).rowcount
            if ended and use_for:
                asked = select(runs.c.for_use).where(runs.c.id == run_id).scalar_subquery()
                place = update(projects).where(projects.c.id == use_for)
                free = asked | projects.c.run_in_use.is_(None)
                connection.execute(place.where(free).values(run_in_use=run_id))
                connection.execute(delete(progress).where(progress.c.run_id == run_id))  # in history.json
        return bool(ended)

    def cancel(self, run_id: str) -> None:
        """Ask a live run to stop; a queued one is cancelled at once."""
        if not self._change(run_id, ("queued",), status="cancelled", ended_at=now(), cancel=True):
            self._change(run_id, ("running",), cancel=True)

    def remove(self, run_id: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(progress).where(progress.c.run_id == run_id))
            connection.execute(delete(runs).where(runs.c.id == run_id))

    def progress_of(self, run_id: str) -> list[dict[str, Any]]:
        """Reported epochs of a run that has not ended well, oldest first."""
        columns = (progress.c.epoch, progress.c.epochs, progress.c.loss, progress.c.auc, progress.c.stage)
        query = select(*columns).where(progress.c.run_id == run_id).order_by(progress.c.id)
        with self._database.reading() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]

    def heartbeat_age(self, run_id: str) -> timedelta:
        """Time since the executing process last gave a sign of life."""
        beat = self.row(run_id).heartbeat_at
        return timedelta.max if beat is None else now() - beat

    def _change(self, run_id: str, expected: tuple[str, ...], **values: Any) -> bool:
        query = update(runs).where(runs.c.id == run_id, runs.c.status.in_(expected)).values(**values)
        with self._database.writing() as connection:
            return bool(connection.execute(query).rowcount)

    def _infos(self, query: Select[Any]) -> list[RunInfo]:
        with self._database.reading() as connection:
            return [_info(row) for row in connection.execute(query)]


def _taken(device: str) -> dict[str, Any]:
    """Columns of a run that this process has just taken."""
    return {
        "status": "running",
        "started_at": (moment := now()),
        "heartbeat_at": moment,
        "pid": os.getpid(),
        "host": HOST,
        "device": device,
        "stage": "loading",
    }


def _query() -> Select[Any]:
    return select(runs, projects.c.run_in_use).join(projects, projects.c.id == runs.c.project_id)


_SAME = tuple(
    name for name in RunInfo.__dataclass_fields__ if name in runs.c and name not in ("params", "versions")
)


def _info(row: Row[Any]) -> RunInfo:
    same = {name: getattr(row, name) for name in _SAME}
    return RunInfo(
        **same,
        project=row.project_id,
        params=row.params or {},
        versions=row.versions or {},
        in_use=row.run_in_use == row.id,
    )
