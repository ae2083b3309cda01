"""Watchlists: nodes whose rise an analyst wants to hear of."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert, select, update

from gadcore.store.database import Database
from gadcore.store.schema import now, watchlist


class Watchlist:
    """Watched nodes of all projects, by analyst."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, project_id: str, analyst: str) -> list[Row[Any]]:
        """node_id, at and rank (when it was put there, or seen last), the oldest first."""
        query = select(watchlist).where(*_own(project_id, analyst)).order_by(watchlist.c.at)
        return self._database.rows(query)

    def nodes(self, project_id: str) -> list[str]:
        """Nodes that anybody watches."""
        query = select(watchlist.c.node_id).where(watchlist.c.project_id == project_id).distinct()
        return [row.node_id for row in self._database.rows(query)]

    def put(self, project_id: str, analyst: str, node_id: str, rank: int | None) -> None:
        """Watch a node from this rank on; one that is watched already keeps its place."""
        this = (*_own(project_id, analyst), watchlist.c.node_id == node_id)
        row = {"project_id": project_id, "analyst": analyst, "node_id": node_id, "at": now(), "rank": rank}
        with self._database.writing() as connection:
            if not self._database.rows(select(watchlist.c.at).where(*this)):
                connection.execute(insert(watchlist).values(row))

    def drop(self, project_id: str, analyst: str, node_id: str) -> None:
        own = (*_own(project_id, analyst), watchlist.c.node_id == node_id)
        self._database.change(delete(watchlist).where(*own))

    def seen(self, project_id: str, analyst: str, ranks: dict[str, int | None]) -> None:
        """Count a rise from these ranks on."""
        with self._database.writing() as connection:
            for node_id, rank in ranks.items():
                own = (*_own(project_id, analyst), watchlist.c.node_id == node_id)
                connection.execute(update(watchlist).where(*own).values(rank=rank))


def _own(project_id: str, analyst: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return watchlist.c.project_id == project_id, watchlist.c.analyst == analyst
