"""What is different between two versions of a graph, node by node and link by link, by their ids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from gadcore.graph.graph import Graph, IntArray
from gadcore.graph.links import Links

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class GraphChange:
    """From one version of a graph to the next."""

    before: Graph
    after: Graph

    @cached_property
    def place(self) -> IntArray:
        """(N of after,) row of each node in the version before, -1 for a new one."""
        return self.before.node_ids.rows(self.after.node_ids)

    @property
    def new(self) -> Mask:
        """(N of after,) nodes that were not there."""
        return self.place < 0

    @cached_property
    def gone(self) -> IntArray:
        """Rows of the version before whose nodes are gone."""
        return np.setdiff1d(np.arange(self.before.n_nodes), self.place[self.place >= 0])

    @cached_property
    def columns(self) -> tuple[list[str], list[str], list[str]]:
        """Raw columns that are new, that are gone, and that both have; derived ones follow from the links."""
        old, new = (_own(graph) for graph in (self.before, self.after))
        return (
            [c for c in new if c not in old],
            [c for c in old if c not in new],
            [c for c in new if c in old],
        )

    @cached_property
    def changed(self) -> Mask:
        """(N of after,) nodes that were there, with another value in a raw column that both versions have."""
        rows = np.flatnonzero(~self.new)
        found = np.zeros(self.after.n_nodes, dtype=bool)
        for column in self.columns[2]:
            old = self.before.node_table.take(column, self.place[rows])
            found[rows] |= _differ(old, self.after.node_table.take(column, rows))
        return found

    @cached_property
    def links(self) -> tuple[Mask, Mask, int]:
        """Links of after that are new, links of before that are gone, and new ones equal to an old one.

        Of equal links as many are new or gone as their number has changed by. Without links, edges count.
        """
        old, new = _rows(self.before, np.arange(self.before.n_nodes)), _rows(self.after, self.place)
        codes, keys = pd.factorize(np.concatenate([old, new]))
        a, b = codes[: len(old)], codes[len(old) :]
        had, has = (np.bincount(part, minlength=len(keys)) for part in (a, b))
        added, lost = _nth(b) >= had[b], _nth(a) >= has[a]
        return added, lost, int((had[b[added]] > 0).sum())

    @cached_property
    def links_of(self) -> IntArray:
        """(N of after,) links of each node that are new; one to itself counts once."""
        source, target = (ends[self.links[0]] for ends in _ends(self.after))
        n = self.after.n_nodes
        return np.bincount(source, minlength=n) + np.bincount(target[target != source], minlength=n)

    @cached_property
    def lost_a_link(self) -> Mask:
        """(N of after,) nodes that have lost a link."""
        ends = np.unique(np.concatenate([part[self.links[1]] for part in _ends(self.before)]))
        return ~self.new & np.isin(self.place, ends)

    @property
    def touched(self) -> IntArray:
        """Rows of after whose node is new, has other values or other links."""
        return np.flatnonzero(self.new | self.changed | (self.links_of > 0) | self.lost_a_link)


def write_touched(path: Path, change: GraphChange, rank: IntArray | None) -> None:
    """Keep which nodes a version touched: new or not, new links, and their rank before (0: none)."""
    rows = change.touched
    before = np.zeros(len(rows), np.int32)
    if rank is not None:
        known = change.place[rows] >= 0
        before[known] = rank[change.place[rows][known]]
    columns = {
        "node_id": pa.array(change.after.node_ids[rows], pa.large_string()),
        "new": change.new[rows],
        "links": change.links_of[rows].astype(np.int32),
        "rank": before,
    }
    table, packed = pa.table(columns), pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema, options=packed) as out:
        out.write_table(table)


def read_touched(path: Path) -> pd.DataFrame:
    """What ``write_touched`` kept: node_id, new, links, rank."""
    with pa.OSFile(str(path), "rb") as file:
        return pa.ipc.open_file(file).read_all().to_pandas()


def _own(graph: Graph) -> list[str]:
    return [column for column in graph.node_table if column not in graph.derived]


def _differ(old: pd.Series, new: pd.Series) -> Mask:
    """Where two columns hold different values; two holes are alike."""
    numbers = pd.api.types.is_numeric_dtype(old.dtype) and pd.api.types.is_numeric_dtype(new.dtype)
    if numbers:
        a, b = (s.to_numpy(dtype=np.float64, na_value=np.nan) for s in (old, new))
        return np.asarray((a != b) & ~(np.isnan(a) & np.isnan(b)))
    a, b = (s.astype("str").to_numpy(dtype=object, na_value=None) for s in (old, new))
    return np.asarray(a != b, dtype=bool)


def _ends(graph: Graph) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if graph.links is not None:
        return np.asarray(graph.links.source), np.asarray(graph.links.target)
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(graph.adjacency.indptr))
    upper = rows < graph.adjacency.indices
    return rows[upper], np.asarray(graph.adjacency.indices[upper], dtype=np.int64)


def _rows(graph: Graph, place: IntArray) -> npt.NDArray[np.uint64]:
    """A key of each link: equal keys, equal links. ``place`` numbers the nodes as they are known."""
    shift = place.max(initial=0) + 1
    known = np.where(place >= 0, place, shift + np.arange(len(place)))
    source, target = _ends(graph)
    ends = np.sort(np.stack([known[source], known[target]]), axis=0) if graph.links is None else None
    columns = [known[source], known[target]] if ends is None else list(ends)
    columns += _told(graph.links) if graph.links is not None else []
    key = np.zeros(len(source), np.uint64)
    for column in columns:
        key = key * np.uint64(0x9E3779B97F4A7C15) + pd.util.hash_array(np.ascontiguousarray(column))
    return key


def _told(links: Links) -> list[npt.NDArray[Any]]:
    """Time, amount and kind of links; a kind by its name, since codes may change."""
    found: list[npt.NDArray[Any]] = [a for a in (links.time, links.amount) if a is not None]
    if links.kind is not None:
        names = np.array([*links.meaning.kinds, ""], dtype=object)
        found.append(pd.util.hash_array(names)[links.kind])
    return [np.asarray(a) for a in found]


def _nth(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each row how many equal ones come before it."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    first = np.ones(len(codes), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    start = np.maximum.accumulate(np.where(first, np.arange(len(codes)), 0))
    found = np.empty(len(codes), np.int64)
    found[order] = np.arange(len(codes)) - start
    return found
