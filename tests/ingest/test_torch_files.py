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
