"""The labelling screen: a new order from its top, and small windows."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import open_label, part
from .label_screen import rows, shows


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
