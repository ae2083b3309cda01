"""The extensions study: graphs without attributes or without nodes, and the cells to measure."""

from __future__ import annotations

import json

import numpy as np

from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.studies.extensions import (
    VARIANTS,
    ExtensionFit,
    arriving,
    fits,
    without_attributes,
    without_nodes,
)
from gadcore.studies.splits import Split


def path_of_six() -> Graph:
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    return make_graph("abcdef", np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]), x)


def test_without_attributes_keeps_nodes_and_edges() -> None:
    graph = path_of_six()
    bare = without_attributes(graph)
    assert bare.attribute_free
    assert (bare.x.toarray() == np.eye(6)).all()
    assert (bare.adjacency != graph.adjacency).nnz == 0


def test_absent_nodes_take_their_edges_with_them() -> None:
    before, row = without_nodes(path_of_six(), np.array([2, 5]))
    assert list(before.node_ids) == ["a", "b", "d", "e"]
    assert row.tolist() == [0, 1, -1, 2, 3, -1]
    assert before.n_edges == 2  # a–b and d–e
    assert before.x.tolist() == [[0, 1], [2, 3], [6, 7], [8, 9]]


def test_only_test_nodes_arrive_later_and_the_seed_decides_which() -> None:
    none = np.zeros(0, dtype=np.int64)
    test = np.arange(20, 100)
    split = Split(Labels(none, none), None, test, seed=3)
    late = arriving(split, 100)
    assert len(late) == 20
    assert set(late) <= set(test)
    assert (late == arriving(split, 100)).all()


def test_costly_variants_come_last() -> None:
    wanted = fits(["cora", "photo"], list(VARIANTS), splits=2)
    assert len(wanted) == 2 * 2 * len(VARIANTS)
    encoders = [dict(cell.params).get("encoder") for cell in wanted]
    assert set(encoders[-8:]) == {"sage", "gat"}
    assert not {"sage", "gat"} & set(encoders[:-8])


def test_a_stored_row_has_the_key_of_its_cell() -> None:
    cell = ExtensionFit("cora", "an", 0.025, 1, params=(("encoder", "gat"),), experiment="encoder")
    row = {"experiment": "encoder", "graph": "cora", "method": "an", "seed": 1, "rate": 0.025}
    stored = json.loads(json.dumps({**row, "stratified": False, "params": {"encoder": "gat"}}))
    assert ExtensionFit.of(stored) == cell
