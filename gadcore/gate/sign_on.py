"""Single sign-on at the gate: to the provider, and back with a login.

What an attempt has to bring back is kept in a cookie of the browser that began it, so that every process of
the server can finish it, and no other browser can.
"""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, quote, unquote

from gadcore.access.logins import Logins
from gadcore.access.oidc import Attempt, Provider
from gadcore.errors import NotAllowed, NotFound
from gadcore.gate.calls import Call
from gadcore.gate.routes import BACK, SIGN_ON
from gadcore.settings import Settings

COOKIE = "ringfence_sign_on"
MINUTES = 10  # to log in at the provider


class SignOn:
    """The two steps of a login at a provider; every one may raise a GadError to show."""

    def __init__(self, settings: Settings, logins: Logins) -> None:
        self._provider = Provider(settings.oidc) if settings.oidc else None
        self._logins = logins

    @property
    def is_offered(self) -> bool:
        return self._provider is not None

    def begin(self, call: Call, https: bool) -> tuple[str, str]:
        """The address at the provider, and the cookie that remembers the attempt."""
        attempt = Attempt.new()
        to = self._known().begin(attempt, _back(call, https))
        kept = [attempt.state, attempt.nonce, attempt.verifier, _query(call).get("next", "")]
        return to, _cookie(quote(json.dumps(kept), safe=""), https, lasts=MINUTES * 60)

    def finish(self, call: Call, https: bool, address: str) -> tuple[str, str]:
        """The secret of a new login, and the path that was asked for at first."""
        provider = self._known()
        *parts, asked = _remembered(call)
        attempt, told = Attempt(*parts), _query(call)
        if told.get("state") == attempt.state:
            self._logins.use_once(attempt.state)
        person = provider.finished(attempt, _back(call, https), told)
        return self._logins.begin_vouched(person, address), asked

    def _known(self) -> Provider:
        if self._provider is None:
            raise NotFound("Single sign-on is not set up here.")
        return self._provider


def forgotten(https: bool) -> str:
    """The cookie that ends an attempt."""
    return _cookie("", https, lasts=0)


def _cookie(value: str, https: bool, lasts: int) -> str:
    parts = [f"{COOKIE}={value}", f"Path={SIGN_ON}", "HttpOnly", "SameSite=Lax", f"Max-Age={lasts}"]
    return "; ".join([*parts, "Secure"] if https else parts)


def _remembered(call: Call) -> list[str]:
    try:
        found = json.loads(unquote(call.cookies.get(COOKIE, "")))
    except ValueError:
        found = None
    if (
        isinstance(found, list)
        and len(found) == 4
        and all(isinstance(part, str) and part for part in found[:3])
    ):
        return [str(part) for part in found]
    raise NotAllowed("This login was not begun in this browser, or took too long. Begin it again.")


def _back(call: Call, https: bool) -> str:
    return f"{'https' if https else 'http'}://{call.host}{BACK}"


def _query(call: Call) -> dict[str, str]:
    return dict(parse_qsl(call.scope.get("query_string", b"").decode("latin-1")))
