"""Addresses that are told of events, and what was sent there.

A delivery is written in the transaction of its event, with a job that sends it: neither is lost when a
process ends. The job ends only when nothing waits, in one transaction, so that none is left without a job.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Row, delete, func, insert, select, update

from gadcore.errors import NotFound
from gadcore.records import as_json
from gadcore.store.database import Database
from gadcore.store.schema import deliveries, jobs, now, projects, webhooks
from gadcore.store.trail import Trail

if TYPE_CHECKING:
    from gadcore.store.jobs import JobRows

RUN_ENDED, WATCHED_ROSE = "run-ended", "watched-rose"
EVENTS = (RUN_ENDED, WATCHED_ROSE)
KIND = "deliver"  # of the job
_LIVE = ("queued", "running")
KEPT = 1000  # deliveries of an address; older ones are thrown away


class Webhooks:
    """Addresses by project and event; ``by`` names who changes them."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail

    def add(self, project_id: str, event: str, url: str, secret: str, *, by: str, **more: Any) -> int:
        """Keep an address; ``more`` has ``private`` and ``top``. Returns its number."""
        row = {"project_id": project_id, "event": event, "url": url, "secret": secret, "created_at": now()}
        with self._database.writing() as connection:
            done = connection.execute(insert(webhooks).values(**row, **more))
            self._trail.add("webhook added", by, project_id, url=url, event=event, **more)
        return int(done.inserted_primary_key[0]) if done.inserted_primary_key else 0

    def all(self) -> list[Row[Any]]:
        """Every address with the name of its project."""
        joined = webhooks.join(projects, projects.c.id == webhooks.c.project_id)
        query = select(webhooks, projects.c.name.label("project")).select_from(joined)
        return self._database.rows(query.order_by(webhooks.c.id))

    def remove(self, number: int, *, by: str) -> None:
        """Remove an address with its deliveries; NotFound without it."""
        with self._database.writing():
            found = self._database.rows(select(webhooks).where(webhooks.c.id == number))
            if not found:
                raise NotFound(f"There is no webhook {number}. List them with: ringfence webhook list.")
            self._database.change(delete(webhooks).where(webhooks.c.id == number))
            self._trail.add("webhook removed", by, found[0].project_id, url=found[0].url)


class Deliveries:
    """What is to be sent, and what became of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tell(self, job_rows: JobRows, project_id: str, event: str, told: dict[str, Any]) -> int:
        """Write an event down for every address that wants it, and have it sent; returns for how many."""
        query = select(webhooks.c.id).where(webhooks.c.project_id == project_id, webhooks.c.event == event)
        if event == WATCHED_ROSE:  # it has come from below the rank that was asked for
            query = query.where(webhooks.c.top >= told["rank"], webhooks.c.top < told["before"])
        with self._database.writing():
            found = [row.id for row in self._database.rows(query)]
            if found:
                name = self._database.scalar(select(projects.c.name).where(projects.c.id == project_id))
                about = {"event": event, "at": now(), "project": {"id": project_id, "name": name}, **told}
                self._add(found, as_json(about))
                self._database.change(delete(jobs).where(jobs.c.kind == KIND, jobs.c.status.not_in(_LIVE)))
                job_rows.add(KIND, {})
        return len(found)

    def _add(self, webhook_ids: list[int], body: dict[str, Any]) -> None:
        row = {"body": body, "status": "waiting", "attempts": 0, "answer": ""}
        row |= {"created_at": now(), "due_at": now()}
        self._database.change(insert(deliveries), [{**row, "webhook_id": each} for each in webhook_ids])
        for each in webhook_ids:
            own = deliveries.c.webhook_id == each
            oldest = select(func.max(deliveries.c.id)).where(own).scalar_subquery() - KEPT
            self._database.change(delete(deliveries).where(own, deliveries.c.id <= oldest))

    def due(self) -> list[Row[Any]]:
        """What is to be sent now, oldest first, each with its address."""
        wanted = (webhooks.c.url, webhooks.c.secret, webhooks.c.private)
        query = select(deliveries, *wanted).join(webhooks, webhooks.c.id == deliveries.c.webhook_id)
        query = query.where(deliveries.c.status == "waiting", deliveries.c.due_at <= now())
        return self._database.rows(query.order_by(deliveries.c.id).limit(50))

    def ended(self, number: int, status: str, answer: str) -> None:
        """It was delivered, or given up."""
        self._change(number, status=status, answer=answer, ended_at=now())

    def put_off(self, number: int, due_at: datetime, answer: str) -> None:
        """It could not be sent, and is tried again then."""
        self._change(number, due_at=due_at, answer=answer)

    def _change(self, number: int, **values: Any) -> None:
        attempts = deliveries.c.attempts + 1
        self._database.change(
            update(deliveries).where(deliveries.c.id == number).values(attempts=attempts, **values)
        )

    def end_job(self, job_id: str) -> bool:
        """End the job that sends, unless something waits."""
        with self._database.writing():
            waits = select(func.count()).select_from(deliveries).where(deliveries.c.status == "waiting")
            if self._database.scalar(waits):
                return False
            done = {"status": "done", "ended_at": now()}
            self._database.change(update(jobs).where(jobs.c.id == job_id).values(done))
        return True

    def newest(self, n: int) -> list[Row[Any]]:
        """The last ``n`` deliveries, newest first, each with its address."""
        query = select(deliveries, webhooks.c.url).join(webhooks, webhooks.c.id == deliveries.c.webhook_id)
        return self._database.rows(query.order_by(deliveries.c.id.desc()).limit(n))
