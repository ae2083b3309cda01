"""The cases of a report: timelines and main counterparties, in HTML and PDF."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sample_workspace import IDS, SampleWorkspace

from gadcore.graph import Links
from gadcore.output import Filters
from gadcore.output.report import report_html, report_pdf
from gadcore.output.report.cases import cases
from gadcore.output.report.facts import gather
from gadcore.output.report.pictures import IN_BAR, OUT_BAR


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleWorkspace:
    monkeypatch.setattr(
        "gadcore.output.flagged.explain.reasons", lambda graph, folder, nodes, scores: [[] for _ in nodes]
    )
    return SampleWorkspace(tmp_path / "run", linked=True)


def with_amounts(workspace: SampleWorkspace, amounts) -> SampleWorkspace:
    """The same payments with other amounts."""
    links: Links = workspace.graph.links
    workspace.graph = replace(workspace.graph, links=replace(links, amount=amounts))
    return workspace


def heights(picture, colour: str) -> list[tuple[float, float]]:
    """(top, bottom) of the bars of a colour, from left to right."""
    bars = [shape.points for shape in picture.shapes if shape.colour == colour]
    return [(points[0][1], points[2][1]) for points in bars]


def test_every_flagged_node_with_links_is_a_case(workspace) -> None:
    facts = gather(workspace)
    assert [case.title for case in facts.cases] == list(IDS[:5])  # the last one has no links
    assert facts.cases[0].verdict == "anomalous"
    assert ("payments", "8") in facts.figures


def test_a_case_names_its_counterparties_with_direction_amounts_rank_and_verdict(workspace) -> None:
    partners = {partner.name: partner for partner in cases(workspace, IDS[:1])[0].partners}
    assert set(partners) == set(IDS[1:5])
    first = partners["007"]
    assert (first.direction, first.links, first.received, first.sent) == (
        "both ways",
        "3",
        "30 EUR",
        "30.50 EUR",
    )
    assert (first.rank, first.verdict) == ("2", "normal")
    assert (partners["-12.5"].direction, partners["-12.5"].sent, partners["-12.5"].verdict) == ("in", "–", "")


def test_the_bars_of_a_timeline_go_up_and_down_on_one_scale(workspace) -> None:
    known = np.abs(np.nan_to_num(workspace.graph.links.amount, nan=2.0))
    case = cases(with_amounts(workspace, known), ["007"])[0]
    received, sent = (heights(case.timeline, colour) for colour in (IN_BAR, OUT_BAR))
    assert len(received) == len(sent) == 1  # 30.50 received at first, 30 sent back a day later
    (top, line), (same_line, bottom) = received[0], sent[0]
    assert line == pytest.approx(same_line)
    assert (line - top) / (bottom - line) == pytest.approx(30.5 / 30)
    texts = {shape.text for shape in case.timeline.shapes}
    assert {"6 May 2024, 12:00–12:59", "7 May 2024, 12:00–12:59"} <= texts
    assert "EUR" in case.bars
    assert "one bar is one hour" in case.bars


def test_a_timeline_stays_inside_its_picture(workspace) -> None:
    for case in cases(workspace, IDS[:5]):
        for shape in case.timeline.shapes:
            assert all(0 <= x <= case.timeline.width for x, _ in shape.points)
            assert all(0 <= y <= case.timeline.height for _, y in shape.points)


def test_links_that_cannot_be_added_up_are_counted(workspace) -> None:
    case = cases(workspace, IDS[:1])[0]  # one amount is below 0
    assert "(payments)" in case.bars
    without = cases(with_amounts(workspace, None), ["007"])[0]
    assert without.partners[0].received == "2"


def test_html_shows_the_timeline_and_the_counterparties_of_each_case(workspace) -> None:
    html = report_html(workspace)
    pictures = re.findall(r"<svg.*?</svg>", html, flags=re.S)
    titles = [ElementTree.fromstring(svg)[0].text for svg in pictures]
    assert [title for title in titles if title.startswith("Timeline")] == [
        f"Timeline of {n}" for n in IDS[:5]
    ]
    assert html.count("Main counterparties") == 5
    assert '<span class="chip" style="background:#D55E00">anomalous</span>' in html
    assert "<b>x</b>" not in html


def test_pdf_has_four_cases_on_a_page_behind_the_first(workspace) -> None:
    assert re.search(rb"/Count 3\b", report_pdf(workspace))
    assert re.search(rb"/Count 2\b", report_pdf(workspace, filters=Filters(top=4)))


def test_a_graph_without_links_has_no_cases(tmp_path) -> None:
    plain = SampleWorkspace(tmp_path / "run")
    assert cases(plain, IDS) == []
