"""Train, what is left: estimates of the random audit in plain words."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from gadcore.workspace import MEASURED, AuditReport, Interval, Workspace
from pages.common import palette
from pages.common.audit_words import counted, since_hit_words
from pages.common.page import figure_cards
from pages.common.run_figures import show, tidy

_LIST = 100  # cases of the list whose precision is shown first


def show_left(workspace: Workspace) -> None:
    """Precision of the list, anomalies left, recall so far, and whether to stop."""
    size, least = workspace.graph.n_nodes, round(100 * workspace.insight.least_recall())
    about = "Precision is that of the highest scores of the run in use."
    k = st.number_input(
        "Length of the list", 1, size, min(_LIST, size), key="insight-k", width=180, help=about
    )
    about = "The advice to stop waits until this part of all anomalies is found for sure."
    wanted = st.number_input(
        "Stop when found, per cent",
        1,
        99,
        least,
        key="insight-recall",
        width=220,
        help=about,
        disabled=not workspace.may("set_preference"),
    )
    if wanted != least and workspace.may("set_preference"):
        workspace.set_preference("least_recall", wanted / 100)
    report = workspace.insight.audit(k)
    figures = (
        (f"Precision of the top {report.top:,}", _figure(report.precision, ".0%"), precision_words(report)),
        ("Anomalies left", _figure(report.left), left_words(report)),
        ("Found so far", _figure(report.recall, ".0%"), recall_words(report)),
        ("Labels since the last hit", _figure(report.since_hit if report.found else None), hit_words(report)),
    )
    figure_cards(figures)
    if report.left is not None and report.left_interval is not None:
        show(left_figure(report.found, report.left, report.left_interval), "insight-left")
    say, icon = (st.success, ":material/flag:") if report.stop else (st.info, ":material/info:")
    say(report.hint, icon=icon)
    st.caption(
        f"Rests on {counted(report.draws, 'random check')} that the queue mixes in, {report.hits:,} of them "
        "anomalous. Only they stand for cases without a verdict: those chosen for their score would flatter "
        f"the figures. {MEASURED}"
    )


def precision_words(report: AuditReport) -> str:
    """How many of the list are anomalies, in a sentence."""
    if report.precision is None or report.precision_interval is None:
        return f"No estimate yet: {report.precision_reason}"
    low, high = (round(share * report.top) for share in report.precision_interval)
    if low == high:
        return f"{low:,} of these {report.top:,} cases are anomalies"
    return f"between {low:,} and {high:,} of these {report.top:,} cases are anomalies"


def left_words(report: AuditReport) -> str:
    """How many anomalies nobody has seen yet, in a sentence."""
    if report.left_interval is None:
        return f"No estimate yet: {report.reason}"
    low, high = report.left_interval
    words = f"between {low:,.0f} and {high:,.0f} among the cases without a verdict"
    if report.checks_needed:
        checks = counted(report.checks_needed, "more random check")
        words += f"; stopping could be justified after about {checks} without a hit"
    return words


def recall_words(report: AuditReport) -> str:
    """Which part of all anomalies is found, in a sentence."""
    if report.recall_interval is None:
        return f"No estimate yet: {report.recall_reason}"
    low, high = report.recall_interval
    return f"between {low:.0%} and {high:.0%} of all anomalies"


def hit_words(report: AuditReport) -> str:
    """When the last anomaly turned up, and how many are found."""
    return f"{since_hit_words(report)}, {report.found:,} found in all"


def left_figure(found: int, left: float, interval: Interval) -> go.Figure:
    """Found and left as one bar; the whisker is the 95 % interval of what is left."""
    low, high = interval
    whisker = {"array": [high - left], "arrayminus": [left - low], "color": palette.UNSURE}
    quiet = {"color": palette.UNLABELLED, "opacity": 0.6}
    told = f"about %{{x:,.0f}} left ({low:,.0f} to {high:,.0f})"
    figure = go.Figure(
        [
            _bar(found, "found", "%{x:,} found", marker_color=palette.ANOMALOUS),
            _bar(left, "left, with its 95 % interval", told, marker=quiet, error_x=whisker),
        ]
    )
    figure.update_layout(barmode="stack", bargap=0.3)
    figure.update_xaxes(title_text="anomalies", rangemode="tozero")
    return tidy(figure, 150)


def _bar(value: float, name: str, hover: str, **look: Any) -> go.Bar:
    hover += "<extra></extra>"
    return go.Bar(x=[value], y=[""], orientation="h", name=name, hovertemplate=hover, **look)


def _figure(value: float | None, form: str = ",.0f") -> str:
    return "–" if value is None else f"{value:{form}}"
