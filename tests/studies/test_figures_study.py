"""The figures study: cells, separation of embeddings, pictures and a page from rows alone."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.studies import harness
from gadcore.studies.embeddings import EmbeddingMap, purity
from gadcore.studies.figure_page import embedding_picture, render, sweep
from gadcore.studies.figures import STUDY, TimedTraining, lambda_fits, width_fits
from gadcore.studies.fits import Fit
from gadcore.studies.panels import Curve, Dots, curve_panels, scatter_panels


def swept(graph: str, method: str, name: str, value: float, seed: int, auc: float) -> dict[str, Any]:
    base = {"graph": graph, "method": method, "rate": 0.025, "seed": seed, "stratified": False}
    return {**base, "params": {name: value}, "auc": auc}


def drawn(method: str) -> dict[str, Any]:
    return {
        "method": method, "graph": "cora", "rate": 0.1, "seed": 0,
        "auc": 0.9, "separation": 0.5, "chance": 0.07,
        "part": [0, 0, 1, 2, 2, 2], "truth": [0, 1, 0, 0, 1, 1],
        "x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [5.0, 4.0, 3.0, 2.0, 1.0, 0.0],
    }  # fmt: skip


def test_lambda_goes_split_by_split() -> None:
    cells = lambda_fits(["cora", "photo"], splits=2)
    assert len(cells) == 2 * 2 * 2 * 5
    assert {cell.seed for cell in cells[:20]} == {0}
    assert dict(cells[0].params) == {"lambda_": 1.0}


def test_slow_methods_are_swept_on_the_small_graphs_only() -> None:
    cells = width_fits(["cora", "photo"], splits=1)
    assert {cell.method for cell in cells if cell.graph == "photo"} == {"an", "n", "doc-an", "doc-n", "dsad"}
    assert "imverde" in {cell.method for cell in cells if cell.graph == "cora"}


def test_a_stored_row_has_the_key_of_its_cell() -> None:
    cell = lambda_fits(["cora"], splits=1)[1]
    row = json.loads(json.dumps(swept("cora", "an", "lambda_", 10.0, 0, 0.9)))
    assert Fit.of(row) == cell
    assert EmbeddingMap.of(drawn("an")) == EmbeddingMap("cora", "an")
    timed = {"method": "n", "repeat": 3, "graph": "cora", "rate": 0.1, "epochs": 500}
    assert TimedTraining.of(timed) == TimedTraining("cora", "n", 3)


def test_purity_is_one_when_anomalies_lie_together_and_chance_when_all_is_one_point() -> None:
    anomalous = np.arange(400) < 40
    apart = np.where(anomalous, 5.0, 0.0).astype(np.float32)[:, None] + np.zeros((400, 3), dtype=np.float32)
    assert purity(apart, anomalous) == 1.0
    collapsed = purity(np.zeros((400, 3), dtype=np.float32), anomalous)
    assert abs(collapsed - 0.1) < 0.03


def test_a_sweep_has_only_rows_that_vary_it_alone() -> None:
    rows = [
        swept("cora", "an", "lambda_", 1.0, 0, 0.8),
        swept("cora", "an", "lambda_", 1.0, 1, 0.9),
        swept("cora", "an", "k", 8, 0, 0.1),
        {**swept("cora", "an", "k", 8, 0, 0.2), "params": {"k": 8, "lambda_": 1.0}},
    ]
    assert sweep(rows, "lambda_") == {("cora", "an"): {1.0: {0: 80.0, 1: 90.0}}}


def test_the_page_says_what_is_missing() -> None:
    page = render([], [], [])
    assert page.count("Not measured yet.") == 4


def test_page_and_pictures_come_from_the_files(tmp_path: Path, monkeypatch) -> None:
    rows = [
        swept("cora", method, name, value, seed, auc)
        for name, values in (("lambda_", (1.0, 10.0)), ("k", (8, 16)))
        for value in values
        for seed in range(2)
        for method, auc in (("an", 0.9 + value / 1000), ("doc-an", 0.7))
    ]
    rows.append(swept("photo", "an", "k", 8, 0, 0.95))
    seconds = [{"method": "an", "cpu_seconds": value} for value in (1.0, 2.0, 4.0)]
    files = {"figures": rows, "embeddings": [drawn("an"), drawn("slgcn")], "times": seconds}
    for name, content in files.items():
        text = "\n".join(json.dumps(row) for row in content)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "DOCS", tmp_path / "docs")
    STUDY.carry_out(["--render"])
    page = (tmp_path / "docs" / "paper_figures.md").read_text(encoding="utf-8")
    assert "`an` is ahead of `doc-an` in 2 of 2 cells" in page
    assert "| cora | an | 90.1 | **91.0** | 2 |" in page
    assert "On some of these graphs only: `doc-an`." in page
    assert "Not measured yet: citeseer, pubmed, computers, `dsad`," in page
    assert "| an | 2.00 | 1.00 | 4.00 | 3 | 4.92 |" in page
    assert "| slgcn | 90.0 | 50.0 |" in page
    for name in ("lambda", "k", "embeddings"):
        picture = tmp_path / "docs" / "figures" / f"{name}.svg"
        assert ET.parse(picture).getroot().tag.endswith("svg")
        assert f"figures/{name}.svg" in page


def test_the_page_says_which_fits_ran_with_the_shorter_limit_of_epochs() -> None:
    usual, longer = ({"settings": {"epochs": epochs}} for epochs in (500, 1000))
    short = swept("photo", "an", "k", 8, 0, 0.9)  # from before settings were kept
    rows = [short, {**swept("photo", "an", "k", 16, 0, 0.9), **longer}]
    walks = {**swept("photo", "deepwalk", "k", 8, 0, 0.9), "settings": {"epochs": 1}}
    small = {**swept("cora", "an", "k", 8, 0, 0.9), **usual}
    said = "On Photo 1 of 2 fits ran with the limit of 500 epochs."
    assert said in render([*rows, walks, small], [], [])
    assert "limit of 500 epochs" not in render([*rows[1:], walks, small], [], [])


def test_validation_nodes_are_not_drawn() -> None:
    assert embedding_picture([drawn("an")]).count("h0") == 5 + 4  # all nodes but one, and the legend


def test_every_node_is_one_dot_and_text_is_escaped() -> None:
    dots = Dots("a < b", "#000000", np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    text = scatter_panels([("one", [dots])], title="a & b")
    assert text.count("h0") == 3  # two nodes and the legend
    assert "a &amp; b" in text
    ET.fromstring(text)


def test_curves_stay_inside_their_panel() -> None:
    line = Curve("an", "#000000", [1, 10, 100], [61.0, 74.5, 99.0])
    root = ET.fromstring(curve_panels([("cora", [line])], title="t", x_label="λ", y_label="AUC"))
    points = next(node for node in root.iter() if node.tag.endswith("polyline")).attrib["points"]
    heights = [float(pair.split(",")[1]) for pair in points.split()]
    assert heights == sorted(heights, reverse=True)
    assert min(heights) >= 26
    assert max(heights) <= 246
