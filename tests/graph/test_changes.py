"""What is different between two versions of a graph."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gadcore.graph import Graph, make_graph
from gadcore.graph.changes import GraphChange, read_touched, write_touched
from gadcore.ingest import read, read_together
from gadcore.insight.graph_changes import changes_of
from tests.bank_files import accounts, payments, table_file, write_bank


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return write_bank(tmp_path)


@pytest.fixture
def graph(files: dict[str, Path]) -> Graph:
    return read(files["accounts"], edges=files["payments"]).graph


def test_added_nodes_and_links_are_counted_and_named(graph: Graph, files: dict[str, Path]) -> None:
    later = read_together(graph, None, files["accounts_2"], files["payments_2"]).graph
    change = GraphChange(graph, later)
    assert (change.new.sum(), change.changed.sum(), len(change.gone)) == (10, 0, 0)
    added, lost, repeated = change.links
    assert (added.sum(), lost.sum(), repeated) == (len(later.links) - len(graph.links), 0, 0)
    assert change.links_of.sum() == 2 * added.sum()
    told = changes_of(change, ["A001"], {}, {})
    assert (told.nodes_added, told.word, told.stops) == (10, "payment", [])


def test_a_file_that_was_there_already_is_noticed(graph: Graph, files: dict[str, Path]) -> None:
    again = read_together(graph, None, files["payments"]).graph
    told = changes_of(GraphChange(graph, again), [], {}, {})
    assert told.links_repeated == told.links_added == len(graph.links)
    assert "same file" in told.stops[0]


def test_what_is_gone_or_of_another_kind_stops_an_update(graph: Graph, tmp_path: Path) -> None:
    nodes = accounts().iloc[5:80].drop(columns=["tags"]).assign(country="?")
    links = payments().iloc[:100]
    smaller = read(
        table_file(tmp_path / "n.csv", nodes), edges=table_file(tmp_path / "payments.csv", links)
    ).graph
    change = GraphChange(graph, smaller)
    told = changes_of(change, ["A001", "A050"], {"age": "number"}, {"age": "text"})
    assert (told.nodes_gone, told.labelled_gone) == (5, ["A001"])
    assert (told.columns_missing, told.columns_otherwise) == (["tags"], ["age: number → text"])
    assert told.links_gone > 0
    assert len(told.stops) == 5
    assert change.changed.all()


def test_links_are_compared_by_the_names_of_their_kinds(files: dict[str, Path], tmp_path: Path) -> None:
    graph = read(files["accounts"], edges=files["payments"]).graph
    extra = payments().iloc[:60].assign(kind="wire", amount="1")
    links = [*files["payments"].read_text().splitlines(), *extra.to_csv(index=False).splitlines()[1:]]
    kept = [line for line in links if "A08" not in line]
    (tmp_path / "payments.csv").write_text("\n".join(kept), encoding="utf-8")
    other = read(files["accounts"], edges=tmp_path / "payments.csv").graph
    assert GraphChange(graph, other).links[1].sum() == 0


def test_edges_without_links_are_compared_too() -> None:
    one = make_graph("abc", np.array([[0, 1], [1, 2]]))
    two = make_graph("abcd", np.array([[1, 3], [0, 2]]))
    change = GraphChange(one, two)
    assert [part.sum() for part in change.links[:2]] == [1, 1]
    assert change.lost_a_link.tolist() == [False, True, True, False]
    assert change.touched.tolist() == [1, 2, 3]


def test_touched_nodes_are_kept_with_their_rank_before(
    graph: Graph, files: dict[str, Path], tmp_path: Path
) -> None:
    later = read_together(graph, None, files["accounts_2"], files["payments_2"]).graph
    change = GraphChange(graph, later)
    write_touched(tmp_path / "t.arrow", change, np.arange(1, 81))
    found = read_touched(tmp_path / "t.arrow").set_index("node_id")
    assert len(found) == len(change.touched)
    assert found.loc["A085", "new"]
    assert found.loc["A085", "rank"] == 0
    assert found.loc[~found["new"], "rank"].min() >= 1
