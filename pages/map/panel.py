"""The list beside the map: the selected nodes, one verdict for all of them, and their export."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import streamlit as st

from gadcore.errors import LabelError
from gadcore.graph import IntArray
from gadcore.graph.labels import GroupRule, Verdict
from gadcore.output.files import csv_bytes
from gadcore.output.flagged import UNLABELLED, table_of, verdict_words
from gadcore.workspace import Workspace
from pages.common import palette, state
from pages.map.selection import Selection

LISTED = 1_000  # rows shown; verdicts and export take all
SURE_BEYOND = 200  # nodes: more than that asks once before they are labelled
_VERDICTS = (Verdict.ANOMALOUS, Verdict.NORMAL, Verdict.UNSURE)
_COUNTED = (*(verdict.value for verdict in _VERDICTS), UNLABELLED)
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
    if workspace.may("verdicts.record_group"):
        _verdicts(workspace, selection)
    _list(workspace, rows)
    left, right = st.columns(2)
    left.download_button(
        "Export CSV",
        data=lambda: _selected_csv(workspace, rows),
        disabled=not workspace.may("export"),
        file_name=f"{workspace.name}-selection.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        width="stretch",
    )
    if right.button("Clear", icon=":material/close:", width="stretch", help="End the selection"):
        selection.clear()
        st.rerun()


def _selected_csv(workspace: Workspace, rows: IntArray) -> bytes:
    workspace.check("export")
    return csv_bytes(table_of(workspace, rows))


def _by_verdict(workspace: Workspace, rows: IntArray) -> str:
    counts = Counter(verdict_words(workspace)[rows].tolist())
    parts = [("no verdict" if word == UNLABELLED else word, counts[word]) for word in _COUNTED]
    return " · ".join(f"{word} {count:,}" for word, count in parts if count)


def _verdicts(workspace: Workspace, selection: Selection) -> None:
    """One verdict for all: a single group, taken back by a single undo."""
    note = st.text_input("Note for all of them", key="map-note", placeholder="why (optional)")
    overrule, n = _to_mark(workspace, selection)
    rule = _counting(n) if n else GroupRule.FULL
    sure = n <= SURE_BEYOND or st.checkbox(f"Yes, label all {n:,} nodes", key=f"map-sure-{n}")
    with st.container(horizontal=True, gap="xsmall"):
        for verdict in _VERDICTS:
            blocked = not (n and sure)
            if st.button(palette.VERDICT_WORDS[verdict.value], key=f"map-{verdict}", disabled=blocked):
                _mark(workspace, selection, verdict, overrule=overrule, note=note.strip(), weight=rule.value)
                st.rerun()
    undo = workspace.verdicts.can_undo(state.analyst())
    if undo and st.button("Undo my last verdicts", icon=":material/undo:"):
        taken = len(workspace.verdicts.undo(state.analyst()))
        st.toast(f"{taken:,} verdict{'s' * (taken != 1)} taken back.", icon=":material/undo:")
        st.rerun()


def _to_mark(workspace: Workspace, selection: Selection) -> tuple[bool, int]:
    """Whether nodes with a verdict of their own are to be changed too, and how many are marked then."""
    n, own = len(selection.nodes), len(workspace.verdicts.given_singly(selection.nodes))
    if not own:
        return False, n
    which = "the one that has" if own == 1 else f"the {own:,} that have"
    about = "Somebody looked at them one by one. Otherwise they keep their verdict."
    overrule = st.checkbox(f"Also change {which} a verdict", key="map-overrule", help=about)
    return overrule, n if overrule else n - own


def _mark(workspace: Workspace, selection: Selection, verdict: Verdict, **values: Any) -> None:
    """Record the verdict and say how many nodes got it."""
    values |= {"analyst": state.analyst(), "source": "map"}
    try:
        events = workspace.verdicts.record_group(selection.nodes, verdict, **values)
    except LabelError as error:
        st.toast(str(error), icon=":material/info:")
        return
    st.toast(marked_words(len(events), len(events.kept), verdict), icon=":material/check:")


def marked_words(marked: int, kept: int, verdict: Verdict) -> str:
    """What a verdict on a selection did, in a sentence."""
    words = f"{marked:,} node{'s' * (marked != 1)} marked {verdict}"
    return f"{words}, {kept:,} kept the verdict {'it' if kept == 1 else 'they'} had." if kept else f"{words}."


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
    graph, result = workspace.graph, workspace.runs.result()
    if result is not None:
        rows = rows[np.argsort(np.asarray(result.rank)[rows], kind="stable")]
    shown = rows[:LISTED]
    link = f"/Label?project={quote(workspace.id)}&case="
    table = pd.DataFrame(
        {
            "rank": np.asarray(result.rank)[shown] if result else 0,
            "name": [graph.display_name(row) for row in shown.tolist()],
            "id": graph.node_ids[shown].astype(str),
            "verdict": np.char.replace(verdict_words(workspace)[shown], UNLABELLED, ""),
            "open": [link + quote(str(graph.node_ids[row]), safe="") for row in shown],
        }
    )
    text = st.column_config.TextColumn
    columns: dict[Any, Any] = {
        "rank": st.column_config.NumberColumn("Rank", format="%d", width=52),
        "name": text("Node", width=102),
        "id": text("Id", width=62),
        "verdict": text("Verdict", width=72),
        "open": st.column_config.LinkColumn("Case", display_text="open", width=45),
    }
    order = None if (table["name"] != table["id"]).any() else [name for name in columns if name != "id"]
    st.dataframe(table, hide_index=True, height=300, column_order=order, column_config=columns)
    if len(rows) > LISTED:
        st.caption(f"The first {LISTED:,} are listed; verdicts and export take all {len(rows):,}.")
