"""Train, what moved: who rose and fell since the run before, and the labels behind it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from gadcore.insight.moved import Cause, Moved, Mover
from gadcore.workspace import Workspace
from pages.train.settling import case_link, headed, named

_LISTED = 8


def show_moved(workspace: Workspace) -> None:
    """Risers and fallers of the run in use side by side."""
    found = workspace.insight.moved(n=_LISTED)
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
    sides = (("Risen", found.risen), ("Fallen", found.fallen))
    for column, (title, movers) in zip(st.columns(2, gap="medium"), sides):
        with column:
            _movers(title, movers)


def _basis(found: Moved) -> str:
    """What the causes rest on."""
    if any(mover.head is not None for mover in (*found.risen, *found.fallen)):
        return (
            "What a label does is worked out by a linear model of all labels, and told in places where that "
            "model moves the node as the run did."
        )
    return "Likely causes are the nearest labels that push the same way."


def _movers(title: str, movers: Sequence[Mover]) -> None:
    st.markdown(f"**{title}**")
    if not movers:
        st.caption("None.")
    for mover in movers:
        with st.container(border=True):
            text, button = st.columns([4, 1], vertical_alignment="center")
        arrow = ":material/trending_up:" if mover.places > 0 else ":material/trending_down:"
        text.markdown(
            f"{arrow} {headed(mover.name, mover.node_id)}  {mover.rank_before:,} → {mover.rank_now:,}  \n"
            f":small[{causes_text(mover)}]"
        )
        with button:
            case_link(mover.node_id, f"{title.lower()}-{mover.node_id}")


def causes_text(mover: Mover) -> str:
    """The labels behind a move and how far they explain it, as Markdown."""
    return "; ".join([*map(_cause, mover.causes), *([mover.remark] if mover.remark else [])])


def _cause(cause: Cause) -> str:
    effect = f": {cause.effect}" if cause.effect else ""
    if cause.link == "its own label":
        return f"its own label, {cause.label}{effect}"
    return f"{named(cause.name, cause.node_id)} {cause.label} ({cause.link}){effect}"
