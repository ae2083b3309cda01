"""Figures of runs: learning curves and one run's scores against another's. Colours come from ``palette``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import numpy.typing as npt
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from gadcore.records import RunComparison
from pages.common import palette

Array = npt.NDArray[Any]

MAX_POINTS = 20_000  # points in one scatter; the browser stays fluent up to here
_DASHES = ("solid", "dash", "dot", "dashdot")
SHORT = 3  # records from which a stage has a curve of its own


def tidy(figure: go.Figure, height: int) -> go.Figure:
    """Common frame: tight margins, legend on top, nothing that moves when data change."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 30, "b": 8},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "title": None},
        hoverlabel={"namelength": -1},
        uirevision="keep",
    )
    return figure


def show(figure: go.Figure, key: str) -> None:
    """A figure on the page, without Plotly's own buttons."""
    st.plotly_chart(figure, key=key, config={"displayModeBar": False})


def note_figure(text: str, height: int = 260) -> go.Figure:
    """An empty frame that says why there is nothing to draw."""
    figure = go.Figure()
    figure.add_annotation(text=text, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return tidy(figure, height)


def curves_figure(history: Sequence[Mapping[str, Any]], *, height: int = 340) -> go.Figure:
    """Loss and AUC by epoch, as a run reported them; stages follow each other along one axis.

    ``history`` holds records with ``epoch``, ``loss``, ``auc`` (None where not measured) and ``stage``.
    """
    if not history:
        return note_figure("No epoch has been reported yet.", height)
    if len(history) == 1 and history[0].get("epochs") == 1:
        return note_figure("Nothing to train: the ranking was worked out in one step.", height)
    steps, stages = _steps(history), [str(record.get("stage", "")) for record in history]
    losses, aucs = ([_number(record.get(field)) for record in history] for field in ("loss", "auc"))
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09, row_heights=[0.5, 0.5])
    for dash, (stage, at) in zip(cycle(_DASHES), _by_stage(stages).items()):
        name = f"Loss ({stage})" if stage else "Loss"
        figure.add_trace(_curve(steps, losses, at, name, palette.NORMAL, dash), row=1, col=1)
    measured = [k for k, auc in enumerate(aucs) if auc is not None]
    name = _auc_name(stages, measured)
    figure.add_trace(_curve(steps, aucs, measured, name, palette.ANOMALOUS, "solid"), row=2, col=1)
    if not measured:
        missing = "no AUC was measured on the way"
        figure.add_annotation(text=missing, showarrow=False, x=0.5, y=0.2, xref="paper", yref="paper")
    figure.add_hline(y=0.5, row=2, col=1, line={"color": palette.UNLABELLED, "width": 1, "dash": "dot"})
    figure.update_yaxes(title_text="loss", row=1, col=1)
    # below one half where labels are few
    lowest = min((auc for auc in aucs if auc is not None), default=1.0)
    figure.update_yaxes(title_text="AUC", range=[min(0.4, lowest - 0.02), 1.02], row=2, col=1)
    figure.update_xaxes(title_text="epoch", row=2, col=1)
    return tidy(figure, height)


def _auc_name(stages: Sequence[str], measured: Sequence[int]) -> str:
    """Names the stage where only one of several measures: the figure of the whole run is another one."""
    measuring = {stages[k] for k in measured}
    alone = len(measuring) == 1 and len(set(stages)) > 1
    return f"Out-of-fold AUC ({measuring.pop()} alone)" if alone else "Out-of-fold AUC"


def _curve(
    steps: Sequence[int], values: Sequence[float | None], at: Sequence[int], name: str, colour: str, dash: str
) -> go.Scatter:
    """One line over the records ``at``; few points are marked, so that one alone is seen."""
    return go.Scatter(
        x=[steps[k] for k in at],
        y=[values[k] for k in at],
        name=name,
        mode="lines+markers" if len(at) < 30 else "lines",
        line={"color": colour, "width": 2, "dash": dash},
        marker={"size": 5},
    )


def _by_stage(stages: Sequence[str]) -> dict[str, list[int]]:
    """Places of each stage's records; many stages of a step or two (ensemble members) share one line."""
    found: dict[str, list[int]] = {}
    for k, stage in enumerate(stages):
        found.setdefault(stage, []).append(k)
    short = [stage for stage, at in found.items() if len(at) < SHORT]
    if len(short) < SHORT:
        return found
    together = sorted(k for stage in short for k in found.pop(stage))
    return {"other members": together, **found}


def _steps(history: Sequence[Mapping[str, Any]]) -> list[int]:
    """Epochs counted on: where a stage starts over, its epochs follow the last one before it."""
    epochs = np.array([int(record.get("epoch") or 0) for record in history])
    before = np.append(0, epochs[:-1])
    return [int(step) for step in epochs + np.cumsum(np.where(epochs < before, before, 0))]


def _number(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None


def score_scatter(comparison: RunComparison, *, height: int = 420) -> go.Figure:
    """Percentile of each node in one run against another; what entered or left the top k stands out."""
    before, after = comparison.before_scores, comparison.after_scores
    if before is None or after is None:
        return note_figure("These two runs have no scores to compare.", height)
    x, y = np.asarray(before, np.float32), np.asarray(after, np.float32)
    top_before, top_after = _top(x, comparison.k), _top(y, comparison.k)
    entered, left = top_after & ~top_before, top_before & ~top_after
    rest = np.flatnonzero(~entered & ~left)
    if len(rest) > MAX_POINTS:
        rest = np.sort(np.random.default_rng(0).choice(rest, MAX_POINTS, replace=False))
    same = {"color": palette.UNLABELLED, "width": 1, "dash": "dot"}
    ends = [0, 100]
    figure = go.Figure(
        go.Scatter(x=ends, y=ends, mode="lines", line=same, hoverinfo="skip", showlegend=False)
    )
    groups = (
        (rest, "Other nodes", palette.UNLABELLED, "circle", 4, 0.45),
        (np.flatnonzero(left), f"Left the top {comparison.k}", palette.NORMAL, "square", 8, 0.9),
        (np.flatnonzero(entered), f"Entered the top {comparison.k}", palette.ANOMALOUS, "diamond", 9, 0.9),
    )
    for rows, name, colour, symbol, size, opacity in groups:
        marker = {"color": colour, "symbol": symbol, "size": size, "opacity": opacity}
        figure.add_scattergl(
            x=x[rows],
            y=y[rows],
            name=f"{name} ({len(rows):,})",
            mode="markers",
            marker=marker,
            hovertemplate="before %{x:.1f}<br>after %{y:.1f}<extra></extra>",
        )
    figure.update_xaxes(title_text=f"percentile in run {comparison.before.number}", range=[-2, 102])
    figure.update_yaxes(title_text=f"percentile in run {comparison.after.number}", range=[-2, 102])
    return tidy(figure, height)


def _top(values: Array, k: int) -> npt.NDArray[np.bool_]:
    """Mask of the k largest values, ties by row."""
    return np.isin(np.arange(len(values)), np.argsort(-values, kind="stable")[:k])


def plain(text: str) -> str:
    """A name that plotly shows as written: it reads some HTML in hover texts."""
    return str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
