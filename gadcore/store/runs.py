"""Rows of the runs table, each joined with its job, which has the same id and tells how it goes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, select, update

from gadcore.errors import NotFound
from gadcore.graph.labels import Labels
from gadcore.records import RunInfo
from gadcore.store.database import Database
from gadcore.store.jobs import JobRows
from gadcore.store.schema import jobs, label_events, progress, projects, runs
from gadcore.store.trail import Trail

# What the job of a run says of its progress before it has begun.
START: dict[str, Any] = {"epoch": 0, "epochs": 0, "stage": "", "loss": None, "auc": None}


class RunRows:
    """Runs of all projects."""

    def __init__(self, database: Database, job_rows: JobRows, trail: Trail) -> None:
        self._database, self._jobs, self._trail = database, job_rows, trail

    def add(
        self,
        project_id: str,
        values: dict[str, Any],
        *,
        warm: bool = True,
        carried: str | None = None,
        job_id: str | None = None,
        by: str = "",
    ) -> RunInfo:
        """Queue a run, with the next number of its project; ``warm``: it may start from the run in use.

        ``carried`` is the run whose model scores another version of the graph: nothing is learnt. With
        ``job_id`` it is taken at once by this process, as in ``JobRows.add``.
        """
        last = select(func.max(runs.c.number)).where(runs.c.project_id == project_id)
        with self._database.writing():
            number = (self._database.scalar(last) or 0) + 1
            kind, payload = ("carry", {"of": carried}) if carried else ("train", {"warm": warm})
            run_id = self._jobs.insert(kind, payload, project_id, job_id)
            row = {"id": run_id, "project_id": project_id, "number": number}
            self._database.change(insert(runs).values(**row, versions={}, **values))
            self._trail.add("run started", by, project_id, run=run_id, number=number, model=values["model"])
        return self.get(run_id)

    def get(self, run_id: str) -> RunInfo:
        """A run by id; NotFound otherwise."""
        found = self._database.once(("run", run_id), lambda: self._infos(_query().where(runs.c.id == run_id)))
        if not found:
            raise NotFound(f"There is no run {run_id!r}. It may have been deleted; list them with: runs.")
        return found[0]

    def of_project(self, project_id: str, *statuses: str) -> list[RunInfo]:
        """Runs of a project, newest first; only those with the given statuses, if any are given."""

        def read() -> list[RunInfo]:
            query = _query().where(runs.c.project_id == project_id).order_by(runs.c.number.desc())
            return self._infos(query.where(jobs.c.status.in_(statuses)) if statuses else query)

        return list(self._database.once(("runs", project_id, statuses), read))

    def done_ids(self, project_id: str, fingerprint: str) -> list[str]:
        """Ids of the runs on this graph that ended well, oldest first."""

        def read() -> list[str]:
            same = (runs.c.project_id == project_id, runs.c.graph_fingerprint == fingerprint)
            query = select(runs.c.id).join(jobs, jobs.c.id == runs.c.id).where(*same, jobs.c.status == "done")
            return [row.id for row in self._database.rows(query.order_by(runs.c.number))]

        return list(self._database.once(("done", project_id, fingerprint), read))

    def snapshot(self, run_id: str, labels: Labels, label_hash: str) -> None:
        """Write down the label set that the run is trained on."""
        counts = {name: len(getattr(labels, name)) for name in ("normal", "anomalous", "unsure")}
        this = update(runs).where(runs.c.id == run_id)
        self._database.change(this.values(label_hash=label_hash, **counts))

    def finish(
        self,
        run_id: str,
        so_far: dict[str, Any] | None = None,
        *,
        message: str = "",
        use: bool = True,
        **columns: Any,
    ) -> bool:
        """End a run well; False when somebody has ended it already.

        In the same transaction the project shows its scores from now on; those of a run that is not
        ``for_use``, or not to be used, only if it shows none; those of a run that saw another version of the
        graph never. ``message`` says what is wrong with it.
        """
        this = runs.c.id == run_id
        with self._database.writing() as connection:
            told = {"progress": {**START, **(so_far or {})}, "message": message}
            if not self._jobs.finish(run_id, "done", **told):
                return False
            own = select(runs.c.project_id).where(this).scalar_subquery()
            last = select(func.max(label_events.c.id)).where(label_events.c.project_id == own)
            after = func.coalesce(last.scalar_subquery(), 0)
            connection.execute(update(runs).where(this).values(ended_after=after, **columns))
            asked = select(runs.c.for_use & use).where(this).scalar_subquery()
            saw = select(runs.c.version).where(this).scalar_subquery()
            free = asked | projects.c.run_in_use.is_(None)
            place = update(projects).where(projects.c.id == own, projects.c.version == saw, free)
            connection.execute(place.values(run_in_use=run_id))
            connection.execute(delete(progress).where(progress.c.run_id == run_id))  # in history.json
        return True

    def remove(self, run_id: str, *, by: str = "") -> None:
        run = self.get(run_id)
        with self._database.writing():
            self._trail.add("run deleted", by, run.project, run=run_id, number=run.number)
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
