"""What lies on other machines: the cluster, and the provider of single sign-on."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from urllib.parse import urlsplit

from gadcore.access.oidc import Provider
from gadcore.checkup.finding import Finding
from gadcore.errors import GadError, StoreError
from gadcore.settings import Settings
from gadcore.store.look import look

SECONDS = 3.0


def engine(settings: Settings) -> Finding:
    if settings.engine == "local":
        return Finding.ok("engine", "this machine")
    if find_spec("distributed") is None:
        fix = "Install it: pip install 'ringfence[cluster]'. Or unset GAD_ENGINE."
        return Finding.problem("engine", f"{settings.engine}, and Dask is not installed", fix)
    address = urlsplit(settings.engine)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), SECONDS).close()
    except OSError as error:
        fix = "Start the scheduler (ringfence cluster, or dask scheduler), or unset GAD_ENGINE."
        return Finding.problem("engine", f"{settings.engine} does not answer ({error})", fix)
    return Finding.ok("engine", f"the scheduler at {settings.engine} answers")


def logins(settings: Settings) -> Finding:
    """Who may log in, and whether the provider that says so answers."""
    if settings.oidc is None:
        return Finding.ok("logins", f"{_users(settings)} user(s); on 127.0.0.1 none is needed")
    if find_spec("jwt") is None:
        fix = "Install it: pip install 'ringfence[oidc]'"
        return Finding.problem("logins", "PyJWT is not installed", fix)
    try:
        Provider(settings.oidc).described()
    except GadError as error:
        return Finding.problem("logins", str(error), "Correct GAD_OIDC_ISSUER, or the way to the provider.")
    return Finding.ok("logins", f"{_users(settings)} user(s); {settings.oidc.issuer} answers")


def _users(settings: Settings) -> int:
    try:
        found = look(settings.store_url)
    except StoreError:
        return 0
    return found.users if found else 0
