"""Train, what moved: who rose and fell since the run before, and the labels behind it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from gadcore.moved import Cause, Moved, Mover, Together
from gadcore.workspace import Workspace
from pages.shared.insight_case import case_link, headed, named

_LISTED = 8


def show_moved(workspace: Workspace) -> None:
    """Risers and fallers of the run in use side by side."""
    found = workspace.moved(n=_LISTED)
    if found.before is None or found.after is None:
        st.info(found.reason, icon=":material/info:")
        return
    labels = f"{found.changes:,} label{'s' * (found.changes != 1)}"
    st.caption(
        f"From run {found.before.number} to run {found.after.number}: {labels} new, changed or taken back. "
        f"Moves near the top count most. {_basis(found)}"
    )
    for text in (found.note, found.reason):
        if text:
            st.info(text, icon=":material/info:")
    risen, fallen = st.columns(2, gap="medium")
    with risen:
        _movers("Risen", found.risen)
    with fallen:
        _movers("Fallen", found.fallen)


def _basis(found: Moved) -> str:
    """What the causes rest on."""
    causes = [cause for mover in (*found.risen, *found.fallen) for cause in mover.causes]
    joint = any(mover.together for mover in (*found.risen, *found.fallen))
    if joint or any(cause.places is not None for cause in causes):
        return "Where a node would stand without a label is worked out by a linear model of all labels."
    return "Likely causes are the nearest labels that push the same way."


def _movers(title: str, movers: Sequence[Mover]) -> None:
    st.markdown(f"**{title}**")
    if not movers:
        st.caption("None.")
    for mover in movers:
        with st.container(border=True):
            text, button = st.columns([6, 1], vertical_alignment="center")
        arrow = ":material/trending_up:" if mover.places > 0 else ":material/trending_down:"
        text.markdown(
            f"{arrow} {headed(mover.name, mover.node_id)}  {mover.rank_before:,} → {mover.rank_now:,}  \n"
            f":small[{causes_text(mover.causes, mover.together)}]"
        )
        with button:
            case_link(mover.node_id, f"{title.lower()}-{mover.node_id}")


def causes_text(causes: Sequence[Cause], together: Together | None = None) -> str:
    """The labels behind a move, as Markdown."""
    if not causes:
        alone = "no changed label near it: others moved past it"
        return f"no single label; {together.words}" if together else alone
    if together is None:
        return "; ".join(_cause(cause) + (f": {cause.without}" if cause.without else "") for cause in causes)
    said = "; ".join(_cause(cause) for cause in causes)
    alone = "none of these changes its place alone; " if len(causes) > 1 else ""
    return f"{said}: {alone}{together.words}"


def _cause(cause: Cause) -> str:
    verdict = cause.verdict or f"{cause.before} taken back"
    if cause.link == "its own label":
        return f"its own label, {verdict}"
    return f"{named(cause.name, cause.node_id)} {verdict} ({cause.link})"
