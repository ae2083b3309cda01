"""Tokens: programs come in with a secret that the store keeps as its SHA-256 alone."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from gadcore.access.roles import Role, Who
from gadcore.access.users import checked_name
from gadcore.errors import InputError, StoreError
from gadcore.settings import Settings
from gadcore.store import Store, open_store
from gadcore.store.schema import now

PREFIX = "rf_"  # by which a secret is known where it should not be, for instance in a repository
LASTS = "90d"
TOUCH = timedelta(minutes=1)  # what a program does is noted this often
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@dataclass(frozen=True)
class Token:
    """A program that may come in."""

    name: str
    role: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= now()


class Tokens:
    """The tokens of one workspace; ``by`` is whoever changes them, else the one of the settings."""

    def __init__(self, settings: Settings, by: str | None = None) -> None:
        self._store: Store = open_store(settings)
        self._by = by or settings.analyst

    def all(self) -> list[Token]:
        return [_token(row) for row in self._store.tokens.all()]

    def add(self, name: str, role: str, lasts: str = LASTS) -> str:
        """Add a token and return its secret, which nothing tells again."""
        word, until = Role.parse(role).word, expiry(lasts)
        if self._store.users.find(checked_name(name)) is not None:
            raise StoreError(f"There is a user {name!r}. Give the token another name: the trail tells both.")
        secret = PREFIX + secrets.token_urlsafe(32)
        self._store.tokens.add(name, word, _hash(secret), until, by=self._by)
        return secret

    def remove(self, name: str) -> None:
        """Remove a token; verdicts keep the name."""
        self._store.tokens.remove(name, by=self._by)

    def who(self, secret: str) -> Who | None:
        """The program that a secret stands for, as a person at work; None where it does not hold."""
        row = self._store.tokens.of_secret(_hash(secret))
        if row is None or (token := _token(row)).expired:
            return None
        if token.used_at is None or now() - token.used_at > TOUCH:
            self._store.tokens.touch(token.name)
        return Who(token.name, Role.parse(token.role))


def expiry(lasts: str) -> datetime | None:
    """When something that lasts "90d", "12h" or "4w" from now on ends; None for "never"."""
    if lasts == "never":
        return None
    found = re.fullmatch(r"([1-9]\d{0,3})([hdw])", lasts, re.ASCII)
    if found is None:
        raise InputError(f"an expiry of {lasts!r}", "a number with h, d or w, such as 90d; or never")
    return now() + timedelta(**{_UNITS[found[2]]: int(found[1])})


def _token(row: Row[Any]) -> Token:
    return Token(row.name, row.role, row.created_at, row.expires_at, row.used_at)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
