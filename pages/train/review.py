"""Train, second look and agreement: verdicts in doubt, analysts who disagree, and settling both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from gadcore.insight.agreement import Agreement, Dispute
from gadcore.insight.second_look import SecondLook
from gadcore.workspace import Workspace
from pages.common.page import figure_cards
from pages.home.projects import literal
from pages.train.settling import case_link, headed, settle_button

_LISTED = 20
_VERDICTS = ("normal", "anomalous")


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
    rank = f" · rank {case.rank:,}" if case.rank else ""
    told = f"{headed(case.name, case.node_id)}  ·  {case.verdict} by {literal(case.analyst)}{rank}"
    words = {word: f"Keep {word}" if word == case.verdict else f"Change to {word}" for word in _VERDICTS}
    reasons = "  \n".join(literal(reason) for reason in case.reasons)
    _to_settle(workspace, case.node_id, "look", words, told, reasons)


def _to_settle(
    workspace: Workspace, node_id: str, key: str, words: Mapping[str, str], told: str, reasons: str = ""
) -> None:
    """A case with a button for each verdict that would settle it."""
    with st.container(border=True):
        text, buttons = st.columns([3, 2], vertical_alignment="center")
    text.markdown(told)
    if reasons:
        text.caption(reasons)
    with buttons.container(horizontal=True, horizontal_alignment="right", gap="small"):
        case_link(node_id, f"{key}-{node_id}")
        for verdict, word in words.items():
            settle_button(workspace, node_id, verdict, word, f"{key}-{node_id}")


def show_agreement(workspace: Workspace) -> None:
    """Kappa with its meaning, pairs of analysts, and the disputes to settle."""
    found = workspace.insight.agreement()
    if found.kappa is None:
        st.info(found.reason, icon=":material/info:")
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
    figure_cards(figures)


def _dispute(workspace: Workspace, dispute: Dispute) -> None:
    name = workspace.graph.display_name(workspace.graph.index_of(dispute.node_id))
    said = ", ".join(f"{literal(who)}: {word}" for who, word in dispute.verdicts.items())
    words = {word: f"Settle as {word}" for word in _VERDICTS}
    _to_settle(workspace, dispute.node_id, "dispute", words, f"{headed(name, dispute.node_id)}  ·  {said}")
