"""Jobs as those who want them see them: ask, look, wait, stop."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Row

from gadcore.errors import RunError
from gadcore.jobs import workers
from gadcore.jobs.lost import end_if_lost
from gadcore.jobs.registry import KINDS
from gadcore.settings import Settings
from gadcore.store import LIVE, open_store

WAIT = 0.02  # seconds between looks
STOP_SECONDS = 10.0  # until a job that was told to stop is left to itself


def ask(
    settings: Settings, kind: str, payload: dict[str, Any], project: str | None = None, *, alone: bool = False
) -> str:
    """Queue a job and wake its worker; returns its id at once. ``alone`` as in ``JobRows.add``."""
    job_id = open_store(settings).jobs.add(kind, payload, project, alone=alone)
    workers.call(settings, KINDS[kind].lane)
    return job_id


def look(settings: Settings, job_id: str) -> Row[Any]:
    """A job as it stands. One whose process is gone is ended first; one that waits gets a worker."""
    store = open_store(settings)
    row = store.jobs.get(job_id)
    if row.status == "running" and end_if_lost(store, row):
        row = store.jobs.get(job_id)
    if row.status == "queued":
        workers.start(settings, KINDS[row.kind].lane)
    return row


def result_of(settings: Settings, job_id: str) -> Any:
    """Wait for a job and forget it; RunError with its reason when it did not end well."""
    while (row := look(settings, job_id)).status in LIVE:
        time.sleep(WAIT)
    open_store(settings).jobs.remove(job_id)
    if row.status != "done":
        raise RunError(row.message)
    return row.result


def stop(settings: Settings, job_id: str) -> None:
    """Ask a job to stop and wait until it has."""
    store, deadline = open_store(settings), time.monotonic() + STOP_SECONDS
    store.jobs.cancel(job_id)
    while look(settings, job_id).status in LIVE and time.monotonic() < deadline:
        time.sleep(WAIT)
