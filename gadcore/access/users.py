"""Users of a workspace: add, list, change, remove."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from gadcore.access.passwords import NO_PASSWORD, hashed
from gadcore.access.roles import Role
from gadcore.errors import InputError, StoreError
from gadcore.settings import Settings
from gadcore.store import Store, open_store

_NAME = re.compile(r"[\w.@+-]{1,60}")


@dataclass(frozen=True)
class User:
    """Somebody who may log in."""

    name: str
    role: str
    created_at: datetime
    has_password: bool


class UserList:
    """The users of one workspace; ``by`` is whoever changes them, else the one of the settings."""

    def __init__(self, settings: Settings, by: str | None = None) -> None:
        self._store: Store = open_store(settings)
        self._by = by or settings.analyst

    def all(self) -> list[User]:
        return [
            User(row.name, row.role, row.created_at, row.password != NO_PASSWORD)
            for row in self._store.users.all()
        ]

    def add(self, name: str, role: str, password: str | None) -> None:
        """Add a user; without a password one who comes in through a proxy."""
        if self._store.tokens.find(checked_name(name)) is not None:
            raise StoreError(f"There is a token {name!r}. Give the user another name: the trail tells both.")
        kept = NO_PASSWORD if password is None else hashed(password)
        self._store.users.add(name, Role.parse(role).word, kept, by=self._by)

    def set_password(self, name: str, password: str) -> None:
        """Give a user another password; whoever is logged in under the name is out."""
        self._store.users.change(name, password=hashed(password), by=self._by)

    def set_role(self, name: str, role: str) -> None:
        """Give a user another role; whoever is logged in under the name is out."""
        self._store.users.change(name, role=Role.parse(role).word, by=self._by)

    def remove(self, name: str) -> None:
        """Remove a user; verdicts keep the name."""
        self._store.users.remove(name, by=self._by)


def checked_name(name: str) -> str:
    """The name of a user or a program, as it may be."""
    if not _NAME.fullmatch(name):
        raise InputError(f"a user name {name!r}", "1 to 60 letters, digits or . _ @ + -")
    return name
