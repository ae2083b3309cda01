"""A request as the gate sees it: who sends it from where, with which cookies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from gadcore.access.passes import is_loopback

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_FORM = 10_000  # bytes
_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Call:
    """An HTTP request or the beginning of a WebSocket."""

    scope: Scope

    @property
    def path(self) -> str:
        return str(self.scope["path"])

    @property
    def method(self) -> str:
        return str(self.scope.get("method", "GET"))

    @property
    def is_socket(self) -> bool:
        return bool(self.scope["type"] == "websocket")

    @cached_property
    def headers(self) -> dict[str, str]:
        """By name in small letters; of one that comes twice the last."""
        return {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in self.scope["headers"]
        }

    @cached_property
    def cookies(self) -> dict[str, str]:
        try:
            return {
                name: morsel.value for name, morsel in SimpleCookie(self.headers.get("cookie", "")).items()
            }
        except CookieError:
            return {}

    @property
    def peer(self) -> str:
        """The address at the other end of the line."""
        client = self.scope.get("client")
        return str(client[0]) if client else ""

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    @property
    def is_forwarded(self) -> bool:
        """Whether somebody sends it for somebody else."""
        return any(name == "forwarded" or name.startswith("x-forwarded-") for name in self.headers)

    @property
    def is_here(self) -> bool:
        """Whether it comes from this machine, was meant for it, and is for nobody else."""
        return is_loopback(self.peer) and _name(self.host) in _NAMES and not self.is_forwarded

    @property
    def from_own_page(self) -> bool | None:
        """Whether a page of this server sends it; None where the browser or program does not say."""
        origin = self.headers.get("origin")
        return None if origin is None else bool(self.host) and _parts(origin).netloc == self.host

    @property
    def from_other_site(self) -> bool:
        """Whether a browser says that another site has it sent; programs say nothing."""
        return self.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")

    @property
    def bearer(self) -> str | None:
        """The token that a program shows; None for one that shows none."""
        scheme, _, secret = self.headers.get("authorization", "").partition(" ")
        return secret.strip() if scheme.lower() == "bearer" else None

    @property
    def https(self) -> bool:
        return self.scope.get("scheme") in ("https", "wss")


async def read_form(receive: Receive) -> dict[str, str]:
    """The fields of a form; none of one that is too long."""
    body = b""
    while len(body) <= MOST_FORM:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    return {}


def _name(host: str) -> str:
    """The host without its port."""
    return _parts(f"//{host}").hostname or ""


def _parts(address: str) -> SplitResult:
    """The parts of a web address; of one that is none, no parts."""
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", "", "", "")
