"""The gate: ASGI middleware before pages, WebSocket, uploads, media and everything else that is served.

asgi      lets a request through, sends it to the login, or refuses it
visitors  who sends a request: a login, a user of a trusted proxy, or somebody on this machine
calls     a request as the gate sees it
routes    the one table of paths and the role that each needs
headers   what every answer says to the browser: CSP and its like
html      the login page and the account page
sign_on   single sign-on: to the provider, and back with a login
desk      what the gate answers itself
status    /health and /metrics
start     whether a server may start at an address
"""

from __future__ import annotations

from gadcore.gate.asgi import Gate
from gadcore.gate.start import stop_unless_ready

__all__ = ["Gate", "stop_unless_ready"]
