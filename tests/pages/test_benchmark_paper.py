"""The paper on the Benchmark page: tables, differences, pictures, times and extensions from result files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest
from page_project import make_project, no_problem, page, texts

from gadcore.studies import harness
from pages.benchmark.extensions import extension_map, extension_table, extensions, named, plain_rows
from pages.benchmark.measurements import result_file, rows_in, summary
from pages.benchmark.paper import difference_map, dot_plot, missing_fits, published_at
from pages.benchmark.paper_figures import embedding_figure, times_figure

BENCHMARK = "pages/4_Benchmark.py"
PAPER = {"benchmark-tab": "The paper"}
FIGURES = "ringfence experiments figures"


def fit(method: str, auc: float, seed: int, **changes) -> dict:
    values = {
        "graph": "cora", "method": method, "rate": 0.025, "seed": seed, "stratified": False, "params": {},
        "auc": auc, "ap": auc / 2, "precision_at_k": 0.5, "command": "ringfence experiments paper",
    }  # fmt: skip
    return {**values, **changes}


def picture(method: str, **changes) -> dict:
    values = {
        "experiment": "embeddings", "graph": "cora", "method": method, "rate": 0.1, "seed": 0,
        "x": [0.0, 1.0, 2.0, 3.0, 4.0], "y": [0.0, 1.0, 0.0, 1.0, 0.0], "truth": [0, 1, 0, 1, -1],
        "part": [0, 0, 2, 2, -1], "parts": ["train", "validation", "test"], "auc": 0.95,
        "separation": 0.4, "chance": 0.07, "command": FIGURES,
    }  # fmt: skip
    return {**values, **changes}


def timing(method: str, seconds: float, repeat: int) -> dict:
    return {
        "experiment": "training time", "graph": "cora", "method": method, "epochs": 500, "repeat": repeat,
        "cpu_seconds": seconds, "command": FIGURES,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    made = tmp_path / "results"
    made.mkdir()
    monkeypatch.setattr(harness, "RESULTS", made)
    return made


def write(folder: Path, name: str, rows: Iterable[dict]) -> None:
    (folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def complete(folder: Path) -> None:
    """A little of every file."""
    tables = [fit(method, 0.9 + seed / 100, seed) for method in ("an", "an+") for seed in range(3)]
    tables += [fit("an", 0.95, 0, stratified=True), fit("an", 0.92, 0, rate=0.05, graph="photo")]
    write(folder, "paper.jsonl", tables)
    sweep = [fit("an", 0.9, 0, params={"lambda_": value}, command=FIGURES) for value in (1.0, 100.0)]
    write(folder, "figures.jsonl", [*sweep, fit("n", 0.7, 0, params={"k": 32}, command=FIGURES)])
    write(folder, "embeddings.jsonl", [picture("n"), picture("an")])
    write(folder, "times.jsonl", [timing("an", 0.5, 0), timing("an", 0.7, 1)])
    write(folder, "extensions.jsonl", [fit("an", 0.89, 0, experiment="GraphSAGE", command="make it")])


def test_every_section_names_its_file_and_command(home, folder) -> None:
    complete(folder)
    app = page(BENCHMARK, make_project(), **PAPER, **{"embeddings-open": True})
    no_problem(app)
    shown = texts(app)
    for name in ("paper", "figures", "embeddings", "times", "extensions"):
        assert f"{name}.jsonl" in shown
    assert FIGURES in shown
    assert "Mean over 1 split," in shown
    assert "Measured so far: 6 of 20 fits" in shown


def test_without_files_every_section_says_how_to_make_them(home, folder) -> None:
    app = page(BENCHMARK, make_project(), **PAPER)
    no_problem(app)
    shown = texts(app)
    assert "experiments paper --quick" in shown
    assert shown.count(FIGURES) == 3
    assert "experiments extensions" in shown


def test_the_conditions_can_be_changed(home, folder) -> None:
    complete(folder)
    app = page(BENCHMARK, make_project(), **PAPER)
    assert not app.toggle(key="paper-difference").disabled
    app.toggle(key="paper-difference").set_value(True).run()
    no_problem(app)
    assert "our mean minus the paper's" in texts(app)
    app.button_group(key="paper-rate").set_value(0.05).run()
    no_problem(app)
    assert "fits (methods × graphs × splits: 1 × 1 × 10)" in texts(app)
    app.button_group(key="paper-metric").set_value("ap").run()
    no_problem(app)
    assert app.toggle(key="paper-difference").disabled
    app.button_group(key="paper-splits").set_value(True).run()
    no_problem(app)
    assert "experiments paper --stratified" in texts(app)


def test_choices_are_kept_while_another_tab_is_open(home, folder) -> None:
    complete(folder)
    app = page(BENCHMARK, make_project(), **PAPER)
    app.button_group(key="paper-metric").set_value("ap").run()
    app.session_state["benchmark-tab"] = "Models"
    app.run()
    assert not any(group.key == "paper-metric" for group in app.get("button_group"))
    app.session_state["benchmark-tab"] = "The paper"
    app.run()
    no_problem(app)
    assert app.button_group(key="paper-metric").value == "ap"


def test_differences_are_in_points_and_marked_beyond_the_papers_deviation() -> None:
    rows = [fit("an", 0.90, 0), fit("an", 0.90, 1), fit("nn", 0.60, 0), fit("an+", 0.99, 0)]
    rows += [fit("an", 0.65599, 0, graph="citeseer"), fit("an", 0.65599, 1, graph="citeseer")]
    table = summary(pd.DataFrame(rows), "auc")
    figure = difference_map(table, published_at(0.025))
    assert list(figure.data[0].y) == ["nn", "an"]
    assert [list(line) for line in figure.data[0].text] == [["-12.7 * n=1", ""], ["+1.2", "+0.0"]]


def test_the_dot_plot_holds_the_papers_figures_also_where_nothing_is_measured() -> None:
    table = summary(pd.DataFrame([fit("an", 0.90, 0), fit("an+", 0.99, 0)]), "auc")
    figure = dot_plot(table, "auc", {"an": (88.8, 5.4), "nn": (72.7, 6.0)})
    paper, ours, beyond = figure.data
    assert (paper.name, list(paper.y)) == ("The paper", ["nn", "an"])
    assert paper.marker.symbol == "circle-open"
    assert (list(ours.y), list(beyond.y)) == (["an"], ["an+"])
    assert list(figure.layout.yaxis.categoryarray) == ["nn", "an", "an+"]
    assert dot_plot(table, "ap", {}).data[0].name == "Measured here"


def test_what_is_missing_of_a_table_is_counted() -> None:
    rows = [fit("an", 0.9, seed) for seed in range(4)]
    text = missing_fits(summary(pd.DataFrame(rows), "auc"))
    assert text.startswith(
        "Measured so far: 4 of 10 fits (methods × graphs × splits: 1 × 1 × 10); not yet: n,"
    )


def test_pictures_are_in_the_papers_places_with_one_legend() -> None:
    figure = embedding_figure([picture(name) for name in ("deepwalk", "n", "slgcn", "an")])
    titles = [title.text for title in figure.layout.annotations]
    assert [title.split("</b>")[0] for title in titles] == ["<b>an", "<b>slgcn", "<b>n", "<b>deepwalk"]
    assert titles[0].endswith("AUC 95.0, separation 0.40")
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert sorted(named) == sorted(set(named))
    (outlined,) = [t for t in figure.data if t.name == "Anomalous, training node" and t.showlegend]
    assert outlined.marker.line.width > 0
    assert list(outlined.x) == [1.0]
    assert embedding_figure([picture("an", parts=None, auc=None, separation=None)]).data


def test_times_are_medians_beside_the_papers() -> None:
    rows = [timing("an", seconds, i) for i, seconds in enumerate((0.5, 0.6, 2.0))] + [timing("an+", 1.0, 0)]
    ours, paper = times_figure(rows).data
    assert dict(zip(ours.x, ours.y)) == {"an": 0.6, "an+": 1.0}
    assert dict(zip(paper.x, paper.y)) == {"an": 4.92}


def test_an_extension_is_compared_with_the_plain_model_on_the_same_splits(folder) -> None:
    write(folder, "paper.jsonl", [fit("an", 0.90, 0), fit("an", 0.80, 1), fit("an", 0.10, 7)])
    write(
        folder,
        "extensions.jsonl",
        [
            fit("an", 0.88, 0, experiment="encoder", params={"encoder": "gcn"}),
            *(
                fit("an", value, seed, experiment="encoder", params={"encoder": "gat"})
                for seed, value in enumerate((0.91, 0.83, 0.85))
            ),
            fit("an", 0.70, 0, experiment="no attributes", graph="photo"),
            fit("n", 0.60, 0, experiment="normal labels only"),
            fit("an", 0.92, 0, experiment="inductive", auc_transductive=0.93),
        ],
    )
    rows = named(result_file("extensions.jsonl").rows)
    found = extensions(rows, plain_rows(rows), "auc")
    plain, gat, bare, normal, inductive = found
    assert (plain.experiment, plain.gap) == ("as in the tables", None)
    assert (gat.experiment, len(gat.own), len(gat.beside)) == ("GAT encoder", 3, 2)
    assert sum(gat.beside.values()) / 2 == pytest.approx((0.88 + 0.80) / 2)
    assert gat.gap == pytest.approx((0.03 + 0.03) / 2)
    assert (bare.beside, bare.gap) == ({}, None)
    assert normal.gap == pytest.approx(-0.28)
    assert inductive.gap == pytest.approx(-0.01)
    assert extensions(rows, plain_rows(rows), "ap")[-1].gap is None
    assert extension_table(found)["difference"].tolist() == ["", "+3.0", "", "-28.0", "-1.0"]
    assert extension_map(found, "auc").data[0].y[-1] == "as in the tables (an)"


def test_rows_of_an_absent_file_are_none(folder) -> None:
    assert rows_in("absent.jsonl") == []
