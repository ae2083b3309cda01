"""Practise yourself on the Benchmark page: begin, see the own curve, start over."""

from __future__ import annotations

import pytest
from page_project import make_project, no_problem, page, texts

from gadcore.practice import simulated
from gadcore.practice.person import Score, begin, copies
from gadcore.studies import harness
from gadcore.workspace import Workspace
from gadcore.workspace.runs import Runs
from pages.benchmark.discovery import LOOKS, PERSON
from pages.benchmark.practice import _line, _mistakes, scores_table
from pages.common import state
from pages.home.projects import card_html

BENCHMARK = "pages/4_Benchmark.py"


@pytest.fixture(autouse=True)
def ana_without_a_study(tmp_path, monkeypatch) -> None:
    """The page as ana sees it; a page under test has no cookies to read her name from."""
    monkeypatch.setattr(state, "analyst", lambda: "ana")
    monkeypatch.setattr(harness, "RESULTS", tmp_path)


def label(copy: Workspace, verdicts: int, analyst: str = "ana") -> None:
    """Right verdicts, anomalies first, then one missed anomaly."""
    y, ids = copy.data.truth().y, copy.graph.node_ids
    for node in ids[y == 1][: verdicts - 1]:
        copy.verdicts.record(str(node), "anomalous", analyst=analyst)
    copy.verdicts.record(str(ids[y == 1][verdicts]), "normal", analyst=analyst)


def values(app) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def test_the_button_makes_a_copy_and_opens_it_for_labelling(home, monkeypatch) -> None:
    workspace = make_project()
    monkeypatch.setattr(Runs, "ensure_ranked", lambda self: None)
    monkeypatch.setattr(Runs, "start_worker", lambda self: None)
    app = page(BENCHMARK, workspace)
    no_problem(app)
    assert not values(app)
    app.button(key="self-play").click().run()
    no_problem(app)
    (copy,) = copies(workspace)
    assert copy.name == "Practice: planted (ana)"
    assert app.query_params["project"] in (copy.id, [copy.id])


def test_nothing_is_told_before_a_few_verdicts(home) -> None:
    workspace = make_project()
    label(begin(workspace, "ana"), 3)
    app = page(BENCHMARK, workspace)
    no_problem(app)
    assert "3 verdicts so far. Your curve is drawn from 5 verdicts on" in texts(app)
    assert not values(app)


@pytest.mark.parametrize("from_the_copy", [False, True])
def test_the_own_curve_stands_beside_simulated_analysts(home, from_the_copy: bool) -> None:
    workspace = make_project()
    copy = begin(workspace, "ana")
    label(copy, 6)
    simulated.practise(workspace, ["top", "random"], labels=20, model="sgc-lr")
    app = page(BENCHMARK, copy if from_the_copy else workspace)
    no_problem(app)
    assert values(app) == {
        "Verdicts": "6", "Anomalies found": "5", "Hit rate": "83%", "Wrong verdicts": "17%",
    }  # fmt: skip
    assert [metric.delta for metric in app.metric][2:] == ["8.3 × blind draws", "1 missed, 0 false alarms"]
    assert f"practice --project {workspace.id} --score" in texts(app)
    assert "dotted grey: chance" in texts(app)


def test_a_practice_is_started_over_by_deleting_the_copy(home) -> None:
    workspace = make_project()
    copy = begin(workspace, "ana")
    other = begin(workspace, "bo")
    label(copy, 6)
    app = page(BENCHMARK, copy)
    app.button(key="self-play-reset").click().run()
    no_problem(app)
    assert [info.id for info in copies(workspace)] == [other.id]
    assert app.query_params["project"] in (workspace.id, [workspace.id])
    assert workspace.verdicts.counts()["normal"] == 30


def test_everyone_who_practised_is_compared(home) -> None:
    workspace = make_project()
    for analyst, verdicts in (("ana", 6), ("bo", 12)):
        label(begin(workspace, analyst), verdicts, analyst)
    app = page(BENCHMARK, workspace)
    no_problem(app)
    assert values(app)["Verdicts"] == "6"
    (table,) = [frame.value for frame in app.dataframe]
    assert table["analyst"].tolist() == ["Analyst bo", "You (ana)"]


def test_the_table_of_people_has_the_highest_hit_rate_first() -> None:
    one = Score("p", "ana", [0, 0, 1, 1, 1], [0] * 5, 0, 0, 0, 5, 0.1)
    other = Score("q", "bo", [1, 2, 3, 4, 5], [0] * 5, 0, 0, 0, 5, 0.1)
    table = scores_table({"You (ana)": one, "bo": other})
    assert table["analyst"].tolist() == ["bo", "You (ana)"]
    assert table["× blind draws"].tolist() == ["10.0", "2.0"]


def test_simulated_curves_are_drawn_as_far_as_people_have_come() -> None:
    curve = {"labels": [0, 10, 20, 30], "found": [0, 1, 2, 3]}
    assert _line(curve, "found", 20).labels == [0, 10, 20]


def test_wrong_verdicts_have_a_colour_of_their_own() -> None:
    one = Score("p", "ana", [0, 1], [1, 1], 0, 1, 0, 2, 0.1)
    taken = {colour for colour, _ in [*LOOKS.values(), PERSON]}
    assert _mistakes(one).line.color not in taken


def test_a_card_marks_a_practice_copy(home) -> None:
    workspace = make_project()
    assert "Practice copy" not in card_html(workspace.data.info())
    assert "Practice copy of planted" in card_html(begin(workspace, "ana").data.info())
