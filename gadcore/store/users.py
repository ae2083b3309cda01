"""Users, their logins and wrong passwords: rows only, what they mean is in ``access``."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from gadcore.errors import NotFound, StoreError
from gadcore.store.database import Database
from gadcore.store.schema import failures, logins, now, users
from gadcore.store.trail import Trail


class Users:
    """Who may come in; ``by`` names who changes that."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail

    def add(self, name: str, role: str, password: str, *, by: str) -> None:
        """Keep a user with the hash of a password; StoreError when the name is in use."""
        row = {"name": name, "role": role, "password": password, "created_at": now()}
        with self._database.writing() as connection:
            try:
                connection.execute(insert(users).values(row))
            except IntegrityError as error:
                raise StoreError(f"There is a user {name!r} already.") from error
            self._trail.add("user added", by, user=name, role=role)

    def all(self) -> list[Row[Any]]:
        """Every user by name."""
        return self._database.rows(select(users).order_by(users.c.name))

    def find(self, name: str) -> Row[Any] | None:
        return next(iter(self._database.rows(select(users).where(users.c.name == name))), None)

    def change(self, name: str, *, by: str, **values: str) -> None:
        """Change role or password; whoever is logged in under the name is out. NotFound without the user."""
        with self._database.writing():
            if not self._database.change(update(users).where(users.c.name == name).values(values)):
                raise _no_user(name)
            self._database.change(delete(logins).where(logins.c.name == name))
            self._trail.add("user changed", by, user=name, changed=sorted(values), role=values.get("role"))

    def remove(self, name: str, *, by: str) -> None:
        """Remove a user with all logins; what the user has done stays. NotFound without the user."""
        with self._database.writing():
            if not self._database.change(delete(users).where(users.c.name == name)):
                raise _no_user(name)
            self._trail.add("user removed", by, user=name)


class LoginRows:
    """Logins that hold, by the hash of their secret."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail

    def begin(self, login_id: str, name: str, began: datetime, *, address: str, ended: datetime) -> None:
        """Keep a login from an address; those that began before ``ended`` are thrown away."""
        with self._database.writing() as connection:
            connection.execute(delete(logins).where(logins.c.began_at < ended))
            row = {"id": login_id, "name": name, "began_at": began, "seen_at": now()}
            connection.execute(insert(logins).values(row))
            self._trail.add("login", name, address=address)

    def refuse(self, name: str, address: str) -> None:
        """Write down that somebody tried a wrong name or password."""
        self._trail.add("login refused", name, address=address)

    def find(self, login_id: str) -> Row[Any] | None:
        """began_at, seen_at, name and role of a login."""
        query = select(logins, users.c.role).join(users, users.c.name == logins.c.name)
        return next(iter(self._database.rows(query.where(logins.c.id == login_id))), None)

    def touch(self, login_id: str) -> None:
        """Its person has done something."""
        self._database.change(update(logins).where(logins.c.id == login_id).values(seen_at=now()))

    def end(self, login_id: str) -> None:
        """Its person leaves."""
        with self._database.writing():
            row = self.find(login_id)
            if row is not None and self._database.change(delete(logins).where(logins.c.id == login_id)):
                self._trail.add("logout", row.name)

    def count(self, *, seen_since: datetime) -> int:
        """How many logins were active since then."""
        query = select(func.count()).select_from(logins).where(logins.c.seen_at >= seen_since)
        return int(self._database.scalar(query) or 0)


class Failures:
    """Wrong passwords, counted under keys until they are forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self, keys: list[str], allowed: Callable[[dict[str, Row[Any]]], None], since: datetime) -> None:
        """Count one under each key, unless ``allowed`` raises at what was counted ``since`` then.

        One transaction, before the password is looked at: many at once are counted one after another.
        """
        with self._database.writing() as connection:
            connection.execute(delete(failures).where(failures.c.last_at < since))
            known = self._database.rows(select(failures).where(failures.c.key.in_(keys)).with_for_update())
            allowed({row.key: row for row in known})
            for key in keys:
                self._raise(key)

    def take_back(self, keys: list[str]) -> None:
        """Count one less under each key."""
        fewer = update(failures).where(failures.c.key.in_(keys)).values(times=failures.c.times - 1)
        self._database.change(fewer)

    def forget(self, key: str) -> None:
        self._database.change(delete(failures).where(failures.c.key == key))

    def _raise(self, key: str) -> None:
        moment = now()
        raised = update(failures).where(failures.c.key == key)
        raised = raised.values(times=failures.c.times + 1, last_at=moment)
        with self._database.writing() as connection:
            if connection.execute(raised).rowcount:
                return
            try:
                with connection.begin_nested():
                    connection.execute(insert(failures).values(key=key, times=1, last_at=moment))
            except IntegrityError:  # another process was quicker
                connection.execute(raised)


def _no_user(name: str) -> NotFound:
    return NotFound(f"There is no user {name!r}. List them with: ringfence user list.")
