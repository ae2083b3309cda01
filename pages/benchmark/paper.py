"""Benchmark: the paper's tables and figures in its order, measured here, and every result file as it is."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies.harness import COMMAND
from gadcore.studies.paper import BEYOND
from gadcore.studies.published import METHODS, PUBLISHED
from gadcore.studies.significance import SPLITS
from pages.benchmark.charts import choice, grid_figure, metric_choice, show_curve, spread_dots
from pages.benchmark.extensions import show_extensions
from pages.benchmark.measurements import (
    LEAST_SPLITS,
    METRICS,
    TABLES,
    by_graph,
    mean_spread,
    not_measured,
    result_file,
    result_files,
    source_of,
    splits_said,
    summary,
)
from pages.benchmark.paper_figures import show_embeddings, show_sweeps, show_times
from pages.common import palette
from pages.common.page import section
from pages.common.run_figures import show, tidy

Published = Mapping[tuple[str, str], tuple[float, float]]  # (graph, method) -> mean, std in per cent

_KINDS = {False: "Random", True: "Stratified"}
_APART = [(0.0, "#F0A46B"), (0.5, "#F4F5F6"), (1.0, "#6DB1DA")]  # below the paper, equal, above
_FAR = 10  # points from the paper at which a cell has its full colour
_QUICK = (
    f"`{COMMAND} paper --quick` takes minutes, without `--quick` hours; stopped, it goes on where it was. "
    "What is measured is"
)
_DIFFERENCE = "Shown: our mean minus the paper's; \\*: more than the paper's own standard deviation away."
BOLD = (
    "Bold: the best of a graph and all that a paired t-test at 5 % does not tell from it, among the methods "
    f"with most splits (at least {LEAST_SPLITS})."
)
_RATES = {f"{100 * rate:g} % labelled": rate for rate, _, _ in PUBLISHED}


def show_paper() -> None:
    """Everything that the paper shows, in its order, then what goes beyond it."""
    parts = {
        "Tables": _show_tables,
        "AUC against λ and K": show_sweeps,
        "Embedding pictures": show_embeddings,
        "Training time": show_times,
        "Extensions": show_extensions,
    }
    for title, show_part in parts.items():
        with section(title):
            show_part()


def _show_tables() -> None:
    file = result_file(TABLES)
    rows = None if file is None else file.rows[(file.rows["swept"] == "") & file.rows["rate"].notna()]
    if rows is None or rows.empty:
        not_measured("The tables are not measured yet.", TABLES, "", _QUICK)
        return
    rate, stratified, metric = _conditions(rows)
    table = summary(rows[(rows["rate"] == rate) & (rows["stratified"] == stratified)], metric)
    paper = published_at(rate) if metric == "auc" and not stratified else {}
    known = any((row.graph, row.method) in paper for row in table.itertuples())
    source = source_of(TABLES, f"{COMMAND} paper{' --stratified' * stratified}")
    about = "Ours minus the paper's mean, in points. The paper gives the AUC on random splits only."
    apart = (
        st.toggle("Difference to the paper", key="paper-difference", disabled=not known, help=about) and known
    )
    show(difference_map(table, paper) if apart else heat_map(table, metric), "paper-table")
    st.caption(
        f"Mean ± standard deviation over {splits_said(table)}, in per cent; n: cells with fewer splits than "
        f"others. {_DIFFERENCE if apart else BOLD} {source}."
    )
    if unfinished := missing_fits(table):
        st.caption(unfinished)
    _show_methods(table, metric, paper, source)


def _conditions(rows: pd.DataFrame) -> tuple[float, bool, str]:
    """Rate, kind of splits and figure that the user looks at; only such as were measured are offered."""
    with st.container(horizontal=True, gap="medium"):
        kinds = [bool(kind) for kind in sorted(rows["stratified"].unique())]
        stratified = choice("Splits", kinds, _KINDS.__getitem__, "paper-splits")
        rows = rows[rows["stratified"] == stratified]
        rates = sorted(float(rate) for rate in rows["rate"].unique())
        rate = choice("Labelled nodes", rates, lambda share: f"{100 * share:g} %", "paper-rate")
        return rate, stratified, metric_choice(rows[rows["rate"] == rate], "paper-metric")


def published_at(rate: float) -> Published:
    """The paper's figures at one rate."""
    return {(graph, method): cell for (at, graph, method), cell in PUBLISHED.items() if at == rate}


def missing_fits(table: pd.DataFrame) -> str:
    """What of the table is still to be measured, or "" when all methods it names have all splits."""
    methods, graphs = table["method"].nunique(), table["graph"].nunique()
    whole, fits = methods * graphs * SPLITS, int(table["splits"].clip(upper=SPLITS).sum())
    absent = [name for name in (*METHODS, *BEYOND) if name not in set(table["method"])]
    if fits == whole and not absent:
        return ""
    of_what = f"methods × graphs × splits: {methods} × {graphs} × {SPLITS}"
    text = f"Measured so far: {fits} of {whole} fits ({of_what})"
    return f"{text}; not yet: {', '.join(absent)}." if absent else f"{text}."


def difference_map(table: pd.DataFrame, paper: Published) -> go.Figure:
    """Ours minus the paper, in points, for the methods of the paper."""
    most = int(table["splits"].max())
    cells = {
        (row["method"], row["graph"]): _gap(row, paper[row["graph"], row["method"]], most)
        for row in table.to_dict("records")
        if (row["graph"], row["method"]) in paper
    }
    lines = [name for name in best_last(table) if any(name == method for method, _ in cells)]
    return grid_figure(cells, lines, "points", colorscale=_APART, zmin=-_FAR, zmax=_FAR)


def _gap(row: dict[Hashable, Any], paper: tuple[float, float], most: int) -> tuple[float, str]:
    gap = round(100 * row["mean"] - paper[0], 1) + 0.0  # no minus before a nought
    return gap, f"{gap:+.1f}{' *' if abs(gap) > paper[1] else ''}{few(row['splits'], most)}"


def _show_methods(table: pd.DataFrame, metric: str, paper: Published, source: str) -> None:
    """All methods on one graph, beside the paper's own figures."""
    st.markdown("**Methods against each other**")
    graph = choice("Graph", by_graph(table["graph"]), str, "paper-graph")
    part = table[table["graph"] == graph]
    own = {method: cell for (name, method), cell in paper.items() if name == graph}
    show(dot_plot(part, metric, own), "paper-dots")
    hollow = " Hollow: what the paper reports, also for methods not measured here yet." if own else ""
    st.caption(
        f"Dots: mean over {splits_said(part)} on {graph}; lines: standard deviation; green: not in the "
        f"paper.{hollow} {source}."
    )


def dot_plot(table: pd.DataFrame, metric: str, paper: Mapping[str, tuple[float, float]]) -> go.Figure:
    """Mean ± std of every method on one graph, best on top; the paper's figures as hollow marks."""
    ours = {row["method"]: (100 * row["mean"], 100 * row["std"]) for row in table.to_dict("records")}
    cells = {**paper, **ours}
    order = sorted(cells, key=lambda name: cells[name][0])
    groups = (
        ("The paper", palette.UNLABELLED, paper),
        ("Measured here", palette.NORMAL, {n: cell for n, cell in ours.items() if n not in BEYOND}),
        ("Measured here, not in the paper", palette.ACCENT, {n: ours[n] for n in ours if n in BEYOND}),
    )
    figure = go.Figure()
    for title, colour, known in groups:
        names = [name for name in order if name in known]
        means, wide = ([known[name][i] for name in names] for i in (0, 1))
        marker = {"size": 11, "color": colour, "symbol": "circle-open" if known is paper else "circle"}
        words = {"customdata": [[w] for w in wide], "hovertemplate": "%{y}: %{x:.1f} ± %{customdata[0]:.1f}"}
        if names:
            figure.add_trace(spread_dots(names, means, wide, wide, name=title, marker=marker, **words))
    figure.update_yaxes(categoryorder="array", categoryarray=order)
    figure.update_xaxes(title_text=f"{METRICS[metric]} (%)")
    figure.update_layout(showlegend=True)
    return tidy(figure, 120 + 28 * len(order))


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
    setting = two.selectbox("Conditions", file.settings, key=f"setting-{name}")
    metric = three.selectbox("Figure", file.metrics, format_func=METRICS.__getitem__, key=f"metric-{name}")
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
