"""Sends events to addresses that an admin has named: signed, tried again with longer and longer pauses.

    Ringfence-Signature: t=<seconds>,v1=<HMAC-SHA256 of "<seconds>.<body>" with the secret of the address>

An address is looked up once and connected to as it was found, so that a name cannot lead elsewhere after it
was checked. One of this machine or its network is sent to only if that was allowed. No redirect is followed.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import time
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

from sqlalchemy import Row

from gadcore import __version__
from gadcore.errors import InputError, NotAllowed
from gadcore.jobs.kind import Job, Kind
from gadcore.store import Store
from gadcore.store.schema import now

PAUSES = (10, 60, 300, 1800, 7200)  # seconds before the second, third … attempt; then it is given up
TIMEOUT = 10.0  # seconds for each step of a connection
LOOK = 0.2  # seconds between looks at what is due
PORTS = {"http": 80, "https": 443}


class DeliverKind(Kind):
    """Sends all that waits, and ends when nothing does; there is one such job at a time."""

    name = "deliver"
    work = "sending of events"
    lane = "apart"
    attempts = 1000  # what was sent is written down at once: another process goes on

    def do(self, job: Job) -> None:
        while not job.store.deliveries.end_job(job.id):
            job.stop_if_asked()
            if not send_due(job.store):
                time.sleep(LOOK)


def send_due(store: Store) -> int:
    """Send what is due now; returns how many were tried."""
    found = store.deliveries.due()
    for row in found:
        _send(store, row)
    return len(found)


def _send(store: Store, row: Row[Any]) -> None:
    answer, done = _attempt(row)
    if done:
        store.deliveries.ended(row.id, "delivered", answer)
    elif row.attempts < len(PAUSES):
        store.deliveries.put_off(row.id, now() + timedelta(seconds=PAUSES[row.attempts]), answer)
    else:
        store.deliveries.ended(row.id, "given up", answer)


def _attempt(row: Row[Any]) -> tuple[str, bool]:
    """How one attempt went, in words, and whether it was taken: an answer of 200 to 299."""
    body = json.dumps({"delivery": row.id, **row.body}, ensure_ascii=False).encode()
    try:
        status = _post(row.url, body, _headers(row, body), private=row.private)
    except (NotAllowed, OSError, http.client.HTTPException, UnicodeError) as error:
        return f"{type(error).__name__}: {error}"[:500], False
    return f"HTTP {status}", 200 <= status < 300


def _headers(row: Row[Any], body: bytes) -> dict[str, str]:
    return {
        "content-type": "application/json",
        "user-agent": f"Ringfence/{__version__}",
        "ringfence-event": str(row.body["event"]),
        "ringfence-delivery": str(row.id),
        "ringfence-signature": signature(row.secret, body, int(time.time())),
    }


def signature(secret: str, body: bytes, at: int) -> str:
    """The header that proves who has sent a body, and when."""
    signed = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


def checked_url(url: str, *, private: bool) -> str:
    """An address as it may be kept; InputError otherwise."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in PORTS and parts.hostname and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        fits = False
    if not fits or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError(f"the address {url!r}", "https://host/path, without a name and password in it")
    if parts.scheme == "http" and not private:
        fix = "use https, or --private for an address of your own network"
        raise InputError(f"the address {url!r} without TLS", "https", fix)
    return url


def _post(url: str, body: bytes, headers: dict[str, str], *, private: bool) -> int:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT)
    connection.sock = _connected(parts, host, port, private=private)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body, {**headers, "host": parts.netloc})
        return connection.getresponse().status
    finally:
        connection.close()


def _connected(parts: SplitResult, host: str, port: int, *, private: bool) -> socket.socket:
    """A connection to the address that was checked."""
    family, kind, proto, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    if not private and not ipaddress.ip_address(place[0]).is_global:
        raise NotAllowed(
            f"{host} is {place[0]}, an address of this network. Allow it: webhook add --private."
        )
    plain = socket.socket(family, kind, proto)
    try:
        plain.settimeout(TIMEOUT)
        plain.connect(place)
        if parts.scheme == "http":
            return plain
        return ssl.create_default_context().wrap_socket(plain, server_hostname=host)
    except OSError:
        plain.close()
        raise
