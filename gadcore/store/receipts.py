"""Which messages of tabs and programs were carried out: one that is sent again is never done twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.sql.functions import max as largest

from gadcore.errors import GadError, Unavailable
from gadcore.store.database import Database
from gadcore.store.schema import receipts


class Receipts:
    """Receipts of all tabs, kept in the transaction of what they stand for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def once(self, project_id: str, client: str, seq: int, perform: Callable[[], None]) -> bool:
        """Perform a message and keep its receipt, both or neither; False if it was carried out before.

        What cannot be done is raised, and its receipt says so: sent again, it is not tried again. When the
        store does not answer there is no receipt.
        """
        try:
            with self._database.writing():
                if not self._keep(project_id, client, seq, refused=False):
                    return False
                perform()
        except Unavailable:
            raise
        except GadError:
            self._keep(project_id, client, seq, refused=True)
            raise
        return True

    def answered(
        self, project_id: str, client: str, perform: Callable[[], dict[str, Any]]
    ) -> tuple[dict[str, Any], bool]:
        """What ``perform`` answers, kept in its transaction, and whether it was performed now.

        Asked again by the same client, the kept answer is given. What raises keeps nothing.
        """
        with self._database.writing() as connection:
            query = select(receipts.c.answer).where(receipts.c.client == client, receipts.c.seq == 1)
            if (kept := self._database.scalar(query)) is not None:
                return dict(kept), False
            answer = perform()
            row = {"project_id": project_id, "client": client, "seq": 1, "refused": False, "answer": answer}
            connection.execute(insert(receipts).values(row))
        return answer, True

    def last(self, client: str) -> int:
        """The highest number that was carried out or refused; 0 for none."""
        query = select(largest(receipts.c.seq)).where(receipts.c.client == client)
        return self._database.scalar(query) or 0

    def refused(self, client: str, seq: int) -> bool:
        """Whether a message came to nothing."""
        query = select(receipts.c.refused).where(receipts.c.client == client, receipts.c.seq == seq)
        return bool(self._database.scalar(query))

    def _keep(self, project_id: str, client: str, seq: int, *, refused: bool) -> bool:
        row = {"project_id": project_id, "client": client, "seq": seq, "refused": refused}
        with self._database.writing() as connection:
            try:
                with connection.begin_nested():
                    connection.execute(insert(receipts).values(row))
            except IntegrityError:
                return False
        return True
