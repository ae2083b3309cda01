"""Benchmark: every result file as heat maps, tables and curves."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies.harness import COMMAND
from gadcore.studies.published import PUBLISHED
from pages.benchmark.charts import grid_figure, show_curve
from pages.benchmark.measurements import (
    LEAST_SPLITS,
    METRICS,
    metrics_in,
    not_measured,
    result_files,
    splits_said,
    summary,
)
from pages.common.figures import show

BOLD = (
    "Bold: the best of a graph and all that a paired t-test at 5 % does not tell from it, among the methods "
    f"with most splits (at least {LEAST_SPLITS})."
)
_RATES = {f"{100 * rate:g} % labelled": rate for rate, _, _ in PUBLISHED}


def show_results() -> None:
    """Choose a result file and conditions; see methods against each other on every graph."""
    files = result_files()
    if not files:
        more = f"Make them with `{COMMAND} paper --quick`; they are"
        not_measured("There are no result files yet.", "", "", more)
        return
    one, two, three = st.columns([2, 2, 1])
    name = one.selectbox("Result file", [file.path.name for file in files], key="file")
    file = next(file for file in files if file.path.name == name)
    setting = two.selectbox("Conditions", sorted(file.rows["setting"].unique()), key=f"setting-{name}")
    known = metrics_in(file.rows)
    metric = three.selectbox("Figure", known, format_func=METRICS.__getitem__, key=f"metric-{name}")
    rows = file.rows[file.rows["setting"] == setting]
    if rows["swept"].iat[0]:
        show_curve(rows, metric, file.source, key="curve")
        return
    table = summary(rows, metric)
    show(heat_map(table, metric), "heat")
    means = f"Mean ± standard deviation over {splits_said(table)}, in per cent."
    st.caption(f"{means} {BOLD} {file.source}.")
    with st.expander("Table"):
        st.dataframe(shown_table(table, setting if metric == "auc" else ""), hide_index=True, width="stretch")
        st.caption(file.source)


def best_last(table: pd.DataFrame) -> list[str]:
    """Methods by their mean gap to the best of each graph, the best last: fair where a graph is missing."""
    gaps = table["mean"] - table.groupby("graph")["mean"].transform("max")
    return [str(method) for method in gaps.groupby(table["method"]).mean().sort_values().index]


def heat_map(table: pd.DataFrame, metric: str) -> go.Figure:
    """Methods (best on top) by graphs, each cell with mean ± std in per cent; n where it has fewer splits."""
    most, cells = int(table["splits"].max()), {}
    for row in table.to_dict("records"):
        text = mean_spread(row["mean"], row["std"])
        text = (f"<b>{text}</b>" if row["best"] else text) + few(row["splits"], most)
        cells[row["method"], row["graph"]] = (100 * row["mean"], text)
    return grid_figure(cells, best_last(table), METRICS[metric])


def mean_spread(mean: float | None, std: float | None) -> str:
    """Mean ± standard deviation of shares, in per cent; "" of nothing."""
    return "" if mean is None else f"{100 * mean:.1f} ± {100 * (std or 0):.1f}"


def few(splits: int, most: int) -> str:
    """A mark for a cell with fewer splits than others have."""
    return "" if splits == most else f" n={splits}"


def shown_table(table: pd.DataFrame, setting: str) -> pd.DataFrame:
    """The summary for people, beside the paper's own figures where it has them for these conditions."""
    random = "random splits" in setting  # the paper's protocol; stratified splits score higher
    rate = next((value for words, value in _RATES.items() if random and words in setting), None)
    rows = []
    for row in table.sort_values(["graph", "mean"], ascending=[True, False]).to_dict("records"):
        line = {name: row[name] for name in ("graph", "method")}
        line |= {"mean ± std (%)": mean_spread(row["mean"], row["std"]), "splits": row["splits"]}
        if rate is not None:
            published = PUBLISHED.get((rate, row["graph"], row["method"]))
            line["paper (%)"] = "{:.1f} ± {:.1f}".format(*published) if published else ""
            line["difference"] = f"{100 * row['mean'] - published[0]:+.1f}" if published else ""
        rows.append(line)
    return pd.DataFrame(rows)
