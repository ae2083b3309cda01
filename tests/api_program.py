"""A program at the API: the whole way through the gate, without a network."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from asgi_client import OUTSIDE, Answer, Browser

from gadcore.access.tokens import Tokens
from gadcore.api import Api
from gadcore.settings import Settings

JSON = {"content-type": "application/json"}


class Program:
    """One that shows a token, or none."""

    def __init__(self, settings: Settings, token: str = "", *, here: bool = False) -> None:
        place = {"address": "127.0.0.1", "peer": "127.0.0.1", "host": "localhost:8501"} if here else {}
        self.browser = Browser(settings, **{"peer": OUTSIDE, **place}, app=Api(settings))
        self.shown = {"authorization": f"Bearer {token}"} if token else {}

    def ask(self, method: str, path: str, body: Any = None, query: Any = None, **headers: str) -> Answer:
        """One call below /api/v1; a body is sent as JSON."""
        kind = JSON if method == "POST" else {}
        content = b"" if body is None else json.dumps(body).encode()
        path = f"/api/v1{path}" + (f"?{urlencode(query)}" if query else "")
        return self.browser.ask(path, method, body=content, **{**self.shown, **kind, **headers})

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return self._document(self.ask("GET", path, query=query), status)

    def post(self, path: str, body: Any, status: int = 201, **headers: str) -> Any:
        return self._document(self.ask("POST", path, body, **headers), status)

    def _document(self, answer: Answer, status: int) -> Any:
        assert answer.status == status, (answer.status, answer.body)
        return json.loads(answer.body)


def program(settings: Settings, role: str = "analyst", name: str = "") -> Program:
    """A program with a token of its own."""
    return Program(settings, Tokens(settings).add(name or f"{role}-program", role))
