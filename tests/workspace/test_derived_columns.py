"""Columns that links give are columns like others: in search, filters, on the card, in Why and in exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from probe_detector import register, unregister

from gadcore.ingest import read
from gadcore.insight.explain.columns import Columns
from gadcore.insight.explain.link_sentences import derived_sentence
from gadcore.output import flagged_table
from gadcore.settings import Settings
from gadcore.workspace import Filter, Workspace

COLLECTOR = "a0"  # receives 31 payments from 31 accounts on two days


def transfers() -> str:
    """Everybody pays the next one once a week; all but nine pay the collector."""
    rows = [f"a{k},a{k % 39 + 1},{10 + k},2025-01-{1 + k % 28:02d}" for k in range(1, 40)]
    rows += [f"a{k},{COLLECTOR},100.50,2025-02-0{1 + k % 2}" for k in range(1, 32)]
    return "\n".join(["source,target,amount_eur,date", *rows]) + "\n"


@pytest.fixture
def project(settings: Settings, tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "payments.csv").write_text(transfers(), encoding="utf-8")
    register()
    made = Workspace.create("payments", read(tmp_path / "payments.csv"), settings=settings)
    made.runs.train("probe")
    yield made
    unregister()


def test_search_and_filters_compare_them(project: Workspace) -> None:
    assert [row.node_id for row in project.cases.search("total in > 1,000")] == [COLLECTOR]
    assert project.cases.search("payments in >= 31")[0].node_id == COLLECTOR
    where = Filter(column="total in", value="> 1,000 EUR")
    assert [row.node_id for row in project.cases.queue(n=50, where=where)] == [COLLECTOR]


def test_the_card_shows_them_against_peers(project: Workspace) -> None:
    shown = {a.column: a for a in project.cases.card(COLLECTOR).attributes}
    assert shown["total in"].value == "3,115.50 EUR"
    assert shown["payments in"].value == "31"
    assert shown["payments in"].group == "counts"
    assert shown["total in"].percentile == pytest.approx(98.75)
    assert shown["total in"].help


def test_why_tells_them_in_sentences(project: Workspace) -> None:
    graph = project.graph
    view, counts = project.insight.explain(COLLECTOR).reasons[:2]
    assert view == "payments from 31 others within one week, and hardly any before or after"
    assert "counterparties" in counts
    told = derived_sentence(graph, Columns(graph), "payments in", graph.index_of(COLLECTOR))
    assert told.startswith("received 31 payments from 31 counterparties within 2 days")


def test_the_flagged_list_ends_with_them(project: Workspace) -> None:
    table = flagged_table(project, top=40).set_index("node_id")
    assert table.loc[COLLECTOR, "payments in"] == 31
    assert list(table.columns)[-len(project.graph.derived) :] == list(project.graph.derived)
