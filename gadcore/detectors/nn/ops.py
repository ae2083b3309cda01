"""Sparse products that the encoders are made of, differentiable and chosen per device behind one function.

    SparseMatrix @ dense      (n, m) sparse times (m, w) dense -> (n, w)

On the CPU and on MPS the product is ``embedding_bag(sum, per_sample_weights)``: on one thread, 32 columns,
it took 0.4 to 0.8 of the time of a torch CSR product from 3 thousand to 1 million rows. On CUDA it is CSR.
The backward pass is the same operation on the transpose, which is stored once.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from gadcore.graph import Features

GEMM_SPEEDUP = 4  # multiply-adds that a dense product does in the time of one sparse one (measured 1.4 to 6)
DENSE_LIMIT = 2**28  # entries (1 GiB) up to which a matrix may be made dense


@dataclass(frozen=True)
class _Csr:
    """One orientation of a sparse matrix on a device."""

    indptr: Tensor
    indices: Tensor
    values: Tensor
    shape: tuple[int, int]
    nnz: int

    @cached_property
    def tensor(self) -> Tensor:
        with warnings.catch_warnings():  # torch calls its CSR layout beta
            warnings.simplefilter("ignore", UserWarning)
            return torch.sparse_csr_tensor(
                self.indptr, self.indices, self.values, self.shape, check_invariants=False
            )

    def times(self, dense: Tensor) -> Tensor:
        if dense.is_cuda:
            return self.tensor @ dense
        if not self.nnz:
            return dense.new_zeros(self.shape[0], dense.shape[1])
        bags = torch.embedding_bag(
            dense.contiguous(), self.indices, self.indptr, False, 0, False, self.values, True
        )
        return bags[0]


class _Product(torch.autograd.Function):
    """Y = S B with ∂B = Sᵀ ∂Y; S is constant."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: SparseMatrix) -> Tensor:
        ctx.matrix = matrix
        return matrix.forward.times(dense.detach())  # embedding_bag skips what its own backward would need

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix.backward.times(grads[0]), None


class SparseMatrix:
    """A constant (n, m) sparse matrix on a device; ``@`` a dense (m, w) tensor is differentiable."""

    def __init__(self, matrix: Any, device: torch.device) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.nnz = int(matrix.nnz)
        self._device = device
        self.forward = _csr_on(sp.csr_array(matrix), device)
        self._source: Any = matrix

    @cached_property
    def backward(self) -> _Csr:
        """The transpose; made on the first backward pass, never for scoring."""
        transpose = _csr_on(sp.csr_array(self._source.T), self._device)
        self._source = None
        return transpose

    def transposed(self, dense: Tensor) -> Tensor:
        """Sᵀ times a dense (n, w) tensor, outside autograd."""
        return self.backward.times(dense)

    def __matmul__(self, dense: Tensor) -> Tensor:
        if not (torch.is_grad_enabled() and dense.requires_grad):
            return self.forward.times(dense)
        product: Tensor = _Product.apply(dense, self)  # type: ignore[no-untyped-call]
        return product


class DenseMatrix:
    """A constant (n, m) dense matrix with the interface of ``SparseMatrix``."""

    def __init__(self, matrix: Any, device: torch.device) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.tensor = _tensor_of(np.asarray(matrix, dtype=np.float32)).to(device)

    def transposed(self, dense: Tensor) -> Tensor:
        return self.tensor.T @ dense

    def __matmul__(self, dense: Tensor) -> Tensor:
        return self.tensor @ dense


Matrix = SparseMatrix | DenseMatrix


def _tensor_of(array: npt.NDArray[np.float32]) -> Tensor:
    """The array as a tensor that is only read: a memory-mapped one stays where it is."""
    with warnings.catch_warnings():  # that one may not write to it
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(np.ascontiguousarray(array))


def product_cost(matrix: Features) -> float:
    """Relative time of ``to_matrix(matrix) @ dense``, per column of the dense side."""
    size: float = float(matrix.shape[0]) * matrix.shape[1] / GEMM_SPEEDUP
    if not sp.issparse(matrix):
        return size
    stored = float(matrix.nnz)
    cost: float = min(size, stored) if _may_be_dense(matrix) else stored
    return cost


def to_matrix(matrix: Features, device: torch.device) -> Matrix:
    """The faster of the two forms for a numpy or scipy matrix."""
    if not sp.issparse(matrix):
        return DenseMatrix(matrix, device)
    if _may_be_dense(matrix) and matrix.shape[0] * matrix.shape[1] / GEMM_SPEEDUP < matrix.nnz:
        return DenseMatrix(matrix.toarray(), device)
    return SparseMatrix(matrix, device)


def _may_be_dense(matrix: Any) -> bool:
    return bool(matrix.shape[0] * matrix.shape[1] <= DENSE_LIMIT)


def _csr_on(matrix: Any, device: torch.device) -> _Csr:
    matrix.sort_indices()
    kind = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
    return _Csr(
        torch.tensor(matrix.indptr.astype(kind), device=device),
        torch.tensor(matrix.indices.astype(kind), device=device),
        torch.tensor(np.asarray(matrix.data, dtype=np.float32), device=device),
        matrix.shape,
        int(matrix.nnz),
    )
