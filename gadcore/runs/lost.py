"""Runs whose process is gone: found by whoever looks next, and marked as failed with the reason."""

from __future__ import annotations

from datetime import timedelta

from gadcore.records import RunInfo
from gadcore.store import HOST, Store, is_held

SILENT = timedelta(seconds=90)  # longer than any pause of a living process, a suspended laptop aside


def end_lost_runs(store: Store, project_id: str) -> list[RunInfo]:
    """Mark running runs of a project as failed when their process is gone; returns those."""
    lost = [run for run in store.runs.of_project(project_id, "running") if _is_lost(store, run)]
    for run in lost:
        pid = store.runs.row(run.id).pid
        store.runs.finish(
            run.id,
            "failed",
            message=f"The training process (pid {pid}) ended without a word, perhaps for lack of memory. "
            "Labels and earlier runs are untouched; start the run again.",
        )
    return lost


def _is_lost(store: Store, run: RunInfo) -> bool:
    row = store.runs.row(run.id)
    if row.host == HOST and not is_held(store.folders.lock(f"run-{run.id}")):
        return bool(store.runs.get(run.id).status == "running")  # it may have ended in between
    return store.runs.heartbeat_age(run.id) > SILENT
