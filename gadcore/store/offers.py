"""Offers: the cases that the queue asks for, how each was chosen, and whether anybody has seen it.

The order of a run and a choice is kept as offers with a place, so that all processes ask for the same cases.
A case that is shown outside the kept order (within a filter, or ranked up by a verdict) is an offer without
a place. A verdict names the offer that it answers; what a random draw stood for is never told by a browser.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, insert, select, update
from sqlalchemy.sql.functions import max as largest

from gadcore.store.database import Database
from gadcore.store.schema import now, offers

Revision = tuple[int, int]  # of a kept order: its last offer, and the label event after which it was made
NOTHING: Revision = (0, -1)


@dataclass(frozen=True)
class Offer:
    """A case that is asked for; ``id`` is None until it is kept."""

    node_id: str
    strategy: str
    reason: str
    probability: float | None = None  # of one random draw; None when chosen by the strategy
    drawn_after: int | None = None  # of a random draw: id of the last label event before it
    id: int | None = None

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What two offers of one order agree in if they are the same."""
        return self.node_id, self.strategy, self.probability, self.drawn_after


class Offers:
    """Offers of all projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def revision(self, run_id: str, choice: str) -> Revision:
        """What changes when the kept order of a run and a choice changes."""

        def read() -> Revision:
            planned = (*_of(run_id, choice), offers.c.planned_after.is_not(None))
            query = select(largest(offers.c.id), largest(offers.c.planned_after)).where(*planned)
            last, moment = tuple[Any, ...](self._database.rows(query)[0])
            return NOTHING if last is None else (last, moment)

        return self._database.once(("revision", run_id, choice), read)

    def planned(self, run_id: str, choice: str) -> list[Offer]:
        """The kept order of a run and a choice, from its beginning."""
        query = select(offers).where(*_of(run_id, choice), offers.c.place.is_not(None))
        return [_offer(row) for row in self._database.rows(query.order_by(offers.c.place))]

    def plan(
        self,
        project_id: str,
        run_id: str,
        choice: str,
        order: Sequence[Offer],
        *,
        moment: int,
        instead_of: Revision = NOTHING,
    ) -> bool:
        """Keep an order; False, and nothing is changed, when another process has kept one meanwhile.

        ``moment`` is the last label event that it takes into account.
        """
        of_order = _of(run_id, choice)
        with self._database.writing() as connection:
            if self.revision(run_id, choice) != instead_of:
                return False
            known = self._known(*of_order)
            connection.execute(update(offers).where(*of_order).values(place=None))
            new = []
            for place, offer in enumerate(order):
                at, held = {"place": place, "planned_after": moment}, offer.id or known.get(offer.meaning)
                if held is None:
                    new.append(_columns(project_id, run_id, choice, offer) | at)
                else:
                    connection.execute(update(offers).where(offers.c.id == held).values(at))
            if new:
                connection.execute(insert(offers), new)
        return True

    def show(self, project_id: str, run_id: str, choice: str, cases: Sequence[Offer]) -> list[int]:
        """Ids of these cases, which somebody sees now; new ones are kept without a place."""
        nodes = [case.node_id for case in cases if case.id is None]
        outside = (offers.c.run_id == run_id, offers.c.node_id.in_(nodes), offers.c.planned_after.is_(None))
        with self._database.writing() as connection:
            known = self._known(*outside) if nodes else {}
            new = [case for case in cases if case.id is None and case.meaning not in known]
            if new:
                rows = [_columns(project_id, run_id, choice, case) for case in new]
                connection.execute(insert(offers), rows)
                known = self._known(*outside)
            ids = [case.id or known[case.meaning] for case in cases]
            unseen = offers.c.id.in_(ids) & offers.c.shown_at.is_(None)
            connection.execute(update(offers).where(unseen).values(shown_at=now()))
        return ids

    def get(self, project_id: str, offer_id: int) -> Offer | None:
        """An offer of a project; None if there is none, for instance because its run was deleted."""
        query = select(offers).where(offers.c.id == offer_id, offers.c.project_id == project_id)
        return next(map(_offer, self._database.rows(query)), None)

    def shown(self, run_id: str, node_ids: Collection[str], strategy: str | None = None) -> dict[str, Offer]:
        """Node id -> how it was first shown in a run; as a random check if it ever was one.

        With a ``strategy`` only what a queue of this strategy has shown counts.
        """
        seen = (offers.c.run_id == run_id, offers.c.node_id.in_(node_ids), offers.c.shown_at.is_not(None))
        last = (offers.c.probability.is_not(None), offers.c.id.desc())
        rows = self._database.rows(select(offers).where(*seen).order_by(*last))
        if strategy is not None:
            rows = [row for row in rows if json.loads(row.choice)["strategy"] == strategy]
        return {row.node_id: _offer(row) for row in rows}

    def _known(self, *where: ColumnElement[bool]) -> dict[tuple[Any, ...], int]:
        """Ids of some offers, by meaning."""
        return {_offer(row).meaning: row.id for row in self._database.rows(select(offers).where(*where))}


def _of(run_id: str, choice: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return offers.c.run_id == run_id, offers.c.choice == choice


def _columns(project_id: str, run_id: str, choice: str, offer: Offer) -> dict[str, Any]:
    columns = {"project_id": project_id, "run_id": run_id, "choice": choice, **asdict(offer)}
    del columns["id"]  # the database gives it
    return columns


def _offer(row: Row[Any]) -> Offer:
    return Offer(row.node_id, row.strategy, row.reason, row.probability, row.drawn_after, row.id)
