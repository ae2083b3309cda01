"""Benchmark: the kinds of figures and choices that its sections share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from pages.benchmark.measurements import METRICS, SWEPT, by_graph, splits_said
from pages.common import palette, state
from pages.common.run_figures import show, tidy

T = TypeVar("T")
Panel = tuple[str, Sequence[Any]]  # title, traces
QUIET = [(0.0, "#F1F5F8"), (0.5, "#BDD9EA"), (1.0, "#6DB1DA")]  # dark text is readable on all of it
COLUMNS = 3  # panels in a row


def choice(label: str, options: Sequence[T], words: Callable[[T], str], key: str) -> T:
    """One of a few, kept while it is out of sight; the first when none is chosen or it is no longer there."""
    state.keep_within(key, options)
    chosen = st.segmented_control(label, options, format_func=words, key=key, width="content")
    return next((option for option in options if option == chosen), options[0])


def metric_choice(rows: pd.DataFrame, key: str) -> str:
    """One of the figures that the rows have."""
    return choice("Figure", [n for n in METRICS if rows[n].notna().any()], METRICS.__getitem__, key)


def grid_figure(
    cells: Mapping[tuple[str, str], tuple[float, str]], lines: Sequence[str], title: str, **colours: Any
) -> go.Figure:
    """Coloured cells with a text each, by (line, graph); the last line is on top."""
    graphs = by_graph(graph for _, graph in cells)
    values, text = ([[cells.get((y, x), (None, ""))[i] for x in graphs] for y in lines] for i in (0, 1))
    look = {"colorscale": QUIET, "xgap": 3, "ygap": 3, "colorbar": {"title": title, "thickness": 10}}
    words = {"texttemplate": "%{text}", "hovertemplate": "%{y} on %{x}: %{text}<extra></extra>"}
    figure = go.Figure(go.Heatmap(z=values, x=graphs, y=list(lines), text=text, **words, **(look | colours)))
    figure.update_xaxes(side="top")
    return tidy(figure, 110 + 34 * len(lines))


def panels_figure(panels: Sequence[Panel], columns: int, across: float, down: float) -> go.Figure:
    """Small multiples with one legend for all; ``across`` and ``down`` are the gaps between panels."""
    lines = max(1, -(-len(panels) // columns))
    titles = [title for title, _ in panels]
    figure = make_subplots(
        lines, columns, subplot_titles=titles, horizontal_spacing=across, vertical_spacing=down / lines
    )
    named: set[str] = set()
    for place, (_, traces) in enumerate(panels):
        for trace in traces:
            trace.update(legendgroup=trace.name, showlegend=trace.name not in named)
            named.add(trace.name)
            figure.add_trace(trace, row=place // columns + 1, col=place % columns + 1)
    return figure


def curve_figure(rows: pd.DataFrame, metric: str) -> go.Figure:
    """A figure against the parameter that the rows vary: one panel per graph, one colour per method."""
    known = rows.dropna(subset=["at", metric])
    graphs, methods = by_graph(known["graph"]), sorted(known["method"].unique())
    colours = {name: palette.CATEGORIES[i % len(palette.CATEGORIES)] for i, name in enumerate(methods)}
    panels = [
        (graph, [_curve(part, metric, str(name), colours[name]) for name, part in own.groupby("method")])
        for graph in graphs
        for own in (known[known["graph"] == graph],)
    ]
    columns = max(1, min(COLUMNS, len(graphs)))
    figure = panels_figure(panels, columns, 0.06, 0.3)
    swept, lines = rows["swept"].iat[0], max(1, -(-len(graphs) // columns))
    figure.update_xaxes(**_parameter_axis(known["at"]))
    for place in range(max(0, len(graphs) - columns), len(graphs)):  # where no panel is below
        where = {"row": place // columns + 1, "col": place % columns + 1}
        figure.update_xaxes(title_text=SWEPT.get(swept, swept), **where)
    figure.update_yaxes(title_text=f"{METRICS[metric]} (%)", col=1)
    return tidy(figure, 80 + 280 * lines).update_layout(legend_y=1 + 0.12 / lines, margin_t=70)


def _curve(part: pd.DataFrame, metric: str, method: str, colour: str) -> go.Scatter:
    line = 100 * part.groupby("at")[metric].agg(["mean", "std"]).fillna(0.0)
    spread = {"type": "data", "array": list(line["std"]), "thickness": 1, "width": 2}
    look = {"mode": "lines+markers", "line": {"color": colour}, "hovertemplate": "%{x:~g}: %{y:.1f}"}
    return go.Scatter(x=list(line.index), y=list(line["mean"]), error_y=spread, name=method, **look)


def _parameter_axis(values: pd.Series) -> dict[str, Any]:
    """Ticks where something was measured; a logarithmic axis for values over orders of magnitude."""
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        return {"type": "category"}
    ticks = sorted(numbers.unique())
    shown = {"tickvals": ticks, "ticktext": [f"{value:g}" for value in ticks]}
    if not ticks or ticks[0] < 0 or ticks[-1] < 8 * ticks[0]:
        return shown
    return {"type": "category"} if ticks[0] == 0 else {"type": "log", **shown}


def show_curve(rows: pd.DataFrame, metric: str, source: str, key: str) -> None:
    """A swept parameter as a figure that says what it is a mean of and where it comes from."""
    show(curve_figure(rows, metric), key)
    points = rows.groupby(["graph", "method", "at"])["seed"].nunique().rename("splits").reset_index()
    st.caption(f"Mean over {splits_said(points)}, bars: standard deviation, in per cent. {source}.")


def spread_dots(
    names: Iterable[str], means: Sequence[float], below: Sequence[float], above: Sequence[float], **look: Any
) -> go.Scatter:
    """A dot per name with a line from ``below`` to ``above`` its mean."""
    colour = look["marker"]["color"]
    line = {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "color": colour}
    spread = {**line, "thickness": 1, "width": 3}
    return go.Scatter(x=means, y=list(names), mode="markers", error_x=spread, **look)
