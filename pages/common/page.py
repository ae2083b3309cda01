"""The first lines of every page: configuration, style, and the project that the page works on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path

import streamlit as st

from gadcore.errors import GadError, NotFound
from gadcore.workspace import Workspace
from pages.common import state

HOME, LABEL, TRAIN = "app.py", "pages/1_Label.py", "pages/3_Train.py"
TRAIL = "pages/6_Trail.py"
_PAGES = {
    HOME: "Home",
    LABEL: "Label",
    "pages/2_Map.py": "Map",
    TRAIN: "Train",
    "pages/4_Benchmark.py": "Benchmark",
    "pages/5_Export.py": "Export",
    TRAIL: "Trail",
}
_CSS = Path(__file__).with_name("page.css")


def set_up(title: str) -> None:
    """Configure a page that needs no project (home, benchmark): wide, styled, linked to the others."""
    st.set_page_config(
        page_title=f"{title} · Ringfence", page_icon="◎", layout="wide", initial_sidebar_state="collapsed"
    )
    st.html(f"<style>{_CSS.read_text(encoding='utf-8')}</style>")
    with st.container(horizontal=True, gap="small", key="top-navigation"), errors_shown():
        for path, name in _PAGES.items():
            if path != TRAIL or state.may("trail"):
                st.page_link(path, label=name, width="content")
        _show_login()


def _show_login() -> None:
    """Who is logged in, with the way to the account; nothing where no login is needed."""
    who = state.who()
    state.note_activity()
    if who.name is not None:
        st.html(
            f'<a class="rf-login" href="/account" target="_self">{escape(who.name)} · {who.role.word}</a>'
        )


def open_page(title: str) -> Workspace:
    """Set up a page and give the workspace of its project; without one, say how to get one and stop."""
    set_up(title)
    with errors_shown():
        project = state.current_project() or _only_project()
        if project is None:
            _choose(title)
        else:
            try:
                opened = state.workspace(project)
            except NotFound as error:
                state.leave_project()
                _choose(title, str(error))
            else:
                state.choose_project(opened.id)
                return opened
    st.stop()


@contextmanager
def errors_shown(*, go_on: bool = False) -> Iterator[None]:
    """Show a GadError as it is written and stop the page, or go on after the block; others are defects."""
    try:
        yield
    except GadError as error:
        st.error(str(error), icon=":material/error:")
        if not go_on:
            st.stop()


@contextmanager
def section(title: str) -> Iterator[None]:
    """A part of a page: its heading, and a frame around what is drawn in the block."""
    st.markdown(f"##### {title}")
    with st.container(border=True):
        yield


def info(text: str) -> None:
    """Say why there is nothing to see, and what to do about it."""
    st.info(text, icon=":material/info:")


def figure_cards(figures: Sequence[tuple[str, str, str]]) -> None:
    """Figures side by side, each with its title and what it says in words."""
    for column, (title, value, words) in zip(st.columns(len(figures)), figures):
        with column.container(border=True):
            st.metric(title, value)
            st.caption(words)


def _only_project() -> str | None:
    projects = Workspace.projects()
    return projects[0].id if len(projects) == 1 else None


def _choose(title: str, problem: str = "") -> None:
    """The empty state: what is missing and every way on."""
    st.title(title)
    if problem:
        st.warning(problem, icon=":material/warning:")
    projects = Workspace.projects()
    if not projects:
        info("There is no project yet. Open the demo or load a graph on the home page; then come back here.")
    else:
        st.write("Which project do you want to work on?")
        for project in projects:
            labels = project.normal + project.anomalous + project.unsure
            text = f"{project.name}: {project.n_nodes:,} nodes, {labels:,} labels"
            if st.button(text, key=f"choose-{project.id}", icon=":material/folder_open:"):
                state.choose_project(project.id)
                st.rerun()
    st.page_link(HOME, label="Go to the home page", icon=":material/home:")
