"""The labelling screen: queue, neighbourhood and card in one element; the embedding map below."""

from __future__ import annotations

import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import errors_shown, open_page
from pages.label import linked_map, workbench
from pages.label.board import Board, answer

LEAVE = {"export": "pages/5_Export.py", "train": "pages/3_Train.py"}


@st.fragment
def screen(workspace: Workspace) -> None:
    """One exchange with the browser: take its message, answer it."""
    with errors_shown():
        workspace = state.workspace(workspace.id)  # of whoever is logged in now, not when the page was drawn
        board = state.made_once(f"label:{workspace.id}", Board)
        if asked := state.take_case():
            board.ask_to_open(asked)
        message = state.sent_by(workbench.KEY, "out") or {}
        payload = answer(workspace, board, message, state.analyst())
        if message.get("analyst"):
            state.set_analyst(message["analyst"])
        if message.get("events") or message.get("want"):
            state.note_activity()  # what the screen asks for by itself does not keep a login alive
        if page := LEAVE.get(board.leave):
            board.leave = ""
            st.switch_page(page)
        workbench.show(payload)


workspace = open_page("Label")
with errors_shown():
    workspace.runs.ensure_ranked()
    workspace.runs.start_worker()
workbench.load()
screen(workspace)
linked_map.show_map(workspace)
