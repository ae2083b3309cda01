"""Benchmark: discovery curves, what is found per label given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from gadcore.loop.strategies import DEFAULT
from gadcore.studies.loop_tables import MEASURED, Line, chance
from gadcore.studies.sessions import ENTROPY, PLAIN, RANDOM, UNCHECKED
from pages.common import palette
from pages.common.figures import tidy

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
    return chance(dict(row), 1) if row.get("askable") else None


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
    low = [mean - spread for mean, spread in zip(line.mean, line.std)]
    high = [mean + spread for mean, spread in zip(line.mean, line.std)]
    colour = LOOKS.get(name, PERSON)[0].lstrip("#")
    red, green, blue = (int(colour[i : i + 2], 16) for i in (0, 2, 4))
    return go.Scatter(
        x=[*line.labels, *reversed(line.labels)],
        y=[*high, *reversed(low)],
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},{_BAND})",
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )
