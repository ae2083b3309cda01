"""Benchmark: practice on the project itself, and discovery curves of the study on benchmark graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from gadcore import practice
from gadcore.errors import GadError
from gadcore.experiments.loop_tables import Line, by_strategy, chance, longest, mean_line
from gadcore.experiments.rows import load_rows
from gadcore.experiments.sessions import ENTROPY, RANDOM, TITLES
from gadcore.queries import DEFAULT
from gadcore.workspace import Workspace
from pages.shared import palette
from pages.shared.benchmark_results import FOLDER, source_of
from pages.shared.figures import tidy

FIGURES = {"found": "Anomalies found", "auc": "Held-out AUC", "ap": "Held-out average precision"}
STUDY = FOLDER / "loop.jsonl"
_FIRST = (DEFAULT, "top", RANDOM)
_COLOURS = {name: palette.CATEGORIES[i % len(palette.CATEGORIES)] for i, name in enumerate(TITLES)}
_COLOURS |= {RANDOM: palette.UNLABELLED, ENTROPY: palette.UNSURE}


def show_practice(workspace: Workspace) -> None:
    """Choose strategies, let simulated analysts work, watch what they find."""
    if not workspace.has_truth:
        st.info(
            f"Practice needs a graph with known answers, and {workspace.name} has none. Open the demo on the "
            "home page, or load a graph with a column such as is_fraud and name it as the truth.",
            icon=":material/school:",
        )
        st.page_link("app.py", label="Go to the home page", icon=":material/home:")
        return
    st.caption(
        f"Simulated analysts label {workspace.name} from nothing, in batches of ten, each by another "
        "strategy; verdicts come from the known answers. Your labels and runs are left alone."
    )
    last = practice.state(workspace)
    live = last is not None and last["status"] == "running"
    _form(workspace, live)
    if last is not None:
        _board(workspace, live)


def _form(workspace: Workspace, live: bool) -> None:
    one, two, three = st.columns([3, 1, 1], vertical_alignment="bottom")
    strategies = one.multiselect(
        "Strategies", list(TITLES), default=_FIRST, format_func=TITLES.__getitem__, key="practice-strategies"
    )
    labels = two.number_input("Labels", 10, 1000, practice.LABELS, 10, key="practice-labels")
    wrong = three.number_input("Wrong verdicts (%)", 0, 40, 0, 5, key="practice-wrong")
    if st.button(
        "Practise",
        key="practise",
        type="primary",
        icon=":material/school:",
        disabled=live or not strategies,
    ):
        try:
            practice.start(workspace, strategies, labels=int(labels), wrong=wrong / 100)
        except GadError as error:
            st.error(str(error), icon=":material/error:")
        else:
            st.rerun()


def _board(workspace: Workspace, live: bool) -> None:
    @st.fragment(run_every=1.0 if live else None)
    def board() -> None:
        document = practice.state(workspace)
        if document is None:
            return
        if live and document["status"] != "running":
            st.rerun()
        if document["status"] == "running":
            _progress(workspace, document)
        elif document["status"] == "failed":
            st.warning(document["message"], icon=":material/warning:")
        _show_curves(workspace, document)

    board()


def _progress(workspace: Workspace, document: practice.Document) -> None:
    spent = sum(curve["labels"][-1] for curve in document["curves"].values() if curve["labels"])
    total = document["labels"] * len(document["strategies"])
    now = list(document["curves"])[-1:] or document["strategies"][:1]
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(1.0, spent / total), text=f"{spent} of {total} labels given. {TITLES[now[0]]}")
    if button.button("Stop", key="stop-practice", icon=":material/stop_circle:"):
        practice.stop(workspace)
        st.rerun(scope="app")


def _show_curves(workspace: Workspace, document: practice.Document) -> None:
    figure = st.segmented_control(
        "Curve", list(FIGURES), default="found", format_func=FIGURES.__getitem__, key="practice-figure"
    )
    figure = figure or "found"
    lines = {name: _line(curve, figure) for name, curve in document["curves"].items()}
    st.plotly_chart(
        discovery_figure(lines, figure, _by_chance(document), until=document["labels"]),
        key="practice-curves",
        config={"displayModeBar": False},
    )
    wrong = f", {document['wrong']:.0%} of the verdicts wrong" if document["wrong"] else ""
    st.caption(
        f"One session each, seed {document['seed']}, model {document['model']}{wrong}. A single session says "
        f"little about small differences. The same from the command line: `{_command(workspace, document)}`."
    )


def _command(workspace: Workspace, document: practice.Document) -> str:
    wrong = f" --wrong {document['wrong']:g}" if document["wrong"] else ""
    return (
        f"python -m gadcore practice --project {workspace.id} --strategy {' '.join(document['strategies'])} "
        f"--labels {document['labels']}{wrong}"
    )


def _line(curve: Mapping[str, list[Any]], figure: str) -> Line:
    known = [(k, value) for k, value in zip(curve["labels"], curve[figure]) if value is not None]
    return Line([k for k, _ in known], [float(v) for _, v in known], [0.0] * len(known), 1)


def _by_chance(document: Mapping[str, Any]) -> float | None:
    return chance(dict(document), 1) if document.get("askable") else None


def show_study() -> None:
    """Discovery curves of the loop study, mean over its seeds."""
    rows = longest(row for row in load_rows(STUDY) if "curve" in row)
    if not rows:
        st.info(
            "There are no sessions yet. Make them with `python -m gadcore experiments loop`; they are kept "
            "in benchmarks/results/loop.jsonl and shown here.",
            icon=":material/info:",
        )
        return
    one, two, three = st.columns(3)
    graph = one.selectbox("Graph", sorted({row["graph"] for row in rows}), key="loop-graph")
    rows = [row for row in rows if row["graph"] == graph]
    wrong = two.selectbox(
        "Analyst", sorted({row["wrong"] for row in rows}), format_func=_analyst, key="loop-wrong"
    )
    figure = three.selectbox("Curve", list(FIGURES), format_func=FIGURES.__getitem__, key="loop-figure")
    rows = [row for row in rows if row["wrong"] == wrong]
    lines = {name: mean_line(part, figure) for name, part in by_strategy(rows).items()}
    st.plotly_chart(
        discovery_figure(lines, figure, _by_chance(rows[0])),
        key="loop-curves",
        config={"displayModeBar": False},
    )
    seeds = sorted({line.seeds for line in lines.values()})
    shown = str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    st.caption(
        f"Mean over {shown} simulated sessions each; bars: standard deviation. "
        f"{source_of(STUDY, str(rows[0].get('command', '')))}."
    )


def _analyst(wrong: float) -> str:
    return f"{wrong:.0%} of the verdicts wrong" if wrong else "All verdicts right"


def discovery_figure(
    lines: Mapping[str, Line], figure: str, by_chance: float | None = None, until: int = 0
) -> go.Figure:
    """A figure against labels spent, one line per strategy; dotted: what chance alone finds."""
    chart = go.Figure()
    for name, line in lines.items():
        chart.add_trace(
            go.Scatter(
                x=line.labels,
                y=line.mean,
                error_y={"type": "data", "array": line.std, "visible": line.seeds > 1, "thickness": 1},
                name=TITLES[name],
                mode="lines+markers",
                line={"color": _COLOURS[name], "dash": "dash" if name in (RANDOM, ENTROPY) else "solid"},
                hovertemplate="%{x} labels: %{y:.3~g}",
            )
        )
    last = max([until, *(line.labels[-1] for line in lines.values() if line.labels)])
    if figure == "found" and by_chance is not None and last:
        chart.add_trace(
            go.Scatter(
                x=[0, last],
                y=[0, by_chance * last],
                name="Chance",
                mode="lines",
                line={"color": palette.UNLABELLED, "width": 1, "dash": "dot"},
            )
        )
    chart.update_layout(showlegend=True)
    chart.update_xaxes(title_text="labels given", range=[-0.02 * last, 1.02 * last])
    chart.update_yaxes(
        title_text=FIGURES[figure].lower(), rangemode="tozero" if figure == "found" else "normal"
    )
    return tidy(chart, 380)
