"""The labelling screen in a browser: keys and mouse, nothing lost, undo over a reload, two people at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from gadcore.workspace import Workspace

from .conftest import Server, Tabs, open_label, part, settled

MakeProject = Callable[..., Workspace]


def rows(page: Page) -> list[str]:
    """Node ids of the queue, from the top."""
    return page.locator("[data-testid=queue] .rf-row").evaluate_all("rows => rows.map(r => r.dataset.node)")


def row(page: Page, node: str):
    return page.locator(f"[data-testid=queue] .rf-row[data-node='{node}']")


def shows(page: Page, node: str) -> None:
    expect(page.locator(f"[data-testid=card][data-node='{node}']")).to_be_visible()


def marked(page: Page, node: str, verdict: str) -> None:
    expect(row(page, node).locator(f".rf-chip[data-verdict='{verdict}']")).to_have_count(1)


def verdicts(workspace: Workspace) -> dict[str, str]:
    return {node: event.verdict.value for node, event in workspace.current().items() if event.verdict}


@pytest.fixture
def opened(tabs: Tabs, server: Server, project: MakeProject) -> tuple[Page, Workspace]:
    """The screen of a fresh, ranked project without labels."""
    workspace, page = project(), tabs.new()
    open_label(page, server, workspace)
    return page, workspace


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


def test_forty_quick_keys_are_all_recorded(opened) -> None:
    page, workspace = opened
    order = rows(page)[:40]
    keys = ["a", "n", "u", "n"] * 10
    for key in keys:
        page.keyboard.press(key)
    settled(page)
    words = {"a": "anomalous", "n": "normal", "u": "unsure"}
    assert verdicts(workspace) == {node: words[key] for node, key in zip(order, keys)}


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
    order = rows(page)[:6]
    for _ in order:
        page.keyboard.press("n")
    page.reload()
    expect(part(page, "counts").locator("[data-count=normal] b")).to_have_text("6")
    settled(page)
    assert verdicts(workspace) == dict.fromkeys(order, "normal")


def test_keys_are_silent_while_a_note_is_written(opened) -> None:
    page, workspace = opened
    node = rows(page)[0]
    page.keyboard.press("m")
    expect(part(page, "note")).to_be_focused()
    page.keyboard.type("paid an unusual sum")
    page.keyboard.press("Enter")
    settled(page)
    assert verdicts(workspace) == {}
    assert workspace.case(node).note == "paid an unusual sum"
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
    chosen = order[2:6]
    row(page, chosen[0]).click(modifiers=["Control"])
    row(page, chosen[-1]).click(modifiers=["Shift"])
    expect(part(page, "selection")).to_contain_text("4 nodes")
    page.keyboard.press("a")
    for node in chosen:
        marked(page, node, "anomalous")
    shows(page, order[0])
    settled(page)
    assert verdicts(workspace) == dict.fromkeys(chosen, "anomalous")
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
    page.keyboard.press("z")
    settled(page)
    assert verdicts(workspace) == {}


def test_the_dialog_says_how_much_a_group_counts(opened) -> None:
    page, workspace = opened
    ids = [str(node) for node in workspace.graph.node_ids]
    node = next(node for node in ids if len(workspace.ring(node)) > 3)
    page.goto(f"{page.url}&case={node}")
    shows(page, node)
    expect(page.locator("[data-testid=card][data-complete=yes]")).to_be_visible()
    page.keyboard.press("g")
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
    weights = {marked: event.weight for marked, event in workspace.current().items()}
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
    page.keyboard.press("h")
    expect(part(page, "why-hidden")).to_be_hidden()


def choose(page: Page, node: str, item: str) -> None:
    """Pick an item of a node's menu; a click that meets a picture still in motion is made again."""
    view = "document.querySelector('[data-testid=graph] .gv').graphView"
    for _ in range(10):
        at = page.evaluate(f"id => {view}.locate(id)", node)
        page.mouse.click(at["x"], at["y"], button="right")
        found = page.locator(".gv-menu", has_text=node).get_by_role("menuitem", name=item)
        try:
            expect(found).to_be_visible(timeout=3_000)
        except AssertionError:
            continue
        found.click()
        return
    raise AssertionError(f"no menu of {node} with {item!r}")


def test_neighbours_are_unfolded_folded_and_unfolded_again(opened) -> None:
    page, workspace = opened
    centre = rows(page)[0]
    shows(page, centre)
    view = workspace.neighbourhood(centre)
    node = max(view.nodes[1:], key=lambda node: node.hidden).node_id
    more = len(workspace.neighbourhood(centre, expanded=[node]).nodes)
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


def test_two_people_see_each_others_labels(tabs, server, project) -> None:
    workspace = project()
    ana, ben = tabs.new(), tabs.new()
    for page, name in ((ana, "ana"), (ben, "ben")):
        open_label(page, server, workspace)
        part(page, "analyst").fill(name)
        part(page, "analyst").press("Enter")
    first, second = rows(ana)[:2]
    ana.keyboard.press("a")
    marked(ben, first, "anomalous")
    row(ben, second).click()
    shows(ben, second)
    ben.keyboard.press("n")
    marked(ana, second, "normal")
    settled(ben)
    assert {node: event.analyst for node, event in workspace.current().items()} == {
        first: "ana",
        second: "ben",
    }
    ana.keyboard.press("z")  # takes back ana's verdict, not the later one of ben
    settled(ana)
    assert verdicts(workspace) == {second: "normal"}


def test_a_retrain_brings_a_new_order_and_leaves_the_case(tabs, server, project) -> None:
    workspace, page = project(labels=True), tabs.new()
    open_label(page, server, workspace)
    node = rows(page)[0]
    shows(page, node)
    page.keyboard.press("t")
    expect(part(page, "progress")).not_to_be_empty()
    expect(part(page, "model")).to_contain_text("Run 2", timeout=120_000)
    expect(part(page, "toasts")).to_contain_text("next case")
    expect(part(page, "progress")).to_be_empty()
    shows(page, node)
    top = next(other for other in rows(page) if other != node)
    page.keyboard.press("u")
    shows(page, top)
    assert workspace.current_run().number == 2


def test_enough_verdicts_retrain_by_themselves(tabs, server, project) -> None:
    workspace, page = project(labels=True, models=("sgc-lr",)), tabs.new()
    open_label(page, server, workspace)
    part(page, "auto").select_option("10")
    settled(page)
    for key in ["a", "n"] * 5:
        page.keyboard.press(key)
    settled(page)
    expect(part(page, "model")).to_contain_text("Run 2", timeout=120_000)
    expect(part(page, "counts").locator("[data-count=fresh] b")).to_have_text("0")
    used = workspace.current_run()
    assert (used.number, used.normal + used.anomalous) == (2, 48)


def test_the_order_can_be_filtered(opened) -> None:
    page, _ = opened
    first = rows(page)[0]
    page.keyboard.press("a")
    settled(page)
    part(page, "filter").select_option("anomalous")
    expect(page.locator("[data-testid=queue] .rf-row")).to_have_count(1)
    assert rows(page) == [first]
    part(page, "filter").select_option("unsure")
    expect(part(page, "queue-state")).to_contain_text("No node fits")
    part(page, "filter").select_option("unlabelled")
    expect(row(page, first)).to_have_count(0)
    expect(page.locator("[data-testid=queue] .rf-row").first).to_be_visible()


def test_labelled_cases_are_reviewed_one_after_another(opened) -> None:
    page, workspace = opened
    first, second = rows(page)[:2]
    page.keyboard.press("a")
    page.keyboard.press("a")
    settled(page)
    part(page, "filter").select_option("anomalous")
    expect(page.locator("[data-testid=queue] .rf-row")).to_have_count(2)
    top, bottom = rows(page)
    assert {top, bottom} == {first, second}
    row(page, top).click()
    shows(page, top)
    page.keyboard.press("n")
    shows(page, bottom)
    settled(page)
    assert verdicts(workspace) == {top: "normal", bottom: "anomalous"}


def test_export_is_one_key_away_and_knows_the_last_verdict(opened) -> None:
    page, workspace = opened
    page.keyboard.press("a")
    page.keyboard.press("x")
    expect(page.get_by_role("heading", name="Export").first).to_be_visible()
    assert list(verdicts(workspace).values()) == ["anomalous"]


def test_links_to_other_pages_wait_for_the_last_verdicts(opened) -> None:
    page, workspace = opened
    order = rows(page)[:8]
    for _ in order:
        page.keyboard.press("n")
    page.get_by_role("link", name="Train").first.click()
    expect(page.get_by_role("heading", name="Train").first).to_be_visible()
    assert verdicts(workspace) == dict.fromkeys(order, "normal")


def test_all_keys_are_listed(opened) -> None:
    page, _ = opened
    page.keyboard.press("?")
    expect(part(page, "help-dialog")).to_contain_text("undo")
    page.keyboard.press("a")  # silent under a dialog
    page.keyboard.press("Escape")
    expect(part(page, "help-dialog")).to_be_hidden()
    expect(part(page, "counts").locator("[data-count=anomalous] b")).to_have_text("0")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (2560, 1300)])
def test_everything_fits_the_window(tabs, server, project, width, height) -> None:
    workspace, page = project(), tabs.new(width=width, height=height)
    open_label(page, server, workspace)
    sizes = page.evaluate(
        """() => {
          const main = document.querySelector('.stMain');
          const strip = document.querySelector('.rf-strip');
          return {across: main.scrollWidth - main.clientWidth, strip: strip.scrollWidth - strip.clientWidth,
                  bottom: document.querySelector('.rf-panes').getBoundingClientRect().bottom - innerHeight};
        }"""
    )
    assert sizes["across"] <= 0
    assert sizes["strip"] <= 0
    assert sizes["bottom"] <= 0


def test_a_point_on_the_map_opens_its_case(tabs, server, project) -> None:
    workspace, page = project(labels=True, models=("an",)), tabs.new()  # a model with an embedding
    open_label(page, server, workspace)
    current = rows(page)[0]
    expect(page.locator(f"[data-testid=map-current][data-node={current}]")).to_be_visible()
    page.locator(".js-plotly-plot .nsewdrag").first.scroll_into_view_if_needed()
    target = page.evaluate(
        """current => {
          const plot = document.querySelector('.js-plotly-plot');
          const { xaxis, yaxis } = plot._fullLayout;
          const points = plot._fullData.filter(t => t.name.startsWith('No verdict')).flatMap(
            t => Array.from(t.x, (x, i) => ({ node: t.text[i], px: xaxis.c2p(x), py: yaxis.c2p(t.y[i]) })));
          const gap = (p, q) => q === p ? Infinity : Math.hypot(p.px - q.px, p.py - q.py);
          const room = p => Math.min(...points.map(q => gap(p, q)));
          const others = points.filter(p => p.node !== current).map(p => ({ ...p, room: room(p) }));
          const { node, px, py } = others.sort((p, q) => q.room - p.room)[0];
          const box = plot.getBoundingClientRect();
          return { node, x: box.left + xaxis._offset + px, y: box.top + yaxis._offset + py };
        }""",
        current,
    )
    page.mouse.move(target["x"], target["y"])
    page.mouse.click(target["x"], target["y"])
    shows(page, target["node"])
    expect(page.locator(f"[data-testid=map-current][data-node={target['node']}]")).to_be_visible()


def test_the_queue_follows_a_verdict_until_the_next_run(
    tabs: Tabs, server: Server, project: MakeProject
) -> None:
    workspace, page = project(labels=True, models=("sgc-lr",)), tabs.new()
    open_label(page, server, workspace)
    basis, moved = part(page, "queue-basis"), page.locator("[data-testid=queue] .rf-provisional")
    expect(basis).to_have_text("Run 1")
    before = rows(page)
    page.keyboard.press("n")
    expect(basis).to_contain_text("Provisional: 1 verdict since run 1")
    expect(part(page, "provisional-place")).to_contain_text("since run 1")
    shows(page, before[1])
    after = rows(page)
    assert after[:3] == before[:3]  # decided, on screen, next
    assert after[3:] != before[3:]
    expect(moved.first).to_be_visible()
    page.keyboard.press("z")
    expect(basis).to_have_text("Run 1")
    expect(moved).to_have_count(0)
    shows(page, before[0])
    page.keyboard.press("n")
    expect(part(page, "basis-retrain")).to_be_visible()
    part(page, "provisional").click()
    expect(basis).to_have_text("Run 1")
    part(page, "provisional").click()
    expect(basis).to_contain_text("Provisional")
    assert workspace.train("sgc-lr").status == "done"
    expect(basis).to_have_text("Run 2")
    expect(moved).to_have_count(0)
    expect(part(page, "provisional-place")).to_have_count(0)
