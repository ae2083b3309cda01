"""Benchmark: the paper's figures: sweeps of λ and K, pictures of the embeddings, training times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies.embeddings import METHODS as PICTURES
from gadcore.studies.harness import COMMAND
from gadcore.studies.published import TRAINING_SECONDS
from pages.benchmark.charts import COLUMNS, choice, metric_choice, panels_figure, show_curve
from pages.benchmark.measurements import by_graph, command_of, not_measured, result_file, rows_in, source_of
from pages.common import palette
from pages.common.run_figures import Array, show, tidy

STUDY = "figures"
SWEEPS, EMBEDDINGS, TIMES = "figures.jsonl", "embeddings.jsonl", "times.jsonl"
Row = Mapping[str, Any]

# (truth, training node, title, colour, symbol), drawn in this order
_POINTS = (
    (-1, False, "Unknown", palette.OTHER, "circle"),
    (0, False, "Normal", "#56B4E9", "circle"),
    (1, False, "Anomalous", palette.ANOMALOUS, "diamond"),
    (0, True, "Normal, training node", "#56B4E9", "circle"),
    (1, True, "Anomalous, training node", palette.ANOMALOUS, "diamond"),
)


def show_sweeps() -> None:
    """AUC against λ, then against K, each as one panel per graph."""
    file = result_file(SWEEPS)
    rows = None if file is None else file.rows[file.rows["swept"].isin(["lambda_", "k"])]
    if file is None or rows is None or rows.empty:
        not_measured("The curves are not measured yet.", SWEEPS, STUDY)
        return
    metric = metric_choice(rows, "sweep-metric")
    for swept in ("lambda_", "k"):
        part = rows[rows["swept"] == swept]
        for setting in sorted(part["setting"].unique()):
            st.markdown(f"**{setting[:1].upper()}{setting[1:]}**")
            own = part[part["setting"] == setting]
            show_curve(own, metric, file.source, key=f"sweep-{setting}")


def show_embeddings() -> None:
    """One small t-SNE map per method of the paper's figure."""
    rows = [row for row in rows_in(EMBEDDINGS) if {"x", "y", "truth", "method"} <= set(row)]
    if not rows:
        not_measured("The pictures are not measured yet.", EMBEDDINGS, STUDY)
        return
    graphs = by_graph(str(row["graph"]) for row in rows)
    graph = graphs[0] if len(graphs) == 1 else choice("Graph", graphs, str, "embedding-graph")
    rows = [row for row in rows if row["graph"] == graph]
    # Thousands of dots: a browser without a GPU needs seconds for them, so they wait until they are wanted.
    pictures = st.expander("Pictures", key="embeddings-open", on_change="rerun")
    if pictures.open:
        with pictures:
            outline = "#F2F2F2" if st.context.theme.type == "dark" else "#26282C"
            show(embedding_figure(rows, outline), "embeddings")
    first = rows[0]
    labelled = f", {100 * float(first['rate']):g} % of the nodes labelled" if first.get("rate") else ""
    st.caption(
        f"t-SNE of what each method learned on {first['graph']}{labelled}, one split; a dot is a node, an "
        "outline marks a training label. AUC: of the method on the test nodes, in per cent. "
        f"{_separation_said(rows)}{_source(EMBEDDINGS, rows)}."
    )


def _separation_said(rows: Sequence[Row]) -> str:
    if all(row.get("separation") is None for row in rows):
        return ""
    chance = next((f" ({row['chance']:.2f} by chance)" for row in rows if row.get("chance") is not None), "")
    return f"Separation: share of anomalies among the ten nearest test nodes of an anomaly{chance}. "


def embedding_figure(rows: Sequence[Row], outline: str = palette.OTHER) -> go.Figure:
    """Small multiples, three in a row, one legend for all; training nodes have an outline."""
    latest = {str(row["method"]): row for row in rows}
    places = {name: i for i, name in enumerate(PICTURES)}
    chosen = sorted(latest.values(), key=lambda row: places.get(str(row["method"]), len(places)))
    panels = [(_picture_title(row), _points(row, outline)) for row in chosen]
    figure, lines = panels_figure(panels, COLUMNS, 0.02, 0.26), -(-len(chosen) // COLUMNS)
    axis = {"showticklabels": False, "showgrid": False, "zeroline": False, "showline": True, "mirror": True}
    figure.update_xaxes(**axis, linecolor=palette.OTHER)
    figure.update_yaxes(**axis, linecolor=palette.OTHER)
    figure.update_annotations(yshift=4, font_size=12)
    figure.update_layout(legend_itemsizing="constant")
    layout = {"legend_y": 1 + 0.2 / lines, "margin": {"l": 16, "r": 16, "t": 90, "b": 16}}
    return tidy(figure, 90 + 300 * lines).update_layout(layout)


def _picture_title(row: Row) -> str:
    auc = "" if row.get("auc") is None else f"AUC {100 * float(row['auc']):.1f}"
    apart = "" if row.get("separation") is None else f"separation {float(row['separation']):.2f}"
    return f"<b>{row['method']}</b><br>{', '.join(filter(None, (auc, apart)))}"


def _points(row: Row, outline: str) -> list[go.Scattergl]:
    x, y, truth = (np.asarray(row[name]) for name in ("x", "y", "truth"))
    training = _in_training(row, len(x))
    traces = []
    for value, labelled, title, colour, symbol in _POINTS:
        at = (truth == value) & (training == labelled)
        if not at.any():
            continue
        marker = {
            "color": colour,
            "symbol": symbol,
            "size": 7 if labelled else 4,
            "opacity": 1.0 if labelled else 0.6,
            "line": {"width": 1.2 if labelled else 0, "color": outline},
        }
        dots = {"x": x[at], "y": y[at], "name": title, "mode": "markers", "marker": marker}
        traces.append(go.Scattergl(**dots, hoverinfo="skip"))
    return traces


def _in_training(row: Row, n: int) -> Array:
    """Mask of the nodes whose label the method learned from."""
    parts = list(row.get("parts") or [])
    if "train" not in parts or "part" not in row:
        return np.zeros(n, dtype=bool)
    found: Array = np.asarray(row["part"]) == parts.index("train")
    return found


def show_times() -> None:
    """Training times of 500 epochs beside the paper's."""
    rows = [row for row in rows_in(TIMES) if {"method", "cpu_seconds"} <= set(row)]
    if not rows:
        not_measured("Training times are not measured yet.", TIMES, STUDY)
        return
    graph = by_graph(str(row.get("graph", "")) for row in rows)[0]  # the paper's is Cora
    rows = [row for row in rows if str(row.get("graph", "")) == graph]
    show(times_figure(rows), "times")
    epochs = ", ".join(f"{e:g}" for e in sorted({row["epochs"] for row in rows if row.get("epochs")}))
    repeats = max(sum(row["method"] == name for row in rows) for name in {row["method"] for row in rows})
    st.caption(
        f"{epochs or '500'} epochs on {graph}; ours: CPU seconds of one thread, median of up to {repeats} "
        "repeats, lines from the fastest to the slowest. The paper's are of Cora on another machine: the "
        f"order can be compared, the height cannot. {_source(TIMES, rows)}."
    )


def times_figure(rows: Sequence[Row]) -> go.Figure:
    """Bars per method: measured here, and the paper's seconds beside them."""
    measured = pd.DataFrame(rows).groupby("method")["cpu_seconds"].agg(["median", "min", "max"])
    published = {m: seconds for m, seconds in TRAINING_SECONDS.items() if m in measured.index}
    found = measured.loc[[*published, *(m for m in measured.index if m not in published)]]
    ends = {"array": found["max"] - found["median"], "arrayminus": found["median"] - found["min"]}
    figure = go.Figure(_bars(found["median"], "Measured here", {"color": palette.NORMAL}))
    figure.update_traces(error_y={"type": "data", "symmetric": False, **ends, "thickness": 1})
    hollow = {"color": "rgba(0,0,0,0)", "line": {"color": palette.UNLABELLED, "width": 2}}
    figure.add_trace(_bars(pd.Series(published, dtype=float), "The paper", hollow))
    figure.update_traces(textposition="outside", cliponaxis=False)
    figure.update_layout(barmode="group", showlegend=True)
    figure.update_yaxes(title_text="seconds")
    return tidy(figure, 320)


def _bars(seconds: pd.Series, name: str, marker: dict[str, Any]) -> go.Bar:
    heights = {"x": list(seconds.index), "y": list(seconds), "text": [f"{value:.2f}" for value in seconds]}
    return go.Bar(**heights, name=name, marker=marker, hovertemplate="%{x}: %{y:.2f} s")


def _source(name: str, rows: Sequence[Row]) -> str:
    return source_of(name, command_of(rows) or f"{COMMAND} {STUDY}")
