"""Train: what labels and runs say: what is left, what moved, what deserves a second look, who agrees."""

from __future__ import annotations

import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import errors_shown
from pages.train.left import show_left
from pages.train.moved import show_moved
from pages.train.review import show_agreement, show_second_look

_TABS = {
    "What is left": show_left,
    "What moved": show_moved,
    "Second look": show_second_look,
    "Agreement": show_agreement,
}
_CHOSEN = "insight-tab"


@st.fragment
def show_insight(workspace: Workspace) -> None:
    """Four views of the same labels, each with what to do next; the chosen one is kept for the session."""
    state.keep_within(_CHOSEN, list(_TABS))
    for tab, show in zip(st.tabs(list(_TABS), key=_CHOSEN, on_change="rerun"), _TABS.values()):
        with tab, errors_shown():
            show(workspace)
