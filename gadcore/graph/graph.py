"""The attributed graph G = (V, A, X): one immutable object that every layer shares.

``adjacency`` is A: symmetric, weights > 0, empty diagonal, CSR with sorted indices, float32.
``x`` is X: (N, D) float32, CSR or dense, scaled by the reader. Without attributes X = I (CSR).
``node_ids`` and ``node_table`` (the raw columns as they were read, for people to look at; no model reads it)
are read by row. A stored graph is memory-mapped: opening one costs the same whatever its size.
``links`` holds the rows behind the edges where the source has more to say of them (see links.py). Columns
that are derived from them are in ``node_table`` and X like any others; ``derived`` describes them.
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
from gadcore.graph.links import Links
from gadcore.graph.node_ids import NodeIds
from gadcore.graph.node_table import NodeTable

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
Features = Any  # scipy CSR array or float32 ndarray

_ARRAYS = ("indptr", "indices", "weights")
_LINKS, _COLUMNS = "links", "columns"
_EARLIER = "nodes.parquet"  # ids and columns of a graph that an earlier version has stored
MERGES = ("count", "sum", "mean", "largest", "one")  # how the weights of a pair's links become one
_HASHED = (np.int64, np.int32, np.float32)
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

    node_ids: NodeIds  # (N,) str, as written in the source
    adjacency: Any  # (N, N) scipy.sparse.csr_array, float32
    x: Features  # (N, D)
    feature_names: tuple[str, ...]  # (D,), e.g. "country=FR"
    feature_columns: tuple[str, ...]  # (D,) raw column that each feature came from, e.g. "country"
    node_table: NodeTable  # (N, columns)
    name: str = "graph"
    label_column: str | None = None  # column of node_table to show as the node's name
    attribute_free: bool = False  # X = I
    extra: dict[str, Any] = field(default_factory=dict)  # encoder state, for nodes that arrive later
    links: Links | None = None  # rows behind the edges: direction, time, amount, kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "node_ids", NodeIds.of(self.node_ids))
        object.__setattr__(self, "node_table", NodeTable.of(self.node_table))
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
    def derived(self) -> dict[str, dict[str, str]]:
        """Columns that were derived from the links: name -> key, group, unit, help and how it is told."""
        return {column["name"]: column for column in self.extra.get("derived", [])}

    @cached_property
    def degree(self) -> FloatArray:
        """Weighted degree d_n = Σ_m a_nm."""
        return np.asarray(self.adjacency.sum(axis=1), dtype=np.float32).ravel()

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.node_ids

    def index_of(self, node_id: str) -> int:
        """Row of an id; NotFound names the id."""
        row = self.node_ids.row(node_id)
        if row < 0:
            raise self._no_node(node_id)
        return row

    def indices_of(self, node_ids: Iterable[str]) -> IntArray:
        """Rows of ids; NotFound names the first that there is not."""
        wanted = list(node_ids)
        rows = self.node_ids.rows(wanted)
        if len(lost := np.flatnonzero(rows < 0)):
            raise self._no_node(wanted[lost[0]])
        return rows

    def _no_node(self, node_id: str) -> NotFound:
        return NotFound(
            f"There is no node {node_id!r} in {self.name!r} ({self.n_nodes:,} nodes). "
            "Ids are compared as written: check leading zeros, spaces and case."
        )

    def neighbours(self, node: int) -> tuple[IntArray, FloatArray]:
        """Indices and weights of the neighbours of one node."""
        a, b = self.adjacency.indptr[node], self.adjacency.indptr[node + 1]
        return self.adjacency.indices[a:b].astype(np.int64), self.adjacency.data[a:b]

    def display_name(self, node: int) -> str:
        """The name column where there is one, otherwise the id."""
        cell = self.node_table.cell(self._names, node) if self._names else None
        return cell if isinstance(cell, str) and cell.strip() else self.node_ids[node]

    def display_names(self, nodes: IntArray) -> list[str]:
        """``display_name`` of many nodes, at the speed of one pass over their cells."""
        ids: list[str] = self.node_ids[nodes].tolist()
        if not self._names:
            return ids
        cells = self.node_table.cells(self._names, nodes)
        return [cell if isinstance(cell, str) and cell.strip() else i for cell, i in zip(cells, ids)]

    @property
    def _names(self) -> str:
        """The column of names; "" without one."""
        return self.label_column if self.label_column and self.label_column in self.node_table else ""

    def full_name(self, node: int) -> str:
        """The name with the id behind it where they differ: several nodes may share a name."""
        name, node_id = self.display_name(node), self.node_ids[node]
        return name if name == node_id else f"{name} ({node_id})"

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over ids, edges, attributes, feature names and links: equal graphs, equal fingerprint."""
        digest = hashlib.sha256()
        self.node_ids.feed(digest)
        digest.update("\x1f".join(self.feature_names).encode())
        for matrix in (self.adjacency, self.x):
            for array, kind in zip(_csr_arrays(matrix) if sp.issparse(matrix) else (matrix,), _HASHED):
                digest.update(np.ascontiguousarray(array, dtype=kind if sp.issparse(matrix) else None).data)
        if self.links is not None:
            digest.update(self.links.digest.encode())
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write arrays (.npy), ids and raw columns (.arrow) and meta.json; no pickle anywhere."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in zip(_ARRAYS, _csr_arrays(self.adjacency)):
            np.save(folder / f"adjacency_{name}.npy", array)
        if sp.issparse(self.x):
            for name, array in zip(_ARRAYS, _csr_arrays(self.x)):
                np.save(folder / f"x_{name}.npy", array)
        else:
            np.save(folder / "x.npy", np.ascontiguousarray(self.x, dtype=np.float32))
        if self.links is not None:
            self.links.save(folder / _LINKS)
        self.node_ids.save(folder)
        columns = self.node_table.save(folder / _COLUMNS)
        meta = {name: getattr(self, name) for name in (*_DESCRIBED, "fingerprint")}
        meta |= {"columns": columns, "shape": self.x.shape, "sparse": bool(sp.issparse(self.x))}
        (folder / "meta.json").write_text(json.dumps(meta), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Graph:
        """Open what ``save`` wrote; everything is memory-mapped, so this takes milliseconds."""
        try:
            meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
            ids, table = _nodes(folder, meta.get("columns", []))
        except (OSError, ValueError) as error:
            raise InputError(
                f"the stored graph in {folder} cannot be read ({error})", fix="import it again"
            ) from error
        n = len(ids)
        x = _csr(folder, "x", tuple(meta["shape"])) if meta["sparse"] else _array(folder, "x")
        told = {name: meta[name] for name in _DESCRIBED}
        told |= {name: tuple(meta[name]) for name in ("feature_names", "feature_columns")}
        links = Links.load(folder / _LINKS)
        graph = cls(ids, _csr(folder, "adjacency", (n, n)), x, node_table=table, links=links, **told)
        graph.__dict__["fingerprint"] = meta["fingerprint"]
        return graph


def _nodes(folder: Path, columns: list[str]) -> tuple[NodeIds, NodeTable]:
    """Ids and raw columns; those of an earlier version are read whole."""
    ids = NodeIds.load(folder)
    if ids is not None:
        return ids, NodeTable.load(folder / _COLUMNS, columns, len(ids))
    frame = pd.read_parquet(folder / _EARLIER)
    return NodeIds.of(frame.pop("\x00id")), NodeTable.of(frame)


def symmetric_csr(rows: IntArray, cols: IntArray, weights: FloatArray, n: int, merge: str = "largest") -> Any:
    """A from edge ends: both directions, no diagonal; ``merge`` is one of MERGES."""
    pairs = np.minimum(rows, cols).astype(np.int64) * n + np.maximum(rows, cols)
    keep = rows != cols
    pairs, w = pairs[keep], np.asarray(weights, dtype=np.float32)[keep]
    if merge in ("count", "one"):  # whatever the weights are
        pairs = np.sort(pairs)
    else:
        order = np.lexsort((-w, pairs))
        pairs, w = pairs[order], w[order]
    first = np.ones(len(pairs), dtype=bool)
    first[1:] = pairs[1:] != pairs[:-1]
    w = _merged(w, np.flatnonzero(first), merge)
    a, b = np.divmod(pairs[first], max(n, 1))
    index = np.int32 if 2 * len(a) < 2**31 else np.int64
    starts = np.concatenate([[0], np.cumsum(np.bincount(a, minlength=n))]).astype(index)
    upper = sp.csr_array((w, b.astype(index), starts), shape=(n, n))
    return upper + upper.T.tocsr()


def _merged(weights: FloatArray, first: IntArray, merge: str) -> FloatArray:
    """One weight for the links of each pair: they lie one after the other from ``first``, largest first."""
    counts = np.diff(np.append(first, len(weights)))
    if merge == "count":
        return counts.astype(np.float32)
    if merge == "one" or not len(first):
        return np.ones(len(first), dtype=np.float32)
    if merge == "largest":
        return weights[first]
    total = np.add.reduceat(weights.astype(np.float64), first)
    return (total / counts if merge == "mean" else total).astype(np.float32)


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
    ids = NodeIds.of(node_ids)
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
        node_table=NodeTable(n) if node_table is None else NodeTable.of(node_table),
        name=name,
        attribute_free=free,
    )


def _csr_arrays(matrix: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """indptr as narrow as indices where it fits, or scipy would copy one of them whenever it opens them."""
    wide = np.int32 if matrix.nnz < 2**31 else np.int64
    return (
        matrix.indptr.astype(wide, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False),
    )


def _csr(folder: Path, name: str, shape: tuple[int, int]) -> Any:
    indptr, indices, data = (_array(folder, f"{name}_{part}") for part in _ARRAYS)
    return sp.csr_array((data, indices, indptr), shape=shape)


def _array(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
