"""Whether a server may start at an address."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from gadcore.access.oidc import Provider
from gadcore.access.passes import is_loopback
from gadcore.access.users import UserList
from gadcore.settings import Settings


def problem(settings: Settings, address: str) -> str:
    """Why a server may not start there; "" if it may."""
    if settings.oidc and find_spec("jwt") is None:
        return "Single sign-on needs PyJWT. Install it: pip install 'ringfence[oidc]'."
    if settings.oidc:
        Provider(settings.oidc)  # UsageError for roles that there are not
    if is_loopback(address) and not settings.login_always:
        return ""
    if UserList(settings).all() or _names_users(settings):
        return ""
    where = "with GAD_LOGIN=always" if is_loopback(address) else f"at {address or 'every address'}"
    fix = "Add one first: ringfence user add NAME --role admin."
    return f"The server does not start {where} without users. {fix}"


def _names_users(settings: Settings) -> bool:
    """Whether a provider says who may come in, so that no user has to be added here."""
    return settings.oidc is not None and bool(settings.oidc.roles)


def stop_unless_ready(settings: Settings, address: str) -> None:
    """End the program with one line and exit code 2 if a server may not start there."""
    if found := problem(settings, address):
        sys.stderr.write(f"error: {found}\n")
        sys.exit(2)
