"""The labelling screen in a browser: keys and mouse, nothing lost, undo over a reload, groups, the graph."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from .conftest import open_label, part, settled
from .label_screen import marked, press_on_each, row, rows, shows, verdicts


def test_keys_give_verdicts_and_move_on(opened) -> None:
    page, workspace = opened
    first, second, third, fourth = rows(page)[:4]
    shows(page, first)
    page.keyboard.press("a")
    shows(page, second)
    page.keyboard.press("n")
    shows(page, third)
    page.keyboard.press("u")
    shows(page, fourth)
    for node, verdict in ((first, "anomalous"), (second, "normal"), (third, "unsure")):
        marked(page, node, verdict)
    settled(page)
    assert verdicts(workspace) == {first: "anomalous", second: "normal", third: "unsure"}
    expect(part(page, "counts").locator("[data-count=anomalous] b")).to_have_text("1")
    page.keyboard.press("k")
    shows(page, third)
    page.keyboard.press("j")
    shows(page, fourth)
    page.keyboard.press("b")
    shows(page, third)


def test_buttons_do_the_same_for_the_mouse(opened) -> None:
    page, workspace = opened
    first, second, third = rows(page)[:3]
    part(page, "mark-normal").click()
    shows(page, second)
    row(page, third).click()
    shows(page, third)
    part(page, "mark-anomalous").click()
    marked(page, first, "normal")
    marked(page, third, "anomalous")
    settled(page)
    assert verdicts(workspace) == {first: "normal", third: "anomalous"}
    part(page, "undo").click()
    marked(page, third, "")
    shows(page, third)
    settled(page)
    assert verdicts(workspace) == {first: "normal"}


@pytest.mark.parametrize("rerank", [True, False])
def test_forty_quick_keys_are_all_recorded(opened, rerank) -> None:
    page, workspace = opened
    workspace.set_preference("provisional", rerank)
    order = rows(page)[:40]
    keys = ["a", "n", "u", "n"] * 10
    for key in keys:
        page.keyboard.press(key)
    settled(page)
    events = sorted(workspace.verdicts.current().values(), key=lambda event: event.id)
    words = {"a": "anomalous", "n": "normal", "u": "unsure"}
    assert [event.verdict.value for event in events] == [words[key] for key in keys]
    same = 2 if rerank else len(order)  # the case on screen and the next stay
    assert [event.node_id for event in events][:same] == order[:same]


def test_undo_and_redo_go_on_after_a_reload(opened) -> None:
    page, workspace = opened
    first, second, third = rows(page)[:3]
    page.keyboard.press("a")
    page.keyboard.press("n")
    shows(page, third)
    settled(page)
    page.reload()
    shows(page, third)
    page.keyboard.press("z")
    shows(page, second)
    settled(page)
    assert verdicts(workspace) == {first: "anomalous"}
    page.keyboard.press("z")
    shows(page, first)
    settled(page)
    assert verdicts(workspace) == {}
    page.keyboard.press("Shift+Z")
    expect(part(page, "counts").locator("[data-count=anomalous] b")).to_have_text("1")
    settled(page)
    assert verdicts(workspace) == {first: "anomalous"}


def test_keys_pressed_just_before_a_reload_are_kept(opened) -> None:
    page, workspace = opened
    judged = press_on_each(page, "n", 6)
    page.reload()
    expect(part(page, "counts").locator("[data-count=normal] b")).to_have_text("6")
    settled(page)
    assert verdicts(workspace) == dict.fromkeys(judged, "normal")


def test_keys_are_silent_while_a_note_is_written(opened) -> None:
    page, workspace = opened
    node = rows(page)[0]
    page.keyboard.press("m")
    expect(part(page, "note")).to_be_focused()
    page.keyboard.type("paid an unusual sum")
    page.keyboard.press("Enter")
    settled(page)
    assert verdicts(workspace) == {}
    assert workspace.cases.card(node).note == "paid an unusual sum"
    page.keyboard.press("a")
    marked(page, node, "anomalous")


def test_search_jumps_to_any_node(opened) -> None:
    page, _ = opened
    page.keyboard.press("/")
    expect(part(page, "search")).to_be_focused()
    page.keyboard.type("n123")
    expect(part(page, "hits").locator("[data-node=n123]")).to_be_visible()
    page.keyboard.press("Enter")
    shows(page, "n123")
    expect(page.locator("[data-testid=graph] [data-centre=n123]")).to_be_attached()


def test_blind_mode_hides_scores_at_once_and_moves_nothing(opened) -> None:
    page, _ = opened
    secret = page.locator(".rf-secret").first
    expect(secret).to_be_visible()
    places = "[...document.querySelectorAll('.rf-row, .rf-section')].map(e => e.getBoundingClientRect().top)"
    before = page.evaluate(places)
    page.keyboard.press("h")
    expect(page.locator(".rf-secret:visible")).to_have_count(0)
    assert page.evaluate(places) == before
    page.reload()
    expect(page.locator("[data-testid=card][data-complete=yes]")).to_be_visible()
    expect(page.locator(".rf-secret:visible")).to_have_count(0)
    part(page, "blind").click()
    expect(page.locator(".rf-secret").first).to_be_visible()


def test_a_verdict_for_a_selection_is_one_step_to_undo(opened) -> None:
    page, workspace = opened
    order = rows(page)
    chosen = order[2:12]
    offered = {case.node_id: case.inclusion_probability for case in workspace.cases.queue(n=50)}
    row(page, chosen[0]).click(modifiers=["Control"])
    row(page, chosen[-1]).click(modifiers=["Shift"])
    expect(part(page, "selection")).to_contain_text("10 nodes")
    page.keyboard.press("a")
    for node in chosen:
        marked(page, node, "anomalous")
    shows(page, order[0])
    settled(page)
    assert verdicts(workspace) == dict.fromkeys(chosen, "anomalous")
    drawn = {node: event.inclusion_probability for node, event in workspace.verdicts.current().items()}
    assert drawn == {node: offered[node] for node in chosen}
    page.keyboard.press("z")
    for node in chosen:
        marked(page, node, "")
    settled(page)
    assert verdicts(workspace) == {}


def test_the_group_of_a_case_is_labelled_as_one(opened) -> None:
    page, workspace = opened
    node = rows(page)[0]
    page.keyboard.press("g")
    expect(part(page, "ring").locator("input").first).to_be_checked()
    members = part(page, "ring").locator("input").evaluate_all("boxes => boxes.map(b => b.value)")
    assert node in members
    page.keyboard.press("n")
    expect(part(page, "ring")).to_be_hidden()
    settled(page)
    assert verdicts(workspace) == dict.fromkeys(members, "normal")
    assert [n for n, event in workspace.verdicts.current().items() if event.strategy] == [node]
    page.keyboard.press("z")
    settled(page)
    assert verdicts(workspace) == {}


def test_the_dialog_says_how_much_a_group_counts(opened) -> None:
    page, workspace = opened
    ids = [str(node) for node in workspace.graph.node_ids]
    node = next(node for node in ids if len(workspace.cases.group(node).node_ids) > 3)
    page.goto(f"{page.url}&case={node}")
    shows(page, node)
    expect(page.locator("[data-testid=card][data-complete=yes]")).to_be_visible()
    page.keyboard.press("g")
    expect(part(page, "ring-reason")).to_contain_text("closely linked")
    boxes = part(page, "ring").locator("input")
    expect(boxes.first).to_be_checked()
    others = boxes.count() - 1
    counts = part(page, "group-counts")
    root = round(others**0.5, 1)
    expect(counts).to_contain_text(f"the {others} others together count as {root:g} verdicts")
    part(page, "counts-one").click()
    expect(counts).to_contain_text("count as one")
    boxes.last.uncheck()
    part(page, "counts-full").click()
    expect(counts).to_contain_text("so does the other" if others == 2 else f"count as {others - 1} verdicts")
    part(page, "counts-root").click()
    part(page, "group-anomalous").click()
    settled(page)
    weights = {marked: event.weight for marked, event in workspace.verdicts.current().items()}
    assert weights.pop(node) == 1
    assert list(weights.values()) == pytest.approx([1 / (others - 1) ** 0.5] * (others - 1))


def test_blind_mode_says_that_it_hides_the_reasons(opened) -> None:
    page, _ = opened
    part(page, "tab-why").click()
    expect(part(page, "why")).to_be_visible()
    expect(part(page, "why-hidden")).to_be_hidden()
    page.keyboard.press("h")
    expect(part(page, "why-hidden")).to_contain_text("Press H")
    expect(part(page, "why-hidden")).to_be_visible()
    assert page.locator(".rf-why > .rf-secret").evaluate("e => e.getBoundingClientRect().height") == 0
    page.keyboard.press("h")
    expect(part(page, "why-hidden")).to_be_hidden()


def test_the_picture_shows_what_raises_and_lowers_the_score_while_why_is_open(tabs, server, project) -> None:
    workspace, page = project(labels=True, models=("an+",)), tabs.new()
    open_label(page, server, workspace)
    first, second = rows(page)[:2]
    assert reasons_in_view(page) == {"nodes": {}, "edges": {}}
    page.keyboard.press("w")
    wait_for_reasons(page, first)
    shown, told = reasons_in_view(page), workspace.insight.explain(first)
    ups = {part.name for part in told.neighbours if part.value > 0}
    assert {node for node, way in shown["nodes"].items() if way == "up"} <= ups
    falls = {part.name for part in told.edges if part.value < 0}  # without the edge the score falls
    assert {node for node, edge in shown["edges"].items() if edge["up"]} <= falls
    assert shown["nodes"]
    assert shown["edges"]
    page.keyboard.press("h")
    expect(page.locator(".gv-why")).to_be_hidden()
    page.keyboard.press("h")
    wait_for_reasons(page, first)
    page.keyboard.press("j")
    shows(page, second)
    wait_for_reasons(page, second)
    of_second = {part.name for part in workspace.insight.explain(second).neighbours}
    assert set(reasons_in_view(page)["nodes"]) <= of_second
    page.keyboard.press("w")
    expect(page.locator(".gv-why")).to_be_hidden()
    assert reasons_in_view(page) == {"nodes": {}, "edges": {}}


def reasons_in_view(page: Page) -> dict:
    return page.evaluate("document.querySelector('[data-testid=graph] .gv').graphView.pushed()")


def wait_for_reasons(page: Page, node: str) -> None:
    expect(page.locator(f"[data-testid=graph] .gv[data-centre='{node}'] .gv-why")).to_be_visible()


STILL = """(id) => {
  const at = JSON.stringify(document.querySelector("[data-testid=graph] .gv").graphView.locate(id));
  const same = at === window.seen;
  window.seen = at;
  return same;
}"""


def choose(page: Page, node: str, item: str) -> None:
    """Pick an item of a node's menu, once the picture has come to rest."""
    page.wait_for_function(STILL, arg=node)
    at = page.evaluate("id => document.querySelector('[data-testid=graph] .gv').graphView.locate(id)", node)
    page.mouse.click(at["x"], at["y"], button="right")
    page.locator(".gv-menu", has_text=node).get_by_role("menuitem", name=item).click()


def test_neighbours_are_unfolded_folded_and_unfolded_again(opened) -> None:
    page, workspace = opened
    centre = rows(page)[0]
    shows(page, centre)
    view = workspace.cases.neighbourhood(centre)
    node = max(view.nodes[1:], key=lambda node: node.hidden).node_id
    more = len(workspace.cases.neighbourhood(centre, expanded=[node]).nodes)
    picture = page.locator("[data-testid=graph] .gv")
    expect(picture).to_have_attribute("data-nodes", str(len(view.nodes)))
    choose(page, node, "Show more of its neighbours")
    expect(picture).to_have_attribute("data-nodes", str(more))
    choose(page, node, "Fold its added neighbours away")
    expect(picture).to_have_attribute("data-nodes", str(len(view.nodes)))
    choose(page, node, "Show more of its neighbours")
    expect(picture).to_have_attribute("data-nodes", str(more))


def test_any_node_in_the_picture_can_be_marked_and_centred(opened) -> None:
    page, workspace = opened
    centre = rows(page)[0]
    shows(page, centre)
    view = "document.querySelector('[data-testid=graph] .gv').graphView"
    nodes = [n for n, _ in workspace.graph.adjacency[[workspace.graph.index_of(centre)]].todok().items()]
    other = next(
        str(workspace.graph.node_ids[n[-1]])
        for n in nodes
        if page.evaluate(f"id => {view}.locate(id)", str(workspace.graph.node_ids[n[-1]]))
    )
    at = page.evaluate(f"id => {view}.locate(id)", other)
    page.mouse.click(at["x"], at["y"], button="right")
    page.get_by_role("menuitem", name="Mark anomalous").click()
    settled(page)
    assert verdicts(workspace) == {other: "anomalous"}
    shows(page, centre)
    page.mouse.dblclick(at["x"], at["y"])
    shows(page, other)
    page.keyboard.press("b")
    shows(page, centre)
