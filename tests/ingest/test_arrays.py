"""Matrices: .npz layouts, .mat, MatrixMarket and PyG files, written by numpy, scipy and torch."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest import Mapping, read, read_graph

from .files import assert_well_formed

CLUB = nx.karate_club_graph()
A = sp.csr_array(nx.to_scipy_sparse_array(CLUB, dtype=np.float64))
X = np.random.default_rng(0).normal(0, 3, (34, 5))
Y = np.r_[np.zeros(30, np.int64), np.ones(4, np.int64)]
EDGES = np.array(sp.triu(A).nonzero())


def assert_club(graph, *, weighted: bool = True) -> None:  # type: ignore[no-untyped-def]
    assert_well_formed(graph)
    assert list(graph.node_ids) == [str(i) for i in range(34)]
    expected = A if weighted else (A != 0).astype(float)
    np.testing.assert_allclose(graph.adjacency.toarray(), expected.toarray(), rtol=1e-6)


def csr_arrays(matrix, prefix: str) -> dict[str, np.ndarray]:  # type: ignore[no-untyped-def]
    m = sp.csr_array(matrix)
    return {
        f"{prefix}data": m.data,
        f"{prefix}indices": m.indices,
        f"{prefix}indptr": m.indptr,
        f"{prefix}shape": np.array(m.shape),
    }


def test_project_layout(tmp_path: Path) -> None:
    np.savez_compressed(
        tmp_path / "g.npz", edge_index=EDGES, y=Y, kind="anomaly", name="g", **csr_arrays(X, "x_")
    )
    reading = read(tmp_path / "g.npz")
    assert_club(reading.graph, weighted=False)
    assert reading.truth is not None
    assert reading.truth.y.tolist() == Y.tolist()
    low, high = X.min(axis=0), X.max(axis=0)
    np.testing.assert_allclose(np.asarray(reading.graph.x), (X - low) / (high - low), atol=1e-5)
    assert reading.graph.node_table.shape == (34, 5)


def test_class_layout_takes_the_smallest_class_and_leaves_out_unlabelled_nodes(tmp_path: Path) -> None:
    y = np.r_[np.zeros(10), np.ones(20), np.full(4, 2)].astype(np.int64)
    np.savez(
        tmp_path / "g.npz", edge_index=EDGES, x=X, y=y, kind="class", unlabelled_nodes=np.array([30, 31, 5])
    )
    truth = read(tmp_path / "g.npz").truth
    assert truth is not None
    assert np.flatnonzero(truth.y == 1).tolist() == [32, 33]
    assert np.flatnonzero(truth.y == -1).tolist() == [5, 30, 31]


def test_mask_restricts_the_graph_and_keeps_row_numbers_as_ids(tmp_path: Path) -> None:
    mask = np.ones(34, dtype=bool)
    mask[[0, 7]] = False
    np.savez(tmp_path / "g.npz", edge_index=EDGES, x=X, y=Y, kind="class", lcc_mask=mask)
    reading = read(tmp_path / "g.npz")
    graph = reading.graph
    assert list(graph.node_ids) == [str(i) for i in np.flatnonzero(mask)]
    np.testing.assert_array_equal(graph.adjacency.toarray() > 0, A.toarray()[mask][:, mask] > 0)
    assert reading.truth is not None
    assert len(reading.truth.y) == 32


def test_amazon_layout_leaves_object_arrays_unread(tmp_path: Path) -> None:
    names = np.array(["Camera", None], dtype=object)
    parts = csr_arrays(A, "adj_") | csr_arrays(X > 2, "attr_")
    np.savez(tmp_path / "photo.npz", labels=Y + 3, class_names=names, **parts)
    reading = read(tmp_path / "photo.npz")
    assert_club(reading.graph)
    assert sp.issparse(reading.graph.x)
    assert reading.truth is not None
    assert reading.truth.y.tolist() == Y.tolist()


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_scipy_matrices(tmp_path: Path, form: str) -> None:
    for kind in (sp.csr_array, sp.csr_matrix):
        sp.save_npz(tmp_path / "a.npz", kind(A).asformat(form))
        graph = read_graph(tmp_path / "a.npz")
        assert_club(graph)
        assert graph.attribute_free
        assert sp.issparse(graph.x)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("keys", [("Network", "Attributes", "Label"), ("homo", "features", "label")])
def test_mat_keys(tmp_path: Path, keys: tuple[str, str, str], compressed: bool) -> None:
    data = dict(zip(keys, (sp.csc_matrix(A), sp.csc_matrix(X), Y.reshape(1, -1))))
    scipy.io.savemat(tmp_path / "g.mat", data, do_compression=compressed)
    reading = read(tmp_path / "g.mat")
    assert_club(reading.graph)
    assert reading.truth is not None
    assert reading.truth.y.tolist() == Y.tolist()


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(tmp_path: Path, symmetry: str, dense: bool) -> None:
    matrix = A.toarray() if dense else A.tocoo()
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix, symmetry=symmetry, comment="the karate club")
    assert_club(read_graph(tmp_path / "g.mtx"))


def test_matrix_market_pattern_and_integers(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "i.mtx", A.astype(np.int64).tocoo())
    assert_club(read_graph(tmp_path / "i.mtx"))
    scipy.io.mmwrite(tmp_path / "p.mtx", A.tocoo(), field="pattern")
    assert_club(read_graph(tmp_path / "p.mtx"), weighted=False)


def test_sparse_attributes_stay_sparse(tmp_path: Path) -> None:
    x = sp.random_array((34, 2000), density=0.01, rng=np.random.default_rng(0)).tocsr()
    np.savez(tmp_path / "g.npz", edge_index=EDGES, **csr_arrays(x, "x_"))
    graph = read_graph(tmp_path / "g.npz")
    assert sp.issparse(graph.x)
    assert graph.x.nnz == x.nnz
    assert_well_formed(graph)


def save_npz(**arrays: object):  # type: ignore[no-untyped-def]
    return lambda path: np.savez(path, **arrays)


def save_mat(**arrays: object):  # type: ignore[no-untyped-def]
    return lambda path: scipy.io.savemat(path, arrays)


def save_text(text: str):  # type: ignore[no-untyped-def]
    return lambda path: path.write_text(text)


MTX = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("name", "save", "message"),
    [
        ("range.npz", save_npz(edge_index=[[0], [9]], x=np.ones((3, 2))), "edge 0 joins rows 0 and 9"),
        ("huge.npz", save_npz(edge_index=[[0], [2**60]]), "GAD_MAX_UNPACKED"),
        ("float.npz", save_npz(edge_index=[[0.5], [1.0]]), "edge_index has shape"),
        ("nan.npz", save_npz(edge_index=[[0], [1]], x=[[1.0, np.nan], [2.0, 3.0]]), "'x1' of node 0 is nan"),
        ("inf.npz", save_npz(edge_index=[[0], [1]], x=[[1.0], [np.inf]]), "'x0' of node 1 is inf"),
        ("rows.npz", save_npz(edge_index=[[0], [1]], x=np.ones((2, 1)), y=np.ones(5)), "5 labels"),
        ("keys.npz", save_npz(a=np.ones(3)), "holds the arrays 'a'"),
        ("half.npz", save_npz(adj_data=np.ones(1)), "lacks 'adj_indices'"),
        (
            "csr.npz",
            save_npz(x_data=[1.0], x_indices=[99], x_indptr=[0, 1, 1], x_shape=[2, 3], edge_index=[[0], [1]]),
            "not a valid CSR matrix",
        ),
        ("weight.npz", save_npz(adj=[[0, -1], [0, 0]]), "weight -1"),
        ("square.npz", save_npz(adj=np.ones((2, 3))), "shape"),
        ("keys.mat", save_mat(foo=np.ones(3)), "holds 'foo'"),
        ("square.mat", save_mat(Network=np.ones((3, 2))), "square"),
        ("cells.mat", save_mat(Network=np.array([["a"], [2]], dtype=object)), "cell, struct or complex"),
        ("hdf.mat", save_text("MATLAB 7.3 MAT-file".ljust(124) + "\x00\x02IM" + " " * 600), "7.3"),
        ("junk.mat", save_text("junk" * 200), "not a readable .mat file"),
        ("value.mtx", save_text(MTX + "3 3 1\n1 2 x\n"), "line 3 or later: '1 2 x'"),
        ("place.mtx", save_text(MTX + "3 3 1\n1 -2 1\n"), r"entry 1 is at \(1, -2\)"),
        ("size.mtx", save_text(MTX + "3 x 1\n1 2 1\n"), "line 2: no size"),
        ("array.mtx", save_text(MTX.replace("coordinate", "array") + "50000 50000\n1\n"), "cut short"),
        ("cut.mtx", save_text(MTX + "3 3 90000\n1 2 1\n"), "cut short"),
        ("huge.mtx", save_text(MTX + "3000000000 3000000000 1\n1 2 1\n"), "unpacks to 768.0 GB"),
        ("negative.mtx", save_text(MTX + "3 3 1\n1 2 -1\n"), "weight -1"),
        (
            "complex.mtx",
            save_text(MTX.replace("real", "complex") + "3 3 1\n1 2 1 1\n"),
            "coordinate complex general",
        ),
        ("banner.mtx", save_text("hello\n"), "no %%MatrixMarket line"),
    ],
)
def test_broken_matrices_are_explained(tmp_path: Path, name: str, save, message: str) -> None:  # type: ignore[no-untyped-def]
    save(tmp_path / name)
    with pytest.raises(InputError, match=message):
        read(tmp_path / name)


@pytest.mark.parametrize("ending", ["npz", "mat"])
def test_truncated_files_are_explained(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"g.{ending}"
    if ending == "npz":
        np.savez(path, edge_index=EDGES, x=X)
    else:
        scipy.io.savemat(path, {"Network": A, "Attributes": X})
    whole = path.read_bytes()
    for share in (0.01, 0.3, 0.7, 0.97):
        path.write_bytes(whole[: max(1, int(len(whole) * share))])
        with pytest.raises(InputError, match=path.name.replace(".", r"\.")):
            read(path)


def test_arrays_of_the_edges_are_their_links_and_follow_the_mask(tmp_path: Path) -> None:
    n = EDGES.shape[1]
    mask = np.ones(34, dtype=bool)
    mask[0] = False
    np.savez(
        tmp_path / "g.npz",
        edge_index=EDGES,
        x=X,
        lcc_mask=mask,
        edge_attr=np.c_[np.arange(n) - 3.5, np.arange(n)],
        edge_attribute_names=np.array(["rating", "port"]),
        edge_time=np.datetime64("2025-01-01") + np.arange(n),
        edge_type=np.array(["wire", "cash"])[np.arange(n) % 2],
    )
    graph = read_graph(tmp_path / "g.npz")
    links = graph.links
    assert links is not None
    meaning = links.meaning
    assert (meaning.time, meaning.amount, meaning.kind) == ("edge_time", "rating", "edge_type")
    assert links.other.column_names == ["port"]
    kept = np.flatnonzero((EDGES != 0).all(axis=0))
    assert links.amount is not None
    assert sorted(links.amount) == (kept - 3.5).tolist()
    first = int(links.other.column("port")[0].as_py())
    assert (graph.node_ids[links.source[0]], graph.node_ids[links.target[0]]) == tuple(
        map(str, EDGES[:, first])
    )


def test_the_mapping_names_arrays_of_the_edges(tmp_path: Path) -> None:
    n = EDGES.shape[1]
    np.savez(tmp_path / "g.npz", edge_index=EDGES, x=X, edge_attr=np.ones((n, 2)) * [2, 3])
    graph = read(tmp_path / "g.npz", mapping=Mapping(weight="edge_attr_1", amount="edge_attr_0")).graph
    assert set(graph.adjacency.data) == {3}
    assert graph.links is not None
    assert graph.links.meaning.amount == "edge_attr_0"


def test_repeated_rows_of_edge_index_alone_are_no_links(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index=np.c_[EDGES, EDGES], x=X)
    assert read_graph(tmp_path / "g.npz").links is None
