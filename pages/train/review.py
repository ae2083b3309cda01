"""Train, second look and agreement: verdicts in doubt, analysts who disagree, and settling both."""

from __future__ import annotations

import streamlit as st

from gadcore.insight.agreement import Agreement, Dispute
from gadcore.insight.second_look import SecondLook
from gadcore.workspace import Workspace
from pages.home.projects import literal
from pages.train.settling import case_link, headed, settle_button

_LISTED = 20
_OTHER = {"normal": "anomalous", "anomalous": "normal"}


def show_second_look(workspace: Workspace) -> None:
    """Labelled cases in doubt, each with its reasons and ways to settle it."""
    cases = workspace.insight.second_look(_LISTED)
    if not cases:
        st.info(workspace.insight.nothing_in_doubt(), icon=":material/info:")
        return
    st.caption("A wrong verdict misleads the next run. Keep it or change it; either settles the case.")
    for case in cases:
        _case(workspace, case)


def _case(workspace: Workspace, case: SecondLook) -> None:
    with st.container(border=True):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
    with text:
        rank = f" · rank {case.rank:,}" if case.rank else ""
        st.markdown(f"{headed(case.name, case.node_id)}  ·  {case.verdict} by {literal(case.analyst)}{rank}")
        st.caption("  \n".join(literal(reason) for reason in case.reasons))
    with buttons.container(horizontal=True, horizontal_alignment="right", gap="small"):
        case_link(case.node_id, f"look-{case.node_id}")
        for verdict in _OTHER:
            word = f"Keep {verdict}" if verdict == case.verdict else f"Change to {verdict}"
            settle_button(workspace, case.node_id, verdict, word, f"look-{case.node_id}")


def show_agreement(workspace: Workspace) -> None:
    """Kappa with its meaning, pairs of analysts, and the disputes to settle."""
    found = workspace.insight.agreement()
    if found.kappa is None:
        st.info(found.reason, icon=":material/info:")
    else:
        _kappa(found)
    if len(found.pairs) > 1:
        rows = [
            {
                "analysts": " and ".join(pair.analysts),
                "shared nodes": pair.nodes,
                "agreed": pair.agreed,
                "kappa": pair.kappa,
            }
            for pair in found.pairs
        ]
        st.dataframe(
            rows, hide_index=True, column_config={"kappa": st.column_config.NumberColumn(format="%.2f")}
        )
    if found.disputed:
        st.markdown(f"**Disputed: {len(found.disputed):,}**")
    elif found.nodes:
        st.caption("No open dispute.")
    for dispute in found.disputed[:_LISTED]:
        _dispute(workspace, dispute)
    if len(found.disputed) > _LISTED:
        st.caption(f"{len(found.disputed) - _LISTED:,} more follow when these are settled.")


def _kappa(found: Agreement) -> None:
    figures = (
        (f"{found.method}'s kappa", f"{found.kappa:.2f}", f"1 is full agreement, 0 is chance: {found.words}"),
        ("Judged by two or more", f"{found.nodes:,}", f"on {found.agreed:,} of them all agree"),
        ("Disputes settled", f"{found.settled:,}", f"{len(found.disputed):,} still open"),
    )
    for column, (title, value, words) in zip(st.columns(3), figures):
        with column.container(border=True):
            st.metric(title, value)
            st.caption(words)


def _dispute(workspace: Workspace, dispute: Dispute) -> None:
    name = workspace.graph.display_name(workspace.graph.index_of(dispute.node_id))
    said = ", ".join(f"{literal(who)}: {word}" for who, word in dispute.verdicts.items())
    with st.container(border=True):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
    text.markdown(f"{headed(name, dispute.node_id)}  ·  {said}")
    with buttons.container(horizontal=True, horizontal_alignment="right", gap="small"):
        case_link(dispute.node_id, f"dispute-{dispute.node_id}")
        for verdict in _OTHER:
            word = f"Settle as {verdict}"
            settle_button(workspace, dispute.node_id, verdict, word, f"dispute-{dispute.node_id}")
