"""Home: files added to a project, in two steps: name them, then look at what they change and store it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from gadcore.records import ProjectInfo
from gadcore.settings import Settings
from gadcore.workspace import UPDATE_WAYS, formats, uploads
from gadcore.workspace.uploads import Incoming
from pages.common import state
from pages.common.page import errors_shown
from pages.home.projects import ADD_TO, literal, open_project

_TOKEN = "arriving"


def show_add_data(projects: Sequence[ProjectInfo]) -> None:
    """The step that is due, if the address names a project to add to."""
    wanted = st.query_params.get(ADD_TO)
    project = next((p for p in projects if p.id == wanted), None)
    if project is None or not state.may("data.store"):
        return
    st.markdown(f"##### Add data to {literal(project.name)}")
    with st.container(border=True, key="add-data"):
        incoming = uploads.find(st.query_params.get(_TOKEN), Settings.from_env())
        if incoming is None:
            _choose(project)
        else:
            _continue(project, incoming)


def _choose(project: ProjectInfo) -> None:
    st.caption(
        "New rows as a table of nodes, a table of links, or both, in the columns of the import: "
        f"{formats.readable()}. Nothing is stored before you have seen what changes."
    )
    files = st.file_uploader(
        "Files",
        type=[suffix.removeprefix(".") for suffix in formats.suffixes()],
        accept_multiple_files=True,
        key="add-upload",
        label_visibility="collapsed",
    )
    way = st.radio("What the files are", list(UPDATE_WAYS), format_func=_way, key="add-way", horizontal=True)
    day = st.date_input("The day that the data stand for (may stay empty)", value=None, key="add-day")
    with st.container(horizontal=True):
        go = st.button("See what changes", key="add-look", type="primary", disabled=not files)
        if st.button("Cancel", key="add-cancel"):
            _leave(None)
    if go:
        with errors_shown(go_on=True):
            incoming = uploads.receive([(f.name, f) for f in files or []], Settings.from_env(), state.who())
            incoming.start_update(project.id, way, day.isoformat() if day else "")
            st.query_params[_TOKEN] = incoming.token
            st.rerun()


def _way(way: str) -> str:
    return UPDATE_WAYS[way].capitalize()


def _continue(project: ProjectInfo, incoming: Incoming) -> None:
    stand = incoming.state()
    if stand.kind == "reading":
        _watch(incoming)
    elif stand.kind == "done":
        _review(project, incoming)
    else:
        st.error(stand.error or "The files are not there any more.", icon=":material/error:")
        if st.button("Choose other files", key="add-again"):
            _again(incoming)


@st.fragment(run_every=0.5)
def _watch(incoming: Incoming) -> None:
    stand = incoming.state()
    if stand.kind != "reading":
        st.rerun()
    st.markdown(f":material/progress_activity: Reading the files … {stand.seconds:.0f} s")


def _review(project: ProjectInfo, incoming: Incoming) -> None:
    """What changes, what would be lost, and the button that stores it."""
    update = incoming.update()
    st.markdown(f"**{literal(update.changes.summary)}**")
    st.markdown("\n".join(f"- {literal(line)}" for line in update.changes.lines()))
    for stop in update.changes.stops:
        st.warning(literal(stop), icon=":material/warning:")
    notes = [literal(note) for note in update.reading.report.notes]
    if notes:
        with st.expander("Notes of the reader"):
            st.markdown("\n".join(f"- {note}" for note in notes))
    force = bool(update.changes.stops) and st.checkbox("Store it although this is lost", key="add-force")
    blocked = update.changes.nothing or (bool(update.changes.stops) and not force)
    with st.container(horizontal=True):
        store = st.button("Store as a new version", key="add-store", type="primary", disabled=blocked)
        if st.button("Choose other files", key="add-again"):
            _again(incoming)
        if st.button("Cancel", key="add-cancel"):
            _leave(incoming)
    if store:
        _store(project, incoming, force)


def _store(project: ProjectInfo, incoming: Incoming, force: bool) -> None:
    with errors_shown(go_on=True):
        with st.spinner("Storing …"):
            state.workspace(project.id).data.store(incoming.update(), force=force, wait=False)
        incoming.discard()
        for name in (_TOKEN, ADD_TO):
            st.query_params.pop(name, None)
        open_project(project.id)


def _again(incoming: Incoming) -> None:
    incoming.discard()
    st.query_params.pop(_TOKEN, None)
    st.rerun()


def _leave(incoming: Incoming | None) -> None:
    if incoming is not None:
        incoming.discard()
    for name in (_TOKEN, ADD_TO):
        st.query_params.pop(name, None)
    st.rerun()
