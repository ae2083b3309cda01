"""Graph arithmetic and model files without torch, shared by encoders, linear models and explanations.

Â = D̃^-½ (A + I) D̃^-½,   D̃_nn = Σ_m a_nm + 1       (weighted; equation 2 of the paper)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from gadcore.errors import ModelError
from gadcore.graph import Features, Graph

DENSE_ABOVE = 1 / 3  # share of non-zeros from which CSR (8 bytes each) takes more room than dense float32
MODEL_FILE = "model.safetensors"


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
        scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        return sp.csr_array(sp.diags_array(scale.astype(np.float32)) @ x)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.divide(x, length, out=np.zeros_like(x), where=length > 0)


def share_scale(x: Any) -> npt.NDArray[np.float32]:
    """(n,) 1 / Σ_d |x_vd| of each row of a sparse matrix; 0 for an empty row."""
    total = np.asarray(abs(x).sum(axis=1), dtype=np.float64).ravel()
    return np.divide(1.0, total, out=np.zeros_like(total), where=total > 0).astype(np.float32)


def save_arrays(folder: Path, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write named arrays to folder/model.safetensors."""
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / MODEL_FILE)


def load_arrays(folder: Path) -> dict[str, npt.NDArray[Any]]:
    """Arrays that ``save_arrays`` wrote; ModelError when the file is absent or damaged."""
    try:
        arrays: dict[str, npt.NDArray[Any]] = load_file(folder / MODEL_FILE)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{folder / MODEL_FILE} cannot be read ({error}). Expected: arrays of a saved model. "
            "Train it again."
        ) from error
    return arrays
