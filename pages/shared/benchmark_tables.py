"""Benchmark: result files as heat maps, tables and curves."""

from __future__ import annotations

from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.experiments.published import PUBLISHED
from pages.shared import palette
from pages.shared.benchmark_results import LEAST_SPLITS, METRICS, SWEPT, ResultFile, result_files, summary
from pages.shared.figures import tidy

_QUIET = [(0.0, "#EAF0F4"), (0.5, "#9CC3DC"), (1.0, "#0072B2")]
_RATES = {f"{100 * rate:g} % labelled": rate for rate, _, _ in PUBLISHED}


def show_results() -> None:
    """Choose a result file and conditions; see methods against each other on every graph."""
    files = result_files()
    if not files:
        st.info(
            "There are no result files yet. Make them with `python -m gadcore experiments paper --quick`; "
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
        st.plotly_chart(curve_figure(rows, metric), key="curve", config={"displayModeBar": False})
        st.caption(f"Mean over splits, in per cent. {file.source}.")
        return
    table = summary(rows, metric)
    st.plotly_chart(heat_map(table, metric), key="heat", config={"displayModeBar": False})
    st.caption(_origin(file, table))
    with st.expander("Table"):
        st.dataframe(shown_table(table, setting if metric == "auc" else ""), hide_index=True, width="stretch")
        st.caption(file.source)


def _origin(file: ResultFile, table: pd.DataFrame) -> str:
    fewest, most = int(table["splits"].min()), int(table["splits"].max())
    splits = f"{most} splits" if fewest == most else f"{fewest} to {most} splits"
    return (
        f"Mean ± standard deviation over {splits}, in per cent; bold: the best of a graph and all that a "
        f"paired t-test at 5 % does not tell from it, where every method has {LEAST_SPLITS} splits or more. "
        f"{file.source}."
    )


def heat_map(table: pd.DataFrame, metric: str) -> go.Figure:
    """Methods (best mean on top) by graphs, each cell with mean ± std in per cent."""
    order = list(table.groupby("method")["mean"].mean().sort_values().index)
    graphs = sorted(table["graph"].unique())
    cells = {(row["method"], row["graph"]): row for row in table.to_dict("records")}
    figure = go.Figure(
        go.Heatmap(
            z=[[100 * cells[m, g]["mean"] if (m, g) in cells else None for g in graphs] for m in order],
            x=graphs,
            y=order,
            text=[[_cell(cells.get((m, g))) for g in graphs] for m in order],
            texttemplate="%{text}",
            colorscale=_QUIET,
            xgap=3,
            ygap=3,
            colorbar={"title": METRICS[metric], "thickness": 10},
            hovertemplate="%{y} on %{x}: %{text}<extra></extra>",
        )
    )
    figure.update_xaxes(side="top")
    return tidy(figure, 110 + 34 * len(order))


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    text = f"{100 * row['mean']:.1f} ± {100 * row['std']:.1f}"
    return f"<b>{text}</b>" if row["best"] else text


def curve_figure(rows: pd.DataFrame, metric: str) -> go.Figure:
    """A figure against the parameter that the rows vary, one line per method and graph."""
    figure = go.Figure()
    known = rows.dropna(subset=["at", metric])
    for i, ((graph, method), part) in enumerate(known.groupby(["graph", "method"])):
        line = part.groupby("at")[metric].mean()
        figure.add_trace(
            go.Scatter(
                x=list(line.index),
                y=[100 * value for value in line],
                name=f"{method}, {graph}",
                mode="lines+markers",
                line={"color": palette.CATEGORIES[i % len(palette.CATEGORIES)]},
            )
        )
    numbers = pd.to_numeric(known["at"], errors="coerce").dropna()
    wide = len(numbers) > 0 and numbers.min() > 0 and numbers.max() > 50 * numbers.min()
    figure.update_xaxes(title_text=SWEPT.get(rows["swept"].iat[0], rows["swept"].iat[0]))
    if wide:
        figure.update_xaxes(type="log")
    figure.update_yaxes(title_text=f"{METRICS[metric]} (%)")
    return tidy(figure, 360)


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
