"""Benchmark: result files as figures that name their source; methods compared on a project's own labels."""

from __future__ import annotations

import json
from dataclasses import replace

import pandas as pd
import pytest
from page_project import make_project, no_problem, page, texts

from gadcore.studies import harness
from gadcore.workspace.runs import Runs
from pages.benchmark import charts
from pages.benchmark import paper as tables
from pages.benchmark.measurements import result_file, result_files, setting_of, summary

BENCHMARK = "pages/4_Benchmark.py"
PAPER = {"benchmark-tab": "The paper"}
COMMAND = "ringfence experiments paper"


def row(method: str, auc: float, seed: int, **changes) -> dict:
    values = {"graph": "cora", "method": method, "rate": 0.025, "seed": seed, "stratified": False, "auc": auc}
    return {
        **values,
        "ap": auc / 2,
        "precision_at_k": 0.5,
        "k": 50,
        "params": {},
        "command": COMMAND,
        **changes,
    }


ROWS = [
    row("an", 0.88, 0),
    row("an", 0.90, 1),
    row("sgc-lr", 0.91, 0),
    row("sgc-lr", 0.93, 1),
    row("an", 0.89, 2),
    row("sgc-lr", 0.925, 2),
    row("an", 0.93, 0, rate=0.05, stratified=True, ap=None),
]


@pytest.fixture
def results(tmp_path, monkeypatch):
    folder = tmp_path / "results"
    folder.mkdir()
    lines = [*map(json.dumps, ROWS), '{"graph": "co']
    (folder / "paper.jsonl").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(harness, "RESULTS", folder)
    return folder


def test_a_file_is_read_with_its_command_and_half_lines_left_out(results) -> None:
    (file,) = result_files(results)
    assert len(file.rows) == len(ROWS)
    assert COMMAND in file.source
    assert "paper.jsonl" in file.source
    assert file.metrics == ["auc", "ap", "precision_at_k"]
    assert set(file.settings) == {"2.5 % labelled, random splits", "5 % labelled, stratified splits"}


def test_summary_gives_mean_and_deviation_per_graph_and_method(results) -> None:
    (file,) = result_files(results)
    rows = file.rows[file.rows["setting"] == "2.5 % labelled, random splits"]
    table = summary(rows, "auc").set_index("method")
    assert table.loc["an", "mean"] == pytest.approx(0.89)
    assert table.loc["an", "splits"] == 3
    assert table.loc["sgc-lr", "mean"] == pytest.approx(0.9217, abs=1e-4)
    assert table["best"].to_dict() == {"an": False, "sgc-lr": True}
    assert not summary(rows[rows["seed"] < 2], "auc")["best"].any()


def test_the_table_stands_beside_the_paper(results) -> None:
    (file,) = result_files(results)
    rows = file.rows[file.rows["setting"] == "2.5 % labelled, random splits"]
    shown = tables.shown_table(summary(rows, "auc"), "2.5 % labelled, random splits").set_index("method")
    assert shown.loc["an", "paper (%)"] == "88.8 ± 5.4"
    assert shown.loc["an", "difference"] == "+0.2"
    assert shown.loc["sgc-lr", "paper (%)"] == ""
    other = tables.shown_table(summary(rows, "auc"), "2.5 % labelled, stratified splits")
    assert "paper (%)" not in other


def test_files_without_measurements_are_left_out(tmp_path) -> None:
    (tmp_path / "speed.jsonl").write_text('{"what": "epoch", "ms": 3}\n', encoding="utf-8")
    assert result_files(tmp_path) == []
    assert result_files(tmp_path / "absent") == []


def test_rows_of_a_sweep_are_a_curve_and_never_averaged_with_the_defaults(tmp_path) -> None:
    rows = [row("an", 0.5, 0), *(row("an", 0.8 + i / 100, 0, params={"lambda_": 10.0**i}) for i in range(4))]
    (tmp_path / "sweep.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (file,) = result_files(tmp_path)
    assert file.settings == ["2.5 % labelled, random splits", "2.5 % labelled, random splits, λ varied"]
    defaults = file.rows[file.rows["setting"] == "2.5 % labelled, random splits"]
    assert summary(defaults, "auc")["mean"].tolist() == [0.5]
    figure = charts.curve_figure(file.rows[file.rows["swept"] == "lambda_"], "auc")
    assert list(figure.data[0].x) == [1, 10, 100, 1000]
    assert figure.layout.xaxis.type == "log"


def test_a_sweep_has_a_panel_for_each_graph_and_a_colour_for_each_method(tmp_path) -> None:
    rows = [
        row(method, 0.8, seed, graph=graph, params={"k": k})
        for graph in ("photo", "cora", "mine", "pubmed")
        for method in ("an", "n")
        for k in (8, 16)
        for seed in range(2)
    ]
    (tmp_path / "sweep.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (file,) = result_files(tmp_path)
    figure = charts.curve_figure(file.rows, "auc")
    assert [title.text for title in figure.layout.annotations] == ["cora", "pubmed", "photo", "mine"]
    assert len({(trace.name, trace.line.color) for trace in figure.data}) == 2
    assert [trace.name for trace in figure.data if trace.showlegend] == ["an", "n"]
    assert list(figure.layout.xaxis.tickvals) == [8, 16]


def test_a_sweep_that_begins_at_nought_has_a_place_for_it(tmp_path) -> None:
    rows = [row("an", 0.8, 0, params={"lambda_": value}) for value in (0.0, 1.0, 1000.0)]
    (tmp_path / "sweep.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    (file,) = result_files(tmp_path)
    assert charts.curve_figure(file.rows, "auc").layout.xaxis.type == "category"


def test_a_method_measured_on_an_easy_graph_alone_is_not_ranked_first(results) -> None:
    table = summary(
        pd.DataFrame(
            [
                {"graph": "cora", "method": "an+", "seed": 0, "auc": 0.9},
                {"graph": "photo", "method": "an+", "seed": 0, "auc": 0.99},
                {"graph": "photo", "method": "nn", "seed": 0, "auc": 0.97},
            ]
        ),
        "auc",
    )
    assert tables.best_last(table) == ["nn", "an+"]


def test_a_file_that_grows_is_read_again(results) -> None:
    assert len(result_file("paper.jsonl").rows) == len(ROWS)
    with (results / "paper.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(row("an", 0.9, 3)))
    assert len(result_file("paper.jsonl").rows) == len(ROWS) + 1
    assert result_file("absent.jsonl") is None


def test_conditions_are_said_in_words() -> None:
    assert setting_of({"rate": 0.1, "stratified": True}) == "10 % labelled, stratified splits"
    assert setting_of({"labels": 100, "protocol": "few"}) == "100 labels, few"
    assert setting_of({}) == "all measurements"


def test_the_page_names_file_and_command(home, results) -> None:
    app = page(BENCHMARK, make_project(), **PAPER)
    no_problem(app)
    shown = texts(app)
    assert "paper.jsonl" in shown
    assert COMMAND in shown


def test_the_shipped_result_files_can_be_shown(home) -> None:
    app = page(BENCHMARK, make_project(), **PAPER, **{"result-files": True})
    no_problem(app)
    for file in result_files():
        for setting in file.settings:
            part = file.rows[file.rows["setting"] == setting]
            assert len(summary(part, "auc"))


def test_without_result_files_the_page_says_how_to_make_them(home, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "absent")
    app = page(BENCHMARK, make_project(), **PAPER, **{"result-files": True})
    no_problem(app)
    assert "There are no result files yet" in texts(app)
    assert "experiments paper --quick" in texts(app)


def test_without_labels_the_comparison_says_what_is_missing(home) -> None:
    app = page(BENCHMARK, make_project(labels=False))
    no_problem(app)
    assert "needs labels of both kinds" in texts(app)


def test_methods_are_compared_as_runs_and_the_run_in_use_stays(home, monkeypatch) -> None:
    workspace = make_project(models=("isolation-forest",))
    in_use = workspace.runs.in_use().id
    monkeypatch.setattr(Runs, "start", lambda self, model, **given: self.train(model, **given))
    app = page(BENCHMARK, workspace)
    app.multiselect(key="methods").set_value(["sgc-lr", "label-propagation"])
    app.button(key="compare").click().run()
    no_problem(app)
    assert any("your labels" in box.value for box in app.success)
    assert app.button(key="use-label-propagation")
    assert workspace.runs.in_use().id == in_use
    assert len(workspace.runs.all()) == 3
    app.button(key="use-sgc-lr").click().run()
    no_problem(app)
    assert workspace.runs.in_use().model == "sgc-lr"
    app.run()
    assert workspace.runs.in_use().model == "sgc-lr"


def test_nothing_is_recommended_for_good_while_methods_still_train(home, monkeypatch) -> None:
    workspace = make_project(models=("sgc-lr", "label-propagation"))
    done = workspace.runs.all()
    workspace.set_preference("comparison", {"runs": [run.id for run in done]})
    waiting = [replace(run, status="queued") if run.model == "label-propagation" else run for run in done]
    monkeypatch.setattr(Runs, "all", lambda self: waiting)
    app = page(BENCHMARK, workspace)
    no_problem(app)
    assert not app.success
    assert any(box.value.startswith("So far, with 1 of 2 methods done: ") for box in app.info)
    monkeypatch.setattr(Runs, "all", lambda self: done)
    app = page(BENCHMARK, workspace)
    assert any("your labels" in box.value for box in app.success)
    assert "So far" not in texts(app)


def test_a_run_chosen_after_a_comparison_stays_in_use(home, monkeypatch) -> None:
    workspace = make_project(models=("isolation-forest",))
    monkeypatch.setattr(Runs, "start", lambda self, model, **given: self.train(model, **given))
    app = page(BENCHMARK, workspace)
    app.multiselect(key="methods").set_value(["sgc-lr", "label-propagation"])
    app.button(key="compare").click().run()
    assert workspace.runs.in_use().number == 1
    for number in ("2", "3"):
        workspace.runs.use(workspace.runs.get(number).id)
        app = page(BENCHMARK, workspace)
        no_problem(app)
        assert workspace.runs.in_use().number == int(number)
