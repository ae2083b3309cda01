"""user add, user list, user role, user password, user remove."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from gadcore.access import Role
from gadcore.cli.parser import Commands
from gadcore.cli.show import out, table
from gadcore.errors import InputError
from gadcore.settings import Settings

if TYPE_CHECKING:
    from gadcore.access.users import UserList

ROLES = [role.word for role in Role]


def add_commands(commands: Commands) -> None:
    user = commands.add("user", change_users, "users who may log in", "user add ana --role analyst")
    user.add_argument("action", choices=["list", *_ACTIONS])
    user.add_argument("name", nargs="?", help="name of the user (not for list)")
    user.add_argument("--role", choices=ROLES, help="what the user may do (for add and role)")
    user.add_argument(
        "--no-password",
        action="store_true",
        help="add a user of single sign-on or of a trusted proxy",
    )


def change_users(given: Namespace) -> None:
    """Carry out one of the actions; a password is asked for, or read from the first line of stdin."""
    from gadcore.access.users import UserList

    users = UserList(Settings.from_env())
    if given.action == "list":
        found = users.all()
        rows = [
            (u.name, u.role, "yes" if u.has_password else "no", f"{u.created_at:%Y-%m-%d}") for u in found
        ]
        out(given, found, table(("name", "role", "password", "since"), rows))
        return
    if not given.name:
        raise InputError(f"user {given.action} without a name", fix=f"ringfence user {given.action} NAME")
    said = _ACTIONS[given.action](users, given)
    out(given, {"user": given.name, "done": given.action}, said)


def _add(users: UserList, given: Namespace) -> str:
    role = given.role or Role.ANALYST.word
    users.add(given.name, role, None if given.no_password else _password(given.name))
    return f"Added {given.name} ({role})."


def _role(users: UserList, given: Namespace) -> str:
    if not given.role:
        raise InputError("user role without --role", f"one of {', '.join(ROLES)}")
    users.set_role(given.name, given.role)
    return f"{given.name} is {given.role} now, and has to log in again."


def _new_password(users: UserList, given: Namespace) -> str:
    users.set_password(given.name, _password(given.name))
    return f"{given.name} has a new password, and has to log in again."


def _remove(users: UserList, given: Namespace) -> str:
    users.remove(given.name)
    return f"Removed {given.name}. Verdicts keep the name."


def _password(name: str) -> str:
    """A password from the terminal, without echo and twice; otherwise the first line of stdin."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass(f"Password of {name}: ")
    if getpass.getpass("The same again: ") != first:
        raise InputError("two different passwords", fix="try again")
    return first


_ACTIONS = {"add": _add, "role": _role, "password": _new_password, "remove": _remove}
