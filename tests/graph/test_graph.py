"""Graph: symmetry, lookups, fingerprints, save and load."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gadcore.errors import InputError, NotFound
from gadcore.graph import Graph, make_graph, symmetric_csr

EDGES = np.array([[0, 1, 2, 1, 3], [1, 0, 1, 1, 3]])


def test_edges_become_symmetric_without_loops_or_duplicates() -> None:
    weights = np.array([1, 5, 2, 9, 9], dtype=np.float32)
    matrix = symmetric_csr(EDGES[0], EDGES[1], weights, 4)
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 0] = 5  # the larger of the two given weights
    expected[1, 2] = expected[2, 1] = 2
    np.testing.assert_array_equal(matrix.toarray(), expected)


def test_counts_degree_and_neighbours() -> None:
    graph = make_graph("abcd", np.array([[0, 1], [1, 2]]), weights=np.array([2.0, 3.0]))
    assert (graph.n_nodes, graph.n_edges) == (4, 2)
    np.testing.assert_array_equal(graph.degree, [2, 5, 3, 0])
    nodes, weights = graph.neighbours(1)
    assert list(nodes) == [0, 2]
    assert list(weights) == [2, 3]


def test_without_attributes_x_is_the_identity() -> None:
    graph = make_graph("ab", np.array([[0], [1]]))
    assert graph.attribute_free
    np.testing.assert_array_equal(graph.x.toarray(), np.eye(2))


def test_ids_are_found_as_written_and_unknown_ones_are_named() -> None:
    graph = make_graph(["007", " 7", "😀"], np.array([[0], [1]]))
    assert list(graph.indices_of(["😀", "007"])) == [2, 0]
    assert "7" not in graph
    with pytest.raises(NotFound, match="'7'"):
        graph.index_of("7")


def test_display_name_falls_back_to_the_id() -> None:
    table = pd.DataFrame({"who": ["Ann", None]})
    base = make_graph("ab", np.array([[0], [1]]), node_table=table)
    graph = Graph(**{**base.__dict__, "label_column": "who"})
    assert [graph.display_name(0), graph.display_name(1)] == ["Ann", "b"]


@pytest.mark.parametrize("x", [None, np.eye(3, 2), sp.csr_array(np.eye(3, 5))])
def test_save_and_load_give_the_same_graph(tmp_path: Path, x: object) -> None:
    table = pd.DataFrame({"country": ["FR", None, "DE"], "age": [1.5, 2.0, np.nan]})
    graph = make_graph(["x", "y", "z"], np.array([[0, 1], [1, 2]]), x, node_table=table, name="saved")
    graph.save(tmp_path / "g")
    again = Graph.load(tmp_path / "g")
    assert again.fingerprint == graph.fingerprint
    assert again.feature_names == graph.feature_names
    assert list(again.node_ids) == ["x", "y", "z"]
    np.testing.assert_array_equal(again.adjacency.toarray(), graph.adjacency.toarray())
    assert again.node_table["country"].tolist()[0] == "FR"
    assert again.attribute_free is (x is None)


def test_fingerprint_changes_with_an_edge_an_attribute_or_an_id() -> None:
    edges = np.array([[0, 1], [1, 2]])
    graphs = [
        make_graph("abc", edges, np.eye(3)),
        make_graph("abd", edges, np.eye(3)),
        make_graph("abc", edges[:, :1], np.eye(3)),
        make_graph("abc", edges, np.eye(3) * 2),
    ]
    assert len({g.fingerprint for g in graphs}) == 4


def test_parts_of_different_size_are_refused() -> None:
    with pytest.raises(InputError, match="different size"):
        make_graph("abc", np.array([[0], [1]]), np.eye(2))


def test_a_damaged_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="import it again"):
        Graph.load(tmp_path)
