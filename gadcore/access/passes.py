"""What the gate tells the pages of a visitor: a header that nobody outside this process can make.

The gate drops such a header of a browser and puts its own in. It carries a seal that is drawn anew with every
process, so that a page which somebody reaches around the gate takes no header for granted.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import secrets
from dataclasses import dataclass

from gadcore.access.roles import LOCAL, Role, Who

HEADER = "x-ringfence-pass"
_SEAL = secrets.token_hex(16)


@dataclass(frozen=True)
class Pass:
    """A visitor that the gate has let in; ``login`` is the id of the login, "" without one."""

    who: Who = LOCAL
    login: str = ""

    def header(self) -> str:
        """The value of the header; plain ASCII."""
        return json.dumps([_SEAL, self.who.name, self.who.role.value, self.login])


def read_pass(header: str | None) -> Pass | None:
    """The pass that a header carries; None for one that the gate of this process did not write."""
    try:
        seal, name, role, login = json.loads(header or "")
        if hmac.compare_digest(str(seal), _SEAL):
            return Pass(Who(name, Role(role)), login)
    except (ValueError, TypeError):
        return None
    return None


def is_loopback(address: str) -> bool:
    """Whether an address to listen at, or one of a visitor, is of this machine alone."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
