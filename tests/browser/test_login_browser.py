"""Logins in the browser, under a name that the server does not take for this machine's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from gadcore.access.users import UserList
from gadcore.workspace import Workspace

from .conftest import TEAM, Server, Tabs, open_label, part, settled

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def team(server: Server) -> Server:
    """The server as a team meets it, with two users."""
    for name, role in (("eva", "analyst"), ("vic", "viewer")):
        UserList(server.settings).add(name, role, PASSWORD)
    return replace(server, url=server.url.replace("127.0.0.1", TEAM))


def log_in(page: Page, server: Server, name: str, password: str = PASSWORD) -> None:
    page.goto(server.url)
    expect(page).to_have_url(f"{server.url}/login?next=/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_the_login_is_on_every_page_and_under_every_verdict(
    tabs: Tabs, team: Server, project: Callable[..., Workspace]
) -> None:
    workspace, page = project(), tabs.new(dark=True)
    log_in(page, team, "eva", "wrong password")
    expect(page.get_by_role("alert")).to_have_text("Name and password do not fit together.")
    log_in(page, team, "eva")
    expect(page.get_by_text("eva · analyst")).to_be_visible()
    open_label(page, team, workspace)
    expect(part(page, "analyst")).to_be_disabled()
    expect(part(page, "analyst")).to_have_value("eva")
    page.keyboard.press("n")
    settled(page)
    assert {event.analyst for event in workspace.verdicts.current().values()} == {"eva"}
    page.get_by_text("eva · analyst").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_text("Log in to go on.")).to_be_visible()
    assert "ringfence_login" not in {cookie["name"] for cookie in page.context.cookies()}


def test_a_viewer_looks_and_changes_nothing(
    tabs: Tabs, team: Server, project: Callable[..., Workspace]
) -> None:
    workspace, page = project(), tabs.new()
    log_in(page, team, "vic")
    open_label(page, team, workspace)
    page.keyboard.press("a")
    expect(part(page, "toasts")).to_contain_text("You may not label")
    assert workspace.verdicts.current() == {}
    page.goto(team.page_of(workspace, "Train"))
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_disabled()
    open_label(page, team, workspace)
    UserList(team.settings).set_role("vic", "analyst")
    expect(page).to_have_url(re.compile(r"/login\?next=%2FLabel"))  # the login has ended, and the tab says so


def test_contradicting_a_colleague_asks_first(
    tabs: Tabs, team: Server, project: Callable[..., Workspace]
) -> None:
    workspace, page = project(), tabs.new()
    node = workspace.cases.queue(n=1)[0].node_id
    workspace.verdicts.record(node, "normal", analyst="lea")
    log_in(page, team, "eva")
    page.goto(f"{team.page_of(workspace)}&case={node}")
    expect(page.locator("[data-testid=card][data-complete=yes]")).to_be_visible()
    expect(page.locator("[data-by=lea]").first).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_role("dialog")).to_contain_text("lea said normal")
    assert workspace.verdicts.current()[node].analyst == "lea"
    page.keyboard.press("y")
    settled(page)
    assert workspace.verdicts.current()[node].analyst == "eva"
