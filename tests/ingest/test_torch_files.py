"""PyG and plain torch files, written by torch.save."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # deprecations inside torch_geometric, on its first import
    from torch_geometric.data import Data, HeteroData

from gadcore.errors import InputError
from gadcore.ingest import read, read_graph

from .test_arrays import EDGES, A, X, Y, assert_club


def data(**more: object) -> Data:
    """The karate club as PyG holds it."""
    return Data(x=torch.tensor(X, dtype=torch.float), edge_index=torch.tensor(EDGES), **more)


def test_pyg_data(tmp_path: Path) -> None:
    weight = torch.tensor(np.asarray(A[EDGES[0], EDGES[1]]).ravel())
    torch.save(data(y=torch.tensor(Y).bool(), edge_weight=weight), tmp_path / "g.pt")
    reading = read(tmp_path / "g.pt")
    assert_club(reading.graph)
    assert reading.truth is not None
    assert reading.truth.y.tolist() == Y.tolist()


def test_pyg_dataset_file_and_plain_tensors(tmp_path: Path) -> None:
    torch.save((data().to_dict(), None, Data), tmp_path / "processed.pt")
    torch.save({"edge_index": torch.tensor(EDGES), "x": torch.tensor(X)}, tmp_path / "dict.pt")
    for name in ("processed.pt", "dict.pt"):
        assert_club(read_graph(tmp_path / name), weighted=False)


def test_pyg_isolated_last_node_counts(tmp_path: Path) -> None:
    torch.save(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=4), tmp_path / "g.pt")
    assert read_graph(tmp_path / "g.pt").n_nodes == 4


def test_truncated_pt_is_explained(tmp_path: Path) -> None:
    torch.save(data(), tmp_path / "g.pt")
    whole = (tmp_path / "g.pt").read_bytes()
    for share in (0.01, 0.3, 0.7, 0.97):
        (tmp_path / "g.pt").write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(InputError, match=r"g\.pt"):
            read(tmp_path / "g.pt")


def test_pt_without_a_graph_is_explained(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(3)}, tmp_path / "x.pt")
    hetero = HeteroData()
    hetero["a"].x = torch.ones(3, 1)
    torch.save(hetero, tmp_path / "h.pt")
    torch.save(torch.ones(3), tmp_path / "t.pt")
    for name in ("x.pt", "h.pt", "t.pt"):
        with pytest.raises(InputError, match=name):
            read(tmp_path / name)


def test_arrays_of_the_edges_are_their_links(tmp_path: Path) -> None:
    n = EDGES.shape[1]
    more = {
        "edge_attr": torch.arange(2 * n, dtype=torch.float).reshape(n, 2) - 5,
        "edge_time": torch.arange(n, dtype=torch.float64) * 60 + 1.7e9,
        "edge_type": torch.arange(n) % 3,
    }
    torch.save(data(**more), tmp_path / "g.pt")
    links = read_graph(tmp_path / "g.pt").links
    assert links is not None
    assert (links.meaning.time, links.meaning.kind, links.meaning.amount) == ("edge_time", "edge_type", None)
    assert links.time is not None
    assert sorted(links.time)[1] == 1.7e9 + 60
    assert links.other.column_names == ["edge_attr_0", "edge_attr_1"]


def test_a_single_edge_attr_is_the_weight_or_else_the_amount(tmp_path: Path) -> None:
    weight = torch.tensor(np.asarray(A[EDGES[0], EDGES[1]]).ravel())
    torch.save(data(edge_attr=weight.reshape(-1, 1)), tmp_path / "weight.pt")
    assert_club(read_graph(tmp_path / "weight.pt"))
    torch.save(data(edge_attr=-weight), tmp_path / "rating.pt")
    rated = read_graph(tmp_path / "rating.pt")
    assert_club(rated, weighted=False)
    assert rated.links is not None
    assert rated.links.meaning.amount == "edge_attr"


def test_arrays_of_edges_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    n = EDGES.shape[1]
    bad = {
        "short": {"edge_attr": torch.ones(n - 1, 2)},
        "deep": {"edge_attr": torch.ones(n, 2, 2)},
        "wide": {"edge_attr": torch.ones(n, 1001)},
        "scalar": {"edge_time": torch.tensor(5)},
        "complex": {"edge_attr": torch.ones(n, dtype=torch.complex64)},
        "weights": {"edge_weight": -torch.ones(n)},
        "no tensor": {"edge_time": "today"},
    }
    for name, more in bad.items():
        torch.save({"edge_index": torch.tensor(EDGES), "x": torch.tensor(X), **more}, tmp_path / f"{name}.pt")
        with pytest.raises(InputError, match=name):
            read(tmp_path / f"{name}.pt")


def test_fields_that_are_not_read_are_named(tmp_path: Path) -> None:
    mask, label = torch.ones(len(X), dtype=torch.bool), torch.ones(EDGES.shape[1])
    torch.save(data(train_mask=mask, edge_label=label), tmp_path / "g.pt")
    assert (
        "g.pt: fields that are not read: 'edge_label', 'train_mask'." in read(tmp_path / "g.pt").report.notes
    )
    np.savez(tmp_path / "g.npz", edge_index=EDGES, x=X, edge_label=label.numpy())
    assert "g.npz: arrays that are not read: 'edge_label'." in read(tmp_path / "g.npz").report.notes
