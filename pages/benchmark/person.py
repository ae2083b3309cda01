"""Benchmark: practice by a person, on a copy of the project without labels, beside simulated analysts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from gadcore.errors import GadError
from gadcore.practice import simulated
from gadcore.practice.person import LEAST, Score, begin, copies, score
from gadcore.records import ProjectInfo
from gadcore.studies.loop_tables import Line
from gadcore.workspace import Workspace
from pages.benchmark.discovery import discovery_figure
from pages.benchmark.simulated import line_of
from pages.common import palette, state
from pages.common.figures import show
from pages.home.projects import literal, open_project

MISTAKES = palette.UNSURE  # no strategy has this colour
_FIRST_VIEW = 20  # labels that the figure spans at least


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
            f"{_counted(mine.verdicts)} so far. Your curve is drawn from {LEAST} verdicts on: fewer would "
            "tell the answers of single cases.",
            icon=":material/hourglass_empty:",
        )
    shown = [one for one in scores if one.enough]
    if shown:
        _show_scores(base, shown, mine if mine in shown else shown[0], analyst)


def _counted(verdicts: int) -> str:
    return "1 verdict" if verdicts == 1 else f"{verdicts} verdicts"


def _buttons(base: Workspace, own: ProjectInfo | None, analyst: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        label = "Practise yourself" if own is None else "Go on labelling"
        if st.button(label, key="self-play", type="primary", icon=":material/person:"):
            try:
                open_project(begin(base, analyst).id)
            except GadError as error:
                st.error(str(error), icon=":material/error:")
        if own is not None:
            with st.popover("Start over", icon=":material/restart_alt:"):
                _reset(base, own)


def _reset(base: Workspace, own: ProjectInfo) -> None:
    labels = own.normal + own.anomalous + own.unsure
    st.markdown(f"Delete **{literal(own.name)}** with its {_counted(labels)}?")
    st.caption("Only the practice copy is deleted. This cannot be undone.")
    if st.button("Delete my practice", key="self-play-reset", type="primary", icon=":material/delete:"):
        try:
            Workspace.delete(own.id)
        except GadError as error:
            st.error(str(error), icon=":material/error:")
            return
        state.forget_workspaces()
        state.leave_project()
        if own.id != base.id:
            state.choose_project(base.id)
        st.rerun()


def _show_scores(base: Workspace, scores: Sequence[Score], first: Score, analyst: str) -> None:
    _metrics(first)
    document = simulated.state(base) or {"curves": {}}
    titles = {_title(one, analyst): one for one in scores}
    until = max(_FIRST_VIEW, *(-(-one.verdicts // 10) * 10 for one in scores))  # simulated in tens
    lines = {name: _shortened(line_of(c, "found"), until) for name, c in document["curves"].items()}
    lines |= {title: _line(one) for title, one in titles.items()}
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
    given, found, hits, wrong = st.columns(4)
    given.metric("Verdicts", one.verdicts)
    found.metric("Anomalies found", one.found[-1])
    times = f"{one.times_chance:.1f} × blind draws" if one.times_chance is not None else None
    hits.metric("Hit rate", _share(one.hit_rate), times, delta_color="off", delta_arrow="off")
    wrong.metric(
        "Wrong verdicts",
        _share(one.wrong_share),
        f"{one.missed} missed, {one.false_alarms} false alarms",
        delta_color="off",
        delta_arrow="off",
    )


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"


def _line(one: Score) -> Line:
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


def _shortened(line: Line, until: int) -> Line:
    """The line as far as people have come, or it would squeeze theirs."""
    end = sum(k <= until for k in line.labels)
    return Line(line.labels[:end], line.mean[:end], line.std[:end], line.seeds)


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
