"""Benchmark: discovery curves, what is found per label given, and those of the loop study."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies import harness, loop_tables
from gadcore.studies.harness import Row, load_rows
from gadcore.studies.loop_tables import MEASURED, Line
from gadcore.studies.sessions import ENTROPY, PLAIN, RANDOM, UNCHECKED
from gadcore.workspace import DEFAULT
from pages.benchmark.measurements import command_of, not_measured, source_of
from pages.common import palette, state
from pages.common.run_figures import show, tidy

SESSIONS = "loop.jsonl"
FIGURES = {"found": "Anomalies found", "auc": "Held-out AUC", "ap": "Held-out average precision"}

# Colour and dash of each strategy: where two colours are near each other, the dashes differ.
LOOKS = {
    DEFAULT: (palette.NORMAL, "solid"),
    "top": (palette.ANOMALOUS, "solid"),
    "uncertainty": ("#A24BD6", "solid"),
    "disagreement": ("#E6459A", "solid"),
    "bisection": ("#C79A00", "longdash"),
    "medoids": ("#4FB3EA", "dot"),
    "audit": ("#8A5A3C", "solid"),
    "ring": ("#5DA10A", "solid"),
    UNCHECKED: ("#4F63F0", "dash"),
    PLAIN: ("#D3213C", "dash"),
    RANDOM: (palette.UNLABELLED, "dash"),
    ENTROPY: ("#7C7A1E", "dashdot"),
}
PERSON = (palette.ACCENT, "solid")
_BAND = 0.16  # opacity
_MARKED = 60  # points up to which each is marked


def by_chance(row: Mapping[str, Any]) -> float | None:
    """Anomalies per label that blind draws find, of a session's row or of a practice."""
    return loop_tables.chance(dict(row), 1) if row.get("askable") else None


def discovery_figure(
    lines: Mapping[str, Line],
    figure: str,
    chance_per_label: float | None = None,
    until: int = 0,
    emphasised: str = DEFAULT,
) -> go.Figure:
    """A figure against labels spent, one line per strategy or person; dotted: what chance alone finds.

    The emphasised line is thick, with a band of ± its standard deviation; it is drawn last, on top.
    """
    chart = go.Figure()
    for name in sorted(lines, key=lambda name: name == emphasised):
        if name == emphasised and lines[name].seeds > 1:
            chart.add_trace(_band(name, lines[name]))
        chart.add_trace(_trace(name, lines[name], thick=name == emphasised))
    last = max([until, *(line.labels[-1] for line in lines.values() if line.labels)])
    if figure == "found" and chance_per_label is not None and last:
        line = {"color": palette.UNLABELLED, "width": 1, "dash": "dot"}
        ends = {"x": [0, last], "y": [0, chance_per_label * last]}
        chart.add_trace(go.Scatter(**ends, name="Chance", legendrank=3, mode="lines", line=line))
    chart.update_layout(showlegend=True)
    chart.update_xaxes(title_text="labels given", range=[-0.02 * last, 1.02 * last])
    mode = "tozero" if figure == "found" else "normal"
    chart.update_yaxes(title_text=FIGURES[figure].lower(), rangemode=mode)
    # Ten entries of a legend on top would lie over the highest curve.
    below = {"yref": "container", "y": 0.0, "yanchor": "bottom"}
    return tidy(chart, 500).update_layout(legend=below, margin_b=130)


def _trace(name: str, line: Line, *, thick: bool) -> go.Scatter:
    colour, dash = LOOKS.get(name, PERSON)
    return go.Scatter(
        x=line.labels,
        y=line.mean,
        name=MEASURED.get(name, name),
        legendrank=1 if thick else 2,
        mode="lines+markers" if len(line.labels) == 1 or (thick and len(line.labels) <= _MARKED) else "lines",
        line={"color": colour, "width": 4 if thick else 1.5, "dash": dash},
        customdata=[[spread] for spread in line.std],
        hovertemplate="%{x} labels: %{y:.3~g}" + (" ± %{customdata[0]:.2~g}" if line.seeds > 1 else ""),
    )


def _band(name: str, line: Line) -> go.Scatter:
    low, high = np.subtract(line.mean, line.std), np.add(line.mean, line.std)
    red, green, blue = bytes.fromhex(LOOKS.get(name, PERSON)[0].lstrip("#"))
    return go.Scatter(
        x=[*line.labels, *reversed(line.labels)],
        y=[*high, *reversed(low)],
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},{_BAND})",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )


def show_study() -> None:
    """One graph at a time: mean curves over the seeds, and how the strategies stand."""
    rows = state.read_once(harness.RESULTS / SESSIONS, _sessions)
    if not rows:
        not_measured("There are no sessions yet.", SESSIONS, "loop")
        return
    rows, figure = _chosen(rows)
    lines = {
        name: loop_tables.mean_line(part, figure) for name, part in loop_tables.by_strategy(rows).items()
    }
    show(discovery_figure(lines, figure, by_chance(rows[0])), "loop-curves")
    seeds = sorted({line.seeds for line in lines.values()})
    shown = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    st.caption(
        f"Mean over {shown} simulated sessions each; thick: the default, band: its standard deviation. "
        f"{rows[0]['anomalies']:,} anomalies among {rows[0]['askable']:,} nodes that can be asked about. "
        f"{source_of(SESSIONS, command_of(rows))}."
    )
    point = min(loop_tables.POINTS[0], max(row["curve"]["labels"][-1] for row in rows))
    st.dataframe(standings_table(rows, point), hide_index=True, width="stretch")
    st.caption(
        f"After {point} labels; found ± standard deviation. × random and of the best (± standard error): "
        "over the seeds that both strategies have."
    )


def _sessions(path: Path) -> list[Row]:
    return loop_tables.longest(row for row in load_rows(path) if "curve" in row)


def _chosen(rows: list[Row]) -> tuple[list[Row], str]:
    """Sessions of one graph and one kind of analyst, and the figure to draw."""
    one, two, three = st.columns(3)
    graph = one.selectbox("Graph", sorted({row["graph"] for row in rows}), key="loop-graph")
    rows = [row for row in rows if row["graph"] == graph]
    wrong = two.selectbox(
        "Analyst", sorted({row["wrong"] for row in rows}), format_func=_analyst, key="loop-wrong"
    )
    figure = three.selectbox("Curve", list(FIGURES), format_func=FIGURES.__getitem__, key="loop-figure")
    rows = [row for row in rows if row["wrong"] == wrong]
    model = "an+" if any(row["model"] == "an+" for row in rows) else rows[0]["model"]
    return [row for row in rows if row["model"] == model], figure


def _analyst(wrong: float) -> str:
    return f"{wrong:.0%} of the verdicts wrong" if wrong else "All verdicts right"


def standings_table(rows: list[Row], labels: int) -> pd.DataFrame:
    """Found after so many labels, as a multiple of random, as a share of the best strategy."""
    return pd.DataFrame(
        [
            {
                "strategy": MEASURED[s.strategy],
                f"found at {labels}": f"{s.found:.1f} ± {s.std:.1f}" if s.seeds > 1 else f"{s.found:.1f}",
                "× random": "–" if s.times_random is None else f"{s.times_random:.1f}",
                "of the best": loop_tables.percent(s.of_the_best, s.error),
                "sessions": s.seeds,
            }
            for s in loop_tables.standings(rows, labels)
        ]
    )
