"""What a session remembers and what all sessions share: the only user of st.session_state and st.cache_*.

The project is part of the address (``?project=…``), so that a reload, a bookmark and a link sent to a
colleague open the same project. Everything that matters is in the store; a session holds only where its
analyst stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import streamlit as st

from gadcore.access import Who
from gadcore.access import check as checked
from gadcore.access import may as allowed
from gadcore.access.logins import Logins
from gadcore.access.passes import HEADER, Pass, read_pass
from gadcore.errors import NotAllowed
from gadcore.settings import Settings
from gadcore.workspace import Workspace

ANALYST_COOKIE = "ringfence_analyst"
_PROJECT = "project"
_ANALYST = "analyst"
_CASE = "case"
_PAGE = "page:"

T = TypeVar("T")


def current_project() -> str | None:
    """Id of the project in the address, otherwise of the one opened last in this session."""
    named = st.query_params.get(_PROJECT) or st.session_state.get(_PROJECT)
    return str(named) if named else None


def choose_project(project: str) -> None:
    """Make a project the current one, in the session and in the address."""
    st.session_state[_PROJECT] = project
    if st.query_params.get(_PROJECT) != project:
        st.query_params[_PROJECT] = project


def leave_project() -> None:
    """Forget the current project, for instance after it was deleted."""
    st.session_state.pop(_PROJECT, None)
    st.query_params.pop(_PROJECT, None)


def who() -> Who:
    """The person at work, as the gate says; NotAllowed for one who came around it."""
    return _pass().who


def may(act: str) -> bool:
    """Whether the person at work may do something; see ``access.rights``."""
    return allowed(who(), act)


def check(act: str) -> None:
    """NotAllowed if the person at work may not do something."""
    checked(who(), act)


def note_activity() -> None:
    """Say that the person at work has done something: the login goes on."""
    if login := _pass().login:
        Logins(Settings.from_env()).touch(login)


def _pass() -> Pass:
    found = read_pass(st.context.headers.get(HEADER))
    if found is None and _comes_from_outside():
        raise NotAllowed("This server was started without its gate. Start it with: ringfence run.")
    return found or Pass()


def _comes_from_outside() -> bool:
    """Whether the browser is on another machine."""
    return isinstance(st.context.ip_address, str)  # Streamlit gives none for this machine


def workspace(project: str) -> Workspace:
    """The workspace of a project, shared by all sessions of a person; NotFound if there is none."""
    settings = Settings.from_env()
    return _workspace(project, settings, who(), Workspace.version_of(project, settings))


def delete_project(project: str) -> None:
    """Remove a project and leave it; no session shares it any more."""
    Workspace.delete(project, who=who())
    _workspace.clear()
    leave_project()


@st.cache_resource(show_spinner=False, max_entries=64)
def _workspace(project: str, settings: Settings, who: Who, version: int) -> Workspace:
    """Another one after every update; ``version`` is the present one."""
    return Workspace.open(project, settings, who)


def analyst() -> str:
    """Name recorded with verdicts: the login; without one of this session, the browser, or the settings."""
    if (name := who().name) is not None:
        return name
    named = st.session_state.get(_ANALYST) or unquote(st.context.cookies.get(ANALYST_COOKIE, ""))
    return str(named).strip() or Settings.from_env().analyst


def set_analyst(name: str) -> None:
    st.session_state[_ANALYST] = name.strip()


def remembered(page: str) -> Any:
    """Session-long object of a page, None while there is none."""
    return st.session_state.get(_PAGE + page)


def made_once(page: str, make: Callable[[], T]) -> T:
    """Session-long object of a page, made at first use; change it in place."""
    if _PAGE + page not in st.session_state:
        remember(page, make())
    found: T = remembered(page)
    return found


def remember(page: str, value: Any) -> None:
    """Replace the session-long object of a page."""
    st.session_state[_PAGE + page] = value


def forget(page: str) -> None:
    st.session_state.pop(_PAGE + page, None)


def keep_within(widget: str, options: Sequence[Any]) -> None:
    """Have a keyed widget hold one of its options: its own, the one before it was left out, or the first."""
    held = st.session_state.get(widget, st.session_state.get(_PAGE + widget))
    if held not in options:
        held = options[0]
    if widget not in st.session_state or st.session_state[widget] != held:
        st.session_state[widget] = held
    st.session_state[_PAGE + widget] = held


def sent_by(component: str, name: str) -> Any:
    """What a mounted component sent last under a name, or None; known before it is mounted again."""
    sent = st.session_state.get(component)
    return sent.get(name) if isinstance(sent, dict) else None


def open_case(node_id: str) -> None:
    """Name the case that the Label page shows next; follow it with ``st.switch_page``."""
    st.session_state[_CASE] = node_id


def take_case() -> str | None:
    """The case that was asked for by ``open_case`` or by the address (``?case=…``), once."""
    linked = st.query_params.pop(_CASE, None)
    asked = st.session_state.pop(_CASE, None)
    return asked or linked


def read_once(path: Path, read: Callable[[Path], T]) -> T:
    """What ``read``, a function of a module, makes of a file: kept until the file changes, copied out."""
    try:
        found = path.stat()
        stamp = (found.st_mtime_ns, found.st_size)
    except OSError:
        stamp = (0, 0)
    made: T = _read(f"{read.__module__}.{read.__qualname__}", path, stamp, read)
    return made


@st.cache_data(show_spinner=False, max_entries=64)
def _read(reader: str, path: Path, stamp: tuple[int, int], _read: Callable[[Path], Any]) -> Any:
    return _read(path)
