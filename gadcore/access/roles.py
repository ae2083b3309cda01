"""Roles, and the person that somebody works as."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from gadcore.errors import InputError


class Role(IntEnum):
    """What a user is for the others; each may do all that those before it may."""

    VIEWER = 1
    ANALYST = 2
    LEAD = 3
    ADMIN = 4

    @property
    def word(self) -> str:
        return self.name.lower()

    @classmethod
    def parse(cls, word: str) -> Role:
        """The role that a word names; InputError otherwise."""
        try:
            return cls[word.upper()]
        except KeyError:
            raise InputError(f"a role {word!r}", f"one of {', '.join(role.word for role in cls)}") from None


@dataclass(frozen=True)
class Who:
    """A person at work. ``name`` is None without a login: the settings or the person say it then."""

    name: str | None
    role: Role

    @property
    def is_login(self) -> bool:
        return self.name is not None


LOCAL = Who(None, Role.ADMIN)  # whoever works on this machine, without a login
