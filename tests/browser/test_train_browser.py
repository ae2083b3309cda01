"""Train in a browser: progress, cancel, reload and a second browser during training, a killed worker."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from gadcore.workspace import Workspace

from .conftest import Server, Tabs

LONG = 200_000  # epochs: more than any test waits for


@pytest.fixture
def workspace(project: Callable) -> Workspace:
    return project(labels=True, models=("sgc-lr",))


def open_train(page: Page, server: Server, workspace: Workspace) -> None:
    page.goto(server.page_of(workspace, "Train"))
    expect(page.get_by_role("heading", name="Train", exact=True)).to_be_visible()


def start_long_run(workspace: Workspace) -> str:
    """A run that goes on until it is stopped."""
    params = {"epochs": LONG, "patience": None, "lambda_": 1.0, "folds": 2}
    return workspace.runs.start("an", params=params, device="cpu").id


def test_a_run_is_started_watched_and_taken_into_use(
    server: Server, tabs: Tabs, workspace: Workspace
) -> None:
    page = tabs.new()
    open_train(page, server, workspace)
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="Ours-AN (paper)").click()
    epochs = page.locator(".st-key-an-epochs input")
    epochs.fill("30")
    epochs.press("Enter")
    page.get_by_role("button", name="Train", exact=True).click()
    row = page.locator(".st-key-run-2")
    expect(row).to_contain_text("done", timeout=90_000)
    expect(row).to_contain_text("in use")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    assert workspace.runs.get("2").params["epochs"] == 30
    page.locator(".st-key-use-1").get_by_role("button").click()
    expect(page.locator(".st-key-run-1")).to_contain_text("in use")


def test_a_reload_and_a_second_browser_show_the_same_run_and_either_can_cancel(
    server: Server, tabs: Tabs, workspace: Workspace
) -> None:
    first, second = tabs.new(), tabs.new(dark=True)
    open_train(first, server, workspace)
    start_long_run(workspace)
    first.reload()
    expect(first.get_by_role("progressbar").first).to_be_visible()
    expect(first.locator(".st-key-run-2")).to_contain_text("running", timeout=90_000)
    open_train(second, server, workspace)
    expect(second.locator(".st-key-run-2")).to_contain_text("Run 2")
    cancel = second.locator(".st-key-cancel").get_by_role("button")
    expect(cancel).to_be_visible()
    cancel.click()
    for page in (first, second):
        expect(page.locator(".st-key-run-2")).to_contain_text("cancelled", timeout=60_000)
    assert workspace.verdicts.counts()["anomalous"] == 8


def test_a_killed_worker_is_reported_and_labels_are_safe(
    server: Server, tabs: Tabs, workspace: Workspace
) -> None:
    page = tabs.new()
    start_long_run(workspace)
    open_train(page, server, workspace)
    expect(page.locator(".st-key-run-2")).to_contain_text("running", timeout=90_000)
    os.kill(int(workspace.runs.worker_state()["pid"]), signal.SIGKILL)
    row = page.locator(".st-key-run-2")
    expect(row).to_contain_text("failed", timeout=90_000)
    expect(row).to_contain_text(re.compile("labels", re.IGNORECASE))  # the message says that they are safe
    assert workspace.verdicts.counts()["normal"] == 30
    expect(page.get_by_role("button", name="Train", exact=True)).to_be_enabled()


def test_the_tab_that_was_left_is_there_again(server: Server, tabs: Tabs, workspace: Workspace) -> None:
    node = next(node for node, event in workspace.verdicts.current().items() if event.verdict == "normal")
    workspace.verdicts.record(node, "anomalous", analyst="bo")
    page = tabs.new()
    open_train(page, server, workspace)
    page.get_by_role("tab", name="Second look").click()
    page.locator(f".st-key-open-look-{node}").get_by_role("button").click()
    expect(page.get_by_test_id("dispute")).to_contain_text("ana: normal, bo: anomalous")
    page.get_by_role("link", name="Train", exact=True).click()
    expect(page.get_by_role("heading", name="Train", exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name="Second look")).to_have_attribute("aria-selected", "true")
