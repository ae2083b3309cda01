"""The attributed graph G = (V, A, X): one immutable object that every layer shares.

``adjacency`` is A: symmetric, weights > 0, empty diagonal, CSR with sorted indices, float32.
``x`` is X: (N, D) float32, CSR or dense, scaled by the reader. Without attributes X = I (CSR).
``node_table`` holds the raw columns as they were read, for people to look at; no model reads it.
The truth column of a benchmark is not part of a Graph: see ``Truth``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from gadcore.errors import InputError, NotFound

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
Features = Any  # scipy CSR array or float32 ndarray

_ARRAYS = ("indptr", "indices", "weights")
_DESCRIBED = ("name", "label_column", "attribute_free", "feature_names", "feature_columns", "extra")


@dataclass(frozen=True)
class Truth:
    """Known answers of a benchmark: 1 anomalous, 0 normal, -1 unknown. Only experiments read it."""

    y: npt.NDArray[np.int8]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        return self.y >= 0


@dataclass(frozen=True)
class Graph:
    """Nodes with string ids, weighted undirected edges and attributes."""

    node_ids: npt.NDArray[np.object_]  # (N,) str, as written in the source
    adjacency: Any  # (N, N) scipy.sparse.csr_array, float32
    x: Features  # (N, D)
    feature_names: tuple[str, ...]  # (D,), e.g. "country=FR"
    feature_columns: tuple[str, ...]  # (D,) raw column that each feature came from, e.g. "country"
    node_table: pd.DataFrame  # (N, columns), index 0..N-1
    name: str = "graph"
    label_column: str | None = None  # column of node_table to show as the node's name
    attribute_free: bool = False  # X = I
    extra: dict[str, Any] = field(default_factory=dict)  # encoder state, for nodes that arrive later

    def __post_init__(self) -> None:
        n = len(self.node_ids)
        if self.adjacency.shape != (n, n) or self.x.shape[0] != n or len(self.node_table) != n:
            raise InputError(
                f"parts of different size: {n} ids, adjacency {self.adjacency.shape}, "
                f"attributes {self.x.shape}, table of {len(self.node_table)} rows",
                "one row of each per node",
            )

    @property
    def n_nodes(self) -> int:
        return len(self.node_ids)

    @property
    def n_edges(self) -> int:
        return int(self.adjacency.nnz // 2)

    @property
    def n_features(self) -> int:
        return int(self.x.shape[1])

    @cached_property
    def degree(self) -> FloatArray:
        """Weighted degree d_n = Σ_m a_nm."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float32).ravel()

    @cached_property
    def _position(self) -> dict[str, int]:
        return {str(node): i for i, node in enumerate(self.node_ids)}

    def __contains__(self, node_id: object) -> bool:
        return node_id in self._position

    def index_of(self, node_id: str) -> int:
        """Row of an id; NotFound names the id."""
        try:
            return self._position[node_id]
        except KeyError:
            raise NotFound(
                f"There is no node {node_id!r} in {self.name!r} ({self.n_nodes:,} nodes). "
                "Ids are compared as written: check leading zeros, spaces and case."
            ) from None

    def indices_of(self, node_ids: Iterable[str]) -> IntArray:
        return np.fromiter((self.index_of(n) for n in node_ids), dtype=np.int64)

    def neighbours(self, node: int) -> tuple[IntArray, FloatArray]:
        """Indices and weights of the neighbours of one node."""
        a, b = self.adjacency.indptr[node], self.adjacency.indptr[node + 1]
        return self.adjacency.indices[a:b].astype(np.int64), self.adjacency.data[a:b]

    def display_name(self, node: int) -> str:
        """The name column where there is one, otherwise the id."""
        if self.label_column and self.label_column in self.node_table:
            value = self.node_table[self.label_column].iat[node]
            if isinstance(value, str) and value.strip():
                return value
        return str(self.node_ids[node])

    def full_name(self, node: int) -> str:
        """The name with the id behind it where they differ: several nodes may share a name."""
        name, node_id = self.display_name(node), str(self.node_ids[node])
        return name if name == node_id else f"{name} ({node_id})"

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over ids, edges, attributes and feature names: equal graphs, equal fingerprint."""
        digest = hashlib.sha256()
        digest.update("\x1f".join(map(str, self.node_ids)).encode())
        digest.update("\x1f".join(self.feature_names).encode())
        parts = [self.adjacency.indptr.astype(np.int64), self.adjacency.indices.astype(np.int32)]
        parts.append(self.adjacency.data.astype(np.float32))
        if sp.issparse(self.x):
            parts += [self.x.indptr.astype(np.int64), self.x.indices.astype(np.int32), self.x.data]
        else:
            parts.append(np.ascontiguousarray(self.x))
        for part in parts:
            digest.update(part.tobytes())
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write arrays (.npy), ids and raw columns (.parquet) and meta.json; no pickle anywhere."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in zip(_ARRAYS, _csr_arrays(self.adjacency)):
            np.save(folder / f"adjacency_{name}.npy", array)
        if sp.issparse(self.x):
            for name, array in zip(_ARRAYS, _csr_arrays(self.x)):
                np.save(folder / f"x_{name}.npy", array)
        else:
            np.save(folder / "x.npy", np.ascontiguousarray(self.x, dtype=np.float32))
        table = self.node_table.copy()
        table.insert(0, "\x00id", [str(i) for i in self.node_ids])
        table.to_parquet(folder / "nodes.parquet")
        meta = {name: getattr(self, name) for name in (*_DESCRIBED, "fingerprint")}
        meta |= {"shape": self.x.shape, "sparse": bool(sp.issparse(self.x))}
        (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Graph:
        """Open what ``save`` wrote; arrays are memory-mapped, so this takes milliseconds."""
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
            table = pd.read_parquet(folder / "nodes.parquet")
        except (OSError, ValueError) as error:
            raise InputError(
                f"the stored graph in {folder} cannot be read ({error})", fix="import it again"
            ) from error
        ids = table.pop("\x00id").to_numpy(dtype=object)
        n = len(ids)
        x = _csr(folder, "x", tuple(meta["shape"])) if meta["sparse"] else _array(folder, "x")
        told = {name: meta[name] for name in _DESCRIBED}
        told |= {name: tuple(meta[name]) for name in ("feature_names", "feature_columns")}
        graph = cls(ids, _csr(folder, "adjacency", (n, n)), x, node_table=table, **told)
        graph.__dict__["fingerprint"] = meta["fingerprint"]
        return graph


def symmetric_csr(rows: IntArray, cols: IntArray, weights: FloatArray, n: int) -> Any:
    """A from edge ends: both directions, duplicates merged by their largest weight, no diagonal."""
    keep = rows != cols
    a, b = np.minimum(rows, cols)[keep], np.maximum(rows, cols)[keep]
    w = np.asarray(weights, dtype=np.float32)[keep]
    order = np.lexsort((-w, b, a))
    a, b, w = a[order], b[order], w[order]
    first = np.ones(len(a), dtype=bool)
    first[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
    a, b, w = a[first], b[first], w[first]
    matrix = sp.coo_array((np.r_[w, w], (np.r_[a, b], np.r_[b, a])), shape=(n, n)).tocsr()
    matrix.sort_indices()
    return matrix


def make_graph(
    node_ids: Iterable[str],
    edges: IntArray,
    x: Features | None = None,
    *,
    weights: FloatArray | None = None,
    feature_names: Iterable[str] | None = None,
    node_table: pd.DataFrame | None = None,
    name: str = "graph",
) -> Graph:
    """A Graph from arrays in memory: ``edges`` is (2, E) of row numbers; X = I without ``x``."""
    ids = np.array([str(i) for i in node_ids], dtype=object)
    n = len(ids)
    edges = np.asarray(edges, dtype=np.int64).reshape(2, -1)
    w = np.ones(edges.shape[1], dtype=np.float32) if weights is None else weights
    free = x is None
    if x is None:
        x = sp.eye_array(n, dtype=np.float32, format="csr")
    elif sp.issparse(x):
        x = sp.csr_array(x).astype(np.float32)
    else:
        x = np.ascontiguousarray(x, dtype=np.float32)
    names = tuple(feature_names) if feature_names is not None else tuple(f"x{i}" for i in range(x.shape[1]))
    return Graph(
        node_ids=ids,
        adjacency=symmetric_csr(edges[0], edges[1], w, n),
        x=x,
        feature_names=names,
        feature_columns=names,
        node_table=pd.DataFrame(index=range(n)) if node_table is None else node_table,
        name=name,
        attribute_free=free,
    )


def _csr_arrays(matrix: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


def _csr(folder: Path, name: str, shape: tuple[int, int]) -> Any:
    indptr, indices, data = (_array(folder, f"{name}_{part}") for part in _ARRAYS)
    return sp.csr_array((data, indices, indptr), shape=shape)


def _array(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
