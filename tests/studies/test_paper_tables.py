"""The paper's tables: resumable rows, and a page drawn from rows alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gadcore.studies.fits import Fit
from gadcore.studies.harness import load_rows, missing, run
from gadcore.studies.paper import render
from gadcore.studies.published import GRAPHS, METHODS, PUBLISHED, RATES
from gadcore.studies.significance import best_methods, collect


def row(method: str, seed: int, auc: float, **more: Any) -> dict[str, Any]:
    base = {"graph": "cora", "method": method, "rate": 0.025, "seed": seed, "stratified": False, "params": {}}
    return {**base, "auc": auc, "ap": auc / 2, **more}


def test_the_published_tables_are_complete() -> None:
    assert len(PUBLISHED) == len(GRAPHS) * len(METHODS) * len(RATES) == 165
    assert PUBLISHED[0.025, "cora", "an"] == (88.8, 5.4)
    assert PUBLISHED[0.1, "computers", "imverde"] == (99.1, 0.4)


def test_the_best_and_what_cannot_be_told_from_it_are_bold() -> None:
    cells = {
        "an+": {0: 90.0, 1: 91.0, 2: 92.0},
        "an": {0: 89.9, 1: 91.1, 2: 91.9},
        "nn": {0: 70.0, 1: 71.0, 2: 72.1},
        "n": {0: 91.0},
    }
    assert best_methods(cells) == {"an+", "an"}  # one split of n proves nothing
    assert best_methods({}) == set()


def test_a_cell_shows_mean_std_splits_and_distance_from_the_paper() -> None:
    rows = [row("an", seed, 0.80 + seed / 100) for seed in range(3)]
    page = render(rows)
    assert "**81.0 (1.0)** \\* n=3" in page  # the paper has 88.8 (5.4)
    assert "*88.8 (5.4)*" in page
    assert "| *difference* | -7.8 |" in page
    assert "Average precision, 2.5% labelled" in page


def test_precision_at_k_has_its_own_tables() -> None:
    page = render([row("an", 0, 0.9, precision_at_k=0.62)])
    assert "62.0 (0.0)" in page[page.index("Precision at 50, 2.5% labelled") :]


def test_extensions_stand_beside_the_plain_model_of_the_same_splits() -> None:
    def extension(experiment: str, method: str, seed: int, auc: float, **more: Any) -> dict[str, Any]:
        return row(method, seed, auc, experiment=experiment, **more)

    plain = [extension("encoder", "an", s, 0.90, params={"encoder": "gcn"}) for s in range(3)]
    gat = [extension("encoder", "an", s, 0.92, params={"encoder": "gat"}) for s in (1, 2)]
    late = [extension("inductive", "an", s, 0.85, auc_transductive=0.88, arrived=542) for s in range(3)]
    page = render([row("an", 0, 0.9)], [*plain, *gat, *late])
    assert "| `an` as in the tables | 90.0 (0.0) n=3 |" in page
    assert "| `an`, GAT encoder | 92.0 (0.0) n=2, +2.0 |" in page
    assert "| cora | 542 | 85.0 (0.0) | 88.0 (0.0) | -3.0 | 3 | more than 2 points away |" in page


def test_rows_with_own_parameters_stay_out_of_the_tables() -> None:
    rows = [row("an", 0, 0.9), row("an", 0, 0.1, params={"lambda_": 1.0})]
    assert collect(rows) == {(0.025, "cora", "an"): {0: 90.0}}


def test_stratified_rows_get_their_own_tables() -> None:
    page = render([row("an", 0, 0.9), row("an", 0, 0.95, stratified=True)])
    assert page.index("Purely random splits") < page.index("Stratified splits")
    assert "95.0 (0.0)" in page[page.index("Stratified splits") :]


def test_what_a_file_holds_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row("an", 0, 0.9)) + "\n" + '{"graph": "co', encoding="utf-8")
    cells = [Fit("cora", "an", 0.025, seed) for seed in range(2)]
    assert len(load_rows(path)) == 1
    assert missing(cells, path) == cells[1:]


@pytest.mark.parametrize(
    ("graph", "method", "stratified", "epochs"),
    [
        ("cora", "an", False, 500),
        ("photo", "an", False, 1000),
        ("computers", "dominant", False, 1000),
        ("photo", "an", True, 500),
        ("photo", "deepwalk", False, 1),
        ("photo", "appnp", False, 500),
        ("photo", "an+", False, 300),
    ],
)
def test_the_papers_methods_train_longer_where_the_paper_does(
    graph: str, method: str, stratified: bool, epochs: int
) -> None:
    assert Fit(graph, method, 0.025, 0, stratified).settings()["epochs"] == epochs
    chosen = Fit(graph, method, 0.025, 0, stratified, (("epochs", 7),))
    assert chosen.settings()["epochs"] == 7


def test_rows_without_settings_are_believed_where_the_defaults_still_hold(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    cells = [Fit(graph, "an", 0.025, 0) for graph in ("cora", "photo")]
    path.write_text(
        "".join(json.dumps(row("an", 0, 0.9, graph=cell.graph)) + "\n" for cell in cells), encoding="utf-8"
    )
    assert missing(cells, path) == cells[1:]


@pytest.mark.datasets
def test_a_fit_becomes_a_row_and_a_second_run_adds_none(tmp_path: Path, datasets: Path) -> None:
    path = tmp_path / "rows.jsonl"
    cells = [Fit("cora", "sgc-lr", 0.025, 100)]
    measured = list(run(cells, path, "a command"))
    assert len(measured) == 1
    (stored,) = load_rows(path)
    assert 0.6 < stored["auc"] < 1
    assert stored["command"] == "a command"
    assert stored["cpu_seconds"] > 0
    assert list(run(cells, path, "a command")) == []


def test_a_row_of_other_settings_is_measured_again_and_replaced(tmp_path: Path, datasets: Path) -> None:
    path = tmp_path / "rows.jsonl"
    cell, other = Fit("cora", "label-propagation", 0.025, 100), Fit("cora", "label-propagation", 0.025, 101)
    list(run([cell, other], path, "first"))
    rows = load_rows(path)
    assert rows[0]["settings"] == Fit("cora", "label-propagation", 0.025, 0).settings() != {}
    rows[0]["settings"] = {**rows[0]["settings"], "revision": 0}
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    assert missing([cell, other], path) == [cell]
    assert [measured for measured, _ in run([cell, other], path, "second")] == [cell]
    assert sorted((each["seed"], each["command"]) for each in load_rows(path)) == [
        (100, "second"),
        (101, "first"),
    ]
    old = [{key: value for key, value in each.items() if key != "settings"} for each in load_rows(path)]
    path.write_text("".join(json.dumps(each) + "\n" for each in old), encoding="utf-8")
    assert missing([cell, other], path) == []
