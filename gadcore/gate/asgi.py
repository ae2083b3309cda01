"""The gate itself: every HTTP request and every WebSocket passes here first."""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

from gadcore.access.passes import HEADER
from gadcore.gate import headers
from gadcore.gate.calls import Call, Receive, Scope, Send
from gadcore.gate.desk import Desk
from gadcore.gate.replies import Reply, problem, redirect, refusal
from gadcore.gate.routes import OWN, PUBLIC, for_programs, least_role
from gadcore.gate.status import Traffic
from gadcore.gate.visitors import PROXY_HEADER, Visitor, Visitors
from gadcore.settings import Settings

App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger("gadcore.gate")
POLICY_VIOLATION = 1008  # code of a WebSocket that is closed
_XSRF = "_streamlit_xsrf"
_UNTOLD = ("/static/", "/health", "/metrics", "/_stcore/health", "/_stcore/host-config")
_SAFE = ("GET", "HEAD", "OPTIONS")


class Gate:
    """Lets requests through to ``app``, sends them to the login, or refuses them.

    ``address`` is where the server listens: on this machine alone no login is needed, unless the settings ask
    for one.
    """

    def __init__(self, app: App, settings: Settings, address: str) -> None:
        self._app = app
        self._visitors, self._traffic = Visitors(settings, address), Traffic()
        self._desk = Desk(settings, self._visitors, self._traffic)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        call = Call(scope)
        visitor = await self._visitors.of(call)
        serve = self._socket if call.is_socket else self._http
        await serve(call, visitor, receive, send)

    async def _http(self, call: Call, visitor: Visitor | None, receive: Receive, send: Send) -> None:
        send = self._answering(call, visitor, send)
        reply = self._refused(call, visitor)
        if reply is None and call.path in OWN:
            reply = await self._desk.answer(call, visitor, receive)
        if reply is not None:
            await reply.send(send)
        elif visitor is not None:
            await self._app(_admitted(call, visitor), receive, send)

    def _refused(self, call: Call, visitor: Visitor | None) -> Reply | None:
        """Why a request is not let through; None if it is."""
        least, programs = least_role(call.path), for_programs(call.path)
        if programs and visitor is None:
            return self._to_login(call)
        if (call.method not in _SAFE and not _from_here(call, visitor)) or (
            programs and call.from_other_site
        ):
            return _refusal(call, 403, "This was not sent by a page of this server.")
        if least == PUBLIC:
            return None
        if visitor is None:
            return self._to_login(call)
        if visitor.who.role < least:
            return _refusal(call, 403, f"{visitor.who.name or 'You'} may not do this.")
        return None

    def _to_login(self, call: Call) -> Reply:
        is_page = call.method == "GET" and "text/html" in call.headers.get("accept", "")
        if call.bearer is not None and for_programs(call.path):
            self._traffic.wrong_tokens += 1
        return redirect(f"/login?next={quote(_asked(call))}") if is_page else _login_first(call)

    async def _socket(self, call: Call, visitor: Visitor | None, receive: Receive, send: Send) -> None:
        if visitor is None or visitor.who.role < least_role(call.path) or not _own_socket(call, visitor):
            self._traffic.refused_sockets += 1
            await receive()  # its beginning
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
            return
        self._traffic.open_sockets += 1
        try:
            await self._app(_admitted(call, visitor), self._while_it_holds(visitor, receive, send), send)
        finally:
            self._traffic.open_sockets -= 1

    def _while_it_holds(self, visitor: Visitor, receive: Receive, send: Send) -> Receive:
        """Messages of a WebSocket until the login ends; then it is closed."""

        async def next_message() -> MutableMapping[str, Any]:
            message = await receive()
            if message["type"] == "websocket.receive" and not await self._visitors.holds(visitor):
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message

        return next_message

    def _answering(self, call: Call, visitor: Visitor | None, send: Send) -> Send:
        """Send answers with the headers of every answer, count them and write them to the log."""
        https, began = self._visitors.https(call), time.monotonic()

        async def send_on(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                self._traffic.answered(message["status"])
                _log(call, visitor, message["status"], self._visitors.address(call), began)
                message["headers"] = headers.with_headers(list(message.get("headers", ())), https=https)
            await send(message)

        return send_on


def _refusal(call: Call, status: int, why: str) -> Reply:
    return problem(status, why) if for_programs(call.path) else refusal(status, why)


def _login_first(call: Call) -> Reply:
    if not for_programs(call.path):
        return refusal(401, "Log in first.")
    found = "There is no token." if call.bearer is None else "The token is unknown, or it has expired."
    said = f"{found} Expected: Authorization: Bearer with a token of this server."
    to_do = "make one with: ringfence token add NAME --role analyst"
    return problem(401, said, {"www-authenticate": 'Bearer realm="ringfence"'}, to_do=to_do)


def _log(call: Call, visitor: Visitor | None, status: int, address: str, began: float) -> None:
    """A line for an answer, without the query, which may hold a code; none for files and for watchers."""
    if status < 400 and call.path.startswith(_UNTOLD):
        return
    told = {
        "method": call.method,
        "path": call.path,
        "status": status,
        "milliseconds": round(1000 * (time.monotonic() - began), 1),
        "who": visitor.who.name if visitor else None,
        "address": address,
    }
    logger.info("answered", extra=told)


def _admitted(call: Call, visitor: Visitor) -> Scope:
    """The request as the app sees it: with the pass of the gate, and none that came from outside."""
    dropped = (HEADER.encode(), PROXY_HEADER.encode())
    kept = [(name, value) for name, value in call.scope["headers"] if name.lower() not in dropped]
    kept.append((HEADER.encode(), visitor.passport.header().encode()))
    return {**call.scope, "headers": kept}


def _from_here(call: Call, visitor: Visitor | None) -> bool:
    """Whether a request that changes something comes from a page of this server.

    A program, which says nothing of its origin, may send one with a token, or where no login is needed. No
    other site can have a browser send a token.
    """
    own = call.from_own_page
    if own is not None:
        return own
    return visitor is not None and (visitor.by_token or not visitor.who.is_login)


def _own_socket(call: Call, visitor: Visitor) -> bool:
    """Whether a WebSocket is opened by a page of this server, which alone can read its cookie."""
    if not _from_here(call, visitor):
        return False
    if not visitor.who.is_login:
        return True
    words = [word.strip() for word in call.headers.get("sec-websocket-protocol", "").split(",")]
    kept = call.cookies.get(_XSRF, "")
    return bool(kept) and len(words) > 1 and hmac.compare_digest(words[1].encode(), kept.encode())


def _asked(call: Call) -> str:
    query = call.scope.get("query_string", b"").decode("latin-1")
    return f"{quote(call.path)}?{query}" if query else quote(call.path)
