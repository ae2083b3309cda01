"""The labelling screen: what the picture says of a score, the mix of the queue, and small windows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import open_label, part, settled
from .label_screen import rows, shows


def test_the_picture_highlights_what_makes_up_the_score(tabs, server, project) -> None:
    workspace, page = project(labels=True, models=("an",)), tabs.new()
    open_label(page, server, workspace)
    picture = page.locator("[data-testid=graph] [data-centre]")
    expect(picture).to_have_attribute("data-why", "")
    page.keyboard.press("w")
    node = rows(page)[0]
    tried = {part.name for part in workspace.explain(node).edges if part.value}
    expect(part(page, "graph")).to_contain_text("raises the score")
    assert set((picture.get_attribute("data-why") or "").split()) == tried
    page.keyboard.press("h")
    expect(picture).to_have_attribute("data-why", "")
    page.keyboard.press("h")
    page.keyboard.press("w")
    expect(picture).to_have_attribute("data-why", "")


def test_dial_and_audit_share_are_kept(opened) -> None:
    page, workspace = opened
    part(page, "dial").fill("1")
    part(page, "audit-share").select_option("0.5")
    expect(page.locator("[data-testid=queue] .rf-audit")).not_to_have_count(0)
    settled(page)
    assert (workspace.preference("dial"), workspace.preference("audit_share")) == (1.0, 0.5)
    page.reload()
    expect(part(page, "dial")).to_have_value("1")
    expect(part(page, "audit-share")).to_have_value("0.5")
    part(page, "strategy").select_option("top")
    expect(part(page, "dial")).to_be_disabled()


def test_a_new_order_is_shown_from_its_top(opened) -> None:
    page, _ = opened
    part(page, "queue").evaluate("list => list.scrollTo(0, 600)")
    page.locator("[data-testid=queue] .rf-row").nth(20).click()
    part(page, "strategy").select_option("bisection")
    expect(page.locator("[data-testid=queue] .rf-row").first).to_be_in_viewport()


@pytest.mark.parametrize(("width", "height"), [(1100, 800), (900, 900), (420, 800)])
def test_a_small_window_shows_the_whole_case(tabs, server, project, width, height) -> None:
    page = tabs.new(width=width, height=height)
    open_label(page, server, project())
    for verdict in ("anomalous", "normal", "unsure"):
        expect(part(page, f"mark-{verdict}")).to_be_in_viewport(ratio=1)
    for control in ("retrain", "help", "analyst"):
        box = part(page, control).bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width
    main = page.get_by_test_id("stMain")
    assert main.evaluate("main => main.scrollWidth - main.clientWidth") == 0
    first, second = rows(page)[:2]
    shows(page, first)
    page.keyboard.press("n")
    shows(page, second)
