"""Graph arithmetic and model files without torch, shared by encoders, linear models and explanations.

Â = D̃^-½ (A + I) D̃^-½,   D̃_nn = Σ_m a_nm + 1       (weighted; equation 2 of the paper)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gadcore.errors import ModelError
from gadcore.graph import Features, Graph
from gadcore.shelf import Shelf

DENSE_ABOVE = 1 / 3  # share of non-zeros from which CSR (8 bytes each) takes more room than dense float32
MODEL_FILE = "model.safetensors"
Arrays = dict[str, npt.NDArray[Any]]
Array64 = npt.NDArray[np.float64]


def normalised_adjacency(graph: Graph) -> Any:
    """Â of the whole graph as CSR float32 with sorted int32 indices."""
    n = graph.n_nodes
    scale = 1.0 / np.sqrt(graph.degree.astype(np.float64) + 1.0)
    loops = sp.csr_array(graph.adjacency) + sp.eye_array(n, dtype=np.float32, format="csr")
    rows = np.repeat(np.arange(n), np.diff(loops.indptr))
    data = (loops.data * scale[rows] * scale[loops.indices]).astype(np.float32)
    matrix = sp.csr_array(
        (data, loops.indices.astype(np.int32), loops.indptr.astype(np.int64)), shape=loops.shape
    )
    matrix.sort_indices()
    return matrix


def propagate(graph: Graph, k: int) -> list[Features]:
    """[X, ÂX, …, ÂᵏX]; sparse stays CSR until a third of it is filled, then it turns dense float32."""
    adjacency = normalised_adjacency(graph)
    steps = [graph.x]
    for _ in range(k):
        steps.append(compact(adjacency @ steps[-1]))
    return steps


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
    if sp.issparse(z):
        n, d = z.shape
        mean = np.bincount(z.indices, z.data, minlength=d) / n
        square = np.bincount(z.indices, np.square(z.data), minlength=d) / n
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    else:
        mean, deviation = z.mean(axis=0, dtype=np.float64), z.std(axis=0, dtype=np.float64)
    return mean, np.where(deviation > 1e-6, deviation, 1.0)


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
    """Arrays that ``save_arrays`` wrote; ModelError when the file is absent or damaged."""
    try:
        arrays: Arrays = load_file(folder / MODEL_FILE)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{folder / MODEL_FILE} cannot be read ({error}). Expected: arrays of a saved model. "
            "Train it again."
        ) from error
    return arrays


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
