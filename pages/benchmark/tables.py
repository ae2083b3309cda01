"""Benchmark: result files as heat maps, tables and curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from gadcore.studies.published import PUBLISHED
from pages.benchmark.results import (
    LEAST_SPLITS,
    METRICS,
    SWEPT,
    ResultFile,
    by_graph,
    result_files,
    splits_said,
    summary,
)
from pages.common import palette, state
from pages.common.figures import tidy

T = TypeVar("T")
BOLD = (
    "Bold: the best of a graph and all that a paired t-test at 5 % does not tell from it, among the methods "
    f"with most splits (at least {LEAST_SPLITS})."
)
QUIET = [(0.0, "#F1F5F8"), (0.5, "#BDD9EA"), (1.0, "#6DB1DA")]  # dark text is readable on all of it
_PANELS = 3  # in a row
_RATES = {f"{100 * rate:g} % labelled": rate for rate, _, _ in PUBLISHED}


def show_results() -> None:
    """Choose a result file and conditions; see methods against each other on every graph."""
    files = result_files()
    if not files:
        st.info(
            "There are no result files yet. Make them with `ringfence experiments paper --quick`; "
            "they are kept in benchmarks/results and shown here.",
            icon=":material/info:",
        )
        return
    one, two, three = st.columns([2, 2, 1])
    with one:
        name = st.selectbox("Result file", [file.name for file in files], key="file")
    file = next(file for file in files if file.name == name)
    with two:
        setting = st.selectbox("Conditions", file.settings, key=f"setting-{name}")
    with three:
        metric = st.selectbox("Figure", file.metrics, format_func=METRICS.__getitem__, key=f"metric-{name}")
    rows = file.rows[file.rows["setting"] == setting]
    if rows["swept"].iat[0]:
        show_curve(rows, metric, file.source, key="curve")
        return
    table = summary(rows, metric)
    st.plotly_chart(heat_map(table, metric), key="heat", config={"displayModeBar": False})
    st.caption(_origin(file, table))
    with st.expander("Table"):
        st.dataframe(shown_table(table, setting if metric == "auc" else ""), hide_index=True, width="stretch")
        st.caption(file.source)


def choice(label: str, options: Sequence[T], words: Callable[[T], str], key: str) -> T:
    """One of a few, kept while it is out of sight; the first when none is chosen or it is no longer there."""
    state.keep_within(key, options)
    chosen = st.segmented_control(label, options, format_func=words, key=key, width="content")
    return next((option for option in options if option == chosen), options[0])


def show_curve(rows: pd.DataFrame, metric: str, source: str, key: str) -> None:
    """A swept parameter as a figure that says what it is a mean of and where it comes from."""
    st.plotly_chart(curve_figure(rows, metric), key=key, config={"displayModeBar": False})
    points = rows.groupby(["graph", "method", "at"])["seed"].nunique().rename("splits").reset_index()
    st.caption(f"Mean over {splits_said(points)}, bars: standard deviation, in per cent. {source}.")


def _origin(file: ResultFile, table: pd.DataFrame) -> str:
    return f"Mean ± standard deviation over {splits_said(table)}, in per cent. {BOLD} {file.source}."


def best_last(table: pd.DataFrame) -> list[str]:
    """Methods by their mean gap to the best of each graph, the best last: fair where a graph is missing."""
    gaps = table["mean"] - table.groupby("graph")["mean"].transform("max")
    return [str(method) for method in gaps.groupby(table["method"]).mean().sort_values().index]


def heat_map(table: pd.DataFrame, metric: str) -> go.Figure:
    """Methods (best on top) by graphs, each cell with mean ± std in per cent; n where it has fewer splits."""
    most = int(table["splits"].max())
    cells = {
        (row["method"], row["graph"]): (100 * row["mean"], _cell(row) + few(row["splits"], most))
        for row in table.to_dict("records")
    }
    return grid_figure(cells, best_last(table), METRICS[metric], colorscale=QUIET)


def few(splits: int, most: int) -> str:
    """A mark for a cell with fewer splits than others have."""
    return "" if splits == most else f" n={splits}"


def grid_figure(
    cells: Mapping[tuple[str, str], tuple[float, str]], lines: Sequence[str], title: str, **colours: Any
) -> go.Figure:
    """Coloured cells with a text each, by (line, graph); the last line is on top."""
    graphs = by_graph(graph for _, graph in cells)
    none = (None, "")
    figure = go.Figure(
        go.Heatmap(
            z=[[cells.get((line, graph), none)[0] for graph in graphs] for line in lines],
            x=graphs,
            y=list(lines),
            text=[[cells.get((line, graph), none)[1] for graph in graphs] for line in lines],
            texttemplate="%{text}",
            xgap=3,
            ygap=3,
            colorbar={"title": title, "thickness": 10},
            hovertemplate="%{y} on %{x}: %{text}<extra></extra>",
            **colours,
        )
    )
    figure.update_xaxes(side="top")
    return tidy(figure, 110 + 34 * len(lines))


def _cell(row: dict[str, Any]) -> str:
    text = f"{100 * row['mean']:.1f} ± {100 * row['std']:.1f}"
    return f"<b>{text}</b>" if row["best"] else text


def curve_figure(rows: pd.DataFrame, metric: str) -> go.Figure:
    """A figure against the parameter that the rows vary: one panel per graph, one colour per method."""
    known = rows.dropna(subset=["at", metric])
    graphs, methods = by_graph(known["graph"]), sorted(known["method"].unique())
    columns = max(1, min(_PANELS, len(graphs)))
    lines = max(1, -(-len(graphs) // columns))
    figure = make_subplots(
        lines, columns, subplot_titles=graphs, horizontal_spacing=0.06, vertical_spacing=0.3 / lines
    )
    named: set[str] = set()
    for place, graph in enumerate(graphs):
        for method, part in known[known["graph"] == graph].groupby("method"):
            colour = palette.CATEGORIES[methods.index(method) % len(palette.CATEGORIES)]
            trace = _curve(part, metric, str(method), colour)
            trace.update(legendgroup=method, showlegend=method not in named)
            named.add(str(method))
            figure.add_trace(trace, row=place // columns + 1, col=place % columns + 1)
    swept = rows["swept"].iat[0]
    figure.update_xaxes(**_parameter_axis(known["at"]))
    for place in range(max(0, len(graphs) - columns), len(graphs)):  # where no panel is below
        column = place % columns + 1
        figure.update_xaxes(title_text=SWEPT.get(swept, swept), row=place // columns + 1, col=column)
    figure.update_yaxes(title_text=f"{METRICS[metric]} (%)", col=1)
    return tidy(figure, 80 + 280 * lines).update_layout(legend_y=1 + 0.12 / lines, margin_t=70)


def _curve(part: pd.DataFrame, metric: str, method: str, colour: str) -> go.Scatter:
    line = part.groupby("at")[metric].agg(["mean", "std"]).fillna(0.0)
    return go.Scatter(
        x=list(line.index),
        y=list(100 * line["mean"]),
        error_y={"type": "data", "array": list(100 * line["std"]), "thickness": 1, "width": 2},
        name=method,
        mode="lines+markers",
        line={"color": colour},
        hovertemplate="%{x:~g}: %{y:.1f}",
    )


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


def shown_table(table: pd.DataFrame, setting: str) -> pd.DataFrame:
    """The summary for people, beside the paper's own figures where it has them for these conditions."""
    random = "random splits" in setting  # the paper's protocol; stratified splits score higher
    rate = next((value for words, value in _RATES.items() if random and words in setting), None)
    rows = []
    for row in table.sort_values(["graph", "mean"], ascending=[True, False]).to_dict("records"):
        line = {
            "graph": row["graph"],
            "method": row["method"],
            "mean ± std (%)": f"{100 * row['mean']:.1f} ± {100 * row['std']:.1f}",
            "splits": row["splits"],
        }
        published = PUBLISHED.get((rate, row["graph"], row["method"])) if rate is not None else None
        if rate is not None:
            line["paper (%)"] = f"{published[0]:.1f} ± {published[1]:.1f}" if published else ""
            line["difference"] = f"{100 * row['mean'] - published[0]:+.1f}" if published else ""
        rows.append(line)
    return pd.DataFrame(rows)
