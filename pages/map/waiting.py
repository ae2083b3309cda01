"""What the Map page shows while there is nothing to draw yet: why, how far it is, and the way on."""

from __future__ import annotations

from time import monotonic

import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import errors_shown
from pages.label.linked_map import LAYOUTS

LABEL = "pages/1_Label.py"
TRAIN = "pages/3_Train.py"


def no_result(workspace: Workspace) -> None:
    """No run has ended yet: show the one under way, or offer to start the first."""
    if workspace.runs.active() is not None:
        _first_run(workspace)
        return
    last = next(iter(workspace.runs.all()), None)
    if last is not None and last.message:
        st.error(f"Run {last.number} ended without scores: {last.message}", icon=":material/error:")
    none = "There is no map yet: the nodes have not been ranked. The first ranking needs no labels."
    st.info(none, icon=":material/info:")
    if st.button("Rank the nodes now", type="primary", icon=":material/play_arrow:"):
        with errors_shown():
            workspace.runs.ensure_ranked()
        st.rerun()
    st.page_link(TRAIN, label="Choose a model on the Train page", icon=":material/tune:")


@st.fragment(run_every=0.7)
def _first_run(workspace: Workspace) -> None:
    run = workspace.runs.active()
    if run is None:
        st.rerun()
    elif run.epochs:
        share = min(1.0, run.epoch / run.epochs)
        st.progress(share, text=f"First ranking: {run.stage}, epoch {run.epoch:,} of {run.epochs:,}")
    else:
        doing = f"The first ranking is {run.status}: {run.stage or 'the worker is starting'}"
        st.info(f"{doing}. The map appears by itself.", icon=":material/hourglass_top:")


def no_embedding(workspace: Workspace, model: str, number: int) -> None:
    """The model of the run in use places nodes on no map."""
    st.info(
        f"Run {number} was made with the model “{model}”, which gives scores but no embedding, "
        "so there is no map of it. Train an+ or an, or go back to an earlier run.",
        icon=":material/info:",
    )
    st.page_link(TRAIN, label="Go to the Train page", icon=":material/tune:")
    st.page_link(LABEL, label="Go on labelling", icon=":material/label:")


@st.fragment(run_every=1.0)
def layout_progress(workspace: Workspace, kind: str, run_id: str) -> None:
    """How far a layout is; the page is drawn anew when it is there."""
    status, message = workspace.runs.layout_state(kind, run_id)
    title = f"{LAYOUTS[kind]} of run {workspace.runs.get(run_id).number}"
    if status == "done":
        st.rerun()
    elif status == "failed":
        st.error(f"{title} could not be made: {message or 'no reason was given'}", icon=":material/error:")
        if st.button("Try again", key=f"again-{kind}-{run_id}", icon=":material/refresh:"):
            state.forget(f"layout-asked:{run_id}:{kind}")
            workspace.runs.request_layout(kind, run_id)
            st.rerun()
    else:
        asked = state.made_once(f"layout-asked:{run_id}:{kind}", monotonic)
        doing = "waits for its turn" if status == "queued" else "is being worked out"
        since = f"asked for {monotonic() - asked:.0f} s ago"
        st.info(f"{title} {doing} ({since}); PCA is shown meanwhile.", icon=":material/hourglass_top:")
