"""The API as an ASGI app behind the gate: finds the call, checks role and request, answers.

The gate has let the caller in and says who it is. Work is done in a few threads of its own, so that programs
that ask much never take those that the gate and the pages need.
"""

from __future__ import annotations

import asyncio
import io
import json
import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, BinaryIO
from urllib.parse import parse_qsl

from gadcore.access import check
from gadcore.access.passes import HEADER, read_pass
from gadcore.api import mcp, openapi
from gadcore.api.endpoint import BASE, Ask, Endpoint, File
from gadcore.api.forms import read_form, read_json
from gadcore.api.problems import Unreadable, reply_to
from gadcore.api.routes import CALLS
from gadcore.errors import GadError, NotAllowed
from gadcore.gate.calls import Call, Receive, Scope, Send
from gadcore.gate.replies import Reply, page
from gadcore.records import as_json
from gadcore.settings import Settings

ROUTES: tuple[Endpoint, ...] = (*CALLS, mcp.ROUTE)
ABOUT = (f"{BASE}/openapi.json", f"{BASE}/docs")  # answered here, for whoever may call anything
THREADS = 4
MOST_BODY, MOST_FILE = 1 << 20, 2 << 30  # bytes
_KEY = re.compile(r"[\x21-\x7e]{1,200}")


class Api:
    """Everything under /api."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(THREADS, "api")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            reply = await self._answer(Call(scope), receive)
        except GadError as error:
            reply = reply_to(error)
        await reply.send(send)

    async def _answer(self, call: Call, receive: Receive) -> Reply:
        passport = read_pass(call.headers.get(HEADER))
        if passport is None:
            raise NotAllowed("The API is reached through the gate of the server alone: ringfence run.")
        if call.path in ABOUT:
            return _about(call)
        route, places = find(call)
        check(passport.who, route.act)
        query: Any = read_form(route.query, _query(call), "query", from_text=True)
        ask = Ask(self._settings, passport.who, places, query, key=_key(call) if route.keyed else None)
        return await _Reading(call, receive, route, ask, self._apart).reply()

    async def _apart(self, do: Callable[..., Any], *given: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, do, *given)


@dataclass(frozen=True)
class _Reading:
    """A call that was found and may be made: its body is read, and it is made."""

    call: Call
    receive: Receive
    route: Endpoint
    ask: Ask
    apart: Callable[..., Any]

    async def reply(self) -> Reply:
        if self.route.takes_file:
            return await self._with_file()
        body: Any = None
        if self.route.body is not None:
            body = read_form(self.route.body, await self._json(), "body")
        return await self._made(body=body)

    async def _made(self, **given: Any) -> Reply:
        answer: Reply = await self.apart(_make, self.route, replace(self.ask, **given))
        return answer

    async def _with_file(self) -> Reply:
        self._check_kind("application/octet-stream")
        home = self.ask.settings.home
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as file:
            await self._copy(file, MOST_FILE)
            file.seek(0)
            return await self._made(upload=file)

    async def _json(self) -> Any:
        self._check_kind("application/json")
        content = io.BytesIO()
        await self._copy(content, MOST_BODY)
        try:
            return read_json(content.getvalue() or b"{}")
        except ValueError as error:
            raise Unreadable(400, f"The body is no JSON ({error}). Expected: a JSON object.") from None

    async def _copy(self, file: BinaryIO, most: int) -> None:
        size, more = 0, True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Unreadable(400, "The caller has left before the end of the body.")
            size += len(message.get("body", b""))
            if size > most:
                raise Unreadable(413, f"A body of more than {most:,} bytes. Send a smaller one.")
            await self.apart(file.write, message.get("body", b""))
            more = bool(message.get("more_body"))

    def _check_kind(self, expected: str) -> None:
        """A page of another site can send neither kind without asking first, and is not answered then."""
        kind = self.call.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != expected:
            raise Unreadable(415, f"A body of content type {kind or 'none'!r}. Expected: {expected}.")


def find(call: Call) -> tuple[Endpoint, dict[str, str]]:
    """The call that method and path name, and the parts of the path."""
    here = [(route, places) for route in ROUTES if (places := _places(route, call.path)) is not None]
    if not here or "\0" in call.path:
        raise Unreadable(404, f"There is no {call.path!r}. See {BASE}/docs.")
    method = "GET" if call.method == "HEAD" else call.method
    for route, places in here:
        if route.method == method:
            return route, places
    methods = ", ".join(sorted({route.method for route, _ in here}))
    raise Unreadable(405, f"{call.method} of {call.path!r}. Expected: {methods}.", allow=methods)


def _places(route: Endpoint, path: str) -> dict[str, str] | None:
    wanted, found = route.url.split("/"), path.split("/")
    if len(wanted) != len(found):
        return None
    pairs = list(zip(wanted, found))
    if any(not word.startswith("{") and word != given for word, given in pairs):
        return None
    return {word[1:-1]: given for word, given in pairs if word.startswith("{")}


def _make(route: Endpoint, ask: Ask) -> Reply:
    """Make a call, and put what it answers into words."""
    answer = route.call(ask)
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, File):
        named = {"content-disposition": f'attachment; filename="{answer.name}"'}
        return Reply(200, answer.content, answer.kind, named)
    body = json.dumps(as_json(answer), ensure_ascii=False) + "\n"
    return Reply(route.status, body, "application/json")


def _about(call: Call) -> Reply:
    if call.method not in ("GET", "HEAD"):
        raise Unreadable(405, f"{call.method} of {call.path!r}. Expected: GET.", allow="GET")
    document = openapi.document(ROUTES)
    if call.path.endswith(".json"):
        return Reply(200, json.dumps(document) + "\n", "application/json")
    return page(200, openapi.docs_page(ROUTES, document))


def _query(call: Call) -> dict[str, str]:
    raw = call.scope.get("query_string", b"").decode("latin-1")
    return dict(parse_qsl(raw, keep_blank_values=True, errors="replace"))


def _key(call: Call) -> str | None:
    key = call.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise Unreadable(400, "An Idempotency-Key that is none. Expected: 1 to 200 visible ASCII letters.")
    return key
