"""Benchmark: discovery curves of the loop study on graphs with known answers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from gadcore.studies import harness
from gadcore.studies.harness import Row, load_rows
from gadcore.studies.loop_tables import (
    MEASURED,
    POINTS,
    by_strategy,
    longest,
    mean_line,
    percent,
    standings,
)
from pages.benchmark.discovery import FIGURES, by_chance, discovery_figure
from pages.benchmark.measurements import command_of, not_measured, source_of
from pages.common import state
from pages.common.figures import show

SESSIONS = "loop.jsonl"


def show_study() -> None:
    """One graph at a time: mean curves over the seeds, and how the strategies stand."""
    rows = state.read_once(harness.RESULTS / SESSIONS, _sessions)
    if not rows:
        not_measured("There are no sessions yet.", SESSIONS, "loop")
        return
    rows, figure = _chosen(rows)
    lines = {name: mean_line(part, figure) for name, part in by_strategy(rows).items()}
    show(discovery_figure(lines, figure, by_chance(rows[0])), "loop-curves")
    seeds = sorted({line.seeds for line in lines.values()})
    shown = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    st.caption(
        f"Mean over {shown} simulated sessions each; thick: the default, band: its standard deviation. "
        f"{rows[0]['anomalies']:,} anomalies among {rows[0]['askable']:,} nodes that can be asked about. "
        f"{source_of(SESSIONS, command_of(rows))}."
    )
    _show_standings(rows)


def _sessions(path: Path) -> list[Row]:
    return longest(row for row in load_rows(path) if "curve" in row)


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


def _show_standings(rows: list[Row]) -> None:
    reached = max(row["curve"]["labels"][-1] for row in rows)
    point = min(POINTS[0], reached)
    st.dataframe(standings_table(rows, point), hide_index=True, width="stretch")
    st.caption(
        f"After {point} labels; found ± standard deviation. × random and of the best (± standard error): "
        "over the seeds that both strategies have."
    )


def standings_table(rows: list[Row], labels: int) -> pd.DataFrame:
    """Found after so many labels, as a multiple of random, as a share of the best strategy."""
    return pd.DataFrame(
        [
            {
                "strategy": MEASURED[s.strategy],
                f"found at {labels}": f"{s.found:.1f} ± {s.std:.1f}" if s.seeds > 1 else f"{s.found:.1f}",
                "× random": "–" if s.times_random is None else f"{s.times_random:.1f}",
                "of the best": percent(s.of_the_best, s.error),
                "sessions": s.seeds,
            }
            for s in standings(rows, labels)
        ]
    )
