"""The neighbourhood view in Chromium, on a bare page: no server, no network, pyvis's own vis-network."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import pyvis
from conftest import planted_graph
from playwright.sync_api import Page, expect

from gadcore.graph.labels import Labels
from gadcore.insight.neighbourhood import neighbourhood
from gadcore.records import Neighbourhood
from pages.common import palette
from pages.label import graph_view

from .conftest import Tabs, serve_modules

VIS_NETWORK = Path(pyvis.__file__).parent / "lib" / "vis-9.1.2" / "vis-network.min.js"
EVIL = "<img src=x onerror=\"document.title='broken in'\">"
START = """
import { createGraphView } from "/graph_view.js";
window.events = [];
const heard = (name) => (...values) => window.events.push([name, ...values]);
window.graph = createGraphView(document.getElementById("host"), {
  onSelect: heard("select"), onVerdict: heard("verdict"), onCentre: heard("centre"),
  onExpand: heard("expand"), onCollapse: heard("collapse"), onColour: heard("colour"),
});
"""


STILL = """(id) => {
  const at = JSON.stringify(graph.locate(id));
  const same = at === window.seen;
  window.seen = at;
  return same;
}"""
APART = """(ids) => {
  const [a, b] = ids.map((id) => graph.locate(id));
  return Math.hypot(a.x - b.x, a.y - b.y);
}"""


@pytest.fixture
def blank_page(tabs: Tabs) -> Iterator[Page]:
    """A page without a server, on which nothing may go wrong."""
    page = tabs.new(width=1000, height=700)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    yield page
    assert problems == []


@pytest.fixture(scope="module")
def sample():
    """(graph, percentile) of the planted graph, with a column that tries to be HTML."""
    graph, _ = planted_graph()
    table = pd.DataFrame(
        {"kind": ["a", "b", "c"] * 100, "amount": np.arange(300) * 1.5, "note": [EVIL] * 300}
    )
    return dataclasses.replace(graph, node_table=table), np.linspace(0, 100, 300)


def around(sample, node: int = 5, *, labels: Labels | None = None, **options) -> Neighbourhood:
    graph, percentile = sample
    verdicts = (labels or Labels.none()).as_array(graph.n_nodes)
    return neighbourhood(graph, percentile, verdicts, node, **options)


@pytest.fixture
def page(blank_page: Page) -> Page:
    """A page with an empty view of 900 x 560 pixels."""
    serve_modules(blank_page)
    blank_page.set_content('<div id="host" style="width:900px;height:560px"></div>')
    blank_page.add_script_tag(content=VIS_NETWORK.read_text(encoding="utf-8"))
    start(blank_page)
    return blank_page


def start(page: Page) -> None:
    page.add_style_tag(content=graph_view.css())
    page.add_script_tag(content=START, type="module")
    page.wait_for_function("window.graph")


def show(page: Page, view: Neighbourhood, **options) -> None:
    page.evaluate("([view, options]) => graph.show(view, options)", [graph_view.network_data(view), options])
    expect(page.locator(".gv")).to_have_attribute("data-nodes", str(len(view.nodes)))
    # the picture is fitted when two frames agree on where the centre is
    page.wait_for_function(STILL, arg=view.centre)


def click(page: Page, node: str, **options) -> None:
    at = page.evaluate("(id) => graph.locate(id)", node)
    modifiers = options.pop("modifiers", [])
    for key in modifiers:
        page.keyboard.down(key)
    if options.pop("double", False):
        page.mouse.dblclick(at["x"], at["y"])
    else:
        page.mouse.click(at["x"], at["y"], **options)
    for key in modifiers:
        page.keyboard.up(key)


def heard(page: Page, name: str) -> None:
    """Wait until a callback was called."""
    page.wait_for_function("(name) => window.events.some((event) => event[0] === name)", arg=name)


def events(page: Page, name: str) -> list:
    return page.evaluate("(name) => window.events.filter((event) => event[0] === name)", name)


def places(page: Page, view: Neighbourhood) -> dict:
    """Where each node stands, relative to the centre and in units of the zoom."""
    ids = [node.node_id for node in view.nodes]
    found = page.evaluate("(ids) => ids.map((id) => graph.locate(id))", ids)
    xy = np.array([(at["x"], at["y"]) for at in found])
    xy -= xy[0]
    return dict(zip(ids, xy / np.abs(xy).max()))


def test_a_click_selects_and_control_click_adds(page, sample):
    view = around(sample)
    show(page, view)
    first, second = (node.node_id for node in view.nodes[1:3])
    click(page, first)
    expect(page.locator(".gv")).to_have_attribute("data-selected", first)
    click(page, second, modifiers=["Control"])
    expect(page.locator(".gv")).to_have_attribute("data-selected", f"{first} {second}")
    click(page, first, modifiers=["Shift"])
    expect(page.locator(".gv")).to_have_attribute("data-selected", second)
    assert events(page, "select")[-1] == ["select", [second], first]


def test_a_click_beside_all_nodes_ends_the_selection(page, sample):
    view = around(sample)
    show(page, view, selected=[view.nodes[1].node_id])
    expect(page.locator(".gv")).to_have_attribute("data-selected", view.nodes[1].node_id)
    page.mouse.click(30, 300)
    expect(page.locator(".gv")).to_have_attribute("data-selected", "")


def test_the_menu_marks_any_node(page, sample):
    view = around(sample)
    show(page, view)
    node = view.nodes[2].node_id
    click(page, node, button="right")
    expect(page.get_by_role("menuitem")).to_contain_text(
        ["Mark anomalous", "Mark normal", "Mark unsure", "Centre on this node"]
    )
    page.get_by_role("menuitem", name="Mark normal").click()
    heard(page, "verdict")
    assert events(page, "verdict") == [["verdict", [node], "normal"]]
    expect(page.locator(".gv-menu")).to_be_hidden()


def test_the_menu_of_a_selection_marks_all_of_it(page, sample):
    view = around(sample)
    some = [node.node_id for node in view.nodes[1:4]]
    show(page, view, selected=some)
    click(page, some[0], button="right")
    expect(page.locator(".gv-menu p")).to_have_text("3 selected nodes")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    heard(page, "verdict")
    assert events(page, "verdict") == [["verdict", some, "anomalous"]]


def test_escape_closes_the_menu(page, sample):
    view = around(sample)
    show(page, view)
    click(page, view.nodes[1].node_id, button="right")
    expect(page.locator(".gv-menu")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".gv-menu")).to_be_hidden()


def test_a_double_click_asks_for_another_centre(page, sample):
    view = around(sample)
    show(page, view)
    click(page, view.nodes[3].node_id, double=True)
    heard(page, "centre")
    assert events(page, "centre") == [["centre", view.nodes[3].node_id]]


def test_the_badge_asks_for_more(page, sample):
    view = around(sample, cap=3)
    show(page, view)
    assert view.nodes[0].hidden > 0
    at = page.evaluate("(id) => graph.badge(id)", view.centre)
    page.mouse.click(at["x"], at["y"])
    heard(page, "expand")
    assert events(page, "expand") == [["expand", view.centre]]
    assert events(page, "select") == []


def test_the_hover_card_shows_text_as_written(page, sample):
    view = around(sample)
    show(page, view)
    at = page.evaluate("(id) => graph.locate(id)", view.centre)
    page.mouse.move(at["x"] + 60, at["y"] + 60)
    page.mouse.move(at["x"], at["y"], steps=4)
    card = page.locator(".gv-card")
    expect(card).to_be_visible()
    expect(card).to_contain_text(view.centre)
    expect(card).to_contain_text(EVIL)
    expect(card.locator("img")).to_have_count(0)
    expect(page).not_to_have_title("broken in")


def test_blind_mode_hides_the_score(page, sample):
    view = around(sample)
    show(page, view, blind=True)
    at = page.evaluate("(id) => graph.locate(id)", view.centre)
    page.mouse.move(at["x"] + 60, at["y"] + 60)
    page.mouse.move(at["x"], at["y"], steps=4)
    expect(page.locator(".gv-card")).to_contain_text("Neighbours")
    expect(page.locator(".gv-card")).not_to_contain_text("percentile")
    expect(page.locator(".gv-ramp")).to_have_count(0)


def test_verdicts_and_scores_move_nothing(page, sample):
    view = around(sample)
    show(page, view)
    before = places(page, view)
    graph, percentile = sample
    labels = Labels.from_indices(graph, anomalous=[5])
    show(page, around((graph, percentile[::-1]), labels=labels))
    after = places(page, view)
    assert all(np.allclose(before[node], after[node], atol=1e-6) for node in before)


def test_one_more_hop_keeps_every_node_in_its_place(page, sample):
    one, two = around(sample, hops=1), around(sample, hops=2)
    show(page, one)
    before = places(page, one)
    show(page, two)
    after = places(page, one)
    assert all(np.allclose(before[node], after[node], atol=0.01) for node in before)


def test_reasons_mark_nodes_and_edges_by_way_and_size_and_move_nothing(page, sample):
    view = around(sample)
    near = [edge.target if edge.source == view.centre else edge.source for edge in view.edges
            if view.centre in (edge.source, edge.target)]  # fmt: skip
    large, small, tiny, *_ = near
    why = {
        "nodes": {large: 0.4, small: -0.1, tiny: 0.001, "elsewhere": 0.4},
        "edges": {large: -0.2, small: 0.1},
    }
    show(page, view)
    before = places(page, view)
    assert page.evaluate("graph.pushed()") == {"nodes": {}, "edges": {}}
    expect(page.locator(".gv-why")).to_be_hidden()
    show(page, view, why=why)
    drawn = page.evaluate("graph.pushed()")
    assert drawn["nodes"] == {large: "up", small: "down"}
    assert {node: (edge["up"], edge["dashed"]) for node, edge in drawn["edges"].items()} == {
        large: (False, True), small: (True, False),
    }  # fmt: skip
    assert drawn["edges"][large]["width"] > drawn["edges"][small]["width"]
    for text in ("raises the score", "ring: the node’s own part", "edge: what removing it undoes"):
        expect(page.locator(".gv-why")).to_contain_text(text)
    show(page, view)
    assert page.evaluate("graph.pushed()") == {"nodes": {}, "edges": {}}
    expect(page.locator(".gv-why")).to_be_hidden()
    after = places(page, view)
    assert all(np.allclose(before[node], after[node], atol=1e-6) for node in before)


def test_another_centre_draws_another_picture(page, sample):
    show(page, around(sample, 5))
    other = around(sample, 77)
    show(page, other)
    expect(page.locator(".gv")).to_have_attribute("data-centre", "n077")
    assert page.evaluate("(id) => graph.locate(id)", "n005") is None or "n005" in {
        node.node_id for node in other.nodes
    }


def test_colours_follow_the_choice_and_the_legend_explains_them(page, sample):
    show(page, around(sample))
    legend = page.locator(".gv-legend:not(.gv-why)")
    expect(legend).to_contain_text("low score")
    page.get_by_label("Colour by").select_option("attribute:kind")
    expect(legend).to_contain_text(re.compile(r"a.*b.*c|[abc]"))
    assert events(page, "colour") == [["colour", "attribute:kind"]]
    page.get_by_label("Colour by").select_option("verdict")
    expect(legend).to_contain_text("No verdict")


def test_only_an_expanded_node_can_be_folded(page, sample):
    view = around(sample)
    show(page, view)
    click(page, view.centre, button="right")
    expect(page.get_by_role("menuitem").first).to_be_visible()
    expect(page.get_by_role("menuitem", name="Fold")).to_have_count(0)
    page.keyboard.press("Escape")
    show(page, view, expanded=[view.centre])
    click(page, view.centre, button="right")
    page.get_by_role("menuitem", name="Fold").click()
    assert events(page, "collapse") == [["collapse", view.centre]]


def test_names_that_would_overlap_are_left_out_but_for_those_that_matter(page, sample):
    view = around(sample)
    marked = view.nodes[4].node_id
    on_a_line = [
        dataclasses.replace(node, x=150.0 * i, y=0.0, verdict="normal" if node.node_id == marked else None)
        for i, node in enumerate(view.nodes[:10])
    ]
    heap = [dataclasses.replace(node, x=3.0 * i) for i, node in enumerate(on_a_line)]
    show(page, dataclasses.replace(view, nodes=on_a_line, edges=[]))
    assert set(page.evaluate("graph.named()")) == {node.node_id for node in on_a_line}
    other = dataclasses.replace(view, centre=on_a_line[1].node_id, nodes=heap, edges=[])
    show(page, other)
    assert set(page.evaluate("graph.named()")) == {other.centre, marked}


def test_zoom_and_fit(page, sample):
    view = around(sample)
    show(page, view)
    node = view.nodes[1].node_id
    pair = [view.centre, node]
    before = page.evaluate(APART, pair)
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_function(f"([pair, before]) => ({APART})(pair) > 1.2 * before", arg=[pair, before])
    page.get_by_role("button", name="Fit to view").click()
    back = f"([pair, before]) => Math.abs(({APART})(pair) - before) < 0.05 * before"
    page.wait_for_function(back, arg=[pair, before])


def test_a_view_shown_before_vis_network_arrives_is_drawn_when_it_does(blank_page, sample):
    serve_modules(blank_page)
    blank_page.set_content('<div id="host" style="width:900px;height:560px"></div>')
    start(blank_page)
    view = around(sample)
    blank_page.evaluate("(view) => graph.show(view)", graph_view.network_data(view))
    blank_page.add_script_tag(content=VIS_NETWORK.read_text(encoding="utf-8"))
    blank_page.evaluate("window.dispatchEvent(new Event('vis-network-ready'))")
    expect(blank_page.locator(".gv")).to_have_attribute("data-nodes", str(len(view.nodes)))


def test_destroy_leaves_nothing_behind(page, sample):
    show(page, around(sample))
    page.evaluate("graph.destroy()")
    expect(page.locator("#host > *")).to_have_count(0)


def test_three_hundred_nodes_are_drawn(page, sample):
    view = around(sample, hops=3, cap=300)
    show(page, view)
    expect(page.locator(".gv-canvas")).to_have_attribute(
        "aria-label", re.compile(rf"{len(view.nodes)} nodes")
    )


def test_data_are_built_by_pyvis_with_fixed_places_and_no_arrows(sample):
    view = around(sample)
    data = graph_view.network_data(view)
    first = data["nodes"][0]
    assert (first["id"], first["x"], first["y"], first["physics"]) == (view.centre, 0.0, 0.0, False)
    assert first["shape"] == palette.GRAPH_SHAPES[None]
    assert {edge["arrows"] for edge in data["edges"]} == {""}
    assert all(isinstance(node["id"], str) and "title" not in node for node in data["nodes"])
