"""Train: what labels and runs say: what is left, what moved, second looks, who agrees; and the team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from gadcore.workspace import Agreement, Cause, Dispute, Moved, Mover, SecondLook, Workspace
from pages.common import state
from pages.common.page import LABEL, errors_shown, figure_cards, info
from pages.common.palette import VERDICT_WORDS
from pages.home.projects import literal
from pages.train.left import show_left
from pages.train.team import show_team

_CHOSEN = "insight-tab"
_MOVERS = 8  # listed at once on each side
_CASES = 20  # listed at once
_VERDICTS = ("normal", "anomalous")


@st.fragment
def show_insight(workspace: Workspace) -> None:
    """Five views of the same labels, each with what to do next; the chosen one is kept for the session."""
    tabs = {
        "What is left": show_left,
        "What moved": _show_moved,
        "Second look": _show_second_look,
        "Agreement": _show_agreement,
        "Team": show_team,
    }
    state.keep_within(_CHOSEN, list(tabs))
    for tab, show in zip(st.tabs(list(tabs), key=_CHOSEN, on_change="rerun"), tabs.values()):
        with tab, errors_shown():
            show(workspace)


def _show_moved(workspace: Workspace) -> None:
    """Risers and fallers of the run in use side by side."""
    found = workspace.insight.moved(n=_MOVERS)
    if found.before is None or found.after is None:
        info(found.reason)
        return
    labels = f"{found.changes:,} label{'s' * (found.changes != 1)}"
    st.caption(
        f"From run {found.before.number} to run {found.after.number}: {labels} new, changed or taken back. "
        f"Moves near the top count most. {_basis(found)}"
    )
    for text in filter(None, (found.note, found.reason)):
        info(text)
    sides = (("Risen", found.risen), ("Fallen", found.fallen))
    for column, (title, movers) in zip(st.columns(2, gap="medium"), sides):
        with column:
            _show_movers(title, movers)


def _basis(found: Moved) -> str:
    """What the causes rest on."""
    if any(mover.head is not None for mover in (*found.risen, *found.fallen)):
        return (
            "What a label does is worked out by a linear model of all labels, and told in places where that "
            "model moves the node as the run did."
        )
    return "Likely causes are the nearest labels that push the same way."


def _show_movers(title: str, movers: Sequence[Mover]) -> None:
    st.markdown(f"**{title}**")
    if not movers:
        st.caption("None.")
    for mover in movers:
        with st.container(border=True):
            text, button = st.columns([4, 1], vertical_alignment="center")
        arrow = ":material/trending_up:" if mover.places > 0 else ":material/trending_down:"
        text.markdown(
            f"{arrow} {_named(mover.name, mover.node_id, '**')}  {mover.rank_before:,} → {mover.rank_now:,}"
            f"  \n:small[{causes_text(mover)}]"
        )
        with button:
            _case_link(mover.node_id, f"{title.lower()}-{mover.node_id}")


def causes_text(mover: Mover) -> str:
    """The labels behind a move and how far they explain it, as Markdown."""
    return "; ".join([*map(_cause, mover.causes), *([mover.remark] if mover.remark else [])])


def _cause(cause: Cause) -> str:
    effect = f": {cause.effect}" if cause.effect else ""
    if cause.link == "its own label":
        return f"its own label, {cause.label}{effect}"
    return f"{_named(cause.name, cause.node_id)} {cause.label} ({cause.link}){effect}"


def _show_second_look(workspace: Workspace) -> None:
    """Labelled cases in doubt, each with its reasons and ways to settle it."""
    cases = workspace.insight.second_look(_CASES)
    if not cases:
        info(workspace.insight.nothing_in_doubt())
        return
    st.caption("A wrong verdict misleads the next run. Keep it or change it; either settles the case.")
    for case in cases:
        _case(workspace, case)


def _case(workspace: Workspace, case: SecondLook) -> None:
    rank = f" · rank {case.rank:,}" if case.rank else ""
    told = f"{_named(case.name, case.node_id, '**')}  ·  {case.verdict} by {literal(case.analyst)}{rank}"
    words = {word: f"Keep {word}" if word == case.verdict else f"Change to {word}" for word in _VERDICTS}
    reasons = "  \n".join(literal(reason) for reason in case.reasons)
    _to_settle(workspace, case.node_id, "look", words, told, reasons)


def _show_agreement(workspace: Workspace) -> None:
    """Kappa with its meaning, pairs of analysts, and the disputes to settle."""
    found = workspace.insight.agreement()
    if found.kappa is None:
        info(found.reason)
    else:
        _kappa(found)
    if len(found.pairs) > 1:
        names = ("analysts", "shared nodes", "agreed", "kappa")
        rows = [(" and ".join(pair.analysts), pair.nodes, pair.agreed, pair.kappa) for pair in found.pairs]
        digits: dict[Any, Any] = {"kappa": st.column_config.NumberColumn(format="%.2f")}
        st.dataframe([dict(zip(names, row)) for row in rows], hide_index=True, column_config=digits)
    if found.disputed:
        st.markdown(f"**Disputed: {len(found.disputed):,}**")
    elif found.nodes:
        st.caption("No open dispute.")
    for dispute in found.disputed[:_CASES]:
        _dispute(workspace, dispute)
    if len(found.disputed) > _CASES:
        st.caption(f"{len(found.disputed) - _CASES:,} more follow when these are settled.")


def _kappa(found: Agreement) -> None:
    figures = (
        (f"{found.method}'s kappa", f"{found.kappa:.2f}", f"1 is full agreement, 0 is chance: {found.words}"),
        ("Judged by two or more", f"{found.nodes:,}", f"on {found.agreed:,} of them all agree"),
        ("Disputes settled", f"{found.settled:,}", f"{len(found.disputed):,} still open"),
    )
    figure_cards(figures)


def _dispute(workspace: Workspace, dispute: Dispute) -> None:
    name = workspace.graph.display_name(workspace.graph.index_of(dispute.node_id))
    said = ", ".join(f"{literal(who)}: {word}" for who, word in dispute.said.items())
    words = {word: f"Settle as {word}" for word in _VERDICTS}
    told = f"{_named(name, dispute.node_id, '**')}  ·  {said}"
    _to_settle(workspace, dispute.node_id, "dispute", words, told)


def _to_settle(
    workspace: Workspace, node_id: str, kind: str, words: Mapping[str, str], told: str, reasons: str = ""
) -> None:
    """A case with a button for each verdict that would settle it."""
    with st.container(border=True):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
    text.markdown(told)
    if reasons:
        text.caption(reasons)
    key = f"{kind}-{node_id}"
    with buttons.container(horizontal=True, horizontal_alignment="right", gap="small"):
        _case_link(node_id, key)
        for verdict, word in words.items():
            if workspace.may("verdicts.settle") and st.button(word, key=f"settle-{verdict}-{key}"):
                _settle(workspace, node_id, verdict)


def _settle(workspace: Workspace, node_id: str, verdict: str) -> None:
    workspace.verdicts.settle(node_id, verdict, analyst=state.analyst())
    name = literal(workspace.graph.full_name(workspace.graph.index_of(node_id)))
    st.toast(f"{name}: settled as {VERDICT_WORDS[verdict].lower()}. Undo it on the Label page.")
    st.rerun()


def _case_link(node_id: str, key: str) -> None:
    """A button that opens the case on the Label page."""
    if st.button("Open", key=f"open-{key}", icon=":material/open_in_new:", type="tertiary"):
        state.open_case(node_id)
        st.switch_page(LABEL)


def _named(name: str, node_id: str, mark: str = "") -> str:
    """A node as Markdown: its name between two marks, and its id in quiet type where they differ."""
    return f"{mark}{literal(name)}{mark}" + ("" if name == node_id else f" :gray[{literal(node_id)}]")
