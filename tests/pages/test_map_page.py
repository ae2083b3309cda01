"""Map: colours, a selection that lasts, one verdict for many, other looks, and what to do without a map."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from page_project import make_project, no_problem, page, texts

from gadcore.store.artefacts import write_array
from gadcore.workspace import Workspace
from pages.common import state

MAP = "pages/2_Map.py"
NOTHING = {"selection": {"points": [], "box": [], "lasso": []}}


@pytest.fixture(scope="module")
def trained_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a labelled project and two runs of the paper's model, made once."""
    folder = tmp_path_factory.mktemp("map") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAD_HOME", str(folder))
        patch.setenv("GAD_ANALYST", "ana")
        workspace = make_project(models=("an", "an"))
        for run in workspace.runs.all():
            result = workspace.runs.result(run.id)
            write_array(result.folder / "layout_pca.npy", np.asarray(result.embedding)[:, :2], "test")
    return folder


@pytest.fixture
def workspace(trained_home: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    shutil.copytree(trained_home, home)
    monkeypatch.setattr(state, "analyst", lambda: "ana")  # AppTest has no browser that could know a name
    return Workspace.open("planted")


class Chart:
    """Stands in for the browser: keeps the figure shown, and answers with what was selected on it."""

    def __init__(self) -> None:
        self.figure = None
        self.keys: list[str] = []
        self.answers: dict[str, dict] = {}  # chart key -> event
        self.next: dict | None = None

    def __call__(self, figure, *, key: str, **_) -> dict:
        self.figure = figure
        self.keys.append(key)
        if self.next is not None:
            self.answers[key], self.next = self.next, None
        return self.answers.get(key, NOTHING)

    def forget(self) -> None:
        """As plotly does when its figure changes."""
        self.answers.clear()


@pytest.fixture
def chart(monkeypatch: pytest.MonkeyPatch) -> Chart:
    shown = Chart()
    monkeypatch.setattr(st, "plotly_chart", shown)
    return shown


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Pages that were switched to."""
    pages: list[str] = []

    def switch(name: str, **_) -> None:
        pages.append(name)
        st.stop()

    monkeypatch.setattr(st, "switch_page", switch)
    return pages


@pytest.fixture
def worker_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What would be asked of worker processes; none is started."""
    calls: list[str] = []
    monkeypatch.setattr("gadcore.jobs.workers.start", lambda *_: calls.append("start"))
    monkeypatch.setattr("gadcore.jobs.workers.wake", lambda *_: calls.append("wake"))
    return calls


def box(workspace: Workspace, rows: list[int]) -> dict:
    """The event of a box around the places of these rows."""
    xy = np.asarray(workspace.runs.layout("pca"))[rows]
    (x0, y0), (x1, y1) = xy.min(0).tolist(), xy.max(0).tolist()
    return {"selection": {"points": [], "box": [{"x": [x0, x1], "y": [y0, y1]}], "lasso": []}}


def inside(workspace: Workspace, event: dict) -> set[str]:
    xy, (area,) = np.asarray(workspace.runs.layout("pca")), event["selection"]["box"]
    within = (xy >= [area["x"][0], area["y"][0]]) & (xy <= [area["x"][1], area["y"][1]])
    return {str(workspace.graph.node_ids[i]) for i in np.flatnonzero(within.all(1))}


def test_every_node_is_on_the_map(workspace, chart) -> None:
    app = page(MAP, workspace)
    no_problem(app)
    points = sum(len(trace.x) for trace in chart.figure.data if trace.type == "scattergl")
    assert points == workspace.graph.n_nodes
    assert "Nothing is selected" in texts(app)


def test_colours_are_score_verdict_movement_and_every_column(workspace, chart) -> None:
    app = page(MAP, workspace)
    options = app.selectbox(key="map-colour").options
    assert options[:3] == ["Score", "Verdict", "Moved since the run before"]
    assert options[3:] == [str(column) for column in workspace.graph.node_table.columns]
    titles = set()
    for option in options:
        no_problem(app.selectbox(key="map-colour").set_value(option).run())
        titles.add(chart.figure.layout.coloraxis.colorbar.title.text)
    assert len(titles) == len(options)


def test_a_box_lists_nodes_and_one_verdict_marks_all_of_them_as_one_group(workspace, chart) -> None:
    app = page(MAP, workspace)
    event = box(workspace, [0, 1, 2])
    chart.next = event
    app.run()
    no_problem(app)
    nodes = inside(workspace, event)
    assert f"{len(nodes):,} selected" in texts(app)
    app.checkbox(key="map-overrule").check().run()
    for sure in [ticked for ticked in app.checkbox if ticked.label.startswith("Yes, label all")]:
        sure.check().run()
    app.text_input(key="map-note").set_value("same device").run()
    before = {node: event.verdict for node, event in workspace.verdicts.current().items()}
    app.button(key="map-unsure").click().run()
    no_problem(app)
    current = workspace.verdicts.current()
    assert {node for node, event in current.items() if event.verdict == "unsure"} == nodes
    assert {(current[node].source, current[node].note) for node in nodes} == {("map", "same device")}
    assert len({current[node].group for node in nodes}) == 1
    assert sum(current[node].weight for node in nodes) == pytest.approx(len(nodes) ** 0.5)
    workspace.verdicts.undo("ana")
    assert {node: event.verdict for node, event in workspace.verdicts.current().items()} == before


def test_nodes_with_a_verdict_of_their_own_keep_it_unless_ticked(workspace, chart) -> None:
    app = page(MAP, workspace)
    labels, xy = workspace.verdicts.labels(), np.asarray(workspace.runs.layout("pca"))
    near = np.argsort(((xy - xy[labels.normal[0]]) ** 2).sum(1))
    chart.next = event = box(workspace, near[:60].tolist())
    app.run()
    nodes = inside(workspace, event)
    own = set(workspace.verdicts.given_singly(nodes))
    assert 1 < len(own) < len(nodes) <= 200
    app.button(key="map-unsure").click().run()
    no_problem(app)
    assert {n for n, e in workspace.verdicts.current().items() if e.verdict == "unsure"} == nodes - own
    marked = len(nodes - own)
    told = f"{marked} node{'s' * (marked != 1)} marked unsure, {len(own)} kept the verdict they had."
    assert [toast.value for toast in app.toast] == [told]
    assert app.checkbox(key="map-overrule").label == f"Also change the {len(own)} that have a verdict"
    app.checkbox(key="map-overrule").check().run()
    app.button(key="map-unsure").click().run()
    assert {n for n, e in workspace.verdicts.current().items() if e.verdict == "unsure"} == nodes


def test_a_list_of_namesakes_shows_their_ids(home, chart, monkeypatch) -> None:
    monkeypatch.setattr(state, "analyst", lambda: "ana")
    workspace = make_project(models=("an",), namesakes=True)
    result = workspace.runs.result()
    write_array(result.folder / "layout_pca.npy", np.asarray(result.embedding)[:, :2], "test")
    app = page(MAP, workspace)
    chart.next = event = box(workspace, [0, 1, 2])
    app.run()
    no_problem(app)
    listed = app.dataframe[0].value
    assert set(listed["id"]) == inside(workspace, event)
    assert set(listed["name"]) == {"Nora"}


def test_undo_on_the_page_takes_the_whole_group_back(workspace, chart) -> None:
    app = page(MAP, workspace)
    before = len(workspace.verdicts.current())
    chart.next = box(workspace, [0, 0])
    app.run()
    assert app.button(key="map-unsure").disabled  # the one node has a verdict of its own
    app.checkbox(key="map-overrule").check().run()
    app.button(key="map-unsure").click().run()
    assert any(event.verdict == "unsure" for event in workspace.verdicts.current().values())
    next(button for button in app.button if button.label.startswith("Undo")).click().run()
    no_problem(app)
    assert len(workspace.verdicts.current()) == before
    assert not any(event.verdict == "unsure" for event in workspace.verdicts.current().values())


def test_selection_outlives_reruns_and_colour_changes_and_ends_with_clear(workspace, chart) -> None:
    app = page(MAP, workspace)
    chart.next = box(workspace, [4, 5])
    app.run()
    n = len(inside(workspace, box(workspace, [4, 5])))
    assert f"{n:,} selected" in texts(app)
    chart.forget()
    app.selectbox(key="map-colour").set_value("Verdict").run()
    assert f"{n:,} selected" in texts(app)
    rings = [trace for trace in chart.figure.data if trace.name and trace.name.startswith("Selected")]
    assert len(rings[0].x) == n
    next(button for button in app.button if button.label == "Clear").click().run()
    no_problem(app)
    assert "Nothing is selected" in texts(app)
    assert not [trace for trace in chart.figure.data if trace.name and trace.name.startswith("Selected")]


def test_selecting_does_not_change_the_figure_on_the_screen(workspace, chart) -> None:
    app = page(MAP, workspace)
    before = chart.figure.to_json()
    chart.next = box(workspace, [4, 5])
    app.run()
    assert chart.figure.to_json() == before
    assert len(set(chart.keys)) == 1


def test_a_click_opens_the_case(workspace, chart, opened) -> None:
    app = page(MAP, workspace)
    chart.next = {"selection": {"points": [{"curve_number": 0, "point_index": 2}], "box": [], "lasso": []}}
    app.run()
    assert opened == ["pages/1_Label.py"]
    assert app.session_state["case"] == chart.figure.data[0].text[2]
    assert "Nothing is selected" not in texts(app)


def test_many_nodes_are_labelled_only_after_a_second_look(workspace, chart) -> None:
    app = page(MAP, workspace)
    xy = np.asarray(workspace.runs.layout("pca"))
    chart.next = box(workspace, [int(i) for i in [*xy.argmin(0), *xy.argmax(0)]])
    app.run()
    assert f"{workspace.graph.n_nodes:,} selected" in texts(app)
    assert app.button(key="map-normal").disabled
    next(ticked for ticked in app.checkbox if ticked.label.startswith("Yes, label all")).check().run()
    assert not app.button(key="map-normal").disabled


def test_hypersphere_shows_the_distance_to_the_centre(workspace, chart) -> None:
    app = page(MAP, workspace)
    app.segmented_control(key="map-view").set_value("radius").run()
    no_problem(app)
    assert [trace.type for trace in chart.figure.data].count("bar") >= 3
    assert any(shape.type == "circle" for shape in chart.figure.layout.shapes)


def test_two_runs_stand_side_by_side(workspace, chart) -> None:
    app = page(MAP, workspace)
    app.segmented_control(key="map-view").set_value("before").run()
    no_problem(app)
    assert [note.text for note in chart.figure.layout.annotations] == ["Run 1", "Run 2"]


def test_a_run_is_compared_with_one_of_its_model_and_never_with_one_that_has_no_map(workspace, chart) -> None:
    workspace.runs.train("isolation-forest", use=False)
    workspace.runs.train("an")
    app = page(MAP, workspace)
    app.segmented_control(key="map-view").set_value("before").run()
    no_problem(app)
    assert [note.text for note in chart.figure.layout.annotations] == ["Run 2", "Run 4"]
    assert not any("isolation-forest" in option for option in app.selectbox(key="map-before").options)


def test_a_layout_that_is_not_there_is_asked_for_and_pca_shown_meanwhile(
    workspace, chart, worker_calls
) -> None:
    app = page(MAP, workspace)
    app.segmented_control(key="map-kind").set_value("umap").run()
    no_problem(app)
    assert "start" in worker_calls
    assert workspace.runs.layout_state("umap")[0] == "queued"
    assert "PCA is shown meanwhile" in texts(app)
    assert chart.figure is not None


def test_a_layout_that_is_there_is_drawn(workspace, chart, worker_calls) -> None:
    folder = workspace.runs.result().folder
    drawn = np.tile(np.arange(workspace.graph.n_nodes)[:, None], 2) + 1000.0
    write_array(folder / "layout_umap.npy", drawn, "test")
    app = page(MAP, workspace)
    app.segmented_control(key="map-kind").set_value("umap").run()
    no_problem(app)
    assert worker_calls == []
    shown = [trace.x.min() for trace in chart.figure.data if trace.type == "scattergl"]
    assert min(shown) >= 1000.0


def test_without_a_run_the_page_offers_the_first_ranking(home, worker_calls) -> None:
    workspace = make_project(labels=False)
    app = page(MAP, workspace)
    no_problem(app)
    assert "There is no map yet" in texts(app)
    app.button[0].click().run()
    assert workspace.runs.active() is not None
    assert "start" in worker_calls
    assert "first ranking is queued" in texts(app)


def test_with_one_run_the_comparison_says_what_is_missing(workspace, chart) -> None:
    workspace.runs.delete(next(run.id for run in workspace.runs.all() if not run.in_use))
    app = page(MAP, workspace)
    assert "Moved since the run before" not in app.selectbox(key="map-colour").options
    app.segmented_control(key="map-view").set_value("before").run()
    no_problem(app)
    assert "only one run with a map" in texts(app)


def test_a_model_without_embedding_says_so(home) -> None:
    app = page(MAP, make_project(models=("isolation-forest",)))
    no_problem(app)
    assert "no embedding" in texts(app)
