"""Addresses that hear of events of a project: named by admins in the shell of the server."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from gadcore.errors import InputError
from gadcore.jobs.deliver import checked_url
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.webhooks import EVENTS, RUN_ENDED, WATCHED_ROSE

__all__ = ["EVENTS", "RUN_ENDED", "WATCHED_ROSE", "Delivery", "Webhook", "add", "every", "log", "remove"]


@dataclass(frozen=True)
class Webhook:
    """An address that hears of an event of a project."""

    number: int
    project: str
    event: str
    url: str
    private: bool
    top: int | None
    created_at: datetime


@dataclass(frozen=True)
class Delivery:
    """What was sent to an address, or is to be."""

    number: int
    url: str
    event: str
    status: str  # waiting, delivered, given up
    attempts: int
    created_at: datetime
    due_at: datetime | None  # of the next attempt
    answer: str  # how the last attempt went


def add(
    settings: Settings, project: str, event: str, url: str, *, private: bool = False, top: int | None = None
) -> tuple[int, str]:
    """Keep an address; its number, and the secret that its receiver checks signatures with."""
    if (event == WATCHED_ROSE) != (top is not None):
        raise InputError(
            f"the event {event} {'with' if top else 'without'} a rank", f"a rank for {WATCHED_ROSE}"
        )
    store, secret = open_store(settings), "whsec_" + secrets.token_urlsafe(32)
    own, kept = store.projects.get(project).id, checked_url(url, private=private)
    more = {"private": private, "top": top}
    return store.webhooks.add(own, event, kept, secret, by=settings.analyst, **more), secret


def every(settings: Settings) -> list[Webhook]:
    """Every address, without its secret."""
    return [
        Webhook(row.id, row.project, row.event, row.url, row.private, row.top, row.created_at)
        for row in open_store(settings).webhooks.all()
    ]


def remove(settings: Settings, number: int) -> None:
    """Remove an address with its deliveries."""
    open_store(settings).webhooks.remove(number, by=settings.analyst)


def log(settings: Settings, n: int = 50) -> list[Delivery]:
    """The last deliveries, newest first."""
    return [
        Delivery(
            number=row.id,
            url=row.url,
            event=str(row.body["event"]),
            status=row.status,
            attempts=row.attempts,
            created_at=row.created_at,
            due_at=row.due_at if row.status == "waiting" else None,
            answer=row.answer,
        )
        for row in open_store(settings).deliveries.newest(n)
    ]
