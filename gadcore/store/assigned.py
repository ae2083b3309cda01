"""Cases that a lead has given to an analyst: nobody else is asked about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, insert, select

from gadcore.store.database import Database
from gadcore.store.schema import assigned, now, taken
from gadcore.store.trail import Trail

Revision = tuple[int, int]  # the last assignment, and how many there are


@dataclass(frozen=True)
class Assignment:
    """To whom a case was given, and by whom."""

    analyst: str
    by: str


class Assigned:
    """Assigned cases of all projects, each to one analyst; they stay when they are decided."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail
        self._known: dict[str, tuple[Revision, Mapping[str, Assignment]]] = {}

    def give(self, project_id: str, node_ids: Sequence[str], analyst: str, *, by: str) -> None:
        """Give cases to an analyst, also such as another one was given or the giver has before them."""
        common = {"project_id": project_id, "analyst": analyst, "by": by, "at": now()}
        with self._database.writing() as connection:
            self._remove(project_id, node_ids)
            held = (taken.c.project_id == project_id, taken.c.analyst == by, taken.c.node_id.in_(node_ids))
            connection.execute(delete(taken).where(*held))
            connection.execute(insert(assigned), [{**common, "node_id": node_id} for node_id in node_ids])
            self._trail.add("assigned", by, project_id, to=analyst, nodes=list(node_ids))

    def take_back(self, project_id: str, node_ids: Sequence[str], *, by: str) -> None:
        """Let everybody be asked about these cases again."""
        with self._database.writing():
            self._remove(project_id, node_ids)
            self._trail.add("taken back", by, project_id, nodes=list(node_ids))

    def revision(self, project_id: str) -> Revision:
        """What changes when a case is given or taken back."""

        def read() -> Revision:
            found = select(func.max(assigned.c.id), func.count()).where(assigned.c.project_id == project_id)
            last, count = tuple(self._database.rows(found)[0])
            return last or 0, count

        return self._database.once(("assigned", project_id), read)

    def of(self, project_id: str) -> Mapping[str, Assignment]:
        """Node id -> its assignment, in the order in which they were given; read again after a change."""
        revision = self.revision(project_id)
        known = self._known.get(project_id)
        if known is None or known[0] != revision:
            query = select(assigned).where(assigned.c.project_id == project_id).order_by(assigned.c.id)
            rows = self._database.rows(query)
            known = revision, {row.node_id: Assignment(row.analyst, row.by) for row in rows}
            self._known[project_id] = known
        return known[1]

    def _remove(self, project_id: str, node_ids: Sequence[str]) -> None:
        these = (assigned.c.project_id == project_id, assigned.c.node_id.in_(node_ids))
        self._database.change(delete(assigned).where(*these))
