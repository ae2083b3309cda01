"""The labelling screen beside others: two people, retraining, filters, other pages, any size of window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from drawn import offer_of
from playwright.sync_api import expect

from gadcore.workspace import Workspace

from .conftest import Server, Tabs, open_label, part, settled
from .label_screen import marked, press_on_each, row, rows, shows, verdicts


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
    assert {node: event.analyst for node, event in workspace.verdicts.current().items()} == {
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
    assert workspace.runs.in_use().number == 2


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
    used = workspace.runs.in_use()
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


def test_how_cases_are_chosen_can_be_tuned(tabs, server, project) -> None:
    workspace, page = project(labels=True), tabs.new()
    open_label(page, server, workspace)
    part(page, "tune").click()
    part(page, "audit-share").select_option("0.5")
    part(page, "dial").fill("1")
    expect(part(page, "dial-word")).to_have_text("explore")
    part(page, "near-duplicates").check()
    page.keyboard.press("Escape")
    expect(page.locator(".rf-row .rf-audit").nth(8)).to_be_attached()
    settled(page)
    choice = workspace.cases.choice()
    assert (choice.audit_share, choice.dial, choice.near_duplicates) == (0.5, 1.0, True)
    part(page, "strategy").select_option("top")
    settled(page)
    page.reload()
    expect(page.locator(".rf-row").first).to_be_visible()
    part(page, "tune").click()
    expect(part(page, "audit-share")).to_have_value("0.5")
    expect(part(page, "dial")).to_have_value("1")
    expect(part(page, "dial")).to_be_disabled()


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
    judged = press_on_each(page, "n", 8)
    assert len(set(judged)) == 8
    page.get_by_role("link", name="Train").first.click()
    expect(page.get_by_role("heading", name="Train").first).to_be_visible()
    assert verdicts(workspace) == dict.fromkeys(judged, "normal")


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
          const strip = document.querySelector('.rf-status-bar');
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
    tabs: Tabs, server: Server, project: Callable[..., Workspace]
) -> None:
    workspace, page = project(labels=True, models=("sgc-lr",)), tabs.new()
    workspace.set_preference("audit_share", 0.0)  # a random check may be so plain that it moves nothing
    open_label(page, server, workspace)
    basis, moved = part(page, "queue-basis"), page.locator("[data-testid=queue] .rf-provisional")
    expect(basis).to_have_text("Run 1")
    before = rows(page)
    page.keyboard.press("n")
    expect(basis).to_contain_text("Provisional: 1 change since run 1")
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
    assert workspace.runs.train("sgc-lr").status == "done"
    expect(basis).to_have_text("Run 2")
    expect(moved).to_have_count(0)
    expect(part(page, "provisional-place")).to_have_count(0)


def test_the_first_verdicts_of_a_project_move_the_queue(
    tabs: Tabs, server: Server, project: Callable[..., Workspace]
) -> None:
    workspace, page = project(models=("isolation-forest",)), tabs.new()
    workspace.set_preference("audit_share", 0.0)
    open_label(page, server, workspace)
    basis, needed = part(page, "queue-basis"), part(page, "probability")
    expect(basis).to_have_text("Run 1")
    before = rows(page)
    for turn, key in enumerate("aann", start=1):
        page.keyboard.press(key)
        expect(basis).to_contain_text(f"Provisional: {turn} change")
    expect(needed).to_contain_text("3 more anomalous and 3 more normal")
    after = rows(page)
    assert after[:2] == before[:2]  # decided, on screen
    typical = [
        row.node_id for row in workspace.cases.queue(n=40, provisional=False) if "typical" in row.reason
    ]
    assert set(before[4:8]) <= set(typical)
    assert not set(after[6:12]) & set(typical)  # two of four hit: the ranking is followed
    page.keyboard.press("n")
    expect(basis).to_contain_text("Provisional: 5 changes")
    expect(needed).to_contain_text("3 more anomalous and 2 more normal")


def test_an_open_random_check_stays_one_when_a_run_comes_in(opened) -> None:
    page, workspace = opened
    mark = page.locator("[data-testid=queue] .rf-row", has=page.locator(".rf-audit")).first
    node = mark.get_attribute("data-node")
    offered = next(case for case in workspace.cases.queue(n=60) if case.node_id == node)
    page.keyboard.press("n")
    row(page, node).click()
    shows(page, node)
    page.keyboard.press("t")
    expect(part(page, "model")).to_contain_text("Run 2", timeout=120_000)
    settled(page)
    page.keyboard.press("a")
    settled(page)
    event = workspace.verdicts.current()[node]
    assert (event.strategy, event.inclusion_probability) == ("audit", offered.inclusion_probability)
    assert event.drawn_after == offer_of(workspace, offered.offer).drawn_after


def test_a_queue_without_cases_says_why_and_leaves_room_for_its_controls(opened) -> None:
    page, workspace = opened
    part(page, "strategy").select_option("ring")
    expect(part(page, "queue-state")).to_contain_text("No confirmed anomaly yet")
    pane = page.locator(".rf-queue").evaluate("e => e.getBoundingClientRect().right")
    assert part(page, "tune").evaluate("e => e.getBoundingClientRect().right") <= pane
    workspace.verdicts.record_group([str(node) for node in workspace.graph.node_ids], "normal")
    part(page, "strategy").select_option("top")
    expect(part(page, "queue-state")).to_have_text("Every node has a verdict.")


def test_another_filter_brings_its_first_case_to_the_front(opened) -> None:
    page, workspace = opened
    front, *_, other = rows(page)
    shows(page, front)
    workspace.verdicts.record(other, "anomalous", analyst="bo")
    part(page, "filter").select_option("others")
    shows(page, other)
