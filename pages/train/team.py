"""Train, team: who is to judge what, second opinions, and the reasons to choose from."""

from __future__ import annotations

import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.common.page import info
from pages.home.projects import literal


def show_team(workspace: Workspace) -> None:
    """Assigned cases of each analyst; below, for a lead, ways to change all of it."""
    _show_assigned(workspace)
    if workspace.may("cases.assign"):
        _assign(workspace)
    left, right = st.columns(2, gap="medium")
    with left:
        _overlap(workspace)
    with right:
        _reasons(workspace)


def _show_assigned(workspace: Workspace) -> None:
    found = workspace.cases.assigned()
    if not found:
        info("No case is assigned: everybody gets the next ones of the common queue.")
    for each in found:
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.markdown(f"**{literal(each.analyst)}**  ·  {len(each.open):,} open, {each.done:,} decided")
        if each.open and workspace.may("cases.take_back"):
            with button:
                if st.button("Take back", key=f"take-back-{each.analyst}", type="tertiary"):
                    workspace.cases.take_back(of=each.analyst, analyst=state.analyst())
                    st.rerun()


def _assign(workspace: Workspace) -> None:
    """The first cases of the queue for somebody; chosen ones are assigned on the Label page."""
    with st.form("assign", border=False):
        n, name, go = st.columns([1, 2, 1], vertical_alignment="bottom")
        count = n.number_input("First cases of the queue", 1, 5000, 10, key="assign-n")
        to = name.selectbox(
            "To", workspace.cases.team(), index=None, key="assign-to", accept_new_options=True
        )
        if go.form_submit_button("Assign") and to:
            given = workspace.cases.assign(int(count), to, analyst=state.analyst())
            st.toast(f"{len(given):,} cases assigned to {literal(to)}.")
            st.rerun()
    st.caption("To assign certain cases, select them on the Label page (Ctrl-click) and choose “Assign…”.")


def _overlap(workspace: Workspace) -> None:
    may, share = workspace.may("set_preference"), float(workspace.preference("overlap", 0) or 0)
    about = (
        "So many of the decided cases are asked of a second analyst, who is told neither that the case is "
        "decided nor by whom or how. The pairs are under Agreement."
    )
    asked = st.number_input(
        "Second opinions, per cent of cases",
        0,
        100,
        round(100 * share),
        key="team-overlap",
        help=about,
        disabled=not may,
    )
    if may and asked != round(100 * share):
        workspace.set_preference("overlap", asked / 100)


def _reasons(workspace: Workspace) -> None:
    may, kept = workspace.may("set_preference"), workspace.verdicts.reasons()
    about = "Offered after a verdict on the Label page, the first nine with a key. None: the usual ones."
    given = st.text_area(
        "Reasons, one in a line",
        "\n".join(kept),
        height=220,
        key="team-reasons",
        help=about,
        disabled=not may,
    )
    if may and given.splitlines() != kept:
        workspace.set_preference("reasons", given.splitlines())
