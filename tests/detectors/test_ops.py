"""Sparse products, propagation and model files equal their dense definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gadcore.detectors.arrays import (
    compact,
    load_arrays,
    normalised_adjacency,
    propagate,
    row_normalised,
    save_arrays,
)
from gadcore.detectors.nn.devices import pick_device, thread_count
from gadcore.detectors.nn.ops import DenseMatrix, SparseMatrix, to_matrix
from gadcore.errors import ModelError
from gadcore.graph import make_graph

CPU = torch.device("cpu")


def weighted_graph(x: object | None = None):
    return make_graph(range(5), [[0, 1, 2], [1, 2, 3]], x, weights=[1.0, 2.0, 0.5])


def dense_adjacency(graph) -> np.ndarray:
    a = graph.adjacency.toarray() + np.eye(graph.n_nodes)
    degree = a.sum(axis=1)
    return a / np.sqrt(degree[:, None] * degree[None, :])


def random_sparse(rows: int, columns: int, seed: int = 0) -> sp.csr_array:
    return sp.random_array((rows, columns), density=0.2, rng=np.random.default_rng(seed), format="csr")


def test_adjacency_is_weighted_and_normalised_with_self_loops() -> None:
    graph = weighted_graph()
    product = SparseMatrix(normalised_adjacency(graph), CPU) @ torch.eye(5)
    np.testing.assert_allclose(product.numpy(), dense_adjacency(graph), atol=1e-6)


def test_isolated_node_keeps_itself() -> None:
    assert dense_adjacency(weighted_graph())[4, 4] == 1.0
    assert (SparseMatrix(normalised_adjacency(weighted_graph()), CPU) @ torch.eye(5))[4, 4] == 1.0


@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5)])
def test_product_and_gradient_equal_dense(shape: tuple[int, int]) -> None:
    matrix = random_sparse(*shape)
    dense = torch.tensor(matrix.toarray(), dtype=torch.float32)
    a = torch.rand(shape[1], 6, requires_grad=True)
    b = a.detach().clone().requires_grad_()
    sparse_value, dense_value = SparseMatrix(matrix, CPU) @ a, dense @ b
    torch.testing.assert_close(sparse_value, dense_value)
    sparse_value.square().sum().backward()
    dense_value.square().sum().backward()
    torch.testing.assert_close(a.grad, b.grad)


def test_empty_matrix_gives_zeros_and_zero_gradient() -> None:
    a = torch.rand(3, 2, requires_grad=True)
    out = SparseMatrix(sp.csr_array((4, 3), dtype=np.float32), CPU) @ a
    out.sum().backward()
    assert out.shape == (4, 2)
    assert not out.any()
    assert not a.grad.any()


def test_nearly_full_matrix_becomes_dense_and_thin_one_stays_sparse() -> None:
    assert isinstance(to_matrix(sp.csr_array(np.ones((6, 6), np.float32)), CPU), DenseMatrix)
    assert isinstance(to_matrix(sp.eye_array(100, format="csr"), CPU), SparseMatrix)


@pytest.mark.parametrize("sparse", [True, False])
def test_propagate_gives_every_power(sparse: bool) -> None:
    x = np.random.default_rng(0).random((5, 3)).astype(np.float32)
    graph = weighted_graph(sp.csr_array(x) if sparse else x)
    a = dense_adjacency(graph)
    for k, step in enumerate(propagate(graph, 3)):
        step = step.toarray() if sp.issparse(step) else step
        np.testing.assert_allclose(step, np.linalg.matrix_power(a, k) @ x, atol=1e-6)


def test_compact_keeps_values_and_picks_the_smaller_form() -> None:
    thin, full = sp.eye_array(50, format="csr", dtype=np.float32), sp.csr_array(np.ones((4, 4), np.float32))
    assert sp.issparse(compact(thin))
    np.testing.assert_array_equal(compact(full), np.ones((4, 4)))


@pytest.mark.parametrize("sparse", [True, False])
def test_row_normalised_has_unit_rows_and_keeps_zero_rows(sparse: bool) -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    rows = row_normalised(sp.csr_array(x) if sparse else x)
    rows = rows.toarray() if sparse else rows
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 0.0]], atol=1e-6)


def test_arrays_round_trip_and_damage_is_told(tmp_path: Path) -> None:
    save_arrays(tmp_path, {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T})
    np.testing.assert_array_equal(load_arrays(tmp_path)["a"], np.arange(6).reshape(2, 3).T)
    (tmp_path / "model.safetensors").write_bytes(b"no")
    with pytest.raises(ModelError, match="cannot be read"):
        load_arrays(tmp_path)


def test_unknown_and_absent_devices_are_told() -> None:
    assert pick_device("auto").type in ("cuda", "mps", "cpu")
    with pytest.raises(ModelError, match="There is no device 'tpu'"):
        pick_device("tpu")
    if not torch.cuda.is_available():
        with pytest.raises(ModelError, match="no cuda device"):
            pick_device("cuda")


def test_thread_count_is_restored() -> None:
    before = torch.get_num_threads()
    with thread_count(1):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
    with pytest.raises(ModelError, match="threads=0"), thread_count(0):
        pass


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_product_on_cuda_equals_cpu() -> None:
    matrix, dense = random_sparse(30, 20), torch.rand(20, 8)
    there = SparseMatrix(matrix, torch.device("cuda")) @ dense.cuda()
    torch.testing.assert_close(there.cpu(), SparseMatrix(matrix, CPU) @ dense)
