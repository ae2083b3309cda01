"""Receptive fields: the part of the graph that the embeddings of some target nodes depend on.

With L aggregations the embedding of S_0 (the targets) needs layer ℓ only at the (L−ℓ)-hop neighbours:

    S_0 ⊂ S_1 ⊂ … ⊂ S_L,     blocks[ℓ] = Â[S_ℓ, S_{ℓ+1}]

Degrees are those of the whole graph, so values and gradients equal those of the full batch.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gadcore.detectors import arrays
from gadcore.detectors.nn.ops import Matrix, SparseMatrix, product_cost, to_matrix
from gadcore.errors import ModelError
from gadcore.graph import Features, Graph, IntArray

AGGREGATE_BUDGET = 5e7  # multiply-adds of a sparse ÂX that may be spent to find out whether it pays


def attribute_columns(graph: Graph) -> tuple[str, ...]:
    """What the columns of X stand for: feature names, or node ids when X = I."""
    return tuple(map(str, graph.node_ids)) if graph.attribute_free else graph.feature_names


def aligned_attributes(graph: Graph, columns: tuple[str, ...]) -> Features:
    """X with the columns a model was trained on; with X = I a node unknown to the model gets a zero row."""
    present = attribute_columns(graph)
    if present == columns:
        return graph.x
    position = {name: i for i, name in enumerate(present)}
    missing = [name for name in columns if name not in position]
    if missing:
        what = "nodes" if graph.attribute_free else "attributes"
        raise ModelError(
            f"{len(missing):,} {what} that the model was trained on are absent from {graph.name!r}: "
            f"{', '.join(map(repr, missing[:3]))}. Expected: the training graph with additions. "
            "Retrain instead."
        )
    return graph.x[:, [position[name] for name in columns]]


class Domain:
    """A graph ready for training on a device: Â once, fields on demand."""

    def __init__(self, graph: Graph, device: torch.device, columns: tuple[str, ...] | None = None) -> None:
        self.graph, self.device, self.columns = graph, device, columns
        x = graph.x if columns is None else aligned_attributes(graph, columns)
        self.x = x if sp.issparse(x) else np.asarray(x, dtype=np.float32)
        self._whole: dict[int, Field] = {}

    @cached_property
    def adjacency(self) -> Any:
        """Â as scipy CSR."""
        return arrays.normalised_adjacency(self.graph)

    @cached_property
    def operator(self) -> SparseMatrix:
        """Â of the whole graph on the device."""
        return SparseMatrix(self.adjacency, self.device)

    def field(self, targets: IntArray, hops: int) -> Field:
        """Receptive field of the targets, in their order."""
        return Field(self, self._shells(np.asarray(targets, dtype=np.int64), hops), whole=False)

    def whole(self, hops: int) -> Field:
        """The field of all nodes, for scoring."""
        if hops not in self._whole:
            self._whole[hops] = Field(self, [np.arange(self.graph.n_nodes)] * (hops + 1), whole=True)
        return self._whole[hops]

    def _shells(self, targets: IntArray, hops: int) -> list[IntArray]:
        shells = [targets]
        for _ in range(hops):
            reached = np.zeros(self.graph.n_nodes, dtype=bool)
            reached[self.adjacency[shells[-1]].indices] = True
            shells.append(np.flatnonzero(reached))
        return shells


class Field:
    """Node sets S_0 … S_L with the products that encoders are built from; each is made when first used."""

    def __init__(self, domain: Domain, shells: list[IntArray], *, whole: bool) -> None:
        self.domain, self.shells, self.whole = domain, shells, whole
        self._blocks: dict[int, SparseMatrix] = {}

    @property
    def hops(self) -> int:
        return len(self.shells) - 1

    def block(self, level: int) -> SparseMatrix:
        """Â[S_level, S_{level+1}]."""
        if self.whole:
            return self.domain.operator
        if level not in self._blocks:
            self._blocks[level] = SparseMatrix(self._slice(level), self.domain.device)
        return self._blocks[level]

    def positions(self, level: int) -> Tensor:
        """Where the nodes of S_level stand in S_L (sorted, as every shell but S_0 is)."""
        if level == self.hops:
            return torch.arange(len(self.shells[-1]), device=self.domain.device)
        return torch.tensor(np.searchsorted(self.shells[-1], self.shells[level]), device=self.domain.device)

    def attributes(self, weight: Tensor) -> Tensor:
        """X[S_L] W -> (|S_L|, w)."""
        return self._outer @ weight

    def shares(self, weight: Tensor) -> Tensor:
        """The same with rows that sum to 1 where attributes are sparse: words of a text, not measurements."""
        product = self.attributes(weight)
        return product if self._share_scale is None else product * self._share_scale

    def own_attributes(self, weight: Tensor) -> Tensor:
        """X[S_0] W -> (|S_0|, w)."""
        return self._inner @ weight

    def aggregated(self, weight: Tensor) -> Tensor:
        """(ÂX W) at S_{L−1}: from ÂX where that was found cheaper, else Â[S_{L−1}, S_L] (X[S_L] W)."""
        if self._smoothed is not None:
            return self._smoothed @ weight
        return self.block(self.hops - 1) @ self.attributes(weight)

    def aggregated_transposed(self, grad: Tensor) -> Tensor:
        """The gradient of ``aggregated`` with respect to its weight, (D, w)."""
        if self._smoothed is not None:
            return self._smoothed.transposed(grad)
        return self._outer.transposed(self.block(self.hops - 1).transposed(grad))

    @cached_property
    def edge_index(self) -> Tensor:
        """(2, E) edges among S_L as positions in S_L, both directions, for message-passing layers."""
        inside = sp.coo_array(self.domain.graph.adjacency[self.shells[-1]][:, self.shells[-1]])
        pairs = np.vstack([inside.col, inside.row]).astype(np.int64)
        return torch.tensor(pairs, device=self.domain.device)

    @cached_property
    def dense_attributes(self) -> Tensor:
        """X[S_L] as a dense tensor."""
        x = self._rows(self.shells[-1])
        return torch.tensor(x.toarray() if sp.issparse(x) else np.array(x), device=self.domain.device)

    @cached_property
    def _share_scale(self) -> Tensor | None:
        """(|S_L|, 1) 1/Σ|x_v|; None for dense attributes."""
        x = self._rows(self.shells[-1])
        if not sp.issparse(x):
            return None
        return torch.tensor(arrays.share_scale(x)[:, None], device=self.domain.device)

    @cached_property
    def _outer(self) -> Matrix:
        return to_matrix(self._rows(self.shells[-1]), self.domain.device)

    @cached_property
    def _inner(self) -> Matrix:
        return to_matrix(self._rows(self.shells[0]), self.domain.device)

    @cached_property
    def _smoothed(self) -> Matrix | None:
        """ÂX at S_{L−1} when a product with it is cheaper; never for a single pass over the whole graph."""
        if self.whole:
            return None
        if not sp.issparse(self.domain.x):  # the rows of X that count may be all: they are not copied
            rows = self.domain.adjacency[self.shells[-2]]
            return to_matrix(rows @ self.domain.x, self.domain.device)
        block, x = self._slice(self.hops - 1), self._rows(self.shells[-1])
        direct = product_cost(x) + block.nnz
        known_to_pay = product_cost(np.broadcast_to(np.float32(0), (block.shape[0], x.shape[1]))) < direct
        work = float(np.diff(x.indptr)[block.indices].sum())
        if not known_to_pay and work > AGGREGATE_BUDGET:
            return None
        smoothed = arrays.compact(block @ x)
        return to_matrix(smoothed, self.domain.device) if product_cost(smoothed) < direct else None

    def _rows(self, nodes: IntArray) -> Features:
        return self.domain.x if self.whole else self.domain.x[nodes]

    def _slice(self, level: int) -> Any:
        """Â[S_level, S_{level+1}] with columns renumbered."""
        rows = self.domain.adjacency[self.shells[level]]
        columns = np.searchsorted(self.shells[level + 1], rows.indices).astype(np.int32)
        shape = (len(self.shells[level]), len(self.shells[level + 1]))
        return sp.csr_array((rows.data, columns, rows.indptr), shape=shape)
