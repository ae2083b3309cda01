"""A small provider of OpenID Connect on loopback, which can be made to err."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

CLIENT, SECRET = "ringfence", "a secret: of the client"
KEY, OTHER_KEY = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
LASTS = 3600  # seconds


@dataclass
class FakeProvider:
    """What it says of itself and of whoever logs in; change it to have it err."""

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"preferred_username": "eva"})
    claims: dict[str, Any] = field(default_factory=dict)  # in place of the right ones
    described: dict[str, Any] = field(default_factory=dict)  # likewise
    key: Any = KEY
    algorithm: str = "ES256"
    asked: dict[str, str] = field(default_factory=dict)  # of the last authorization
    codes: set[str] = field(default_factory=set)
    tokens: int = 0

    def authorize(self, address: str) -> str:
        """Log in at the address that the server sent the browser to; the query that leads back."""
        self.asked = dict(parse_qsl(urlsplit(address).query))
        self.codes.add(code := f"code{len(self.codes)}")
        return f"state={self.asked['state']}&code={code}"

    def document(self) -> dict[str, Any]:
        ends = {name: f"{self.issuer}/{name}" for name in ("token_endpoint", "jwks_uri")}
        login = {"issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize"}
        return {**login, **ends, **self.described}

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        """The id token for a code, which holds once; KeyError for anything that a provider refuses."""
        self.codes.remove(form["code"])
        pair = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        right = digest.rstrip(b"=").decode() == self.asked["code_challenge"]
        same = form["redirect_uri"] == self.asked["redirect_uri"]
        if not (right and same and pair == "ringfence:a%20secret%3A%20of%20the%20client"):
            raise KeyError("refused")
        self.tokens += 1
        return {"id_token": self._signed(), "access_token": "x", "token_type": "Bearer"}

    def _signed(self) -> str:
        now = int(time.time())
        said = {"iss": self.issuer, "aud": CLIENT, "sub": "4711", "iat": now, "exp": now + LASTS}
        all_said = {**said, "nonce": self.asked["nonce"], **self.person, **self.claims}
        claims = {name: value for name, value in all_said.items() if value is not None}
        return jwt.encode(claims, self.key, self.algorithm, headers={"kid": "one"})


@contextmanager
def provider_on_loopback() -> Iterator[FakeProvider]:
    """A provider that answers until the end of the block."""
    fake = FakeProvider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    fake.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(fake: FakeProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            keys = [{**jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key(), as_dict=True), "kid": "one"}]
            found = {"/.well-known/openid-configuration": fake.document(), "/jwks_uri": {"keys": keys}}
            self._answer(200, found[self.path])

        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["content-length"])).decode()))
            try:
                self._answer(200, fake.token(form, self.headers.get("authorization", "")))
            except KeyError:
                self._answer(400, {"error": "invalid_grant", "error_description": "secret words"})

        def _answer(self, status: int, content: Any) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
