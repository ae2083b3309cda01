"""Graph arithmetic and model files without torch, shared by encoders, linear models and explanations.

Â = D̃^-½ (A + I) D̃^-½,   D̃_nn = Σ_m a_nm + 1       (weighted; equation 2 of the paper)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from gadcore.engine import Csr, each, fill, kept, row_blocks, rows_of
from gadcore.errors import ModelError
from gadcore.graph import Features, Graph
from gadcore.shelf import Shelf

DENSE_ABOVE = 1 / 3  # share of non-zeros from which CSR (8 bytes each) takes more room than dense float32
MODEL_FILE = "model.safetensors"
_KINDS = {"BOOL": "?", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
_KINDS |= {f"{kind}{8 * size}": f"<{kind.lower()}{size}" for kind in "IU" for size in (1, 2, 4, 8)}
Arrays = dict[str, npt.NDArray[Any]]
Array64 = npt.NDArray[np.float64]


def normalised_adjacency(graph: Graph) -> Any:
    """Â of the whole graph as CSR float32 with sorted int32 indices."""
    n, a = graph.n_nodes, graph.adjacency
    starts = a.indptr.astype(np.int64) + np.arange(
        n + 1
    )  # one entry more in each row: the diagonal of A is empty
    scale = 1.0 / np.sqrt(graph.degree.astype(np.float64) + 1.0)
    blocks = row_blocks(n)
    places = [slice(int(starts[block.start]), int(starts[block.stop])) for block in blocks]
    size = (int(starts[-1]),)

    def make(part: int) -> Callable[[Any], None]:
        return lambda out: fill(out, _normalised_rows, blocks, a, scale, part, places=places)

    indices = kept(graph, "normalised-indices", size, np.int32, make(0))
    data = kept(graph, "normalised-data", size, np.float32, make(1))
    return sp.csr_array((data, indices, starts), shape=(n, n))


def _normalised_rows(block: slice, a: Csr, scale: Array64, part: int) -> npt.NDArray[Any]:
    """Indices (0) or data (1) of the rows of Â."""
    own = rows_of(a, block)
    rows = np.arange(block.start, block.stop)
    loops = sp.csr_array((np.ones(len(rows), np.float32), (rows - block.start, rows)), shape=own.shape)
    both = own + loops
    both.sort_indices()
    if part == 0:
        return np.asarray(both.indices, dtype=np.int32)
    ends = np.repeat(rows, np.diff(both.indptr))
    return np.asarray((both.data * scale[ends] * scale[both.indices]).astype(np.float32))


def propagate(graph: Graph, k: int) -> list[Features]:
    """[X, ÂX, …, ÂᵏX]; sparse stays CSR until a third of it is filled, then it turns dense float32."""
    adjacency, steps = normalised_adjacency(graph), [graph.x]
    for hops in range(1, k + 1):
        steps.append(one_hop(graph, adjacency, steps[-1], hops))
    return steps


def one_hop(graph: Graph, adjacency: Csr, z: Features, hops: int) -> Features:
    """ÂᵏX from Â and Âᵏ⁻¹X, by row blocks."""
    blocks = row_blocks(graph.n_nodes)
    if sp.issparse(z):
        return compact(sp.vstack(list(each(_times, blocks, adjacency, z)), format="csr"))
    return kept(graph, f"x{hops}", z.shape, np.float32, lambda out: fill(out, _times, blocks, adjacency, z))


def _times(block: slice, matrix: Csr, z: Features) -> Features:
    return rows_of(matrix, block) @ z


def dense(x: Features, kind: Any = None) -> npt.NDArray[Any]:
    """Rows as a dense array, of a type if one is given."""
    return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=kind)


def inverse(values: Array64) -> Array64:
    """1 / values, 0 where that is 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)


def compact(x: Features) -> Features:
    """The smaller of CSR and dense float32."""
    if not sp.issparse(x):
        return np.ascontiguousarray(x, dtype=np.float32)
    if x.nnz > DENSE_ABOVE * x.shape[0] * x.shape[1]:
        return x.toarray().astype(np.float32, copy=False)
    return sp.csr_array(x, dtype=np.float32)


def row_normalised(x: Features) -> Features:
    """Rows scaled to Euclidean length 1; zero rows stay zero."""
    if sp.issparse(x):
        length = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
        return sp.csr_array(sp.diags_array(inverse(length).astype(np.float32)) @ x)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.divide(x, length, out=np.zeros_like(x), where=length > 0)


def inverse_norms(z: Features) -> Array64:
    """1 / ||z_v||₂ per row, 0 for empty rows."""
    return inverse(np.sqrt(row_squares(z)))


def row_squares(z: Features) -> Array64:
    """||z_v||² per row."""
    if not sp.issparse(z):
        return np.asarray(np.einsum("nd,nd->n", z, z), dtype=np.float64)
    squares = sp.csr_array((np.square(z.data), z.indices, z.indptr), shape=z.shape)
    return np.asarray(squares @ np.ones(z.shape[1], dtype=z.dtype), dtype=np.float64)


def column_moments(z: Features) -> tuple[Array64, Array64]:
    """Mean and standard deviation of each column; constant columns get 1."""
    n, d = z.shape
    if sp.issparse(z):
        mean = np.bincount(z.indices, z.data, minlength=d) / n
        square = np.bincount(z.indices, np.square(z.data), minlength=d) / n
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    else:
        blocks = row_blocks(n)
        mean = sum_of(each(_column_sums, blocks, z)) / n
        deviation = np.sqrt(sum_of(each(_column_squares, blocks, z, mean)) / n)
    return mean, np.where(deviation > 1e-6, deviation, 1.0)


def sum_of(parts: Iterator[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Parts of a sum, added in the order of their blocks."""
    total = next(parts)
    for part in parts:
        total = total + part
    return total


def _column_sums(block: slice, z: Features) -> Array64:
    return np.asarray(z[block].sum(axis=0, dtype=np.float64))


def _column_squares(block: slice, z: Features, mean: Array64) -> Array64:
    away = z[block] - mean
    return np.asarray(np.multiply(away, away, out=away).sum(axis=0))


def share_scale(x: Any) -> npt.NDArray[np.float32]:
    """(n,) 1 / Σ_d |x_vd| of each row of a sparse matrix; 0 for an empty row."""
    return inverse(np.asarray(abs(x).sum(axis=1), dtype=np.float64).ravel()).astype(np.float32)


def check_columns(trained: int, present: int) -> None:
    """ModelError unless a graph has the attributes that a model was trained on."""
    if trained != present:
        raise ModelError(
            f"The model was trained on {trained} attributes; this graph has {present}. "
            "Read the new nodes with the columns of the first graph, or retrain."
        )


def save_arrays(folder: Path, arrays: Mapping[str, npt.NDArray[Any] | None]) -> None:
    """Write named arrays to folder/model.safetensors, those that are there."""
    given = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}
    save_file(given, folder / MODEL_FILE)


def load_arrays(folder: Path) -> Arrays:
    """Arrays that ``save_arrays`` wrote, mapped for reading; ModelError when the file is damaged."""
    try:
        return _mapped(folder / MODEL_FILE)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{folder / MODEL_FILE} cannot be read ({error}). Expected: arrays of a saved model. "
            "Train it again."
        ) from error


def _mapped(path: Path) -> Arrays:
    """Parts of a mapped safetensors file, which says in JSON where each array lies behind it."""
    with safe_open(path, framework="numpy"):
        pass  # it is whole
    file: Any = np.memmap(path, np.uint8, "r")
    size = int(file[:8].view("<u8")[0])
    described = json.loads(file[8 : 8 + size].tobytes())
    described.pop("__metadata__", None)
    return {
        name: file[8 + size :][slice(*own["data_offsets"])].view(_KINDS[own["dtype"]]).reshape(own["shape"])
        for name, own in described.items()
    }


@dataclass(frozen=True)
class SavedModel:
    """A model's folder, its detector.json and its arrays: what a detector writes, and what readers get."""

    folder: Path
    state: dict[str, Any]
    arrays: Arrays
    kept: Shelf = field(default_factory=lambda: Shelf(1), repr=False)  # what was made of it

    @property
    def own(self) -> Arrays:
        """Arrays beside those that every model has."""
        return {name: array for name, array in self.arrays.items() if name not in ("scores", "out_of_fold")}
