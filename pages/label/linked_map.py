"""The embedding map below the labelling screen, linked both ways without a rerun of the page.

A small component stands between the two (js/map_link.js): it hears which case the screen shows, and moves the
ring on the map; a click on a point it hands to the screen, which opens the case at once.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from gadcore.workspace import Workspace
from pages.common import state
from pages.label import modules
from pages.map.colours import by_verdict
from pages.map.figure import MapFigure, map_figure

KEY = "unseen-map-link"
LAYOUTS = {"pca": "PCA", "umap": "UMAP", "tsne": "t-SNE"}
HEIGHT = 280


@st.fragment
def show_map(workspace: Workspace) -> None:
    """The map with the current case marked; a click on a point opens its case above."""
    at = state.sent_by(KEY, "at") or {}
    shown = state.made_once(f"label-map:{workspace.id}", dict[str, Any])
    kind = _choice()
    positions = workspace.runs.layout(kind)
    if positions is None:
        _nothing_yet(workspace, kind)
        _link(workspace, at, None)
        return
    drawn = _figure(workspace, positions, at)
    event = st.plotly_chart(
        drawn.figure,
        key=f"label-map-{kind}",
        on_select="rerun",
        selection_mode="points",
        config={"displaylogo": False, "displayModeBar": False, "scrollZoom": True},
    )
    _link(workspace, at, _clicked(workspace, drawn, event, shown))


def _choice() -> str:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown("**Embedding map**", width="content")
        kind = st.segmented_control(
            "Layout",
            list(LAYOUTS),
            default="pca",
            format_func=LAYOUTS.__getitem__,
            key="label-map-kind",
            label_visibility="collapsed",
        )
        st.caption(
            "Where the model places each node. The ring is the case above; click a point to open its case.",
            width="content",
        )
    return str(kind or "pca")


def _nothing_yet(workspace: Workspace, kind: str) -> None:
    if workspace.runs.in_use() is None:
        st.caption("The map appears with the first ranking.")
    elif (result := workspace.runs.result()) is not None and result.embedding is None:
        st.caption(f"The model of run {result.info.number} has no embedding, so there is no map of it.")
    else:
        workspace.runs.request_layout(kind)
        _wait_for_layout(workspace, kind)


@st.fragment(run_every=1.0)
def _wait_for_layout(workspace: Workspace, kind: str) -> None:
    """Look again until the worker has made the layout."""
    status, message = workspace.runs.layout_state(kind)
    if status == "done":
        st.rerun()
    failed = f"{LAYOUTS[kind]} could not be drawn: {message}"
    st.caption(failed if status == "failed" else f"{LAYOUTS[kind]} is being worked out…")


def _figure(workspace: Workspace, positions: Any, at: dict[str, Any]) -> MapFigure:
    graph, result = workspace.graph, workspace.runs.result()
    node = str(at.get("node"))  # named only when it would not be among the points
    hidden = bool(at.get("blind"))
    verdicts = (
        own_verdicts(workspace, state.analyst()) if hidden else seen_verdicts(workspace, state.analyst())
    )
    return map_figure(
        positions,
        None if result is None or hidden else np.asarray(result.percentile),
        verdicts,
        np.asarray(graph.node_ids),
        current=graph.index_of(node) if node in graph else None,
        colouring=by_verdict(verdicts) if hidden else None,
        height=HEIGHT,
    )


def all_verdicts(workspace: Workspace) -> npt.NDArray[np.int8]:
    """(N,) as ``Labels.as_array``."""
    return workspace.verdicts.labels().as_array(workspace.graph.n_nodes)


def seen_verdicts(workspace: Workspace, analyst: str) -> npt.NDArray[np.int8]:
    """The same without cases on which the analyst is yet to give a second opinion, blind."""
    verdicts = all_verdicts(workspace)
    verdicts[workspace.graph.indices_of(workspace.cases.second_opinions(analyst=analyst))] = -1
    return verdicts


def own_verdicts(workspace: Workspace, analyst: str) -> npt.NDArray[np.int8]:
    """The same without verdicts of others: the ring would point at the one on the case in front."""
    graph, verdicts = workspace.graph, all_verdicts(workspace)
    said = workspace.verdicts.current().items()
    verdicts[graph.indices_of([v for v, event in said if event.analyst != analyst and v in graph])] = -1
    return verdicts


def _clicked(
    workspace: Workspace, drawn: MapFigure, event: Any, shown: dict[str, Any]
) -> dict[str, Any] | None:
    """The case of a point clicked just now, numbered, so that the browser opens it once."""
    nodes = drawn.nodes(event["selection"]["points"] if event else [])
    node = str(workspace.graph.node_ids[nodes[0]]) if len(nodes) else None
    if node != shown.get("point"):
        shown["point"] = node
        if node is not None:
            shown["open"] = {"node": node, "n": shown.get("open", {"n": 0})["n"] + 1}
    return shown.get("open")


def _link(workspace: Workspace, at: dict[str, Any], opened: dict[str, Any] | None) -> None:
    """Mount the component, and tell it what the map shows now."""
    run = workspace.runs.in_use()
    drawn = {
        "node": at.get("node"),
        "blind": bool(at.get("blind")),
        "run": at.get("run", run.id if run else ""),
        "labels": at.get("labels"),
    }
    data = {"drawn": drawn, "open": opened}
    _component()(key=KEY, data=data, height="content", on_at_change=lambda: None)


@cache
def _component() -> Any:
    return st.components.v2.component("map_link", js=modules.source("map_link"), isolate_styles=False)
