"""Who sends a request: a login, a token, a user of a trusted proxy, or somebody on this machine."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from gadcore.access import LOCAL, Who
from gadcore.access.logins import LONGEST, Logins
from gadcore.access.passes import Pass, is_loopback
from gadcore.access.tokens import Tokens
from gadcore.gate.calls import Call
from gadcore.gate.routes import for_programs
from gadcore.settings import Settings

COOKIE = "ringfence_login"
PROXY_HEADER = "x-forwarded-user"
HOLDS = 5.0  # seconds for which a visitor is taken for what they were found to be


@dataclass
class Visitor:
    """A visitor, and when that was found out."""

    who: Who
    login: str = ""
    by_token: bool = False
    came: float = field(default_factory=time.monotonic)
    checked: float = field(default_factory=time.monotonic)

    @property
    def passport(self) -> Pass:
        return Pass(self.who, self.login)


class Visitors:
    """Finds out who sends a call."""

    def __init__(self, settings: Settings, address: str) -> None:
        self._settings = settings
        self.logins, self._tokens = Logins(settings), Tokens(settings)
        self.without_login = is_loopback(address) and not settings.login_always

    async def of(self, call: Call) -> Visitor | None:
        """The visitor; None for one who has to log in first, or whose token does not hold."""
        if for_programs(call.path) and call.bearer is not None:
            who = await asyncio.to_thread(self._tokens.who, call.bearer)
            return Visitor(who, by_token=True) if who else None
        if secret := call.cookies.get(COOKIE):
            login = await asyncio.to_thread(self.logins.of_secret, secret)
            if login is not None:
                return Visitor(login.who, login.id)
        if named := self._named_by_proxy(call):
            who = await asyncio.to_thread(self.logins.user, named)
            return Visitor(who) if who else None
        return Visitor(LOCAL) if self.without_login and call.is_here else None

    async def holds(self, visitor: Visitor) -> bool:
        """Whether somebody who was let in would be let in now."""
        now = time.monotonic()
        if not visitor.who.is_login or now - visitor.checked < HOLDS:
            return True
        visitor.checked = now
        if visitor.login:
            return await asyncio.to_thread(self.logins.get, visitor.login) is not None
        if now - visitor.came > LONGEST.total_seconds():
            return False  # the proxy is to say again who it is
        return await asyncio.to_thread(self.logins.user, visitor.who.name or "") == visitor.who

    def address(self, call: Call) -> str:
        """Where a request comes from, as a trusted proxy says."""
        told = call.headers.get("x-forwarded-for", "").split(",")[-1].strip()
        return told if told and call.peer in self._settings.proxies else call.peer

    def https(self, call: Call) -> bool:
        """Whether the browser speaks HTTPS, with this server or with a trusted proxy."""
        told = call.headers.get("x-forwarded-proto") == "https"
        return call.https or (told and call.peer in self._settings.proxies)

    def _named_by_proxy(self, call: Call) -> str:
        trusted = call.peer in self._settings.proxies
        return call.headers.get(PROXY_HEADER, "") if trusted else ""
