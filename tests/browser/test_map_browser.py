"""The Map page in Chromium: click to a case, lasso to one verdict, a selection that lasts until Clear."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from page_project import make_project
from playwright.sync_api import Locator, Page, expect

from gadcore.workspace import Workspace

from .conftest import Server, Tabs, downloaded

# Where a point stands on the page, by its hover text; null while the chart is not drawn.
PLACE = """(name) => {
  const chart = document.querySelector(".js-plotly-plot");
  if (!chart?._fullLayout?.xaxis) return null;
  const box = chart.getBoundingClientRect();
  const { xaxis, yaxis } = chart._fullLayout;
  for (const trace of chart._fullData) {
    const at = [...(trace.text || [])].indexOf(name);
    if (at < 0) continue;
    const [x, y] = [xaxis._offset + xaxis.l2p(trace.x[at]), yaxis._offset + yaxis.l2p(trace.y[at])];
    return { x: box.left + x, y: box.top + y };
  }
  return null;
}"""


@pytest.fixture(scope="module")
def trained(server: Server) -> Iterator[Workspace]:
    """A labelled project with one run of the paper's model; every test leaves its labels as they were."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAD_HOME", str(server.home))
        patch.setenv("GAD_ANALYST", "ana")
        yield make_project("planted map", models=("an",))


@pytest.fixture
def page(server: Server, tabs: Tabs, trained: Workspace) -> Page:
    """The map of a trained project, drawn."""
    opened = tabs.new(width=1440, height=950)
    opened.goto(server.page_of(trained, "Map"))
    expect(opened.locator(".js-plotly-plot .modebar").first).to_be_attached()
    idle(opened)
    return opened


def loneliest(workspace: Workspace) -> str:
    """The node that stands farthest from all others on the map: nothing else is hit by a click on it."""
    xy = np.asarray(workspace.runs.layout("pca"), dtype=float)
    xy = (xy - xy.min(0)) / np.ptp(xy, axis=0)
    apart = np.linalg.norm(xy[:, None] - xy[None], axis=2) + 9 * np.eye(len(xy))
    return str(workspace.graph.node_ids[apart.min(1).argmax()])


def draw_lasso(page: Page) -> None:
    """A lasso around the middle of the map."""
    page.locator('.modebar-btn[data-val="lasso"]').click()
    box = page.locator(".js-plotly-plot .nsewdrag").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    w, h = box["width"] / 6, box["height"] / 6
    corners = [(x - w, y - h), (x + w, y - h), (x + w, y + h), (x - w, y + h), (x - w, y - h)]
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=10)
    page.mouse.up()


def idle(page: Page) -> None:
    """Wait until the page's script has run to its end: a button may be replaced until then."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def selected(page: Page) -> int:
    """How many nodes the list beside the map names, once it names any."""
    line = page.get_by_text(re.compile(r"^[\d,]+ selected")).first
    expect(line).to_be_visible()
    idle(page)
    return int(line.inner_text().split()[0].replace(",", ""))


def legends(page: Page, words: str) -> Locator:
    """Legends that say this; while a chart is exchanged for another, both are on the page."""
    return page.locator(".js-plotly-plot .legend").filter(has_text=words)


def test_a_click_on_a_point_opens_its_case(page: Page, trained: Workspace) -> None:
    node = loneliest(trained)
    at = page.wait_for_function(PLACE, arg=node).json_value()
    page.mouse.move(at["x"] + 15, at["y"] + 15)
    page.mouse.move(at["x"], at["y"], steps=5)
    expect(page.locator(".hoverlayer .hovertext")).to_contain_text(node)
    page.mouse.down()
    page.mouse.up()
    expect(page).to_have_url(re.compile("/Label"))
    expect(page.locator(f'.gv[data-centre="{node}"]')).to_be_attached()


def test_a_lasso_gives_one_verdict_to_all_and_one_undo_takes_it_back(page: Page, trained: Workspace) -> None:
    before = {node: event.verdict for node, event in trained.verdicts.current().items()}
    draw_lasso(page)
    n = selected(page)
    assert n > 1
    if n > 200:
        page.get_by_text(re.compile("Yes, label all")).click()
    page.get_by_role("button", name="Unsure").click()
    expect(page.get_by_text(f"{n:,} nodes marked unsure.")).to_be_visible()
    unsure = {node for node, event in trained.verdicts.current().items() if event.verdict == "unsure"}
    assert len(unsure) == n
    assert len({trained.verdicts.current()[node].group for node in unsure}) == 1
    page.get_by_role("button", name="Undo my last verdicts").click()
    expect(page.get_by_text(f"{n:,} verdicts taken back.")).to_be_visible()
    assert {node: event.verdict for node, event in trained.verdicts.current().items()} == before


def test_a_selection_outlives_a_change_of_colours_and_ends_with_clear(page: Page) -> None:
    draw_lasso(page)
    n = selected(page)
    page.get_by_role("combobox", name=re.compile("Colour by")).click()
    page.get_by_role("option", name="Verdict", exact=True).click()
    expect(legends(page, f"Selected ({n:,})")).to_have_count(1)
    assert selected(page) == n
    page.get_by_role("button", name="Clear").click()
    expect(page.get_by_text("Nothing is selected.")).to_be_visible()
    expect(legends(page, "Selected")).to_have_count(0)


def test_a_selection_is_exported_as_csv(page: Page, trained: Workspace) -> None:
    draw_lasso(page)
    n = selected(page)
    file = downloaded(page, page.get_by_role("button", name="Export CSV"))
    table = pd.read_csv(file, dtype={"node_id": str})
    assert len(table) == n
    assert all(node in trained.graph for node in table["node_id"])


def test_the_hypersphere_is_drawn(page: Page) -> None:
    page.get_by_text("Hypersphere", exact=True).click()
    expect(legends(page, "lie inside")).to_have_count(1)
    expect(page.locator(".js-plotly-plot .shapelayer path").first).to_be_attached()


def test_without_a_run_the_first_ranking_starts_and_the_map_appears(
    server: Server, tabs: Tabs, project
) -> None:
    workspace = project(labels=True, models=())
    page = tabs.new()
    page.goto(server.page_of(workspace, "Map"))
    page.get_by_role("button", name="Rank the nodes now").click()
    expect(page.locator(".js-plotly-plot .modebar").first).to_be_attached(timeout=120_000)
