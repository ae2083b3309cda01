"""Train: two runs side by side: who rose, who fell, who is new in the top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from gadcore.records import QueueRow, RunInfo
from gadcore.workspace import Workspace
from pages.common.page import errors_shown, info
from pages.common.run_figures import score_scatter, show
from pages.home.projects import literal
from pages.train.runs import title_of

_LISTED = 10


def show_comparison(workspace: Workspace) -> None:
    """Choose two finished runs and see what changed between them."""
    done = [run for run in workspace.runs.all() if run.status == "done"]
    if len(done) < 2:
        needed = "Comparing needs two finished runs. Label a few nodes and train again"
        info(f"{needed}: the change is shown here.")
        return
    names = {run.number: run for run in done}
    one, two, three = st.columns(3)
    first, second = map(done.index, _worth_comparing(done))
    told: dict[str, Any] = {"format_func": lambda number: f"Run {number} · {title_of(names[number])}"}
    before = one.selectbox("Before", list(names), index=first, key="before", **told)
    after = two.selectbox("After", list(names), index=second, key="after", **told)
    n = workspace.graph.n_nodes
    k = int(three.number_input("Top k", min_value=1, max_value=n, value=min(100, n), key="k"))
    with errors_shown(go_on=True):
        _comparison(workspace, names[before], names[after], k)


def _worth_comparing(done: list[RunInfo]) -> tuple[RunInfo, RunInfo]:
    """Of finished runs, newest first: the one in use, behind the last one before it of the same model."""
    used = next((run for run in done if run.in_use), done[0])
    earlier = [run for run in done if run.number < used.number]
    if not earlier:
        return done[1], done[0]
    return min(earlier, key=lambda run: run.model != used.model), used


def _comparison(workspace: Workspace, before: RunInfo, after: RunInfo, k: int) -> None:
    found = workspace.runs.compare(before.id, after.id, k=k)
    figures = (
        ("Rank correlation", f"{found.correlation:.3f}", "Spearman's, over all nodes: 1 is the same order."),
        (f"New in the top {found.k}", f"{len(found.entered):,}", None),
        (f"Left the top {found.k}", f"{len(found.left):,}", None),
    )
    for column, (title, value, help) in zip(st.columns(3), figures):
        column.metric(title, value, help=help, border=True)
    picture, lists = st.columns([3, 2])
    with picture:
        show(score_scatter(found), "scatter")
    for tab, rows in zip(lists.tabs(["Risen most", "Fallen most"]), (found.risen, found.fallen)):
        with tab:
            _movers(rows)
    if found.entered or found.left:
        with st.expander(f"Changes of the top {found.k}"):
            st.markdown("**New:** " + _ids(found.entered))
            st.markdown("**Gone:** " + _ids(found.left))


def _movers(rows: Sequence[QueueRow]) -> None:
    if not rows:
        st.caption("None.")
        return
    names = ("node", "name", "places", "rank now", "verdict")
    shown = [(row.node_id, row.name, row.moved, row.rank, row.verdict or "") for row in rows[:_LISTED]]
    signed: dict[Any, Any] = {"places": st.column_config.NumberColumn(format="%+d")}
    st.dataframe([dict(zip(names, row)) for row in shown], hide_index=True, column_config=signed)


def _ids(node_ids: Sequence[str]) -> str:
    shown = ", ".join(literal(node) for node in node_ids[:40]) or "none"
    return shown + (f" and {len(node_ids) - 40:,} more" if len(node_ids) > 40 else "")
