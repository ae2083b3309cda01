"""Practise yourself in a browser: a copy is begun, labelled by key on the real screen, then scored."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from gadcore.practice.person import copies
from gadcore.workspace import Workspace

from .conftest import TIMEOUT, Server, Tabs, part, settled

PATIENCE = 3 * TIMEOUT  # a page that is opened first imports all that it needs, and the charts their library


def open_practice(page: Page, server: Server, workspace: Workspace) -> None:
    page.goto(server.page_of(workspace, "Benchmark"))
    page.get_by_role("tab", name="Practice").click(timeout=PATIENCE)
    expect(page.locator(".st-key-self-play").get_by_role("button")).to_be_visible(timeout=PATIENCE)


def test_a_person_practises_and_sees_the_own_curve(
    server: Server, tabs: Tabs, project: Callable[..., Workspace]
) -> None:
    workspace, page = project(), tabs.new()
    open_practice(page, server, workspace)
    begin = page.locator(".st-key-self-play").get_by_role("button", name="Practise yourself")
    begin.click()
    expect(page.locator("[data-testid=card][data-complete=yes]")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[data-testid=graph] [data-centre]")).to_be_attached()
    (copy,) = copies(workspace)
    expect(page.get_by_text(copy.name).first).to_be_visible()
    for given in range(1, 6):
        page.keyboard.press("a")
        expect(part(page, "counts").locator("[data-count=anomalous] b")).to_have_text(str(given))
    settled(page)
    open_practice(page, server, Workspace.open(copy.id))
    curve = page.locator(".st-key-self-play-curve")
    expect(curve.locator(".js-plotly-plot")).to_be_visible()
    expect(curve.locator(".legendtext", has_text="You (ana)")).to_be_visible()
    expect(page.get_by_test_id("stMetric").filter(has_text="Verdicts").first).to_contain_text("5")
    assert workspace.verdicts.counts()["anomalous"] == 0
    page.get_by_role("button", name="Start over").click()
    page.locator(".st-key-self-play-reset").get_by_role("button").click()
    expect(begin).to_be_visible()
    assert copies(workspace) == []
