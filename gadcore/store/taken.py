"""Cases that an analyst has before them: nobody else is asked about them for a while."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta

from sqlalchemy import delete, insert, select, update

from gadcore.store.database import Database
from gadcore.store.schema import now, taken


class Taken:
    """Taken cases of all projects, by node; one that is not taken again is free after a while."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def by(self, project_id: str) -> dict[str, str]:
        """Node id -> the analyst who has it now."""

        def read() -> dict[str, str]:
            held = (taken.c.project_id == project_id, taken.c.until > now())
            rows = self._database.rows(select(taken.c.node_id, taken.c.analyst).where(*held))
            return {row.node_id: row.analyst for row in rows}

        return self._database.once(("taken", project_id), read)

    def take(
        self,
        project_id: str,
        analyst: str,
        node_ids: Sequence[str],
        n: int,
        lasting: timedelta,
        *,
        instead_of: Collection[str] = (),
    ) -> list[str]:
        """Take the first ``n`` of these cases that nobody else has, and give others back; returns them."""
        own, until = taken.c.project_id == project_id, now() + lasting
        with self._database.writing() as connection:
            connection.execute(delete(taken).where(own, taken.c.until <= now()))
            known = self.by(project_id)
            got = [node_id for node_id in node_ids if known.get(node_id, analyst) == analyst][:n]
            kept = [node_id for node_id in got if node_id in known]
            connection.execute(update(taken).where(own, taken.c.node_id.in_(kept)).values(until=until))
            back = taken.c.node_id.in_(set(instead_of) - set(got))
            connection.execute(delete(taken).where(own, taken.c.analyst == analyst, back))
            new = {"project_id": project_id, "analyst": analyst, "until": until}
            if rows := [{**new, "node_id": node_id} for node_id in got if node_id not in known]:
                connection.execute(insert(taken), rows)
        return got
