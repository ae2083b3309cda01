"""Benchmark: simulated analysts on the project itself, one per strategy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from gadcore.errors import GadError
from gadcore.loop.strategies import DEFAULT
from gadcore.practice import simulated
from gadcore.studies.loop_tables import Line
from gadcore.studies.sessions import RANDOM, TITLES
from gadcore.workspace import Workspace
from pages.benchmark.discovery import FIGURES, by_chance, discovery_figure
from pages.common.figures import show

_FIRST = (DEFAULT, "top", RANDOM)


def show_practice(workspace: Workspace) -> None:
    """Choose strategies, let simulated analysts work, watch what they find."""
    if not workspace.data.has_truth:
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
    last = simulated.state(workspace)
    live = last is not None and last["status"] == "running"
    _form(workspace, live)
    if last is not None:
        _board(workspace, live)


def _form(workspace: Workspace, live: bool) -> None:
    one, two, three = st.columns([3, 1, 1], vertical_alignment="bottom")
    strategies = one.multiselect(
        "Strategies", list(TITLES), default=_FIRST, format_func=TITLES.__getitem__, key="practice-strategies"
    )
    labels = two.number_input("Labels", 10, 1000, simulated.LABELS, 10, key="practice-labels")
    wrong = three.number_input("Wrong verdicts (%)", 0, 40, 0, 5, key="practice-wrong")
    if st.button(
        "Practise",
        key="practise",
        type="primary",
        icon=":material/school:",
        disabled=live or not strategies,
    ):
        try:
            simulated.start(workspace, strategies, labels=int(labels), wrong=wrong / 100)
        except GadError as error:
            st.error(str(error), icon=":material/error:")
        else:
            st.rerun()


def _board(workspace: Workspace, live: bool) -> None:
    @st.fragment(run_every=1.0 if live else None)
    def board() -> None:
        document = simulated.state(workspace)
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


def _progress(workspace: Workspace, document: simulated.Document) -> None:
    spent = sum(curve["labels"][-1] for curve in document["curves"].values() if curve["labels"])
    total = document["labels"] * len(document["strategies"])
    now = list(document["curves"])[-1:] or document["strategies"][:1]
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(1.0, spent / total), text=f"{spent} of {total} labels given. {TITLES[now[0]]}")
    if button.button("Stop", key="stop-practice", icon=":material/stop_circle:"):
        simulated.stop(workspace)
        st.rerun(scope="app")


def _show_curves(workspace: Workspace, document: simulated.Document) -> None:
    figure = st.segmented_control(
        "Curve", list(FIGURES), default="found", format_func=FIGURES.__getitem__, key="practice-figure"
    )
    figure = figure or "found"
    lines = {name: line_of(curve, figure) for name, curve in document["curves"].items()}
    show(discovery_figure(lines, figure, by_chance(document), until=document["labels"]), "practice-curves")
    wrong = f", {document['wrong']:.0%} of the verdicts wrong" if document["wrong"] else ""
    st.caption(
        f"One session each, seed {document['seed']}, model {document['model']}{wrong}. A single session says "
        f"little about small differences. The same from the command line: `{_command(workspace, document)}`."
    )


def _command(workspace: Workspace, document: simulated.Document) -> str:
    wrong = f" --wrong {document['wrong']:g}" if document["wrong"] else ""
    return (
        f"ringfence practice --project {workspace.id} --strategy {' '.join(document['strategies'])} "
        f"--labels {document['labels']}{wrong}"
    )


def line_of(curve: Mapping[str, list[Any]], figure: str) -> Line:
    """One session's curve of a figure, where it has one."""
    known = [(k, value) for k, value in zip(curve["labels"], curve[figure]) if value is not None]
    return Line([k for k, _ in known], [float(v) for _, v in known], [0.0] * len(known), 1)
