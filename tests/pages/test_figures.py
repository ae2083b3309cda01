"""Figures and what lies behind their points."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sample_workspace import sample_run

from gadcore.records import RunComparison
from pages.common import palette
from pages.common.run_figures import MAX_POINTS, curves_figure, score_scatter
from pages.map.colours import by_attribute, by_movement, by_score, by_verdict
from pages.map.embedding_figures import before_after_figure, boundary, most_moved, radius_figure
from pages.map.figure import map_figure, shown_rows
from pages.map.selection import Selection, chosen_rows, in_polygon, is_click


def cloud(n: int = 400, labels: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """(positions, percentile, verdicts, names)."""
    rng = np.random.default_rng(0)
    verdicts = np.full(n, -1, np.int8)
    at = rng.choice(n, labels, replace=False)
    verdicts[at] = np.resize([0, 1, -2], labels)
    return (
        rng.normal(0, 1, (n, 2)).astype(np.float32),
        rng.random(n) * 100,
        verdicts,
        [f"n{i}" for i in range(n)],
    )


def points_of(drawn, rows) -> list[dict[str, int]]:
    """The points of a chart event that stand for these rows."""
    found = []
    for curve, behind in enumerate(drawn.rows):
        found += [
            {"curve_number": curve, "point_index": int(i)} for i in np.flatnonzero(np.isin(behind, rows))
        ]
    return found


def test_every_node_is_one_point_and_every_point_its_node():
    xy, percentile, verdicts, names = cloud()
    drawn = map_figure(xy, percentile, verdicts, names)
    assert sorted(np.concatenate(drawn.rows).tolist()) == list(range(400))
    for trace, rows in zip(drawn.figure.data, drawn.rows):
        if len(rows):
            assert trace.x.tolist() == xy[rows, 0].tolist()
            assert list(trace.text) == [names[i] for i in rows]
    assert drawn.nodes(points_of(drawn, [3, 77, 78])).tolist() == [3, 77, 78]


def test_points_outside_the_figure_are_ignored():
    drawn = map_figure(*cloud())
    assert (
        drawn.nodes([{"curve_number": 99, "point_index": 0}, {"curve_number": 0, "point_index": 10**6}]).size
        == 0
    )


def test_labelled_points_carry_the_shape_and_outline_of_their_verdict():
    drawn = map_figure(*cloud())
    by_symbol = {trace.marker.symbol: trace for trace in drawn.figure.data if trace.type == "scattergl"}
    assert set(by_symbol) == {"circle", "diamond", "square", "triangle-up"}
    assert by_symbol["diamond"].marker.line.color == palette.ANOMALOUS


def test_drag_mode_is_left_to_the_page():
    assert map_figure(*cloud()).figure.layout.dragmode is None


def test_arrays_travel_as_single_precision():
    figure = map_figure(*cloud()).figure
    assert figure.data[0].x.dtype == figure.data[0].marker.color.dtype == np.float32


def test_current_case_and_selection_are_ringed():
    xy, percentile, verdicts, names = cloud()
    drawn = map_figure(xy, percentile, verdicts, names, current=7, selected=[1, 2])
    rings = [t for t in drawn.figure.data if t.marker.symbol == "circle-open"]
    assert [list(t.text) for t in rings] == [["n1", "n2"], ["n7"]]
    assert drawn.nodes(points_of(drawn, [7])).tolist() == [7]


def test_large_graphs_show_density_and_the_points_that_matter():
    xy, percentile, verdicts, names = cloud(30_000, labels=90)
    drawn = map_figure(xy, percentile, verdicts, names, current=11, selected=[5, 6])
    assert drawn.figure.data[0].type == "heatmap"
    shown = set(np.concatenate(drawn.rows).tolist())
    assert len(shown) == MAX_POINTS
    assert {5, 6, 11} <= shown
    assert set(np.flatnonzero(verdicts != -1).tolist()) <= shown
    assert set(np.argsort(-percentile)[:1000].tolist()) <= shown


def test_a_few_far_nodes_do_not_squeeze_the_map_together():
    xy, percentile, verdicts, names = cloud(5000, labels=3)
    far = np.flatnonzero(verdicts == -1)[:2]
    xy[far] = 1000.0
    drawn = map_figure(xy, percentile, verdicts, names)
    assert drawn.outside == 2
    assert drawn.figure.layout.xaxis.range[1] < 20
    shown = map_figure(xy, percentile, verdicts, names, current=int(far[0]))
    assert shown.outside == 0


def test_all_nodes_are_in_the_frame_when_none_is_far():
    assert map_figure(*cloud()).outside == 0


def test_shown_rows_are_the_same_at_every_call():
    _, percentile, verdicts, _ = cloud(1000)
    first = shown_rows(percentile, verdicts, limit=300)
    assert len(first) == 300
    assert shown_rows(percentile, verdicts, limit=300).tolist() == first.tolist()


def test_names_are_shown_as_written():
    xy, percentile, verdicts, _ = cloud(3, labels=0)
    drawn = map_figure(xy, percentile, verdicts, ["<b>x</b>", "a & b", "plain"])
    assert list(drawn.figure.data[0].text) == ["&lt;b&gt;x&lt;/b&gt;", "a &amp; b", "plain"]


def test_verdicts_are_four_categories():
    colours = by_verdict(np.array([1, 0, -2, -1]))
    assert colours.values.tolist() == [0, 1, 2, 3]
    assert [colours.colour(code) for code in range(4)] == list(palette.VERDICT_COLOURS.values())


def test_movement_is_symmetric_about_no_change():
    colours = by_movement(np.array([10.0, 50.0, 90.0]), np.array([60.0, 50.0, 80.0]))
    assert colours.values.tolist() == [50, 0, -10]
    assert colours.low == -colours.high


def test_numbers_get_a_scale_and_words_get_categories():
    amounts = by_attribute(pd.Series(np.arange(100.0)), "amount")
    assert amounts.categories == ()
    assert amounts.low < amounts.high
    words = by_attribute(pd.Series(["b", "a", "b", None]), "kind")
    assert words.categories == ("b", "(empty)", "a")
    assert words.values.tolist() == [0, 2, 0, 1]


def test_rare_categories_are_gathered():
    column = pd.Series([f"v{i % 8}" for i in range(80)] + [f"rare{i}" for i in range(5)])
    colours = by_attribute(column, "kind")
    assert colours.categories[-1] == "other (5 values)"
    assert colours.values[80:].tolist() == [8.0] * 5
    assert colours.colour(8) == palette.OTHER


@pytest.mark.parametrize(
    "column", [pd.Series([None] * 5), pd.Series([1.0] * 5), pd.Series([True, False] * 3)]
)
def test_poor_columns_can_be_drawn(column):
    n = len(column)
    colours = by_attribute(column, "c")
    figure = map_figure(np.zeros((n, 2)), None, np.full(n, -1), ["x"] * n, colouring=colours).figure
    assert len(figure.to_json()) > 100


def test_the_circle_holds_the_nodes_marked_normal():
    radius = np.linspace(0, 10, 101)
    verdicts = np.full(101, -1)
    edge, meaning = boundary(radius, verdicts)
    assert edge == pytest.approx(9.5)
    assert "all nodes" in meaning
    verdicts[:21] = 0
    edge, meaning = boundary(radius, verdicts)
    assert edge == pytest.approx(1.9)
    assert "normal" in meaning


def test_disc_keeps_the_distance_to_the_centre():
    xy, percentile, verdicts, names = cloud()
    radius = np.random.default_rng(1).gamma(2, 1, 400).astype(np.float32)
    drawn = radius_figure(radius, xy, percentile, verdicts, names)
    for trace, rows in zip(drawn.figure.data, drawn.rows):
        if len(rows) and trace.xaxis == "x":
            assert np.hypot(trace.x, trace.y) == pytest.approx(radius[rows], rel=1e-4)
    bars = [t for t in drawn.figure.data if t.type == "bar"]
    assert len(bars) == 4
    rugs = [(t, rows) for t, rows in zip(drawn.figure.data, drawn.rows) if len(rows) and t.xaxis == "x2"]
    assert sum(len(rows) for _, rows in rugs) == (verdicts != -1).sum()
    assert all(t.x.tolist() == radius[rows].tolist() for t, rows in rugs)
    assert float((bars[0].y * bars[0].width).sum()) == pytest.approx(1.0, rel=1e-3)


def test_few_labels_have_no_density_of_their_own():
    xy, percentile, verdicts, names = cloud(labels=9)
    drawn = radius_figure(np.hypot(*xy.T), xy, percentile, verdicts, names)
    assert [t.type for t in drawn.figure.data].count("bar") == 1


def test_legend_names_every_verdict_in_its_colour_and_shape():
    xy, percentile, verdicts, names = cloud()
    shown = [t for t in map_figure(xy, percentile, verdicts, names).figure.data if t.showlegend is not False]
    entries = {t.name.split(" (")[0]: t.marker for t in shown}
    assert set(entries) == set(palette.VERDICT_WORDS.values())
    assert (entries["Normal"].color, entries["Normal"].symbol) == (palette.NORMAL, "square")


def test_trails_lead_from_the_old_place_to_the_new_one():
    xy, percentile, verdicts, names = cloud()
    after = xy.copy()
    after[[4, 9]] += [[3, 0], [0, 1]]
    assert most_moved(xy, after).tolist() == [4, 9]
    drawn = before_after_figure(xy, after, (percentile, percentile), verdicts, names, ("Run 1", "Run 2"))
    trail = drawn.figure.data[0]
    assert trail.x[:2].tolist() == [xy[4, 0], after[4, 0]]
    assert np.isnan(trail.x[2])
    assert drawn.nodes(points_of(drawn, [9])).tolist() == [9]


def test_scatter_names_what_entered_and_left_the_top():
    before, after = np.arange(50.0), np.arange(50.0)
    after[[0, 49]] = [60.0, -1.0]
    comparison = RunComparison(
        sample_run(number=1), sample_run(number=2), [], [], [], [], 10, 0.9, before * 2, after * 2
    )
    figure = score_scatter(comparison)
    places = {trace.name: list(zip(trace.x, trace.y)) for trace in figure.data if trace.name}
    assert places["Entered the top 10 (1)"] == [(0.0, 120.0)]
    assert places["Left the top 10 (1)"] == [(98.0, -2.0)]
    assert len(places["Other nodes (48)"]) == 48


def test_scatter_without_scores_says_so():
    comparison = RunComparison(sample_run(), sample_run(), [], [], [], [], 10, 0.9)
    assert "no scores" in score_scatter(comparison).layout.annotations[0].text


def test_stages_of_a_run_follow_each_other():
    history = [
        {"epoch": 1, "loss": 3.0, "auc": None, "stage": "pre-training"},
        {"epoch": 2, "loss": 2.0, "auc": None, "stage": "pre-training"},
        {"epoch": 1, "loss": 1.0, "auc": 0.7, "stage": "training"},
        {"epoch": 2, "loss": float("nan"), "auc": 0.8, "stage": "training"},
    ]
    pre, loss, auc = curves_figure(history).data
    assert (list(pre.x), list(pre.y)) == ([1, 2], [3.0, 2.0])
    assert (list(loss.x), list(loss.y)) == ([3, 4], [1.0, None])
    assert (list(auc.x), list(auc.y)) == ([3, 4], [0.7, 0.8])


def test_a_run_without_epochs_says_so():
    assert "No epoch" in curves_figure([]).layout.annotations[0].text


def test_a_ranking_of_one_step_has_no_curve():
    step = {"epoch": 1, "epochs": 1, "loss": 0.3, "auc": None, "stage": "ranking"}
    assert "Nothing to train" in curves_figure([step]).layout.annotations[0].text
    assert curves_figure([{**step, "epochs": 50}]).data


def test_polygon_holds_what_is_inside_it():
    points = np.array([[0.5, 0.5], [2.0, 0.5], [0.5, -0.5], [0.1, 0.05]])
    assert in_polygon(points, [0, 1, 1, 0], [0, 0, 1, 1]).tolist() == [True, False, False, True]
    notch = in_polygon(np.array([[0.5, 0.8], [0.5, 0.2]]), [0, 0.5, 1, 1, 0], [1, 0.5, 1, 0, 0])
    assert notch.tolist() == [False, True]


def test_a_lasso_takes_nodes_that_are_not_drawn():
    xy, percentile, verdicts, names = cloud(1000, labels=10)
    drawn = map_figure(xy, percentile, verdicts, names, limit=200)
    event = {"points": [], "box": [{"x": [1, -1], "y": [-1, 1]}], "lasso": []}
    inside = np.flatnonzero((np.abs(xy) <= 1).all(1))
    assert chosen_rows(drawn, event, xy).tolist() == inside.tolist()
    assert chosen_rows(drawn, {"points": points_of(drawn, [3]), "box": [], "lasso": []}, xy).tolist() in (
        [3],
        [],
    )


def test_a_click_is_one_point_without_an_area():
    point = {"curve_number": 0, "point_index": 0}
    assert is_click({"points": [point], "box": [], "lasso": []})
    assert not is_click({"points": [point, point], "box": [], "lasso": []})
    assert not is_click({"points": [point], "box": [], "lasso": [{"x": [0], "y": [0]}]})
    assert not is_click({})


def test_selecting_does_not_redraw_the_figure_but_a_new_figure_shows_the_selection():
    selection = Selection()
    assert selection.rings("by score") == []
    selection.nodes = ["a", "b"]
    assert selection.rings("by score") == []
    assert selection.rings("by verdict") == ["a", "b"]
    selection.clear()
    assert (selection.nodes, selection.rings("by verdict"), selection.generation) == ([], [], 1)


def test_scores_run_over_the_whole_scale():
    colours = by_score(np.array([0.0, 100.0]))
    assert (colours.low, colours.high) == (0.0, 100.0)


def test_members_of_an_ensemble_that_take_one_step_share_a_line() -> None:
    steps = [{"epoch": i + 1, "loss": 0.5, "auc": None, "stage": f"linear {i}"} for i in range(6)]
    epochs = [{"epoch": 7 + i, "loss": 0.4, "auc": 0.8, "stage": "hypersphere"} for i in range(4)]
    names = [trace.name for trace in curves_figure(steps + epochs).data]
    assert names == [
        "Loss (other members)",
        "Loss (hypersphere)",
        "Out-of-fold AUC (hypersphere alone)",
    ]


@pytest.mark.parametrize("auc", [0.0, 0.325, 0.9])
def test_a_poor_auc_is_on_the_scale_too(auc) -> None:
    figure = curves_figure([{"epoch": i, "loss": 0.4, "auc": auc, "stage": ""} for i in range(1, 5)])
    low, high = figure.layout.yaxis2.range
    assert low < auc < high
    assert low <= 0.4
