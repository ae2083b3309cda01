"""Practice on the Benchmark page, and the discovery curves of the study."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from conftest import planted_graph
from page_project import make_project, no_problem, page, texts

from gadcore.ingest import Reading, Report
from gadcore.practice import simulated
from gadcore.store import FileLock, Store, open_store
from gadcore.studies import harness
from gadcore.studies.loop_tables import MEASURED, Line
from gadcore.workspace import Workspace
from pages.benchmark.discovery import LOOKS, PERSON, discovery_figure

BENCHMARK = "pages/4_Benchmark.py"
COMMAND = "ringfence experiments loop --labels 20"


@pytest.fixture(autouse=True)
def study(tmp_path, monkeypatch):
    """A result file of the study with two seeds of two strategies."""
    path = tmp_path / "loop.jsonl"
    curve = {"labels": [0, 10, 20], "found": [0, 4, 9], "auc": [None, 0.7, 0.8], "ap": [None, 0.2, 0.3]}
    base = {"graph": "cora", "labels": 20, "wrong": 0.0, "model": "an+", "anomalies": 144, "askable": 2160}
    rows = [
        {**base, "method": method, "seed": seed, "curve": curve, "auc": 0.8, "ap": 0.3, "command": COMMAND}
        for method in ("greedy-diverse", "random")
        for seed in range(2)
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    return path


def test_without_known_answers_the_page_says_how_to_get_them(home) -> None:
    graph, _ = planted_graph()
    report = Report("planted", "test", graph.n_nodes, graph.n_edges, graph.n_features)
    app = page(BENCHMARK, Workspace.create("blind", Reading(graph, report, None)))
    no_problem(app)
    assert "Practice needs a graph with known answers" in texts(app)
    assert not [button for button in app.button if button.key == "practise"]


def test_the_chosen_strategies_are_practised_and_drawn(home, monkeypatch) -> None:
    monkeypatch.setattr(
        simulated, "start", lambda w, names, **given: simulated.practise(w, names, model="sgc-lr", **given)
    )
    workspace = make_project()
    app = page(BENCHMARK, workspace)
    no_problem(app)
    app.multiselect(key="practice-strategies").set_value(["top", "random"])
    app.number_input(key="practice-labels").set_value(20)
    app.number_input(key="practice-wrong").set_value(5)
    app.button(key="practise").click().run()
    no_problem(app)
    document = simulated.state(workspace)
    assert list(document["curves"]) == ["top", "random"]
    assert (document["labels"], document["wrong"]) == (20, 0.05)
    assert "model sgc-lr, 5% of the verdicts wrong" in texts(app)
    assert "--strategy top random --labels 20 --wrong 0.05" in texts(app)


def taken(workspace: Workspace) -> tuple[Store, str]:
    """A practice that a process has begun."""
    store = open_store(workspace.settings)
    job = store.jobs.add("practice", simulated._checked(workspace, ["top"], labels=20), workspace.id)
    store.jobs.claim(job)
    return store, job


def test_a_running_practice_can_be_stopped(home, monkeypatch) -> None:
    workspace = make_project()
    curves = {"top": {"labels": [0, 10], "found": [0, 3], "auc": [0.5, 0.6], "ap": [0.1, 0.2]}}
    store, job = taken(workspace)
    store.jobs.beat(job, {"curves": curves})
    lock = FileLock(store.folders.lock(f"job-{job}"))
    assert lock.acquire()
    stopped = []
    monkeypatch.setattr(simulated, "stop", stopped.append)
    app = page(BENCHMARK, workspace)
    no_problem(app)
    assert app.button(key="practise").disabled
    app.button(key="stop-practice").click().run()
    assert [w.id for w in stopped] == [workspace.id]
    lock.release()


def test_a_practice_that_ended_early_says_so(home) -> None:
    workspace = make_project()
    taken(workspace)  # by a process that is gone
    app = page(BENCHMARK, workspace)
    no_problem(app)
    assert any("practice process" in box.value and "ended without" in box.value for box in app.warning)


def test_the_study_names_file_and_command(home, study) -> None:
    app = page(BENCHMARK, make_project())
    no_problem(app)
    shown = texts(app)
    assert study.name in shown
    assert COMMAND in shown
    assert "Mean over 2 simulated sessions" in shown
    app.selectbox(key="loop-figure").set_value("ap").run()
    no_problem(app)


def test_without_a_study_the_page_says_how_to_make_it(home, study) -> None:
    study.unlink()
    app = page(BENCHMARK, make_project())
    no_problem(app)
    assert "ringfence experiments loop" in texts(app)


def test_the_figure_has_a_line_for_each_strategy_and_one_for_chance() -> None:
    lines = {
        "top": Line([0, 10], [0, 5.0], [0, 1.0], 2),
        "random": Line([0, 10], [0, 1.0], [0, 0.0], 2),
    }
    figure = discovery_figure(lines, "found", 0.1)
    assert [trace.name for trace in figure.data] == ["Highest score", "Blind draws", "Chance"]
    assert list(figure.data[2].y) == [0, 1.0]
    assert len(discovery_figure(lines, "auc", 0.1).data) == 2
    assert discovery_figure(lines, "found", until=200).layout.xaxis.range[1] >= 200
    assert not discovery_figure({}, "found", 0.1).data


def _light(colour: str) -> np.ndarray:
    """(3,) linear red, green and blue."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _lab(colour: str) -> np.ndarray:
    """(3,) CIE L*a*b*, in which distances are about what the eye sees."""
    weights = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(weights @ _light(colour) / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _contrast(one: str, two: str) -> float:
    dark, bright = sorted(float(_light(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, two))
    return (bright + 0.05) / (dark + 0.05)


def test_strategies_are_told_apart_on_light_and_dark() -> None:
    assert set(LOOKS) == set(MEASURED)
    looks = [*LOOKS.values(), PERSON]
    for (colour, dash), (other, other_dash) in combinations(looks, 2):
        apart = np.linalg.norm(_lab(colour) - _lab(other))
        assert apart > (45 if dash == other_dash else 25), (colour, other)
    for colour, _ in looks:
        assert _contrast(colour, "#FFFFFF") > 2.3
        assert _contrast(colour, "#0E1117") > 3
    lines = {name: Line([0, 10], [0, 1.0], [0, 0.0], 1) for name in MEASURED}
    drawn = {(trace.line.color, trace.line.dash) for trace in discovery_figure(lines, "auc").data}
    assert len(drawn) == len(MEASURED)


def test_the_default_is_thick_with_a_band_and_drawn_on_top() -> None:
    lines = {
        "greedy-diverse": Line([0, 10], [0, 5.0], [0, 1.0], 2),
        "top": Line([0, 10], [0, 4.0], [0, 1.0], 2),
    }
    top, band, default = discovery_figure(lines, "auc").data
    assert list(band.y) == [0, 6.0, 4.0, 0]
    assert default.line.width > 2 * top.line.width
    assert default.legendrank < top.legendrank


def test_the_standings_are_below_the_curves(home) -> None:
    app = page(BENCHMARK, make_project())
    no_problem(app)
    (table,) = [frame.value for frame in app.dataframe]
    assert table["found at 20"].tolist() == ["9.0 ± 0.0", "9.0 ± 0.0"]
    assert table["× random"].tolist() == ["1.0", "1.0"]
    assert table["of the best"].tolist() == ["100%", "100%"]
