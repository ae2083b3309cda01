"""Rows of the runs table, each joined with its job, which has the same id and tells how it goes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, select, update

from gadcore.errors import NotFound
from gadcore.graph.labels import Labels
from gadcore.records import RunInfo
from gadcore.store.database import Database
from gadcore.store.jobs import JobRows
from gadcore.store.schema import jobs, progress, projects, runs

# What the job of a run says of its progress before it has begun.
START: dict[str, Any] = {"epoch": 0, "epochs": 0, "stage": "", "loss": None, "auc": None}


class RunRows:
    """Runs of all projects."""

    def __init__(self, database: Database, job_rows: JobRows) -> None:
        self._database, self._jobs = database, job_rows

    def add(
        self, project_id: str, values: dict[str, Any], *, warm: bool = True, job_id: str | None = None
    ) -> RunInfo:
        """Queue a run, with the next number of its project; ``warm``: it may start from the run in use.

        With ``job_id`` it is taken at once by this process, as in ``JobRows.add``.
        """
        last = select(func.max(runs.c.number)).where(runs.c.project_id == project_id)
        with self._database.writing():
            number = (self._database.scalar(last) or 0) + 1
            run_id = self._jobs.insert("train", {"warm": warm}, project_id, job_id)
            row = {"id": run_id, "project_id": project_id, "number": number}
            self._database.change(insert(runs).values(**row, versions={}, **values))
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
        return self._infos(query.where(jobs.c.status.in_(statuses)) if statuses else query)

    def done_ids(self, project_id: str, fingerprint: str) -> list[str]:
        """Ids of the runs on this graph that ended well, oldest first."""
        same = (runs.c.project_id == project_id, runs.c.graph_fingerprint == fingerprint)
        query = select(runs.c.id).join(jobs, jobs.c.id == runs.c.id).where(*same, jobs.c.status == "done")
        return [row.id for row in self._database.rows(query.order_by(runs.c.number))]

    def snapshot(self, run_id: str, labels: Labels, label_hash: str) -> None:
        """Write down the label set that the run is trained on."""
        counts = {name: len(getattr(labels, name)) for name in ("normal", "anomalous", "unsure")}
        this = update(runs).where(runs.c.id == run_id)
        self._database.change(this.values(label_hash=label_hash, **counts))

    def finish(self, run_id: str, so_far: dict[str, Any] | None = None, **columns: Any) -> bool:
        """End a run well; False when somebody has ended it already.

        In the same transaction the project shows its scores from now on; those of a run that is not
        ``for_use`` only if it shows none.
        """
        this = runs.c.id == run_id
        with self._database.writing() as connection:
            if not self._jobs.finish(run_id, "done", progress={**START, **(so_far or {})}):
                return False
            if columns:
                connection.execute(update(runs).where(this).values(**columns))
            own = select(runs.c.project_id).where(this).scalar_subquery()
            asked = select(runs.c.for_use).where(this).scalar_subquery()
            place = update(projects).where(projects.c.id == own, asked | projects.c.run_in_use.is_(None))
            connection.execute(place.values(run_in_use=run_id))
            connection.execute(delete(progress).where(progress.c.run_id == run_id))  # in history.json
        return True

    def remove(self, run_id: str) -> None:
        with self._database.writing():
            self._database.change(delete(runs).where(runs.c.id == run_id))
            self._jobs.remove(run_id)

    def progress_of(self, run_id: str) -> list[dict[str, Any]]:
        """Reported epochs of a run that has not ended well, oldest first."""
        columns = (progress.c.epoch, progress.c.epochs, progress.c.loss, progress.c.auc, progress.c.stage)
        query = select(*columns).where(progress.c.run_id == run_id).order_by(progress.c.id)
        return [dict(row._mapping) for row in self._database.rows(query)]

    def _infos(self, query: Select[Any]) -> list[RunInfo]:
        return [_info(row) for row in self._database.rows(query)]


def _query() -> Select[Any]:
    joined = runs.join(jobs, jobs.c.id == runs.c.id).join(projects, projects.c.id == runs.c.project_id)
    of_job = (jobs.c.status, jobs.c.started_at, jobs.c.ended_at, jobs.c.message, jobs.c.progress)
    return select(runs, *of_job, projects.c.run_in_use).select_from(joined)


def _info(row: Row[Any]) -> RunInfo:
    told = dict(row._mapping)
    used, began, ended = told.pop("run_in_use"), row.started_at, row.ended_at
    return RunInfo(
        **START | (told.pop("progress") or {}),
        **told | {"project": told.pop("project_id")},
        seconds=(ended - began).total_seconds() if began and ended else None,
        in_use=used == row.id,
    )
