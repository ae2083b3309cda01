"""Benchmark: practice on the project, by a person on a copy without labels or by simulated analysts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.practice import simulated
from gadcore.practice.person import LEAST, Score, begin, copies, score
from gadcore.records import ProjectInfo
from gadcore.studies.loop_tables import Line
from gadcore.studies.sessions import RANDOM, TITLES
from gadcore.workspace import DEFAULT, Workspace
from pages.benchmark.discovery import FIGURES, by_chance, discovery_figure
from pages.common import palette, state
from pages.common.audit_words import counted
from pages.common.page import HOME, errors_shown
from pages.common.run_figures import show
from pages.home.projects import literal, open_project

MISTAKES = palette.UNSURE  # no strategy has this colour
_FIRST_VIEW = 20  # labels that the figure spans at least
_FIRST = (DEFAULT, "top", RANDOM)


def show_self_play(base: Workspace) -> None:
    """Begin, go on or start over; see the own discovery curve once there are some verdicts."""
    analyst = state.analyst()
    st.caption(
        f"You label a copy of {literal(base.name)} without labels, on the Label page and with all its help, "
        "in any order. The known answers stay hidden; how you did is told here, from "
        f"{LEAST} verdicts on. Your project is left alone."
    )
    made = copies(base)
    own = next((info for info in made if info.owner == analyst), None)
    _buttons(base, own, analyst)
    scores = [score(state.workspace(info.id)) for info in made]
    mine = next((one for one in scores if own is not None and one.project == own.name), None)
    if mine is not None and not mine.enough:
        st.info(
            f"{counted(mine.verdicts, 'verdict')} so far. Your curve is drawn from {LEAST} verdicts on: "
            "fewer would tell the answers of single cases.",
            icon=":material/hourglass_empty:",
        )
    shown = [one for one in scores if one.enough]
    if shown:
        _show_scores(base, shown, mine if mine in shown else shown[0], analyst)


def _buttons(base: Workspace, own: ProjectInfo | None, analyst: str) -> None:
    if not base.may("practice"):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Practise yourself" if own is None else "Go on labelling"
        if st.button(label, key="self-play", type="primary", icon=":material/person:"):
            with errors_shown(go_on=True):
                open_project(begin(base, analyst).id)
        if own is not None:
            with st.popover("Start over", icon=":material/restart_alt:"):
                _reset(base, own)


def _reset(base: Workspace, own: ProjectInfo) -> None:
    labels = own.normal + own.anomalous + own.unsure
    st.markdown(f"Delete **{literal(own.name)}** with its {counted(labels, 'verdict')}?")
    st.caption("Only the practice copy is deleted. This cannot be undone.")
    if st.button("Delete my practice", key="self-play-reset", type="primary", icon=":material/delete:"):
        with errors_shown(go_on=True):
            state.delete_project(own.id)
            if own.id != base.id:
                state.choose_project(base.id)
            st.rerun()


def _show_scores(base: Workspace, scores: Sequence[Score], first: Score, analyst: str) -> None:
    _metrics(first)
    document = simulated.state(base) or {"curves": {}}
    titles = {_title(one, analyst): one for one in scores}
    until = max(_FIRST_VIEW, *(-(-one.verdicts // 10) * 10 for one in scores))  # simulated in tens
    lines = {name: _line(curve, "found", until) for name, curve in document["curves"].items()}
    lines |= {title: _own_line(one) for title, one in titles.items()}
    chart = discovery_figure(lines, "found", first.chance, until, emphasised=_title(first, analyst))
    chart.add_trace(_mistakes(first))
    show(chart, "self-play-curve")
    st.caption(
        f"Anomalies found per verdict. Thick: {_title(first, analyst)}; dotted mauve: the wrong verdicts; "
        f"dotted grey: chance, what blind draws find on average. {_beside(document)} "
        "A node counts once, with the verdict that holds now. "
        f"The same from the command line: `ringfence practice --project {base.id} --score`."
    )
    if len(scores) > 1:
        st.dataframe(scores_table(titles), hide_index=True, width="stretch")


def _beside(document: simulated.Document) -> str:
    """What the other curves are, or how to get some."""
    if not document["curves"]:
        return "Let simulated analysts practise below, and their curves stand beside yours."
    err = f"err in {document['wrong']:.0%} of their verdicts" if document["wrong"] else "never err"
    return f"Thin: simulated analysts who {err}, one session each."


def _title(one: Score, analyst: str) -> str:
    return f"You ({one.analyst})" if one.analyst == analyst else f"Analyst {one.analyst}"


def _metrics(one: Score) -> None:
    times = f"{one.times_chance:.1f} × blind draws" if one.times_chance is not None else None
    figures = (
        ("Verdicts", str(one.verdicts), None),
        ("Anomalies found", str(one.found[-1]), None),
        ("Hit rate", _share(one.hit_rate), times),
        ("Wrong verdicts", _share(one.wrong_share), f"{one.missed} missed, {one.false_alarms} false alarms"),
    )
    for column, (title, value, words) in zip(st.columns(len(figures)), figures):
        column.metric(title, value, words, delta_color="off", delta_arrow="off")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _own_line(one: Score) -> Line:
    found = [0.0, *map(float, one.found)]
    return Line(list(range(len(found))), found, [0.0] * len(found), 1)


def _mistakes(one: Score) -> go.Scatter:
    return go.Scatter(
        x=list(range(one.verdicts + 1)),
        y=[0, *one.mistakes],
        name="Wrong verdicts",
        legendrank=1,
        mode="lines",
        line={"color": MISTAKES, "width": 2, "dash": "dot"},
        hovertemplate="%{x} labels: %{y}",
    )


def scores_table(titles: Mapping[str, Score]) -> pd.DataFrame:
    """Everyone who practised, the highest hit rate first."""
    ordered = sorted(titles.items(), key=lambda pair: -(pair[1].hit_rate or 0.0))
    return pd.DataFrame(
        [
            {
                "analyst": title,
                "verdicts": one.verdicts,
                "found": one.found[-1],
                "hit rate": _share(one.hit_rate),
                "× blind draws": "–" if one.times_chance is None else f"{one.times_chance:.1f}",
                "wrong": _share(one.wrong_share),
                "missed": one.missed,
                "false alarms": one.false_alarms,
                "unsure": one.unsure,
            }
            for title, one in ordered
        ]
    )


def show_practice(workspace: Workspace) -> None:
    """Choose strategies, let simulated analysts work, watch what they find."""
    if not workspace.data.has_truth:
        st.info(
            f"Practice needs a graph with known answers, and {workspace.name} has none. Open the demo on the "
            "home page, or load a graph with a column such as is_fraud and name it as the truth.",
            icon=":material/school:",
        )
        st.page_link(HOME, label="Go to the home page", icon=":material/home:")
        return
    st.caption(
        f"Simulated analysts label {workspace.name} from nothing, in batches of ten, each by another "
        "strategy; verdicts come from the known answers. Your labels and runs are left alone."
    )
    last = simulated.state(workspace)
    live = last is not None and last["status"] == "running"
    _form(workspace, live)
    if last is not None:
        st.fragment(_board, run_every=1.0 if live else None)(workspace, live)


def _form(workspace: Workspace, live: bool) -> None:
    one, two, three = st.columns([3, 1, 1], vertical_alignment="bottom")
    strategies = one.multiselect(
        "Strategies", list(TITLES), default=_FIRST, format_func=TITLES.__getitem__, key="practice-strategies"
    )
    labels = two.number_input("Labels", 10, 1000, simulated.LABELS, 10, key="practice-labels")
    wrong = three.number_input("Wrong verdicts (%)", 0, 40, 0, 5, key="practice-wrong")
    icon, idle = ":material/school:", live or not strategies or not workspace.may("practice")
    if st.button("Practise", key="practise", type="primary", icon=icon, disabled=idle):
        with errors_shown(go_on=True):
            simulated.start(workspace, strategies, labels=int(labels), wrong=wrong / 100)
            st.rerun()


def _board(workspace: Workspace, live: bool) -> None:
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
    lines = {name: _line(curve, figure) for name, curve in document["curves"].items()}
    show(discovery_figure(lines, figure, by_chance(document), until=document["labels"]), "practice-curves")
    wrong, option = "", ""
    if document["wrong"]:
        wrong = f", {document['wrong']:.0%} of the verdicts wrong"
        option = f" --wrong {document['wrong']:g}"
    st.caption(
        f"One session each, seed {document['seed']}, model {document['model']}{wrong}. A single session says "
        "little about small differences. The same from the command line: `ringfence practice "
        f"--project {workspace.id} --strategy {' '.join(document['strategies'])} "
        f"--labels {document['labels']}{option}`."
    )


def _line(curve: Mapping[str, list[Any]], figure: str, until: float = float("inf")) -> Line:
    """One session's curve of a figure, where it has one, up to so many labels: people's would be squeezed."""
    points = zip(curve["labels"], curve[figure])
    known = [(k, float(value)) for k, value in points if value is not None and k <= until]
    return Line([k for k, _ in known], [value for _, value in known], [0.0] * len(known), 1)
