"""Row blocks, arrays in files, and what is kept beside a graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gadcore.detectors.arrays import normalised_adjacency, propagate
from gadcore.detectors.plus.counterparties import circles_of
from gadcore.detectors.plus.graph_cache import GraphCache, leading_directions
from gadcore.detectors.plus.members.unusual import Scale, attribute_distance, neighbour_residual
from gadcore.engine import blocks, fill, places
from gadcore.engine.kept_arrays import (
    FileArray,
    file_of,
    folder_of,
    kept,
    kept_all,
    opened,
    portable,
    release,
)
from gadcore.graph import Graph
from tests.engine.small_blocks import in_small_blocks, random_graph, stored_graph
from tests.linked_graph import random_transfers


@pytest.fixture
def stored(tmp_path, monkeypatch) -> Graph:
    return stored_graph(tmp_path / "graph", monkeypatch)


def test_blocks_cover_all_rows_once() -> None:
    found = blocks.row_blocks(130, 64)
    assert [(b.start, b.stop) for b in found] == [(0, 64), (64, 128), (128, 130)]
    assert blocks.row_blocks(0) == [slice(0, 0)]


def test_rows_of_a_block_are_those_of_the_matrix() -> None:
    matrix = sp.csr_array(np.arange(20.0).reshape(5, 4))
    assert (blocks.rows_of(matrix, slice(1, 3)).toarray() == matrix.toarray()[1:3]).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_products_by_blocks_are_those_of_one_block(monkeypatch, sparse) -> None:
    graph = random_graph(sparse=sparse)
    whole, adjacency = propagate(graph, 2), normalised_adjacency(graph)
    in_small_blocks(monkeypatch)
    for z, own in zip(whole, propagate(graph, 2)):
        np.testing.assert_array_equal(_dense(z), _dense(own))
    np.testing.assert_array_equal(adjacency.toarray(), normalised_adjacency(graph).toarray())


def _dense(z):
    return z.toarray() if sp.issparse(z) else np.asarray(z)


@pytest.mark.parametrize("sparse", [False, True])
def test_unusual_nodes_by_blocks_are_those_of_one_block(monkeypatch, sparse) -> None:
    graph = random_graph(sparse=sparse)
    scale = Scale.of(graph)
    found = [attribute_distance(scale, graph), neighbour_residual(scale, graph)]
    directions = leading_directions(GraphCache(graph).table(2).z, 2, 0).components
    in_small_blocks(monkeypatch)
    np.testing.assert_allclose(Scale.of(graph).spread, scale.spread, rtol=1e-6)
    np.testing.assert_allclose(attribute_distance(scale, graph), found[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(neighbour_residual(scale, graph), found[1], rtol=1e-5, atol=1e-5)
    again = leading_directions(GraphCache(graph).table(2).z, 2, 0).components
    np.testing.assert_allclose(again, directions, rtol=1e-4, atol=1e-4)


def test_circles_by_blocks_are_those_of_one_block(monkeypatch) -> None:
    graph, _ = random_transfers(0, n=200, size=900)
    before = circles_of(graph)
    in_small_blocks(monkeypatch)
    after = circles_of(replace(graph, name="in blocks", feature_names=("other",) * graph.n_features))
    for one, other in zip(before[:3], after[:3]):
        np.testing.assert_array_equal(one, other)


def test_an_array_in_a_file_travels_by_its_place(tmp_path) -> None:
    np.save(tmp_path / "a.npy", np.arange(12.0).reshape(4, 3))
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    found = portable(np.asarray(mapped)[1:3])
    assert isinstance(found, FileArray)
    np.testing.assert_array_equal(opened(found), mapped[1:3])
    assert file_of(np.arange(3)) is None
    assert file_of(mapped[:, 1]) is None  # scattered entries


def test_a_matrix_in_files_travels_by_its_places(stored) -> None:
    found = portable(stored.adjacency)
    assert isinstance(found.data, FileArray)
    assert (opened(found) != stored.adjacency).nnz == 0


def test_what_is_made_of_a_stored_graph_is_made_once(stored) -> None:
    def make(out) -> None:
        calls.append(1)
        out.write(0, np.arange(5))

    calls: list[int] = []
    first = kept(stored, "five", (5,), np.int64, make)
    again = kept(stored, "five", (5,), np.int64, make)
    assert calls == [1]
    assert first.tolist() == again.tolist() == [0, 1, 2, 3, 4]
    assert file_of(again)
    assert not list(folder_of(stored).glob("*.part"))


def test_what_failed_half_way_is_made_again(stored) -> None:
    def fail(out) -> None:
        out.write(0, np.ones(3))
        raise ValueError

    with pytest.raises(ValueError):
        kept(stored, "five", (5,), np.int64, fail)
    assert kept(stored, "five", (5,), np.int64, lambda out: out.write(0, np.arange(5)))[4] == 4


def test_arrays_of_unknown_size_are_kept_together(stored) -> None:
    calls: list[int] = []

    def make():
        calls.append(1)
        return np.arange(3), np.ones((2, 2))

    for _ in range(2):
        a, b = kept_all(stored, ("a", "b"), make)
        assert a.tolist() == [0, 1, 2]
        assert b.shape == (2, 2)
    assert calls == [1]


def test_a_graph_in_memory_keeps_nothing(tmp_path) -> None:
    graph = random_graph()
    assert folder_of(graph) is None
    assert kept_all(graph, ("a",), lambda: [np.zeros(3)])[0].shape == (3,)


def test_products_of_a_stored_graph_are_mapped_and_equal(stored) -> None:
    for z, own in zip(propagate(random_graph(), 2), propagate(stored, 2)):
        np.testing.assert_array_equal(z, own)
        assert file_of(np.asarray(own))


def test_memory_of_mapped_arrays_is_given_back_and_read_again(stored) -> None:
    before = np.array(stored.x)
    release(stored.x)
    release(stored.adjacency)
    np.testing.assert_array_equal(stored.x, before)
    assert stored.adjacency.sum() == random_graph().adjacency.sum()


def test_mapped_memory_is_given_back_when_all_blocks_are_done(stored, monkeypatch) -> None:
    given_back: list[object] = []
    monkeypatch.setattr(places, "release", given_back.append)
    fill(np.empty(300), _first_column, blocks.row_blocks(300), stored.x)
    assert given_back[-1] is stored.x


def _first_column(block: slice, x):
    return x[block, 0]
