"""Train: from a line of an insight to its case, and verdicts that settle it."""

from __future__ import annotations

import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.common.palette import VERDICT_WORDS
from pages.home.projects import literal

LABEL = "pages/1_Label.py"


def named(name: str, node_id: str) -> str:
    """A node as Markdown: its name, and its id in quiet type where they differ."""
    return literal(name) + _quiet_id(name, node_id)


def headed(name: str, node_id: str) -> str:
    """The same as the heading of a line."""
    return f"**{literal(name)}**{_quiet_id(name, node_id)}"


def _quiet_id(name: str, node_id: str) -> str:
    return "" if name == node_id else f" :gray[{literal(node_id)}]"


def case_link(node_id: str, key: str) -> None:
    """A button that opens the case on the Label page."""
    if st.button("Open", key=f"open-{key}", icon=":material/open_in_new:", type="tertiary"):
        state.open_case(node_id)
        st.switch_page(LABEL)


def settle_button(workspace: Workspace, node_id: str, verdict: str, text: str, key: str) -> None:
    """A button that records the verdict that settles a case."""
    if st.button(text, key=f"settle-{verdict}-{key}"):
        workspace.verdicts.settle(node_id, verdict, analyst=state.analyst())
        name = literal(workspace.graph.full_name(workspace.graph.index_of(node_id)))
        st.toast(f"{name}: settled as {VERDICT_WORDS[verdict].lower()}. Undo it on the Label page.")
        st.rerun()
