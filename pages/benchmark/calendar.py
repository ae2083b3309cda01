"""Benchmark: what is found over calendar time, by the study that goes from day to day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.studies import harness
from gadcore.studies.harness import Row, load_rows
from gadcore.studies.temporal import AS_IT_WAS, BUDGET, RANDOM_SPLIT, RETRAINED, WAYS
from pages.benchmark.measurements import command_of, not_measured, source_of
from pages.common import palette, state
from pages.common.run_figures import show, tidy

ROWS = "temporal.jsonl"
_LOOKS = {
    AS_IT_WAS: (palette.NORMAL, "solid"),
    RETRAINED: (palette.ANOMALOUS, "solid"),
    RANDOM_SPLIT: ("#A24BD6", "dash"),
}


def show_calendar() -> None:
    """Frauds found by each day, beside those that have happened, and the figures of each way."""
    rows = state.read_once(harness.RESULTS / ROWS, load_rows)
    if not rows:
        not_measured("Nothing was measured yet.", ROWS, "temporal")
        return
    by = {way: [row for row in rows if row["way"] == way] for way in WAYS}
    show(calendar_figure(by), "calendar-curves")
    st.caption(
        f"Frauds of amlsim_cycle whose day is known; {BUDGET} checks on each day. Mean over the draws. "
        f"The random split knows all days at once. {source_of(ROWS, command_of(rows))}."
    )
    st.dataframe(ways_table(by), hide_index=True, width="stretch")


def calendar_figure(by: Mapping[str, Sequence[Row]]) -> go.Figure:
    """Found by each day, one line for each way; dotted: what has happened."""
    chart = go.Figure()
    for way, rows in by.items():
        if rows:
            colour, dash = _LOOKS[way]
            line = {"color": colour, "dash": dash, "width": 3}
            days = rows[0]["curve"]["day"]
            chart.add_trace(go.Scatter(x=days, y=_mean(rows, "found"), name=way.capitalize(), line=line))
    dated = by.get(AS_IT_WAS) or by.get(RETRAINED) or []
    if dated:
        line = {"color": palette.UNLABELLED, "width": 1, "dash": "dot"}
        days = dated[0]["curve"]["day"]
        chart.add_trace(go.Scatter(x=days, y=_mean(dated, "happened"), name="Happened so far", line=line))
    chart.update_layout(showlegend=True)
    chart.update_xaxes(title_text="day")
    chart.update_yaxes(title_text="frauds found", rangemode="tozero")
    return tidy(chart, 420)


def _mean(rows: Sequence[Row], name: str) -> list[float]:
    return [float(value) for value in np.mean([row["curve"][name] for row in rows], axis=0)]


def ways_table(by: Mapping[str, Sequence[Row]]) -> pd.DataFrame:
    """Figures of each way."""
    return pd.DataFrame(
        [
            {
                "way": way,
                "found": f"{np.mean([row['found'] for row in rows]):.0f}",
                "of": f"{np.mean([row['happened'] for row in rows]):.0f}",
                "AUC": f"{100 * np.mean([row['auc'] for row in rows]):.1f}",
                "AUC, no day known": f"{100 * np.mean([row['undated_auc'] for row in rows]):.1f}",
                "draws": len(rows),
            }
            for way, rows in by.items()
            if rows
        ]
    )
