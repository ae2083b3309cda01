"""The one table of paths and the role that each needs. A test walks every route of the server against it."""

from __future__ import annotations

from gadcore.access import Role

PUBLIC = 0  # no login
CLOSED = 9  # nobody: Ringfence has no use for it
SHELL = Role.VIEWER  # the page that loads the app, under any other path

ROUTES: dict[str, int] = {
    "/health": PUBLIC,
    "/login": PUBLIC,
    "/logout": Role.VIEWER,
    "/account": Role.VIEWER,
    "/metrics": Role.ADMIN,
    "/api": Role.VIEWER,  # for programs; what each call needs is in its own table, api/routes.py
    "/_stcore/stream": Role.VIEWER,  # the WebSocket
    "/_stcore/health": Role.VIEWER,
    "/_stcore/host-config": Role.VIEWER,
    "/_stcore/bidi-components": Role.VIEWER,  # files of components
    "/_stcore/upload_file": Role.ANALYST,
    "/_stcore/metrics": Role.ADMIN,
    "/_stcore": CLOSED,  # whatever else there is or will be, among it the API for agents
    "/component": CLOSED,  # files of components of the older kind
    "/media": Role.VIEWER,  # pictures and downloads that a page has made
    "/static": Role.VIEWER,  # Streamlit's own JavaScript, fonts and styles
    "/app/static": CLOSED,  # files beside the app
    "/auth": CLOSED,  # Streamlit's own login
    "/oauth2callback": CLOSED,
}
SIGN_ON, BACK = "/login/oidc", "/login/oidc/back"  # where single sign-on begins, and where it comes back to
OWN = ("/health", "/login", SIGN_ON, BACK, "/logout", "/account", "/metrics")  # answered by the gate itself


def for_programs(path: str) -> bool:
    """Whether a path is one of the API, where tokens are taken and refusals are documents."""
    return path == "/api" or path.startswith("/api/")


def least_role(path: str) -> int:
    """The role that a path needs: that of the longest beginning in the table."""
    found = [name for name in ROUTES if path == name or path.startswith(f"{name}/")]
    return ROUTES[max(found, key=len)] if found else SHELL
