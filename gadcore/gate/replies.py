"""Answers that the gate gives itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

from gadcore.gate.calls import Send


@dataclass
class Reply:
    """An answer as a whole."""

    status: int
    body: str
    kind: str = "text/plain"
    headers: dict[str, str] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()

    def with_cookies(self, *cookies: str) -> Reply:
        return replace(self, cookies=cookies)

    async def send(self, send: Send) -> None:
        """Give the answer; nothing of it is kept by browsers."""
        body = self.body.encode()
        said = {
            "content-type": f"{self.kind}; charset=utf-8",
            "content-length": str(len(body)),
            "cache-control": "no-store",
            **self.headers,
        }
        kept = [("set-cookie", cookie) for cookie in self.cookies]
        raw = [(name.encode(), value.encode("latin-1")) for name, value in [*said.items(), *kept]]
        await send({"type": "http.response.start", "status": self.status, "headers": raw})
        await send({"type": "http.response.body", "body": body})


def page(status: int, html: str) -> Reply:
    return Reply(status, html, "text/html")


def refusal(status: int, why: str) -> Reply:
    return Reply(status, f"{why}\n")


def problem(status: int, detail: str, headers: dict[str, str] | None = None, **more: Any) -> Reply:
    """A refusal for programs, as RFC 9457 words it."""
    told = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    body = json.dumps({**told, **more}, ensure_ascii=False) + "\n"
    return Reply(status, body, "application/problem+json", headers or {})


def redirect(to: str, *cookies: str) -> Reply:
    """Have the browser ask for another page."""
    return Reply(303, "", headers={"location": to}, cookies=cookies)


def document(status: int, content: dict[str, Any]) -> Reply:
    return Reply(status, json.dumps(content) + "\n", "application/json")
