"""Sends requests to a gate without a network, and tells what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from gadcore.access.passes import HEADER, Pass, read_pass
from gadcore.access.users import UserList
from gadcore.gate import Gate
from gadcore.settings import Settings

HOST = "ringfence.example"
OUTSIDE = "203.0.113.7"
PASSWORD = "correct horse battery"
PAGE = {"accept": "text/html"}


@dataclass
class App:
    """Stands for Streamlit: answers everything, and keeps the passes that it was shown."""

    passes: list[Pass | None] = field(default_factory=list)
    heard: list[Any] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = {name.decode(): value.decode() for name, value in scope["headers"]}
        self.passes.append(read_pass(found.get(HEADER)))
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"server", b"app")]})
            await send({"type": "http.response.body", "body": b"the app"})
            return
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            self.heard.append(message)


@dataclass
class Answer:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    body: str
    cookies: list[str] = field(default_factory=list)  # as they are set

    @property
    def cookie(self) -> str:
        return self.cookies[0].split(";")[0] if self.cookies else ""


class Browser:
    """A browser with one cookie, at a gate of its own."""

    def __init__(
        self,
        settings: Settings,
        address: str = "0.0.0.0",
        peer: str = OUTSIDE,
        host: str = HOST,
        app: Any = None,
    ) -> None:
        self.app = App()
        self.gate = Gate(app or self.app, settings, address)
        self.peer, self.host, self.cookie = peer, host, ""

    def ask(
        self,
        path: str,
        method: str = "GET",
        form: dict[str, str] | None = None,
        body: bytes = b"",
        **more: str,
    ) -> Answer:
        """One HTTP request; ``more`` are headers. A form is sent by a page of the server."""
        headers = {"host": self.host, "cookie": self.cookie, **more}
        if form is not None:
            method, headers = "POST", {"origin": f"http://{self.host}", **headers}
        told: list[Any] = []
        scope = self._scope("http", path, headers) | {"method": method, "scheme": "http"}
        _run(self.gate(scope, _once(body or urlencode(form or {}).encode()), _into(told)))
        raw = {name.decode(): value.decode() for name, value in told[0]["headers"]}
        cookies = [value.decode() for name, value in told[0]["headers"] if name == b"set-cookie"]
        body = b"".join(m.get("body", b"") for m in told[1:]).decode()
        return Answer(told[0]["status"], raw, body, cookies)

    def log_in(self, name: str, password: str = PASSWORD) -> Answer:
        answer = self.ask("/login", form={"name": name, "password": password})
        self.cookie = answer.cookie or self.cookie
        return answer

    def socket(self, *messages: Any, path: str = "/_stcore/stream", **more: str) -> list[Any]:
        """Open a WebSocket and send messages, each bytes or something to do first; what came back."""
        cookie = f"{self.cookie}; _streamlit_xsrf=2|x"
        words = {"sec-websocket-protocol": "streamlit, 2|x", "origin": f"http://{self.host}"}
        headers = {"host": self.host, "cookie": cookie, **words, **more}
        told: list[Any] = []
        queue = [{"type": "websocket.connect"}, *messages, {"type": "websocket.disconnect", "code": 1000}]

        async def receive() -> Any:
            message = queue.pop(0)
            if callable(message):
                message()
                return await receive()
            return {"type": "websocket.receive", "bytes": message} if isinstance(message, bytes) else message

        given = {name: value for name, value in headers.items() if value}
        scope = self._scope("websocket", path, given) | {"scheme": "ws"}
        _run(self.gate(scope, receive, _into(told)))
        return told

    def _scope(self, kind: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
        path, _, query = path.partition("?")
        raw = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
        scope = {"type": kind, "path": path, "query_string": query.encode(), "headers": raw}
        return {**scope, "client": (self.peer, 4711)}


def add_users(settings: Settings, **roles: str) -> None:
    """Users with the same password, by name and role."""
    for name, role in roles.items():
        UserList(settings).add(name, role, PASSWORD)


def _run(call: Coroutine[Any, Any, None]) -> None:
    """Wait for a call in a thread of its own: a browser of other tests may keep this one's event loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, call).result()


def _once(body: bytes) -> Any:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    return receive


def _into(told: list[Any]) -> Any:
    async def send(message: Any) -> None:
        told.append(message)

    return send
