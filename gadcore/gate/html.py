"""The login page and the account page: plain HTML without a script, in light and dark."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, Template

_FILE = Path(__file__).with_name("page.html.jinja")


def login(next_path: str, wrong: str = "", name: str = "", *, sign_on: bool = False) -> str:
    """The form that asks for name and password; ``wrong`` says what was wrong with the last ones."""
    return _template().render(kind="login", next=next_path, wrong=wrong, name=name, sign_on=sign_on)


def account(name: str, role: str, wrong: str = "", *, has_password: bool = True) -> str:
    """Who is logged in, with a way out and a new password for those who have one."""
    told = {"name": name, "role": role, "wrong": wrong, "has_password": has_password}
    return _template().render(kind="account", **told)


def no_account(name: str | None) -> str:
    """For somebody without a password here."""
    return _template().render(kind="none", name=name)


@cache
def _template() -> Template:
    environment = Environment(autoescape=True, trim_blocks=True)
    return environment.from_string(_FILE.read_text(encoding="utf-8"))
