"""Offers: the cases that the queue asks for, how each was chosen, and whether anybody has seen it.

The order of a run and a choice is kept as offers with a place, so that all processes ask for the same cases.
A case that is shown outside the kept order (within a filter, or ranked up by a verdict) is an offer without
a place. A verdict names the offer that it answers; what a random draw stood for is never told by a browser.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update
from sqlalchemy.sql.functions import max as largest

from gadcore.store.database import Database
from gadcore.store.schema import now, offers, projects

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
        with self._database.reading() as connection:
            return _revision(connection, run_id, choice)

    def planned(self, run_id: str, choice: str) -> list[Offer]:
        """The kept order of a run and a choice, from its beginning."""
        query = select(offers).where(*_of(run_id, choice), offers.c.place.is_not(None))
        with self._database.reading() as connection:
            return [_offer(row) for row in connection.execute(query.order_by(offers.c.place))]

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
        of_order, every = _of(run_id, choice), {"planned_after": moment}
        with self._database.writing() as connection:
            _lock(connection, project_id)
            if _revision(connection, run_id, choice) != instead_of:
                return False
            known = {
                _offer(row).meaning: row.id for row in connection.execute(select(offers).where(*of_order))
            }
            connection.execute(update(offers).where(*of_order).values(place=None))
            new, moved = [], []
            for place, offer in enumerate(order):
                held = offer.id or known.get(offer.meaning)
                if held is None:
                    new.append(_columns(project_id, run_id, choice, offer) | every | {"place": place})
                else:
                    moved.append({"of": held, "at": place})
            if new:
                connection.execute(insert(offers), new)
            for row in moved:
                connection.execute(
                    update(offers).where(offers.c.id == row["of"]).values(place=row["at"], **every)
                )
        return True

    def show(self, project_id: str, run_id: str, choice: str, cases: Sequence[Offer]) -> list[int]:
        """Ids of these cases, which somebody sees now; new ones are kept without a place."""
        with self._database.writing() as connection:
            known = _outside(connection, run_id, [case.node_id for case in cases if case.id is None])
            new = [case for case in cases if case.id is None and case.meaning not in known]
            if new:
                rows = [_columns(project_id, run_id, choice, case) for case in new]
                connection.execute(insert(offers), rows)
                known = _outside(connection, run_id, [case.node_id for case in cases if case.id is None])
            ids = [case.id or known[case.meaning] for case in cases]
            unseen = offers.c.id.in_(ids) & offers.c.shown_at.is_(None)
            connection.execute(update(offers).where(unseen).values(shown_at=now()))
        return ids

    def get(self, project_id: str, offer_id: int) -> Offer | None:
        """An offer of a project; None if there is none, for instance because its run was deleted."""
        query = select(offers).where(offers.c.id == offer_id, offers.c.project_id == project_id)
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else _offer(row)

    def shown(self, run_id: str, node_ids: Collection[str], strategy: str | None = None) -> dict[str, Offer]:
        """Node id -> how it was first shown in a run; as a random check if it ever was one.

        With a ``strategy`` only what a queue of this strategy has shown counts.
        """
        query = select(offers).where(
            offers.c.run_id == run_id, offers.c.node_id.in_(node_ids), offers.c.shown_at.is_not(None)
        )
        with self._database.reading() as connection:
            rows = list(
                connection.execute(query.order_by(offers.c.probability.is_not(None), offers.c.id.desc()))
            )
        if strategy is not None:
            rows = [row for row in rows if json.loads(row.choice)["strategy"] == strategy]
        return {row.node_id: _offer(row) for row in rows}


def _of(run_id: str, choice: str) -> tuple[Any, ...]:
    return offers.c.run_id == run_id, offers.c.choice == choice


def _revision(connection: Connection, run_id: str, choice: str) -> Revision:
    planned = (*_of(run_id, choice), offers.c.planned_after.is_not(None))
    query = select(largest(offers.c.id), largest(offers.c.planned_after)).where(*planned)
    last, moment = connection.execute(query).one()
    return NOTHING if last is None else (last, moment)


def _lock(connection: Connection, project_id: str) -> None:
    """Hold the project's row: orders are kept one after another on any database."""
    connection.execute(select(projects.c.id).where(projects.c.id == project_id).with_for_update())


def _outside(connection: Connection, run_id: str, node_ids: list[str]) -> dict[tuple[Any, ...], int]:
    """What was offered of these nodes outside the kept orders of a run, by meaning."""
    if not node_ids:
        return {}
    query = select(offers).where(
        offers.c.run_id == run_id, offers.c.node_id.in_(node_ids), offers.c.planned_after.is_(None)
    )
    return {_offer(row).meaning: row.id for row in connection.execute(query)}


def _columns(project_id: str, run_id: str, choice: str, offer: Offer) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "run_id": run_id,
        "choice": choice,
        "node_id": offer.node_id,
        "strategy": offer.strategy,
        "reason": offer.reason,
        "probability": offer.probability,
        "drawn_after": offer.drawn_after,
    }


def _offer(row: Row[Any]) -> Offer:
    return Offer(row.node_id, row.strategy, row.reason, row.probability, row.drawn_after, row.id)
