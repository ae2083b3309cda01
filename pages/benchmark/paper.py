"""Benchmark: the paper's tables and figures in its order, measured here, from their result files alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies.published import METHODS, PUBLISHED
from gadcore.studies.results import SPLITS
from gadcore.studies.tables import BEYOND
from pages.benchmark.extensions import show_extensions
from pages.benchmark.paper_figures import show_embeddings, show_sweeps, show_times
from pages.benchmark.results import (
    METRICS,
    by_graph,
    result_file,
    source_of,
    splits_said,
    summary,
)
from pages.benchmark.tables import BOLD, best_last, choice, few, grid_figure, heat_map
from pages.common import palette
from pages.common.figures import tidy

TABLES = "paper.jsonl"
Published = Mapping[tuple[str, str], tuple[float, float]]  # (graph, method) -> mean, std in per cent

_KINDS = {False: "Random", True: "Stratified"}
_COMMANDS = {kind: f"ringfence experiments paper{' --stratified' * kind}" for kind in _KINDS}
_APART = [(0.0, "#F0A46B"), (0.5, "#F4F5F6"), (1.0, "#6DB1DA")]  # below the paper, equal, above
_FAR = 10  # points from the paper at which a cell has its full colour
_PLAIN = {"displayModeBar": False}


def show_paper() -> None:
    """Everything that the paper shows, in its order, then what goes beyond it."""
    _section("Tables", _show_tables)
    _section("AUC against λ and K", show_sweeps)
    _section("Embedding pictures", show_embeddings)
    _section("Training time", show_times)
    _section("Extensions", show_extensions)


def _section(title: str, show: Callable[[], None]) -> None:
    st.markdown(f"##### {title}")
    with st.container(border=True):
        show()


def _show_tables() -> None:
    file = result_file(TABLES)
    rows = None if file is None else file.rows[(file.rows["swept"] == "") & file.rows["rate"].notna()]
    if file is None or rows is None or rows.empty:
        st.info(
            "The tables are not measured yet. `ringfence experiments paper --quick` takes minutes, "
            "without `--quick` hours; stopped, it goes on where it was. What is measured is kept in "
            f"benchmarks/results/{TABLES} and shown here.",
            icon=":material/info:",
        )
        return
    rate, stratified, metric = _conditions(rows)
    rows = rows[(rows["rate"] == rate) & (rows["stratified"] == stratified)]
    table = summary(rows, metric)
    paper = published_at(rate) if metric == "auc" and not stratified else {}
    known = any((row.graph, row.method) in paper for row in table.itertuples())
    source = source_of(file.path, _COMMANDS[stratified])
    apart = st.toggle(
        "Difference to the paper",
        key="paper-difference",
        disabled=not known,
        help="Ours minus the paper's mean, in points. The paper gives the AUC on random splits only.",
    )
    if apart and known:
        figure, words = difference_map(table, paper), _DIFFERENCE
    else:
        figure, words = heat_map(table, metric), BOLD
    st.plotly_chart(figure, key="paper-table", config=_PLAIN)
    st.caption(
        f"Mean ± standard deviation over {splits_said(table)}, in per cent; n: cells with fewer splits than "
        f"others. {words} {source}."
    )
    if unfinished := missing_fits(table):
        st.caption(unfinished)
    _show_methods(table, metric, paper, source)


_DIFFERENCE = "Shown: our mean minus the paper's; \\*: more than the paper's own standard deviation away."


def _conditions(rows: pd.DataFrame) -> tuple[float, bool, str]:
    """Rate, kind of splits and figure that the user looks at; only such as were measured are offered."""
    with st.container(horizontal=True, gap="medium"):
        kinds = [bool(kind) for kind in sorted(rows["stratified"].unique())]
        stratified = choice("Splits", kinds, _KINDS.__getitem__, "paper-splits")
        rows = rows[rows["stratified"] == stratified]
        rates = sorted(float(rate) for rate in rows["rate"].unique())
        rate = choice("Labelled nodes", rates, _per_cent, "paper-rate")
        rows = rows[rows["rate"] == rate]
        metrics = [name for name in METRICS if rows[name].notna().any()]
        metric = choice("Figure", metrics, METRICS.__getitem__, "paper-metric")
    return rate, stratified, metric


def _per_cent(rate: float) -> str:
    return f"{100 * rate:g} %"


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
    graphs = by_graph(table["graph"])
    graph = choice("Graph", graphs, str, "paper-graph")
    part = table[table["graph"] == graph]
    own = {method: cell for (name, method), cell in paper.items() if name == graph}
    st.plotly_chart(dot_plot(part, metric, own), key="paper-dots", config=_PLAIN)
    hollow = " Hollow: what the paper reports, also for methods not measured here yet." if own else ""
    st.caption(
        f"Dots: mean over {splits_said(part)} on {graph}; lines: standard deviation; green: not in the "
        f"paper.{hollow} {source}."
    )


def dot_plot(table: pd.DataFrame, metric: str, paper: Mapping[str, tuple[float, float]]) -> go.Figure:
    """Mean ± std of every method on one graph, best on top; the paper's figures as hollow marks."""
    ours = {row["method"]: row for row in table.to_dict("records")}
    level = {name: cell[0] for name, cell in paper.items()}
    level |= {name: 100 * row["mean"] for name, row in ours.items()}
    order = sorted(level, key=level.__getitem__)
    figure = go.Figure()
    if paper:
        names = [name for name in order if name in paper]
        means, spreads = [paper[name][0] for name in names], [paper[name][1] for name in names]
        figure.add_trace(_dots(names, means, spreads, "The paper", palette.UNLABELLED, hollow=True))
    for title, colour, beyond in (
        ("Measured here", palette.NORMAL, False),
        ("Measured here, not in the paper", palette.ACCENT, True),
    ):
        names = [name for name in order if name in ours and (name in BEYOND) == beyond]
        means = [100 * ours[name]["mean"] for name in names]
        spreads = [100 * ours[name]["std"] for name in names]
        if names:
            figure.add_trace(_dots(names, means, spreads, title, colour, hollow=False))
    figure.update_yaxes(categoryorder="array", categoryarray=order)
    figure.update_xaxes(title_text=f"{METRICS[metric]} (%)")
    figure.update_layout(showlegend=True)
    return tidy(figure, 120 + 28 * len(order))


def _dots(
    names: list[str], means: list[float], spreads: list[float], title: str, colour: str, *, hollow: bool
) -> go.Scatter:
    return go.Scatter(
        x=means,
        y=names,
        name=title,
        mode="markers",
        marker={"size": 11, "color": colour, "symbol": "circle-open" if hollow else "circle"},
        error_x={"type": "data", "array": spreads, "color": colour, "thickness": 1, "width": 3},
        customdata=[[spread] for spread in spreads],
        hovertemplate="%{y}: %{x:.1f} ± %{customdata[0]:.1f}",
    )
