"""The list beside the map: the selected nodes, one verdict for all of them, and their export."""

from __future__ import annotations

from urllib.parse import quote

import numpy as np
import pandas as pd
import streamlit as st

from gadcore.export.files import csv_bytes
from gadcore.export.table import table_of
from gadcore.graph import IntArray
from gadcore.labels import GroupRule, Verdict
from gadcore.workspace import Workspace
from pages.shared import palette, state
from pages.shared.map_selection import Selection

LISTED = 1_000  # rows shown; verdicts and export take all
SURE_BEYOND = 200  # nodes: more than that asks once before they are labelled
_VERDICTS = (Verdict.ANOMALOUS, Verdict.NORMAL, Verdict.UNSURE)
_COUNTS = {GroupRule.ONE: "as one verdict", GroupRule.ROOT: "in between", GroupRule.FULL: "in full"}


def panel(workspace: Workspace, selection: Selection) -> None:
    """Draw the list of a selection, or how to make one."""
    if not selection.nodes:
        st.markdown(
            "**Nothing is selected.**\n\n"
            "- Click a point to open its case.\n"
            "- Draw with the lasso or the box (icons above the map) to list points, "
            "give all of them one verdict, or export them."
        )
        return
    rows = workspace.graph.indices_of(selection.nodes)
    st.markdown(f"**{len(rows):,} selected** {_by_verdict(workspace, rows)}")
    _verdicts(workspace, selection)
    _list(workspace, rows)
    left, right = st.columns(2)
    left.download_button(
        "Export CSV",
        data=lambda: csv_bytes(table_of(workspace, rows)),
        file_name=f"{workspace.name}-selection.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        width="stretch",
    )
    if right.button("Clear", icon=":material/close:", width="stretch", help="End the selection"):
        selection.clear()
        st.rerun()


def _by_verdict(workspace: Workspace, rows: IntArray) -> str:
    verdicts = workspace.labels().as_array(workspace.graph.n_nodes)[rows]
    parts = [(1, "anomalous"), (0, "normal"), (-2, "unsure"), (-1, None)]
    counts = [(palette.VERDICT_WORDS[word], int((verdicts == code).sum())) for code, word in parts]
    return " · ".join(f"{word.lower()} {count:,}" for word, count in counts if count)


def _verdicts(workspace: Workspace, selection: Selection) -> None:
    """One verdict for all: a single group, taken back by a single undo."""
    n = len(selection.nodes)
    note = st.text_input("Note for all of them", key="map-note", placeholder="why (optional)")
    rule = _counting(n)
    sure = n <= SURE_BEYOND or st.checkbox(f"Yes, label all {n:,} nodes", key=f"map-sure-{n}")
    with st.container(horizontal=True, gap="xsmall"):
        for verdict in _VERDICTS:
            if st.button(palette.VERDICT_WORDS[verdict.value], key=f"map-{verdict}", disabled=not sure):
                workspace.record_group(
                    selection.nodes,
                    verdict,
                    analyst=state.analyst(),
                    note=note.strip(),
                    source="map",
                    weight=rule.value,
                )
                st.toast(f"{n:,} nodes marked {verdict}.", icon=":material/check:")
                st.rerun()
    if workspace.can_undo(state.analyst()) and st.button("Undo my last verdicts", icon=":material/undo:"):
        taken = workspace.undo(state.analyst())
        st.toast(f"{len(taken):,} verdicts taken back.", icon=":material/undo:")
        st.rerun()


def _counting(n: int) -> GroupRule:
    """How much one verdict on ``n`` nodes is to count, as the analyst chooses."""
    if n == 1:
        return GroupRule.FULL
    rule = st.segmented_control(
        "They count",
        list(_COUNTS),
        default=GroupRule.ROOT,
        required=True,
        format_func=_COUNTS.__getitem__,
        key="map-counts",
        help="Nodes that nobody looked at one by one teach the model less.",
    )
    total = n * rule.weight(n)
    st.caption(f"{n:,} nodes together count as {'one verdict' if total == 1 else f'{total:.3g} verdicts'}.")
    return rule


def _list(workspace: Workspace, rows: IntArray) -> None:
    """The selected nodes, highest score first."""
    graph, result = workspace.graph, workspace.result()
    if result is not None:
        rows = rows[np.argsort(np.asarray(result.rank)[rows], kind="stable")]
    shown = rows[:LISTED]
    words = {1: "anomalous", 0: "normal", -2: "unsure", -1: ""}
    verdicts = workspace.labels().as_array(graph.n_nodes)[shown]
    link = f"/Label?project={quote(workspace.id)}&case="
    table = pd.DataFrame(
        {
            "rank": np.asarray(result.rank)[shown] if result else 0,
            "name": [graph.display_name(row) for row in shown.tolist()],
            "verdict": [words[int(v)] for v in verdicts],
            "open": [link + quote(str(graph.node_ids[row]), safe="") for row in shown],
        }
    )
    st.dataframe(
        table,
        hide_index=True,
        height=300,
        column_config={
            "rank": st.column_config.NumberColumn("Rank", format="%d", width=52),
            "name": st.column_config.TextColumn("Node", width=102),
            "verdict": st.column_config.TextColumn("Verdict", width=72),
            "open": st.column_config.LinkColumn("Case", display_text="open", width=45),
        },
    )
    if len(rows) > LISTED:
        st.caption(f"The first {LISTED:,} are listed; verdicts and export take all {len(rows):,}.")
