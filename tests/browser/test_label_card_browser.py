"""The labelling screen in a browser: figures that add up, the state of the audit, what blind mode hides."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from .conftest import open_label, part, settled
from .label_screen import row, rows, shows


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def bars(page: Page, title: str) -> dict[str, float]:
    """Name and figure of each bar of a section of the why tab."""
    lines = (
        part(page, "why").locator(".rf-section", has=page.get_by_role("heading", name=title)).locator("li")
    )
    names, figures = (
        lines.locator(which).all_text_contents() for which in (".rf-name", "small:not(.rf-detail)")
    )
    return dict(zip(names, map(number, figures), strict=True))


def test_base_and_bars_of_why_add_up_to_the_score(tabs, server, project) -> None:
    workspace, page = project(labels=True, models=("an+",)), tabs.new()
    open_label(page, server, workspace)
    page.keyboard.press("w")
    expect(part(page, "why-sum")).to_be_visible()
    attributes, neighbours = bars(page, "Its attributes"), bars(page, "Its neighbours")
    said = part(page, "why-sum").text_content()
    score, base, *gap = map(number, re.findall(r"[−]?\d+\.\d+", said))
    assert score == pytest.approx(base + sum([*attributes.values(), *neighbours.values(), *gap]), abs=1e-9)
    told = workspace.insight.explain(rows(page)[0])
    assert len(told.neighbours) > len(neighbours)  # some are cut
    assert list(neighbours)[-1] == "other nodes"
    assert "e-" not in part(page, "why").text_content()


def test_the_queue_says_when_the_last_hit_was_and_leads_to_what_is_left(opened) -> None:
    page, _ = opened
    line = part(page, "audit-line")
    expect(line).to_have_text(re.compile("^no label yet · no estimate of what is left yet: 0 of 15"))
    page.keyboard.press("a")
    expect(line).to_contain_text("the last label was a hit")
    page.keyboard.press("n")
    expect(line).to_contain_text("1 label since the last hit")
    expect(line).to_have_attribute("title", re.compile("Too early to say"))
    line.click()
    expect(page).to_have_url(re.compile("/Train"))
    expect(page.get_by_role("tab", name="What is left")).to_be_visible()


def test_blind_mode_hides_which_cases_are_random_checks(opened) -> None:
    page, _ = opened
    mark = page.locator("[data-testid=queue] .rf-audit").first
    expect(mark).to_be_visible()
    page.keyboard.press("h")
    expect(mark).to_be_hidden()
    colours = page.get_by_label("Colour by")
    assert colours.evaluate("select => select.selectedOptions[0].text") == "Colour: verdict"
    expect(colours.locator("option", has_text="score")).to_have_count(0)
    page.keyboard.press("h")
    expect(mark).to_be_visible()
    assert colours.evaluate("select => select.selectedOptions[0].text") == "Colour: score"


def test_the_track_of_the_slider_is_light_on_the_light_theme(opened) -> None:
    page, _ = opened
    part(page, "tune").click()
    dial = part(page, "dial")
    expect(dial).to_be_visible()
    dial.evaluate("range => { range.disabled = false; range.value = 0; range.blur(); }")
    picture = Image.open(BytesIO(dial.screenshot())).convert("L")
    width, height = picture.size
    unfilled = picture.crop((width // 2, 0, width - 12, height))
    assert unfilled.getextrema()[0] > 150


def test_nodes_that_share_a_name_show_their_ids(tabs, server, project) -> None:
    workspace, page = project(namesakes=True), tabs.new()
    open_label(page, server, workspace)
    first = rows(page)[0]
    expect(row(page, first).locator(".rf-id")).to_have_text(first)
    part(page, "tab-similar").click()
    similar = [case.node_id for case in workspace.cases.card(first).similar]
    expect(page.locator(".rf-rowlist .rf-id")).to_have_text(similar)
    page.keyboard.press("g")
    expect(part(page, "ring").locator(".rf-id")).to_have_text(workspace.cases.group(first).node_ids)


def test_a_note_says_how_it_is_saved_and_that_it_was(opened) -> None:
    page, _ = opened
    first = rows(page)[0]
    hint = page.get_by_text("Enter saves, Esc discards")
    expect(hint).to_be_hidden()
    page.keyboard.press("m")
    expect(hint).to_be_visible()
    page.keyboard.type("ask")
    page.keyboard.press("Enter")
    expect(part(page, "toasts")).to_contain_text(f"Note on {first} saved.")
    settled(page)


def test_messages_of_undo_and_redo_replace_each_other(opened) -> None:
    page, _ = opened
    for key in "aan":
        page.keyboard.press(key)
    for key in ("z", "z", "Shift+Z", "z", "z"):
        page.keyboard.press(key)
        settled(page)
    expect(page.locator("[data-about=step]")).to_have_count(1)
    expect(part(page, "toasts")).to_contain_text("Took back the verdict on")


def test_a_selection_says_which_nodes_had_a_verdict(opened) -> None:
    page, workspace = opened
    first, second, third = rows(page)[:3]
    page.keyboard.press("n")
    settled(page)
    for node in (first, second, third):
        row(page, node).click(modifiers=["Control"])
    page.keyboard.press("a")
    told = "3 nodes marked anomalous, 1 of them had another verdict. Z takes all of them back."
    expect(part(page, "toasts")).to_contain_text(told)
    settled(page)
    assert {event.verdict for event in workspace.verdicts.current().values()} == {"anomalous"}
    for node in (first, second, third):
        row(page, node).click(modifiers=["Control"])
    page.keyboard.press("a")
    expect(part(page, "toasts")).to_contain_text("Nothing to change")
    expect(part(page, "toasts")).not_to_contain_text("had this one already")
    settled(page)
    page.keyboard.press("z")  # the step that changed nothing
    settled(page)
    assert {event.verdict for event in workspace.verdicts.current().values()} == {"anomalous"}
    page.keyboard.press("z")
    settled(page)
    assert {node: event.verdict for node, event in workspace.verdicts.current().items()} == {first: "normal"}


def test_a_dispute_is_settled_on_the_card(tabs, server, project) -> None:
    workspace, page = project(), tabs.new()
    node = workspace.cases.queue(n=1)[0].node_id
    workspace.verdicts.record(node, "anomalous", analyst="ann")
    workspace.verdicts.record(node, "normal", analyst="bob")
    page.goto(f"{server.page_of(workspace)}&case={node}")
    line = part(page, "dispute")
    expect(line).to_contain_text("ann: anomalous, bob: normal")
    part(page, "settle-anomalous").click()
    expect(line).to_have_count(0)
    expect(part(page, "mark-anomalous")).to_have_attribute("aria-pressed", "true")
    settled(page)
    assert workspace.insight.agreement().settled == 1
    page.keyboard.press("z")
    expect(line).to_be_visible()
    settled(page)
    assert len(workspace.insight.agreement().disputed) == 1


def test_blind_mode_hides_what_others_said_until_one_has_judged(tabs, server, project) -> None:
    workspace, page = project(), tabs.new()
    nodes = [row.node_id for row in workspace.cases.queue(n=2)]
    workspace.verdicts.record(nodes[0], "anomalous", analyst="bo")
    workspace.verdicts.record(nodes[1], "normal", analyst="bo")
    open_label(page, server, workspace)
    part(page, "filter").select_option("others")
    expect(row(page, nodes[0]).locator(".rf-chip[data-verdict='anomalous']")).to_have_count(1)
    assert set(rows(page)) == set(nodes)
    row(page, nodes[0]).click()
    expect(part(page, "mark-anomalous")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("h")
    expect(part(page, "mark-anomalous")).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".rf-workbench .rf-chip[data-verdict='anomalous']")).to_have_count(0)
    expect(part(page, "events")).to_have_count(0)
    page.keyboard.press("n")
    expect(row(page, nodes[0]).locator(".rf-chip[data-verdict='normal']")).to_have_count(1)
    settled(page)
    assert len(workspace.insight.agreement().disputed) == 1


def test_the_card_of_a_case_fetched_ahead_follows_verdicts_on_its_neighbours(opened) -> None:
    page, workspace = opened
    graph, (first, node) = workspace.graph, rows(page)[:2]
    near = [str(graph.node_ids[i]) for i in graph.neighbours(graph.index_of(node))[0]]
    around = page.locator(".rf-section", has=page.get_by_role("heading", name="Neighbours’ verdicts"))
    page.keyboard.press("j")
    shows(page, node)
    expect(around).to_contain_text(f"{len(near)} unlabelled")
    page.keyboard.press("k")
    shows(page, first)
    workspace.verdicts.record(next(other for other in near if other != first), "anomalous", analyst="bo")
    page.keyboard.press("j")
    shows(page, node)
    expect(around).to_contain_text("1 anomalous", timeout=15_000)
