"""A team on the labelling screen: reasons, assigned cases, second opinions."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from gadcore.workspace import Workspace

from .conftest import Server, Tabs, open_label, part, settled
from .label_screen import row, rows, shows


def open_as(tabs: Tabs, server: Server, workspace: Workspace, name: str) -> Page:
    page = tabs.new()
    page.context.add_cookies([{"name": "ringfence_analyst", "value": name, "url": server.url}])
    page.add_init_script(f"localStorage.setItem('ringfence:analyst', JSON.stringify('{name}'))")
    open_label(page, server, workspace)
    expect(part(page, "analyst")).to_have_value(name)
    return page


def test_a_reason_is_one_click_or_key_and_never_in_the_way(opened) -> None:
    page, workspace = opened
    first, second = rows(page)[:2]
    expect(part(page, "reasons")).to_be_empty()
    page.keyboard.press("a")
    shows(page, second)
    expect(part(page, "reasons")).to_contain_text(f"Why anomalous? {first}")
    chosen = part(page, "reasons").locator("[aria-pressed=true]")
    part(page, "reasons").get_by_role("button", name="mule account").click()
    expect(chosen).to_have_text("mule account")
    shows(page, second)  # the next case is still in front
    page.keyboard.press("n")
    expect(part(page, "reasons")).to_contain_text(f"Why normal? {second}")
    expect(chosen).to_have_count(0)
    page.keyboard.press("Shift+Digit6")
    expect(chosen).to_have_text("ordinary business")
    page.keyboard.press("r")
    expect(part(page, "reason-list")).to_be_visible()
    page.keyboard.press("7")
    expect(chosen).to_have_text("too little to tell")
    settled(page)
    given = {node: event.reason for node, event in workspace.verdicts.current().items()}
    assert given == {first: "mule account", second: "too little to tell"}
    row(page, first).click()
    expect(part(page, "events")).to_contain_text("mule account")
    expect(chosen).to_have_text("mule account")


def test_selected_cases_are_assigned_and_come_first(tabs, server, project) -> None:
    workspace = project()
    lead = open_as(tabs, server, workspace, "lea")
    chosen = rows(lead)[3:5]
    for node in chosen:
        row(lead, node).click(modifiers=["Control"])
    part(lead, "assign").click()
    part(lead, "assign-to").fill("eva")
    part(lead, "assign-go").click()
    expect(part(lead, "toasts")).to_contain_text("Assigned 2 cases to eva.")
    expect(row(lead, chosen[1])).to_have_count(0)
    eva = open_as(tabs, server, workspace, "eva")
    shows(eva, chosen[0])
    assert rows(eva)[:2] == chosen
    expect(row(eva, chosen[1])).to_contain_text("assigned to you by lea")
    eva.keyboard.press("n")
    shows(eva, chosen[1])
    settled(eva)
    assert [(each.analyst, each.open, each.done) for each in workspace.cases.assigned()] == [
        ("eva", chosen[1:], 1)
    ]


def test_a_second_opinion_is_given_without_knowing_the_first(tabs, server, project) -> None:
    workspace = project()
    node = workspace.cases.queue(n=1)[0].node_id
    workspace.verdicts.record(node, "anomalous", analyst="zoe", reason="mule account", note="seen before")
    eva = open_as(tabs, server, workspace, "eva")
    part(eva, "tune").click()
    part(eva, "overlap").select_option("1")
    eva.keyboard.press("Escape")
    expect(row(eva, node)).to_have_count(1)  # it is among the cases to decide now
    row(eva, node).click()
    shows(eva, node)
    expect(eva.locator("[data-testid=card][data-complete=yes]")).to_be_visible()
    for word in ("zoe", "mule account", "seen before"):
        expect(part(eva, "workbench").get_by_text(word, exact=True)).to_have_count(0)
    eva.keyboard.press("n")  # asks nothing: there is nobody to contradict
    settled(eva)
    assert workspace.verdicts.current()[node].analyst == "eva"
    row(eva, node).click()
    expect(part(eva, "dispute")).to_contain_text("zoe: anomalous")
