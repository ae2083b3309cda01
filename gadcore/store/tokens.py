"""Tokens of programs: rows only, what they mean is in ``access``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from gadcore.errors import NotFound, StoreError
from gadcore.store.database import Database
from gadcore.store.schema import now, tokens
from gadcore.store.trail import Trail


class TokenRows:
    """Programs that may come in, by name; ``by`` names who changes that."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail

    def add(self, name: str, role: str, secret: str, expires_at: datetime | None, *, by: str) -> None:
        """Keep a token by the hash of its secret; StoreError when the name is in use."""
        row = {"name": name, "role": role, "secret": secret, "created_at": now(), "expires_at": expires_at}
        with self._database.writing() as connection:
            try:
                connection.execute(insert(tokens).values(row))
            except IntegrityError as error:
                raise StoreError(f"There is a token {name!r} already. Remove it first.") from error
            self._trail.add("token added", by, token=name, role=role, expires_at=expires_at)

    def all(self) -> list[Row[Any]]:
        """Every token by name."""
        return self._database.rows(select(tokens).order_by(tokens.c.name))

    def find(self, name: str) -> Row[Any] | None:
        return next(iter(self._database.rows(select(tokens).where(tokens.c.name == name))), None)

    def of_secret(self, secret: str) -> Row[Any] | None:
        """The token with this hash of a secret."""
        return next(iter(self._database.rows(select(tokens).where(tokens.c.secret == secret))), None)

    def touch(self, name: str) -> None:
        """Its program has done something."""
        self._database.change(update(tokens).where(tokens.c.name == name).values(used_at=now()))

    def remove(self, name: str, *, by: str) -> None:
        """Remove a token; what was done with it stays. NotFound without it."""
        with self._database.writing():
            if not self._database.change(delete(tokens).where(tokens.c.name == name)):
                raise NotFound(f"There is no token {name!r}. List them with: ringfence token list.")
            self._trail.add("token removed", by, token=name)
