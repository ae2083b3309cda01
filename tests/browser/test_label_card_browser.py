"""The labelling screen in a browser: figures that add up, the state of the audit, what blind mode hides."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from .conftest import open_label, part
from .label_screen import rows


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
    told = workspace.explain(rows(page)[0])
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
