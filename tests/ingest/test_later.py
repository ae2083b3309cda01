"""Nodes and edges that arrive later join the graph without changing it, encoded by its own encoders."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from gadcore.errors import InputError
from gadcore.graph import Graph, make_graph
from gadcore.ingest import read_graph, read_more

from .files import assert_well_formed, club, edge_weights, write

NODES = "id,name,age,country,opened\n01,Ann,20,FR,2020-01-01\n02,Bob,40,DE,2021-01-01\n03,Cy,60,FR,\n"
EDGES = "source,target,weight\n01,02,2\n02,03,3\n"


def as_array(graph: Graph) -> np.ndarray:
    return graph.x.toarray() if hasattr(graph.x, "toarray") else np.asarray(graph.x)


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return read_graph(write(tmp_path / "n.csv", NODES), edges=write(tmp_path / "e.csv", EDGES))


@pytest.fixture
def stored(graph: Graph, tmp_path: Path) -> Graph:
    graph.save(tmp_path / "stored")
    return Graph.load(tmp_path / "stored")


def test_new_nodes_are_encoded_as_the_old_ones_were(tmp_path: Path, graph: Graph, stored: Graph) -> None:
    more = write(tmp_path / "more.csv", "id,name,age,country,opened\n04,Di,30,DE,2020-07-02\n05,Ed,99,XX,\n")
    edges = write(tmp_path / "more_edges.csv", "source,target,weight\n04,01,5\n05,04,1\n")
    for old in (graph, stored):
        grown = read_more(old, more, edges=edges)
        assert_well_formed(grown)
        assert list(grown.node_ids) == ["01", "02", "03", "04", "05"]
        np.testing.assert_array_equal(as_array(grown)[:3], as_array(old))
        row = dict(zip(grown.feature_names, as_array(grown)[3]))
        assert row["age"] == pytest.approx(0.25)
        assert (row["country=FR"], row["country=DE"]) == (0.0, 1.0)
        assert 0 < row["opened"] < 1
        last = dict(zip(grown.feature_names, as_array(grown)[4]))
        assert last["age"] == 1.0
        assert last["country=FR"] == last["country=DE"] == 0.0
        assert last["opened is missing"] == 1.0
        assert edge_weights(grown)[frozenset(("04", "01"))] == 5.0
        assert grown.n_edges == 4
        assert grown.display_name(3) == "Di"


def test_edges_alone_may_bring_new_nodes(tmp_path: Path, graph: Graph) -> None:
    grown = read_more(graph, write(tmp_path / "late.csv", "source,target,weight\n01,09,4\n01,02,9\n"))
    assert list(grown.node_ids) == ["01", "02", "03", "09"]
    assert edge_weights(grown)[frozenset(("01", "02"))] == 9.0
    assert dict(zip(grown.feature_names, as_array(grown)[3]))["age"] == pytest.approx(0.5)


def test_nodes_alone_and_nodes_known_already(tmp_path: Path, graph: Graph) -> None:
    grown = read_more(graph, write(tmp_path / "late.csv", "id,age\n01,99\n08,20\n"))
    assert list(grown.node_ids) == ["01", "02", "03", "08"]
    np.testing.assert_array_equal(as_array(grown)[0], as_array(graph)[0])
    assert grown.n_edges == graph.n_edges


def test_without_attributes_new_nodes_have_none(tmp_path: Path) -> None:
    graph = read_graph(write(tmp_path / "e.csv", EDGES))
    grown = read_more(graph, write(tmp_path / "late.csv", "source,target\n03,04\n"))
    assert grown.x.shape == (4, 3)
    assert grown.x[3:].nnz == 0
    assert grown.attribute_free


def test_matrix_graphs_grow_by_their_later_rows(tmp_path: Path) -> None:
    x = np.arange(8.0).reshape(4, 2)
    np.savez(tmp_path / "a.npz", edge_index=np.array([[0, 1], [1, 2]]), x=x[:3])
    np.savez(tmp_path / "b.npz", edge_index=np.array([[0, 1, 2], [1, 2, 3]]), x=x)
    graph = read_graph(tmp_path / "a.npz")
    grown = read_more(graph, tmp_path / "b.npz")
    assert list(grown.node_ids) == ["0", "1", "2", "3"]
    np.testing.assert_array_equal(as_array(grown)[:3], as_array(graph))
    assert grown.n_edges == 3
    np.savez(tmp_path / "c.npz", edge_index=np.array([[0], [3]]), x=np.ones((4, 5)))
    with pytest.raises(InputError, match=r"5 attributes.*Expected: 2 attributes"):
        read_more(graph, tmp_path / "c.npz")


def test_documents_grow_a_graph(tmp_path: Path) -> None:
    old = club()
    nx.write_graphml(old, tmp_path / "old.graphml")
    graph = read_graph(tmp_path / "old.graphml")
    new = nx.Graph()
    new.add_node("late", age=25, town="Köln")
    new.add_edge("late", next(iter(old)), weight=2)
    nx.write_graphml(new, tmp_path / "new.graphml")
    grown = read_more(graph, tmp_path / "new.graphml")
    assert grown.n_nodes == graph.n_nodes + 1
    assert grown.n_edges == graph.n_edges + 1
    row = dict(zip(grown.feature_names, as_array(grown)[-1]))
    assert row["town=Köln"] == 1.0
    np.testing.assert_array_equal(as_array(grown)[:-1], as_array(graph))


def test_what_does_not_fit_is_explained(tmp_path: Path, graph: Graph) -> None:
    with pytest.raises(InputError, match="columns of the graph"):
        read_more(graph, write(tmp_path / "late.csv", "id,shoe\n08,42\n09,43\n"))
    nodes = write(tmp_path / "late.csv", "id,age\n08,42\n")
    with pytest.raises(InputError, match="end outside the node table"):
        read_more(graph, nodes, edges=write(tmp_path / "le.csv", "source,target,weight\nx,y,1\n"))
    bare = make_graph(["a", "b"], np.array([[0], [1]]), np.ones((2, 1)))
    with pytest.raises(InputError, match="made without encoders"):
        read_more(bare, nodes)
