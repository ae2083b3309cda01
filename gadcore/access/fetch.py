"""JSON documents of another server, in bounded time and size, and from where they were asked for alone."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from gadcore.errors import GadError

SECONDS = 10.0
MOST_BYTES = 1_000_000


class _NoRedirects(HTTPRedirectHandler):
    """A code or a secret goes to the server that it was meant for."""

    def redirect_request(self, *_: Any) -> None:
        return None


_opener = build_opener(_NoRedirects)


def fetched(
    address: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
) -> dict[str, Any]:
    """The JSON object at an address, or the answer to a form; GadError, without what was sent, otherwise."""
    data = urlencode(form).encode() if form is not None else None
    request = Request(address, data, {"accept": "application/json", **(headers or {})})
    try:
        with _opener.open(request, timeout=SECONDS) as answer:
            found = json.loads(answer.read(MOST_BYTES))
    except HTTPError as error:
        with error:
            raise _failed(address, f"it answered {error.code}{_why(error)}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _failed(address, type(error).__name__) from error
    if not isinstance(found, dict):
        raise _failed(address, "its answer is no JSON object")
    return found


def _failed(address: str, why: str) -> GadError:
    return GadError(f"{urlsplit(address).netloc}, which logs people in, gave no usable answer ({why}).")


def _why(error: HTTPError) -> str:
    """The one word by which OAuth says what was wrong."""
    try:
        word = json.loads(error.read(MOST_BYTES)).get("error", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return f", {word}" if isinstance(word, str) and word.isidentifier() else ""
