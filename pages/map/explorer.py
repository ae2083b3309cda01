"""The Map page: the whole embedding, the hypersphere, and what a retrain moved."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from gadcore.graph import Graph
from gadcore.records import RunInfo
from gadcore.workspace import Result, Workspace
from pages.common import state
from pages.common.page import LABEL, TRAIN, errors_shown, info
from pages.common.run_figures import MAX_POINTS, Array
from pages.label.linked_map import LAYOUTS, seen_verdicts
from pages.map import colours, embedding_figures
from pages.map.figure import MapFigure, map_figure
from pages.map.panel import panel
from pages.map.selection import Selection, chosen_rows, is_click

VIEWS = {"map": "Map", "radius": "Hypersphere", "before": "Before / after"}
HEIGHT = 650
_SCORE, _VERDICT, _MOVED = "Score", "Verdict", "Moved since the run before"


@dataclass(frozen=True)
class MapChoice:
    """What the analyst asked to see."""

    view: str
    kind: str
    colour: str
    before: RunInfo | None  # the run to compare with


def show_map_page(workspace: Workspace) -> None:
    """The page below its title."""
    result = workspace.runs.result()
    if result is None:
        _no_result(workspace)
    elif result.embedding is None:
        _no_embedding(result.info)
    else:
        _explorer(workspace)


@st.fragment
def _explorer(workspace: Workspace) -> None:
    """Controls, chart and list: selecting reruns this part only."""
    with errors_shown():
        result = workspace.runs.result()
        if result is None:
            st.rerun()
        selection = state.made_once(f"map:{workspace.id}", Selection)
        look = _controls(workspace, result)
        left, right = st.columns([2.2, 1], gap="medium")
        with left:
            _chart(workspace, result, look, selection)
        with right:
            panel(workspace, selection)


def _earlier(workspace: Workspace, result: Result) -> list[RunInfo]:
    """Finished runs before a result: those of its model first, as others rank differently; newest first."""
    info = result.info
    done = [run for run in workspace.runs.all() if run.status == "done" and run.number < info.number]
    return sorted(done, key=lambda run: run.model != info.model)


def _controls(workspace: Workspace, result: Result) -> MapChoice:
    earlier = _earlier(workspace, result)
    view_box, kind_box, colour_box = st.columns([1.3, 1, 1.2])
    view = _one_of(view_box, "Show", VIEWS, "map-view")
    about = "PCA is there at once and keeps distances; UMAP and t-SNE show groups and take longer."
    kind = _one_of(kind_box, "Layout", LAYOUTS, "map-kind", help=about)
    before = colour = None
    if view == "before":
        before = colour_box.selectbox(
            "Compare with",
            [run for run in earlier if getattr(workspace.runs.result(run.id), "embedding", None) is not None],
            format_func=lambda run: f"run {run.number} ({run.model}, {run.normal + run.anomalous} labels)",
            key="map-before",
            placeholder="no earlier run",
        )
    elif view == "map":
        graph = workspace.graph
        columns = [str(column) for column in graph.node_table.columns if column != graph.label_column]
        modes = [_SCORE, _VERDICT, *([_MOVED] if earlier else []), *columns]
        colour = colour_box.selectbox("Colour by", modes, key="map-colour")
        before = earlier[0] if colour == _MOVED else None
    return MapChoice(view, kind, str(colour or _SCORE), before)


def _one_of(box: DeltaGenerator, title: str, options: dict[str, str], key: str, **more: str) -> str:
    """One of some options, given with their words; the first at the beginning, never none."""
    look: dict[str, Any] = {"format_func": options.__getitem__, "default": next(iter(options)), **more}
    return str(box.segmented_control(title, list(options), key=key, required=True, **look))


def _chart(workspace: Workspace, result: Result, look: MapChoice, selection: Selection) -> None:
    positions = _positions(workspace, look.kind, result.info.id)
    if positions is None:
        info("The layout of this run is missing. Train again on the Train page.")
        return
    if look.view == "before" and look.before is None:
        only = "There is only one run with a map so far. Label some nodes and retrain"
        info(f"{only}: then this view shows what moved.")
        return
    verdicts = seen_verdicts(workspace, state.analyst())
    on_map = look.view == "map"
    drawn = _figure(workspace, result, look, positions, verdicts, selection)
    if drawn is None:
        return
    event = st.plotly_chart(
        drawn.figure,
        key=f"map-chart-{look.view}-{selection.generation}",
        on_select="rerun",
        selection_mode=("points", "box", "lasso"),
        config={"displaylogo": False, "scrollZoom": True, "displayModeBar": True},
        alt=f"{VIEWS[look.view]} of {workspace.graph.n_nodes:,} nodes, coloured by {look.colour}",
    )
    _follow(workspace, drawn, event["selection"], positions if on_map else None, selection)
    if on_map:
        _say_what_is_left_out(len(positions), drawn.outside)


def _say_what_is_left_out(n: int, outside: int) -> None:
    points = "the grey picture shows all, the points are the labelled ones, the highest scores and a sample"
    if n > MAX_POINTS:
        st.caption(f"{n:,} nodes: {points} of the rest. A lasso takes all nodes inside it.")
    if outside:
        icon = "the Autoscale icon above the map shows them too"
        st.caption(f"{outside:,} nodes lie far outside this frame; {icon}.")


def _positions(workspace: Workspace, kind: str, run_id: str) -> Array | None:
    """The layout asked for; while it is being made, say so and give the PCA."""
    if (found := workspace.runs.layout(kind, run_id)) is not None:
        return found
    if workspace.runs.layout_state(kind, run_id)[0] == "none":
        workspace.runs.request_layout(kind, run_id)
    _layout_progress(workspace, kind, run_id)
    return workspace.runs.layout("pca", run_id)


def _figure(
    workspace: Workspace, result: Result, look: MapChoice, positions: Array, verdicts: Array, taken: Selection
) -> MapFigure | None:
    graph, names, percentile = workspace.graph, names_of(workspace.graph), result.percentile
    if look.view == "radius":
        if result.radius is None:
            st.info("This run's model has no centre c, so there is no hypersphere to show.")
            return None
        return embedding_figures.radius_figure(
            result.radius, positions, percentile, verdicts, names, height=HEIGHT
        )
    if look.view == "before" and look.before is not None:
        return _before_after(workspace, result, look, positions, verdicts, names)
    # the same figure as long as these are the same: see Selection.rings
    places = hash(positions[:100].tobytes())
    shows = (look, result.info.id, places, hash(verdicts.tobytes()), taken.generation)
    ringed = graph.indices_of(taken.rings(shows))
    colouring = _colouring(workspace, look, percentile, verdicts)
    return map_figure(
        positions, percentile, verdicts, names, selected=ringed, colouring=colouring, height=HEIGHT
    )


def _before_after(
    workspace: Workspace, result: Result, look: MapChoice, after: Array, verdicts: Array, names: Array
) -> MapFigure | None:
    run = look.before
    earlier = workspace.runs.result(run.id) if run else None
    if run is None or earlier is None:
        info("The earlier run has no scores any more. Choose another one.")
        return None
    before = _positions(workspace, look.kind, run.id)
    if before is None or len(before) != len(after):
        info(f"Run {run.number} has no map. Choose another one.")
        return None
    percentiles = earlier.percentile, result.percentile
    titles = f"Run {run.number}", f"Run {result.info.number}"
    return embedding_figures.before_after_figure(
        before, after, percentiles, verdicts, names, titles, height=HEIGHT
    )


def _colouring(
    workspace: Workspace, look: MapChoice, percentile: Array, verdicts: Array
) -> colours.Colouring:
    if look.colour == _VERDICT:
        return colours.by_verdict(verdicts)
    if look.colour == _MOVED and look.before is not None:
        earlier = workspace.runs.result(look.before.id)
        if earlier is not None:
            return colours.by_movement(earlier.percentile, percentile)
    table = workspace.graph.node_table
    if look.colour in table:
        return colours.by_attribute(table[look.colour], look.colour)
    return colours.by_score(percentile)


def _follow(
    workspace: Workspace, drawn: MapFigure, event: Any, positions: Array | None, selection: Selection
) -> None:
    """Open the case of a clicked point; keep what a lasso or box took."""
    rows = chosen_rows(drawn, event, positions)
    if not len(rows):
        return
    nodes = [str(node) for node in workspace.graph.node_ids[rows]]
    if is_click(event):
        selection.generation += 1  # the chart starts afresh when the analyst comes back
        state.open_case(nodes[0])
        st.switch_page(LABEL)
    selection.nodes = nodes


def names_of(graph: Graph) -> npt.NDArray[np.object_]:
    """What to call each node: its name column where filled, otherwise its id."""
    ids = graph.node_ids
    if graph.label_column is None or graph.label_column not in graph.node_table:
        return np.asarray(ids)
    column = graph.node_table[graph.label_column].to_numpy(dtype=object, na_value=None)
    filled = [isinstance(name, str) and bool(name.strip()) for name in column]
    return np.where(filled, column, np.asarray(ids))


def _no_result(workspace: Workspace) -> None:
    """No run has ended yet: show the one under way, or offer to start the first."""
    if workspace.runs.active() is not None:
        _first_run(workspace)
        return
    last = next(iter(workspace.runs.all()), None)
    if last is not None and last.message:
        st.error(f"Run {last.number} ended without scores: {last.message}", icon=":material/error:")
    info("There is no map yet: the nodes have not been ranked. The first ranking needs no labels.")
    if st.button("Rank the nodes now", type="primary", icon=":material/play_arrow:"):
        workspace.runs.ensure_ranked()
        st.rerun()
    st.page_link(TRAIN, label="Choose a model on the Train page", icon=":material/tune:")


@st.fragment(run_every=0.7)
def _first_run(workspace: Workspace) -> None:
    run = workspace.runs.active()
    if run is None:
        st.rerun()
    elif run.epochs:
        share = min(1.0, run.epoch / run.epochs)
        st.progress(share, text=f"First ranking: {run.stage}, epoch {run.epoch:,} of {run.epochs:,}")
    else:
        doing = f"The first ranking is {run.status}: {run.stage or 'the worker is starting'}"
        st.info(f"{doing}. The map appears by itself.", icon=":material/hourglass_top:")


def _no_embedding(run: RunInfo) -> None:
    """The model of the run in use places nodes on no map."""
    info(
        f"Run {run.number} was made with the model “{run.model}”, which gives scores but no embedding, "
        "so there is no map of it. Train an+ or an, or go back to an earlier run."
    )
    st.page_link(TRAIN, label="Go to the Train page", icon=":material/tune:")
    st.page_link(LABEL, label="Go on labelling", icon=":material/label:")


@st.fragment(run_every=1.0)
def _layout_progress(workspace: Workspace, kind: str, run_id: str) -> None:
    """How far a layout is; the page is drawn anew when it is there."""
    status, message = workspace.runs.layout_state(kind, run_id)
    title = f"{LAYOUTS[kind]} of run {workspace.runs.get(run_id).number}"
    if status == "done":
        st.rerun()
    elif status == "failed":
        st.error(f"{title} could not be made: {message or 'no reason was given'}", icon=":material/error:")
        if st.button("Try again", key=f"again-{kind}-{run_id}", icon=":material/refresh:"):
            state.forget(f"layout-asked:{run_id}:{kind}")
            workspace.runs.request_layout(kind, run_id)
            st.rerun()
    else:
        asked = state.made_once(f"layout-asked:{run_id}:{kind}", monotonic)
        doing = "waits for its turn" if status == "queued" else "is being worked out"
        since = f"asked for {monotonic() - asked:.0f} s ago"
        st.info(f"{title} {doing} ({since}); PCA is shown meanwhile.", icon=":material/hourglass_top:")
