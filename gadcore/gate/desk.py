"""What the gate answers itself: login, logout, the account page, health and metrics."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl

from gadcore.access.logins import Logins, TooMany
from gadcore.access.users import UserList
from gadcore.errors import GadError, NotAllowed, NotFound
from gadcore.gate import html
from gadcore.gate.calls import Call, Receive, read_form
from gadcore.gate.replies import Reply, document, page, redirect
from gadcore.gate.routes import BACK, SIGN_ON
from gadcore.gate.sign_on import SignOn, forgotten
from gadcore.gate.status import Traffic, health, metrics
from gadcore.gate.visitors import COOKIE, Visitor, Visitors
from gadcore.settings import Settings


class Desk:
    """The pages of the gate itself."""

    def __init__(self, settings: Settings, visitors: Visitors, traffic: Traffic) -> None:
        self._settings, self._visitors, self._traffic = settings, visitors, traffic
        self._logins: Logins = visitors.logins
        self._sign_on = SignOn(settings, visitors.logins)

    async def answer(self, call: Call, visitor: Visitor | None, receive: Receive) -> Reply:
        """Answer a request that may be answered; its path is one of ``routes.OWN``."""
        if call.path == "/health":
            return document(*await asyncio.to_thread(health, self._settings))
        if call.path == "/metrics":
            text = await asyncio.to_thread(metrics, self._settings, self._traffic)
            return Reply(200, text, "text/plain; version=0.0.4")
        form = await read_form(receive) if call.method == "POST" else None
        if call.path in (SIGN_ON, BACK):
            return await self._signed_on(call)
        if call.path == "/login":
            return await self._login(call, form)
        if visitor is None or not visitor.login:
            return page(200, html.no_account(visitor.who.name if visitor else None))
        if call.path == "/account":
            return await self._account(visitor, form)
        return self._logout(call, visitor) if form is not None else redirect("/account")

    async def _login(self, call: Call, form: dict[str, str] | None) -> Reply:
        if form is None:
            asked = dict(parse_qsl(call.scope.get("query_string", b"").decode("latin-1")))
            return self._login_page(200, asked.get("next", ""))
        name, address = form.get("name", "").strip(), self._visitors.address(call)
        try:
            secret = await asyncio.to_thread(self._logins.begin, name, form.get("password", ""), address)
        except TooMany as error:
            return self._login_page(429, form.get("next", ""), str(error), name)
        except NotAllowed as error:
            self._traffic.wrong_passwords += 1
            return self._login_page(401, form.get("next", ""), str(error), name)
        return redirect(own_path(form.get("next", "")), self._cookie(call, secret))

    def _login_page(self, status: int, asked: str, wrong: str = "", name: str = "") -> Reply:
        return page(status, html.login(asked, wrong, name, sign_on=self._sign_on.is_offered))

    async def _signed_on(self, call: Call) -> Reply:
        """Send the browser to the provider, or take it back from there; the attempt ends either way."""
        https = self._visitors.https(call)
        try:
            if call.path == SIGN_ON:
                to, kept = await asyncio.to_thread(self._sign_on.begin, call, https)
                return redirect(to, kept)
            address = self._visitors.address(call)
            secret, asked = await asyncio.to_thread(self._sign_on.finish, call, https, address)
        except GadError as error:
            return self._login_page(_status(error), "", str(error)).with_cookies(forgotten(https))
        return redirect(own_path(asked), self._cookie(call, secret), forgotten(https))

    async def _account(self, visitor: Visitor, form: dict[str, str] | None) -> Reply:
        name, role = visitor.who.name or "", visitor.who.role.word
        if form is None:
            own = await asyncio.to_thread(self._logins.has_password, name)
            return page(200, html.account(name, role, has_password=own))
        try:
            await asyncio.to_thread(self._change_password, name, form)
        except GadError as error:
            return page(400, html.account(name, role, str(error)))
        return redirect("/login")

    def _change_password(self, name: str, form: dict[str, str]) -> None:
        self._logins.check(name, form.get("password", ""), "the account page")
        if form.get("new", "") != form.get("again", ""):
            raise NotAllowed("The two new passwords differ.")
        UserList(self._settings, by=name).set_password(name, form.get("new", ""))

    def _logout(self, call: Call, visitor: Visitor) -> Reply:
        self._logins.end(visitor.login)
        return redirect("/login", self._cookie(call, "", lasts=0))

    def _cookie(self, call: Call, secret: str, lasts: int | None = None) -> str:
        """The cookie of a login: no script reads it, no other site sends it, and not over plain HTTP if
        it came over HTTPS."""
        parts = [f"{COOKIE}={secret}", "Path=/", "HttpOnly", "SameSite=Lax"]
        parts += ["Secure"] if self._visitors.https(call) else []
        return "; ".join(parts if lasts is None else [*parts, f"Max-Age={lasts}"])


def _status(error: GadError) -> int:
    """How HTTP says why single sign-on failed; 502 where the provider is to blame."""
    return {NotAllowed: 401, NotFound: 404}.get(type(error), 502)


def own_path(asked: str) -> str:
    """A path of this server to go to after the login; never another server."""
    plain = asked.startswith("/") and not asked.startswith(("//", "/\\")) and asked.isprintable()
    return asked if plain and asked.isascii() else "/"
