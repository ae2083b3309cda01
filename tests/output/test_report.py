"""The one-page report: content, escaping, self-containment, one PDF page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sample_workspace import IDS, SampleWorkspace, sample_run

from gadcore.drawing import VERDICT_COLOURS, VERDICT_SHAPES
from gadcore.errors import RunError
from gadcore.graph.labels import Labels
from gadcore.output import Filters
from gadcore.output.report import report_html, report_pdf
from gadcore.output.report.facts import gather
from gadcore.output.report.pictures import BAR, FLAGGED_BAR, distribution, surroundings


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleWorkspace:
    monkeypatch.setattr(
        "gadcore.output.flagged.explain.reasons",
        lambda graph, folder, nodes, scores: [["far & <wide>"] for _ in nodes],
    )
    return SampleWorkspace(tmp_path / "run")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.texts.append(data)


def parsed(html: str) -> _Tags:
    tags = _Tags()
    tags.feed(html)
    return tags


def test_html_names_the_nodes_the_model_and_the_hashes(workspace) -> None:
    texts = " ".join(parsed(report_html(workspace, analyst="Ana")).texts)
    for part in (*IDS, "Ana", "run 2", "0.875", "f" * 64, "e" * 64, "far & <wide>", "over 80 %"):
        assert part in texts


def test_html_runs_nothing_and_loads_nothing(workspace) -> None:
    tags = parsed(report_html(workspace)).tags
    names = [name for name, _ in tags]
    assert not {"script", "b-x", "iframe", "img", "link", "object"} & set(names)
    assert not [a for _, attrs in tags for a in attrs if a.startswith("on") or a in ("src", "href")]
    assert names.count("svg") == 4  # the distribution and three neighbourhoods


def test_node_ids_and_notes_are_escaped_in_text_and_pictures(workspace) -> None:
    html = report_html(workspace)
    assert "<b>x</b>" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    for svg in re.findall(r"<svg.*?</svg>", html, flags=re.S):
        ElementTree.fromstring(svg)


def test_pdf_is_one_page_whatever_the_texts(workspace, monkeypatch) -> None:
    monkeypatch.setattr(
        "gadcore.output.flagged.explain.reasons",
        lambda graph, folder, nodes, scores: [["long " * 80, "漢字 " * 40, "x" * 500] for _ in nodes],
    )
    content = report_pdf(workspace)
    assert content.startswith(b"%PDF")
    assert content.rstrip().endswith(b"%%EOF")
    assert re.search(rb"/Count 1\b", content)


def test_report_says_when_nothing_is_flagged(workspace) -> None:
    filters = Filters(min_score=99)
    assert "No node passes these filters" in report_html(workspace, filters=filters)
    assert report_pdf(workspace, filters=filters).startswith(b"%PDF")


def test_report_without_a_run_says_to_train(workspace) -> None:
    workspace.lose_result()
    with pytest.raises(RunError, match="Train"):
        report_html(workspace)


def test_report_admits_a_missing_estimate(workspace) -> None:
    workspace.runs.result().info = sample_run(auc=None)
    facts = gather(workspace)
    assert ("out-of-fold AUC", "–") in facts.figures
    assert "no out-of-fold estimate" in facts.caution


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (Filters(top=5), "the 5 highest-ranked nodes"),
        (Filters(), "all nodes, by score"),
        (Filters(verdict=("anomalous", "unsure")), "all nodes with verdict anomalous or unsure, by score"),
        (
            Filters(min_percentile=99, min_probability=0.5, min_score=2),
            "percentile at least 99, score at least 2",
        ),
    ],
)
def test_the_rule_is_said_in_words(filters, words) -> None:
    assert words in filters.in_words()


def test_distribution_draws_every_labelled_node_and_survives_equal_scores(workspace) -> None:
    labels = Labels.from_indices(workspace.graph, normal=[1, 2], anomalous=[0])
    for scores in (np.arange(6.0), np.zeros(6)):
        picture = distribution(scores, labels, np.arange(2), (300, 100))
        assert sum(s.colour == VERDICT_COLOURS["normal"] for s in picture.shapes) == 2
        assert all(np.isfinite(s.points).all() for s in picture.shapes)


def _heights(picture, colour: str) -> list[float]:
    """Heights of the bars of a colour, from left to right."""
    bars = [s.points for s in picture.shapes if s.colour == colour and s.kind == "polygon" and not s.outline]
    return [points[2][1] - points[0][1] for points in bars]


def test_only_flagged_nodes_are_painted_as_flagged(workspace) -> None:
    scores = np.repeat([0.0, 1.0, 2.0], [64, 16, 4])
    flagged = np.array([0, *range(80, 84)])  # one of the lowest nodes, all of the highest
    picture = distribution(scores, Labels.none(), flagged, (300, 100))
    every, orange = _heights(picture, BAR), _heights(picture, FLAGGED_BAR)
    assert np.allclose(np.square(every) / every[0] ** 2 * 64, [64, 16, 4])
    assert np.allclose(np.square(orange) / every[0] ** 2 * 64, [1, 4])
    assert _heights(distribution(scores, Labels.none(), flagged[:0], (300, 100)), FLAGGED_BAR) == []


def test_the_report_counts_the_flagged_nodes_themselves(workspace) -> None:
    facts = gather(workspace, Filters(verdict="unsure"))  # the fourth of six scores
    assert len(_heights(facts.histogram, FLAGGED_BAR)) == 1
    assert len(_heights(facts.histogram, BAR)) == 6


def test_surroundings_stay_inside_the_picture(workspace) -> None:
    picture = surroundings(workspace.cases.neighbourhood(IDS[0]), (168, 150), "a long title " * 9)
    marks = [p for s in picture.shapes if s.kind != "text" for p in s.points]
    assert all(0 <= x <= 168 and 0 <= y <= 150 for x, y in marks)
    assert any(s.text == "+3 more" for s in picture.shapes)


def test_verdicts_look_as_they_do_in_the_app() -> None:
    from pages.common import palette

    for verdict, colour in VERDICT_COLOURS.items():
        assert palette.VERDICT_COLOURS[verdict] == colour
        assert palette.GRAPH_SHAPES[verdict] == VERDICT_SHAPES[verdict]
