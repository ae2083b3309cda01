"""Jobs whose process is gone: found by whoever looks next, done again where that is safe, else failed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import Row

from gadcore.jobs.registry import KINDS
from gadcore.store import HOST, Store, is_held, read_holder
from gadcore.store.schema import now

STOPPED = "Stopped before its end."
SILENT = timedelta(seconds=90)  # longer than any pause of a living process, a suspended laptop aside


def end_lost(store: Store, project_id: str | None) -> list[str]:
    """End or queue again the jobs of a project (or of none) whose process is gone; returns their ids."""
    return [row.id for row in store.jobs.running(project_id) if end_if_lost(store, row)]


def end_if_lost(store: Store, row: Row[Any]) -> bool:
    """End or queue again a job that looks running when its process is gone; False otherwise."""
    lock = store.folders.lock(f"job-{row.id}")
    if row.host == HOST:
        gone = not is_held(lock)  # freed by the system, however the process ended; a clock may jump
    else:
        gone = now() - (row.heartbeat_at or row.created_at) >= SILENT
    if not gone:
        return False
    kind = KINDS[row.kind]
    if row.cancel:
        status, reason = "cancelled", STOPPED
    elif row.attempts < kind.attempts:
        return store.jobs.change(row.id, ("running",), status="queued")
    else:
        pid = read_holder(lock).get("pid", "unknown")  # for people who read the log; it is not used
        status, reason = (
            "failed",
            (
                f"The {kind.work} process (pid {pid}) ended without a word, perhaps for lack of memory. "
                f"{kind.lighter} Labels and earlier runs are untouched; start again."
            ),
        )
    return store.jobs.change(row.id, ("running",), status=status, ended_at=now(), message=reason)
