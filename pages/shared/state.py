"""What a session remembers and what all sessions share: the only user of st.session_state and st.cache_*.

The project is part of the address (``?project=…``), so that a reload, a bookmark and a link sent to a
colleague open the same project. Everything that matters is in the store; a session holds only where its
analyst stands.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import streamlit as st

from gadcore.settings import Settings
from gadcore.workspace import Workspace

ANALYST_COOKIE = "ringfence_analyst"
_PROJECT = "project"
_ANALYST = "analyst"
_PAGE = "page:"


def current_project() -> str | None:
    """Id of the project in the address, else of the one opened last in this session."""
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


def forget_workspaces() -> None:
    """Drop all shared workspaces: call it after a project was deleted or its graph replaced."""
    _workspace.clear()


@st.cache_resource(show_spinner=False, max_entries=16)
def _workspace(project: str, settings: Settings) -> Workspace:
    return Workspace.open(project, settings)


def analyst() -> str:
    """Name recorded with verdicts: of this session, else remembered by the browser, else the login name."""
    named = st.session_state.get(_ANALYST) or unquote(st.context.cookies.get(ANALYST_COOKIE, ""))
    return str(named).strip() or Settings.from_env().analyst


def set_analyst(name: str) -> None:
    st.session_state[_ANALYST] = name.strip()


def remembered(page: str, default: Any) -> Any:
    """Session-long object of a page, made from ``default`` (a value) at first use; change it in place."""
    return st.session_state.setdefault(_PAGE + page, default)


def component_state(key: str) -> Any:
    """What a component with this key last sent, or None."""
    return st.session_state.get(key)


def remember(page: str, value: Any) -> None:
    """Replace the session-long object of a page."""
    st.session_state[_PAGE + page] = value


def forget(page: str) -> None:
    st.session_state.pop(_PAGE + page, None)
