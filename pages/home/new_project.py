"""Home: a new project in three steps: name the source, check the columns, read the report and create."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st

from gadcore.errors import GadError
from gadcore.settings import Settings
from gadcore.workspace import Peek, Report, Workspace, benchmark_names, formats, uploads
from gadcore.workspace.uploads import Incoming
from pages.common import state
from pages.common.page import errors_shown
from pages.home.mapping_form import mapping_form
from pages.home.projects import literal, open_project

_TOKEN = "incoming"


def show_new() -> None:
    """The step that is due, by the address."""
    settings = Settings.from_env()
    incoming = uploads.find(st.query_params.get(_TOKEN), settings)
    if incoming is None:
        st.query_params.pop(_TOKEN, None)
        _choose_source(settings)
    else:
        _continue(incoming)


def _choose_source(settings: Settings) -> None:
    titles = [":material/upload_file: Upload files"]
    if state.may("paths"):
        titles.append(":material/hard_drive: Path or benchmark")
    upload, *named = st.tabs(titles)
    with upload:
        st.caption(
            f"One graph file, or an edge table with a node table: {formats.readable()}. "
            "Nothing leaves this machine."
        )
        files = st.file_uploader(
            "Files",
            type=[suffix.removeprefix(".") for suffix in formats.suffixes()],
            accept_multiple_files=True,
            key="upload",
            label_visibility="collapsed",
        )
        if st.button("Continue", key="continue-upload", type="primary", disabled=not files):
            _begin(lambda: uploads.receive([(f.name, f) for f in files or []], settings, state.who()))
    for tab in named:
        with tab:
            _named_source(settings)


def _named_source(settings: Settings) -> None:
    known = benchmark_names(settings)
    with st.form("named", border=False):
        source = st.text_input(
            "Path on this server, or the name of a benchmark",
            key="source",
            placeholder="/data/payments, edges.csv, cora …",
        )
        if known:
            st.caption("Benchmarks found here: " + ", ".join(known))
        if st.form_submit_button("Continue", type="primary", key="continue-named"):
            if not source.strip():
                st.warning("Name a file, a folder or a benchmark first.", icon=":material/warning:")
            else:
                _begin(lambda: uploads.name_source(source, settings, state.who()))


def _begin(make: Callable[[], Incoming]) -> None:
    with errors_shown(go_on=True):
        incoming = make()
        _look(incoming)
        st.query_params[_TOKEN] = incoming.token
        st.rerun()


def _look(incoming: Incoming) -> Peek:
    """The columns of a source; a source that cannot be read is thrown away at once."""
    try:
        with st.spinner("Looking at the files …"):
            return incoming.look()
    except GadError:
        incoming.discard()
        st.query_params.pop(_TOKEN, None)
        raise


def _continue(incoming: Incoming) -> None:
    stand = incoming.state()
    title = ", ".join(p.name for p in sorted((incoming.folder / "files").glob("*"))) or incoming.source
    st.markdown(f"**{literal(title)}**  ·  {_bytes(incoming.size)}  ·  {_steps(stand.kind)}")
    if stand.kind == "reading":
        _watch(incoming)
    elif stand.kind == "done":
        _review(incoming)
    else:
        if stand.kind == "failed":
            st.error(stand.error, icon=":material/error:")
        _columns(incoming)


def _steps(kind: str) -> str:
    """Where in the three steps this is, the present one in bold."""
    present = {"reading": "read", "done": "check and create"}.get(kind, "columns")
    return " → ".join(f"**{s}**" if s == present else s for s in ("columns", "read", "check and create"))


@st.fragment(run_every=0.5)
def _watch(incoming: Incoming) -> None:
    """Progress of the reading process: its own words and the time it has taken."""
    stand = incoming.state()
    if stand.kind != "reading":
        st.rerun()
    stages = {"reading": "Reading the graph", "storing": "Storing the graph"}
    words = stages.get(stand.stage, "Starting to read")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":material/progress_activity: {words} … {stand.seconds:.0f} s")
        if st.button("Stop", key="stop-reading", icon=":material/stop:"):
            _start_over(incoming)
    st.caption("Reading runs apart from the app: you may leave this page, and others are not slowed down.")


def _start_over(incoming: Incoming) -> None:
    incoming.discard()
    st.query_params.pop(_TOKEN, None)
    st.rerun(scope="app")


def _columns(incoming: Incoming) -> None:
    """Which column plays which part; recognised ones are filled in."""
    found = _look(incoming)
    with st.form("columns", border=False):
        st.caption(f"Read as {found.format}. Recognised parts are filled in; change what is wrong.")
        mapping = mapping_form(found)
        with st.container(horizontal=True):
            go = st.form_submit_button("Read the graph", type="primary", key="read")
            back = st.form_submit_button("Start over", key="back")
    if back:
        _start_over(incoming)
    if go:
        incoming.start(mapping)
        st.rerun()


def _review(incoming: Incoming) -> None:
    """The preflight report, then the name and the button that creates the project."""
    report = incoming.report()
    show_report(report)
    with st.form("create", border=False):
        name = st.text_input("Project name", value=suggested_name(incoming), key="name", max_chars=80)
        with st.container(horizontal=True):
            create = st.form_submit_button("Create project", type="primary", key="create")
            again = st.form_submit_button("Change columns", key="again")
            back = st.form_submit_button("Start over", key="over")
    if create:
        _create(incoming, name)
    if again:
        incoming.forget()
        st.rerun()
    if back:
        _start_over(incoming)


def _create(incoming: Incoming, name: str) -> None:
    with errors_shown(go_on=True):
        with st.spinner("Creating the project …"):
            created = Workspace.create(
                name.strip(), incoming.reading(), owner=state.analyst(), who=state.who()
            )
        incoming.discard()
        st.query_params.pop(_TOKEN, None)
        open_project(created.id)


def show_report(report: Report) -> None:
    """What was found in the files, in figures and sentences."""
    figures = {
        "Nodes": f"{report.n_nodes:,}",
        "Edges": f"{report.n_edges:,}",
        "Features": f"{report.n_features:,}",
        "Rows left out": f"{len(report.dropped):,}",
    }
    for column, (title, value) in zip(st.columns(len(figures)), figures.items()):
        column.metric(title, value, border=True)
    notes = [literal(note) for note in (*report.links, *report.notes)]
    if report.truth_counts:
        words = ", ".join(f"{count:,} {word}" for word, count in report.truth_counts.items())
        notes.append(f"Known answers (kept apart from the model): {words}.")
    st.markdown("\n".join(f"- {note}" for note in notes))
    if report.columns:
        with st.expander(f"Columns ({len(report.columns)})"):
            st.dataframe(pd.DataFrame(report.columns).rename(columns={"name": "column"}), hide_index=True)
    if report.dropped:
        with st.expander(f"Rows left out ({len(report.dropped)})"):
            st.dataframe(pd.DataFrame(report.dropped), hide_index=True)
    with st.expander("Full report"):
        st.code(report.text(), language=None)


def suggested_name(incoming: Incoming) -> str:
    """A project name that is free, from the source's own name."""
    stem = Path(str(incoming.request.get("title", "project"))).name.split(".")[0] or "project"
    used = {project.name for project in Workspace.projects()}
    numbered = (stem, *(f"{stem} {n}" for n in range(2, 1000)))
    return next((name for name in numbered if name not in used), stem)


def _bytes(size: int) -> str:
    for unit, worth in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= worth:
            return f"{size / worth:,.1f} {unit}"
    return f"{size:,} bytes"
