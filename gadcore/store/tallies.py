"""How much is stored, and how the jobs stand: figures for those who watch a server."""

from __future__ import annotations

from sqlalchemy import func, select

from gadcore.store.database import Database
from gadcore.store.schema import jobs, label_events, projects, runs, users

_COUNTED = (projects, label_events, runs, users)


def row_counts(database: Database) -> dict[str, int]:
    """Name of a table -> number of its rows."""
    return {table.name: int(database.scalar(select(func.count()).select_from(table))) for table in _COUNTED}


def job_counts(database: Database) -> dict[str, int]:
    """Status -> number of jobs."""
    query = select(jobs.c.status, func.count().label("number")).group_by(jobs.c.status)
    return {row.status: int(row.number) for row in database.rows(query)}
