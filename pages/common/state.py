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


def workspace(project: str) -> Workspace:
    """The workspace of a project, shared by all sessions of this server; NotFound if there is none."""
    return _workspace(project, Settings.from_env())


def delete_project(project: str) -> None:
    """Remove a project and leave it; no session shares it any more."""
    Workspace.delete(project)
    _workspace.clear()
    leave_project()


@st.cache_resource(show_spinner=False, max_entries=16)
def _workspace(project: str, settings: Settings) -> Workspace:
    return Workspace.open(project, settings)


def analyst() -> str:
    """Name recorded with verdicts: of this session, or remembered by the browser, or the login name."""
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
