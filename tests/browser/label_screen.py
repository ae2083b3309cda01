"""What is on the labelling screen, for the tests of it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from gadcore.workspace import Workspace


def rows(page: Page) -> list[str]:
    """Node ids of the queue, from the top."""
    return page.locator("[data-testid=queue] .rf-row").evaluate_all("rows => rows.map(r => r.dataset.node)")


def row(page: Page, node: str):
    return page.locator(f"[data-testid=queue] .rf-row[data-node='{node}']")


def shows(page: Page, node: str) -> None:
    expect(page.locator(f"[data-testid=card][data-node='{node}']")).to_be_visible()


def press_on_each(page: Page, key: str, times: int) -> list[str]:
    """Press a verdict key on one case after the other; gives the cases. Verdicts move those that come."""
    cases = []
    for _ in range(times):
        cases.append(page.locator("[data-testid=card]").get_attribute("data-node") or "")
        page.keyboard.press(key)
    return cases


def marked(page: Page, node: str, verdict: str) -> None:
    expect(row(page, node).locator(f".rf-chip[data-verdict='{verdict}']")).to_have_count(1)


def verdicts(workspace: Workspace) -> dict[str, str]:
    return {
        node: event.verdict.value for node, event in workspace.verdicts.current().items() if event.verdict
    }
