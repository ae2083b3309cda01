"""Train: from a line of an insight to its case, and verdicts that settle it."""

from __future__ import annotations

import streamlit as st

from gadcore.agreement import ADJUDICATION
from gadcore.workspace import Workspace
from pages.shared import state
from pages.shared.palette import VERDICT_WORDS

LABEL = "pages/1_Label.py"


def case_link(node_id: str, key: str) -> None:
    """A button that opens the case on the Label page."""
    if st.button("Open", key=f"open-{key}", icon=":material/open_in_new:", type="tertiary"):
        state.open_case(node_id)
        st.switch_page(LABEL)


def settle_button(workspace: Workspace, node_id: str, verdict: str, text: str, key: str) -> None:
    """A button that records the verdict that settles a case."""
    if st.button(text, key=f"settle-{verdict}-{key}"):
        workspace.record(node_id, verdict, analyst=state.analyst(), source=ADJUDICATION)
        st.toast(f"{node_id}: settled as {VERDICT_WORDS[verdict].lower()}. Undo it on the Label page.")
        st.rerun()
