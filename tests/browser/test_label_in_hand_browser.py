"""The labelling screen in a browser: one node is in hand, for card, keys, buttons and highlight alike."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from gadcore.workspace import Workspace

from .conftest import part, settled
from .label_screen import marked, row, rows, shows, verdicts

VIEW = "document.querySelector('[data-testid=graph] .gv').graphView"


def click_neighbour(page: Page, workspace: Workspace, centre: str, which: int = 1) -> str:
    """Click a neighbour of the case in the picture; gives its id."""
    other = workspace.cases.neighbourhood(centre).nodes[which].node_id
    at = page.evaluate(f"id => {VIEW}.locate(id)", other)
    page.mouse.click(at["x"], at["y"])
    return other


def in_hand(page: Page, node: str) -> None:
    """Card, name over the picture and the row of the queue, if it has one, are of this node."""
    shows(page, node)
    expect(part(page, "case-id")).to_have_text(node)
    expect(part(page, "crumbs").locator("b")).to_have_attribute("title", node)
    listed = [node] if node in rows(page) else []
    chosen = page.locator("[data-testid=queue] .rf-row[aria-selected=true]")
    assert chosen.evaluate_all("rows => rows.map(r => r.dataset.node)") == listed


def test_a_neighbour_that_is_clicked_is_in_hand_until_it_is_judged(opened) -> None:
    page, workspace = opened
    case = rows(page)[0]
    in_hand(page, case)
    other = click_neighbour(page, workspace, case)
    in_hand(page, other)
    expect(page.locator("[data-testid=graph] .gv")).to_have_attribute("data-selected", other)
    page.keyboard.press("n")
    in_hand(page, case)
    settled(page)
    assert verdicts(workspace) == {other: "normal"}


def test_the_buttons_of_a_neighbours_card_are_for_the_neighbour(opened) -> None:
    page, workspace = opened
    case = rows(page)[0]
    other = click_neighbour(page, workspace, case)
    in_hand(page, other)
    part(page, "mark-anomalous").click()
    in_hand(page, case)
    settled(page)
    assert verdicts(workspace) == {other: "anomalous"}


def test_back_escape_and_another_case_leave_the_neighbour(opened) -> None:
    page, workspace = opened
    case, second = rows(page)[:2]
    for which, key in enumerate(("b", "Escape"), 1):  # another one each time: no double click
        other = click_neighbour(page, workspace, case, which)
        in_hand(page, other)
        page.keyboard.press(key)
        in_hand(page, case)
    in_hand(page, click_neighbour(page, workspace, case, 3))
    page.keyboard.press("j")
    in_hand(page, second)
    page.keyboard.press("u")
    settled(page)
    assert verdicts(workspace) == {second: "unsure"}


def test_the_card_of_several_nodes_names_them_all(opened) -> None:
    page, workspace = opened
    case, *chosen = rows(page)[:4]
    for node in chosen:
        row(page, node).click(modifiers=["Control"])
    expect(part(page, "case-name")).to_have_text("3 nodes selected")
    expect(part(page, "way-back")).to_contain_text("A verdict goes to all of them.")
    listed = part(page, "card-body").locator(".rf-row")
    assert listed.evaluate_all("rows => rows.map(r => r.dataset.node)") == chosen
    part(page, "mark-normal").click()
    shows(page, case)
    settled(page)
    assert verdicts(workspace) == dict.fromkeys(chosen, "normal")


def test_space_after_a_click_on_a_verdict_gives_no_other(opened) -> None:
    page, workspace = opened
    first, second = rows(page)[:2]
    part(page, "mark-normal").click()
    shows(page, second)
    page.keyboard.press("Space")
    page.keyboard.press("j")
    marked(page, first, "normal")
    settled(page)
    assert verdicts(workspace) == {first: "normal"}


def test_a_card_fetched_before_the_latest_run_says_so(run) -> None:
    found = run(
        "card_sections screen_state card_pane",
        """
        const state = standing(m.ScreenState, ["a"], "a");
        const card = { row: row("a", { rank: 5, moved: null, percentile: 90 }), band: "raised" };
        state.keep("a", { card, view: { nodes: [] } });
        const { score: drawn } = m.CardPane.prototype;
        const score = (app) => drawn.call({ app, probability: () => "" }, card).textContent;
        const before = score({ state });
        state.setQueue({ ...queue(["a"], { key: "q-2", basis: { run: 2, verdicts: 0 } }) });
        const after = score({ state });
        state.keep("a", { card, view: { nodes: [] } });
        return [before, after, score({ state })];
        """,
    )
    before, after, fresh = found
    assert before.startswith("Score")
    assert "run" not in before
    assert after.startswith("Score of run 1")
    assert "The queue is of run 2 by now" in after
    assert fresh == before
