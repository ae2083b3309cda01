"""What arrives later is read as one import of everything would have read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gadcore.graph import Graph
from gadcore.ingest import Mapping, Reading, encoding_of, read, read_more, read_together, seen_with
from gadcore.ingest.updated import read_update
from tests.bank_files import accounts, table_file, write_bank


def dense(graph: Graph) -> np.ndarray:
    return graph.x.toarray() if hasattr(graph.x, "toarray") else np.asarray(graph.x)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return write_bank(tmp_path)


@pytest.fixture
def first(files: dict[str, Path], tmp_path: Path) -> Reading:
    """The first part, stored and opened again."""
    found = read(files["accounts"], edges=files["payments"])
    found.graph.save(tmp_path / "graph")
    return Reading(Graph.load(tmp_path / "graph"), found.report, found.truth)


@pytest.fixture
def whole(files: dict[str, Path]) -> Reading:
    return read(files["all_accounts"], edges=files["all_payments"])


def assert_same(found: Reading, expected: Reading) -> None:
    assert found.graph.feature_names == expected.graph.feature_names
    np.testing.assert_array_equal(dense(found.graph), dense(expected.graph))
    for column in expected.graph.node_table:
        assert found.graph.node_table[column].equals(expected.graph.node_table[column]), column
    assert found.graph.fingerprint == expected.graph.fingerprint
    assert found.truth is not None
    assert expected.truth is not None
    np.testing.assert_array_equal(found.truth.y, expected.truth.y)


def test_two_parts_give_the_graph_of_the_whole(
    first: Reading, whole: Reading, files: dict[str, Path]
) -> None:
    found = read_together(first.graph, first.truth, files["accounts_2"], files["payments_2"])
    assert_same(found, whole)
    assert set(whole.graph.derived) == set(found.graph.derived)


def test_so_do_many_parts_one_after_the_other(
    first: Reading, whole: Reading, files: dict[str, Path], tmp_path: Path
) -> None:
    graph, truth = first.graph, first.truth
    lines = files["payments_2"].read_text(encoding="utf-8").splitlines()
    nodes = read_together(graph, truth, files["accounts_2"])
    graph, truth = nodes.graph, nodes.truth
    for k in range(1, len(lines), 60):
        part = tmp_path / f"payments_part_{k}.csv"
        part.write_text("\n".join([lines[0], *lines[k : k + 60]]), encoding="utf-8")
        found = read_together(graph, truth, part)
        graph, truth = found.graph, found.truth
    assert_same(found, whole)


def test_a_node_that_comes_again_gets_its_new_values_and_keeps_its_place(
    first: Reading, tmp_path: Path
) -> None:
    changed = accounts().iloc[[3]][["id", "country", "balance"]].assign(country="IT", balance="1.234,50 €")
    found = read_together(first.graph, first.truth, table_file(tmp_path / "again.csv", changed)).graph
    assert found.node_ids.tolist() == first.graph.node_ids.tolist()
    row = {column: found.node_table.cell(column, 3) for column in ("country", "balance", "name")}
    assert row == {"country": "IT", "balance": 1234.5, "name": "Client 3"}
    assert found.links.digest == first.graph.links.digest


def test_links_alone_bring_no_node_that_the_node_table_lacks_unless_asked_to(
    first: Reading, tmp_path: Path
) -> None:
    late = tmp_path / "late_payments.csv"
    rows = "A001,A002,2025-04-01,1,card\nA001,A003,2025-04-01,2,card\nA001,Z9,2025-04-01,3,card\n"
    late.write_text(f"source,target,when,amount,kind\n{rows}", encoding="utf-8")
    found = read_together(first.graph, first.truth, late)
    assert found.graph.n_nodes == first.graph.n_nodes
    assert "Z9" in found.report.dropped[0].reason
    added = read_together(first.graph, first.truth, late, mapping=Mapping(unknown="add"))
    assert added.graph.node_ids[added.graph.n_nodes - 1] == "Z9"


def test_a_model_sees_a_later_version_by_its_own_encoders(
    first: Reading, whole: Reading, files: dict[str, Path]
) -> None:
    expected = read_more(first.graph, files["accounts_2"], edges=files["payments_2"])
    seen = seen_with(whole.graph, encoding_of(first.graph))
    assert seen.feature_names == first.graph.feature_names
    np.testing.assert_array_equal(dense(seen), dense(expected))
    assert seen.links.meaning.kinds == expected.links.meaning.kinds
    assert seen.fingerprint not in (whole.graph.fingerprint, first.graph.fingerprint)
    assert seen_with(whole.graph, encoding_of(whole.graph)) is whole.graph


def test_files_in_the_place_of_all_are_read_with_the_parts_that_columns_had(
    tmp_path: Path, files: dict[str, Path]
) -> None:
    mapping = Mapping(ignore=("tags",), kind="")
    old = read(files["accounts"], edges=files["payments"], mapping=mapping)
    found = read_update(old.graph, old.truth, files["all_accounts"], files["all_payments"], way="replace")
    expected = read(files["all_accounts"], edges=files["all_payments"], mapping=mapping)
    assert_same(found, expected)
    assert "tags" not in found.graph.node_table


def test_attributes_that_came_as_a_matrix_keep_their_scale(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", edge_index=np.array([[0, 1], [1, 2]]), x=np.eye(3, 4) * 2)
    np.savez(tmp_path / "b.npz", edge_index=np.array([[0], [1]]), x=np.full((4, 4), 9.0))
    first = read(tmp_path / "a.npz")
    found = read_together(first.graph, first.truth, tmp_path / "b.npz")
    assert found.graph.n_nodes == 4
    np.testing.assert_array_equal(dense(found.graph)[:3], dense(first.graph))
