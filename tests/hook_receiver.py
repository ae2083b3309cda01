"""A server on this machine that takes webhooks, and says what it was told to say."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Receiver:
    """What came in, and what is answered; ``came`` is set at every call."""

    url: str = ""
    status: int = 200
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver for as long as the block lasts."""
    kept = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            kept.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            kept.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(kept.status)
            self.send_header("content-length", "0")
            self.end_headers()
            kept.came.set()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        kept.url = f"http://127.0.0.1:{server.server_address[1]}/hook?from=ringfence"
        yield kept
        server.shutdown()
        thread.join()
