"""Exports of graphs with links: derived columns in the list, every link in graphs, and back again."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sample_workspace import IDS, SampleWorkspace

from gadcore import read_graph
from gadcore.graph import Graph
from gadcore.graph.links import DATES, STEPS
from gadcore.output import COLUMNS, export, flagged_table, render
from gadcore.output.subgraph import between, times

GRAPHS = ("graphml", "gexf", "zip")
LINK = ["source", "target", "time", "amount", "kind", "type (attribute)", "branch"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SampleWorkspace:
    monkeypatch.setattr(
        "gadcore.output.flagged.explain.reasons", lambda graph, folder, nodes, scores: [[] for _ in nodes]
    )
    return SampleWorkspace(tmp_path / "run", linked=True)


def links_of(graph: Graph) -> pd.DataFrame:
    """All links by what they say, unknown cells as empty text, ids as a spreadsheet-safe file has them."""
    rows = between(graph, np.arange(graph.n_nodes)).reindex(columns=LINK)
    rows = rows.astype(object).where(rows.notna(), "")
    ends = {end: rows[end].str.removeprefix("'") for end in ("source", "target")}
    return rows.assign(**ends).sort_values(LINK, ignore_index=True, key=lambda c: c.astype(str))


def test_the_list_ends_with_the_columns_that_links_give(workspace) -> None:
    table = flagged_table(workspace, top=2)
    assert tuple(table.columns) == (*COLUMNS, "payments in")
    assert list(table["payments in"]) == [4, 2]


@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
def test_every_list_format_holds_the_columns_that_links_give(workspace, format) -> None:
    readers = {"csv": pd.read_csv, "parquet": pd.read_parquet}
    content = io.BytesIO(render(workspace, flagged_table(workspace), format))
    back = readers[format](content) if format in readers else pd.read_json(content, lines=True)
    assert list(back["payments in"]) == [4, 2, 1, 1, 0, 0]


def test_each_link_is_a_directed_edge_with_all_it_says(workspace) -> None:
    back = nx.read_graphml(io.BytesIO(render(workspace, flagged_table(workspace), "graphml")))
    assert back.is_directed()
    assert back.number_of_edges(IDS[0], IDS[1]) == 2
    sent = min(back.get_edge_data(IDS[0], IDS[1]).values(), key=lambda edge: edge["amount"])
    assert sent == {
        "time": "2024-05-06 12:00:00", "amount": 10.5, "kind": "web", "type (attribute)": "a", "branch": "A",
    }  # fmt: skip
    unknown = next(iter(back.get_edge_data(IDS[0], IDS[3]).values()))
    assert not unknown.get("time")
    assert not unknown.get("kind")


def test_gephi_gets_no_columns_that_the_links_do_not_have(workspace) -> None:
    content = render(workspace, flagged_table(workspace), "gexf").decode()
    assert "networkx_key" not in content


@pytest.mark.parametrize("format", GRAPHS)
def test_reading_an_exported_graph_gives_the_same_links(workspace, tmp_path, format) -> None:
    manifest = export(workspace, tmp_path / f"part.{format}")
    back = read_graph(tmp_path / f"part.{format}")
    pd.testing.assert_frame_equal(links_of(back), links_of(workspace.graph))
    assert manifest.links == len(workspace.graph.links) == len(back.links)


@pytest.mark.parametrize("format", GRAPHS)
def test_only_links_between_flagged_nodes_are_written(workspace, tmp_path, format) -> None:
    manifest = export(workspace, tmp_path / f"part.{format}", top=2)
    back = read_graph(tmp_path / f"part.{format}")
    assert back.n_nodes == 2
    assert sorted(back.links.amount) == [10.5, 20.0, 30.0]
    assert manifest.links == 3


@pytest.mark.parametrize("format", GRAPHS)
def test_a_project_made_of_an_export_can_be_stored(workspace, tmp_path, format) -> None:
    export(workspace, tmp_path / f"part.{format}")
    back = read_graph(tmp_path / f"part.{format}")
    back.save(tmp_path / "stored")
    assert Graph.load(tmp_path / "stored").node_table.columns.is_unique


def test_the_tables_say_how_to_read_them(workspace) -> None:
    with zipfile.ZipFile(io.BytesIO(render(workspace, flagged_table(workspace), "zip"))) as archive:
        assert set(archive.namelist()) == {"nodes.csv", "payments.csv", "mapping.json"}
        mapping = json.loads(archive.read("mapping.json"))
    assert {part: mapping[part] for part in ("time", "amount", "kind", "weight", "repeats")} == {
        "time": "time", "amount": "amount", "kind": "kind", "weight": "", "repeats": "count",
    }  # fmt: skip


def test_tables_of_a_graph_without_links_keep_its_weights(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(
        "gadcore.output.flagged.explain.reasons", lambda graph, folder, nodes, scores: [[] for _ in nodes]
    )
    plain = SampleWorkspace(tmp_path / "run")
    manifest = export(plain, tmp_path / "part.zip")
    back = read_graph(tmp_path / "part.zip")
    assert back.links is None
    assert np.array_equal(back.adjacency.toarray(), plain.graph.adjacency.toarray())
    assert manifest.links == plain.graph.n_edges


def test_times_are_written_as_exactly_as_they_are_known() -> None:
    seconds = np.array([86_400.0, np.nan, 172_800.0])
    assert times(seconds, DATES) == ["1970-01-02", "", "1970-01-03"]
    assert times(np.array([86_400.0, 129_600.0]), STEPS) == [1, 1.5]
    assert times(np.array([0.25]), "clock") == ["1970-01-01 00:00:00.250"]
