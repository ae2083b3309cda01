"""A password, or the word of a provider, becomes a login.

A login ends when its time is over, its person rests too long, or leaves.

The browser keeps a random secret in a cookie, the store keeps its hash: who reads the store cannot log in
with it. Wrong passwords slow down whoever tries, in the store, so that all processes of a server agree.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row

from gadcore.access import passwords
from gadcore.access.oidc import Vouched
from gadcore.access.passwords import NO_PASSWORD
from gadcore.access.roles import Role, Who
from gadcore.access.users import UserList
from gadcore.errors import NotAllowed
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.schema import now

IDLE, LONGEST = timedelta(hours=1), timedelta(hours=12)
TOUCH = timedelta(minutes=1)  # what a person does is noted this often
FORGET = timedelta(hours=1)  # wrong passwords
FREE = {"pair": 3, "name": 20, "address": 20}  # wrong passwords that cost no time
MOST_WAIT = 300  # seconds


class TooMany(NotAllowed):
    """Too many wrong passwords; ``seconds`` to wait."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Too many wrong passwords. Wait {seconds} s, then try again.")


@dataclass(frozen=True)
class Login:
    """A login that holds."""

    id: str
    who: Who


class Logins:
    """Logins of one workspace."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._store = settings, open_store(settings)

    def begin(self, name: str, password: str, address: str) -> str:
        """The secret of a new login; NotAllowed as of ``check``."""
        self.check(name, password, address)
        return self._begun(name, address, now() + LONGEST)

    def begin_vouched(self, person: Vouched, address: str) -> str:
        """The secret of a login that a provider vouches for, and that ends with its token at the latest.

        NotAllowed for somebody who is no user here, unless the provider says the role; and for one who has a
        password: whoever takes that name at the provider does not become that user here.
        """
        user = self._store.users.find(person.name)
        if (user is None and person.role is None) or (user is not None and user.password != NO_PASSWORD):
            self._store.logins.refuse(person.name[:60], address)
            raise NotAllowed(f"{person.name} may not log in this way. Ask an admin.")
        if person.role is not None and (user is None or user.role != person.role.word):
            self._take_role(person.name, person.role, is_new=user is None)
        return self._begun(person.name, address, person.ends)

    def use_once(self, state: str) -> None:
        """NotAllowed when the state of an attempt was used before; kept among the failures."""
        key = f"used {_id(state)}"

        def unused(known: dict[str, Row[Any]]) -> None:
            if known:
                raise NotAllowed("This login was finished before. Begin it again.")

        self._store.failures.count([key], unused, now() - FORGET)

    def _take_role(self, name: str, role: Role, *, is_new: bool) -> None:
        users = UserList(self._settings, by="single sign-on")
        if is_new:
            users.add(name, role.word, None)
        else:
            users.set_role(name, role.word)

    def _begun(self, name: str, address: str, ends: datetime) -> str:
        """A login that holds for LONGEST; its row is dated back so that it ends sooner."""
        secret, began = secrets.token_urlsafe(32), min(now(), ends - LONGEST)
        self._store.logins.begin(_id(secret), name, began, address=address, ended=now() - LONGEST)
        return secret

    def check(self, name: str, password: str, address: str) -> None:
        """NotAllowed for a wrong name or password; TooMany, without a look at it, after many of these."""
        keys, failures = _keys(name, address), self._store.failures
        failures.count(list(keys.values()), lambda known: _check_wait(keys, known), now() - FORGET)
        user = self._store.users.find(name)
        if not passwords.fits(password, user.password if user else None):
            self._store.logins.refuse(name[:60], address)
            raise NotAllowed("Name and password do not fit together.")
        failures.forget(keys["pair"])
        failures.take_back([keys["name"], keys["address"]])

    def of_secret(self, secret: str) -> Login | None:
        """The login that a cookie stands for, while it holds."""
        return self.get(_id(secret))

    def get(self, login_id: str) -> Login | None:
        """A login by its id, while it holds."""
        row = self._store.logins.find(login_id)
        if row is None or now() - row.began_at > LONGEST or now() - row.seen_at > IDLE:
            return None
        return Login(login_id, Who(row.name, Role.parse(row.role)))

    def user(self, name: str) -> Who | None:
        """A user whom a proxy has let in; None for one who is not known here, or logs in with a password."""
        row = self._store.users.find(name)
        comes_in = row is not None and row.password == NO_PASSWORD
        return Who(row.name, Role.parse(row.role)) if row is not None and comes_in else None

    def has_password(self, name: str) -> bool:
        row = self._store.users.find(name)
        return row is not None and row.password != NO_PASSWORD

    def touch(self, login_id: str) -> None:
        """Note that the person of a login does something."""
        row = self._store.logins.find(login_id)
        if row is not None and now() - row.seen_at > TOUCH:
            self._store.logins.touch(login_id)

    def end(self, login_id: str) -> None:
        self._store.logins.end(login_id)


def wait_after(times: int, kind: str) -> timedelta:
    """How long to wait after so many wrong passwords, counted under a key of this kind."""
    beyond = times - FREE[kind]
    return timedelta(seconds=min(MOST_WAIT, 2 ** min(beyond, 10)) if beyond >= 0 else 0)


def _check_wait(keys: dict[str, str], known: dict[str, Row[Any]]) -> None:
    for kind, key in keys.items():
        if key in known:
            left = known[key].last_at + wait_after(known[key].times, kind) - now()
            if left > timedelta():
                raise TooMany(int(left.total_seconds()) + 1)


def _keys(name: str, address: str) -> dict[str, str]:
    """What wrong passwords are counted under."""
    short = name[:60]
    return {"pair": f"{short} from {address}", "name": f"name {short}", "address": f"address {address}"}


def _id(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
