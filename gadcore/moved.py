"""What rose and fell between two runs, and which new labels lie behind it.

Movers are ranked by log₂(rank before / rank now), so that a rise from 800 to 12 counts more than one from
18,000 to 9,000. A label that is new, changed or taken back pushes up (towards anomalous) or down; of those
that push a mover's way the nearest are named:

    nearness = cosine in the embedding (centred, at least 0) · closeness in the graph
    closeness = APART + (1 − APART) · (1 for neighbours, else |N(u) ∩ N(v)| / √(|N(u)| |N(v)|))

It says which labels are likely causes; no model is trained again to prove it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.cases import RunInfo
from gadcore.graph import Graph, IntArray

Array = npt.NDArray[np.float64]

APART = 0.1  # closeness of nodes that share no neighbour
CAUSES = 3  # labels named for each mover
LEAST = 0.02  # nearness under which a label is not named
_VALUE = {"anomalous": 1, "normal": -1}


@dataclass(frozen=True)
class Change:
    """A label that one run knew and the other did not."""

    node: int
    verdict: str | None  # None: taken back
    before: str | None

    @property
    def push(self) -> int:
        """> 0 towards anomalous, < 0 towards normal."""
        return _VALUE.get(self.verdict or "", 0) - _VALUE.get(self.before or "", 0)


@dataclass(frozen=True)
class Cause:
    """A label that may have moved a node."""

    node_id: str
    name: str
    verdict: str | None
    before: str | None
    nearness: float  # 0..1
    link: str  # how the two are related, in words


@dataclass(frozen=True)
class Mover:
    """A node that changed its place."""

    node_id: str
    name: str
    rank_before: int
    rank_now: int
    verdict: str | None  # that the later run was trained on
    causes: list[Cause]

    @property
    def places(self) -> int:
        """> 0 risen."""
        return self.rank_before - self.rank_now


@dataclass(frozen=True)
class Moved:
    """Who rose and fell from one run to the next; ``reason`` says why the lists are empty."""

    before: RunInfo | None
    after: RunInfo | None
    changes: int  # labels that differ
    risen: list[Mover]
    fallen: list[Mover]
    note: str  # what else changed between the runs, or ""
    reason: str


@dataclass(frozen=True)
class Ranking:
    """What a run knew and said: (N,) ranks from 1, and node id -> verdict."""

    rank: IntArray
    labels: Mapping[str, str]


def label_changes(graph: Graph, before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Labels that are new, changed or taken back, in the order of the graph."""
    ids = {node_id for node_id, _ in before.items() ^ after.items() if node_id in graph}
    found = [Change(graph.index_of(i), after.get(i), before.get(i)) for i in ids]
    return sorted(found, key=lambda change: change.node)


def movers(
    graph: Graph, before: Ranking, after: Ranking, space: npt.NDArray[Any] | None, n: int
) -> tuple[list[Mover], list[Mover]]:
    """Up to ``n`` nodes that rose most and that fell most; ``space`` is an (N, K) embedding, if any."""
    shift = np.log2(before.rank / after.rank)
    changes = label_changes(graph, before.labels, after.labels)
    risen = np.argsort(-shift, kind="stable")[:n]
    fallen = np.argsort(shift, kind="stable")[:n]
    found = []
    for nodes, up in ((risen[shift[risen] > 0], True), (fallen[shift[fallen] < 0], False)):
        pushing = [change for change in changes if change.push * (1 if up else -1) > 0]
        causes = nearest_changes(graph, nodes, pushing, space)
        found.append([_mover(graph, int(v), before, after, why) for v, why in zip(nodes, causes)])
    return found[0], found[1]


def _mover(graph: Graph, node: int, before: Ranking, after: Ranking, causes: list[Cause]) -> Mover:
    node_id = str(graph.node_ids[node])
    return Mover(
        node_id,
        graph.display_name(node),
        int(before.rank[node]),
        int(after.rank[node]),
        after.labels.get(node_id),
        causes,
    )


def nearest_changes(
    graph: Graph, nodes: IntArray, changes: Sequence[Change], space: npt.NDArray[Any] | None
) -> list[list[Cause]]:
    """For each node the changed labels nearest to it, nearest first."""
    if not len(nodes) or not changes:
        return [[] for _ in nodes]
    at = np.array([change.node for change in changes], dtype=np.int64)
    adjacent, shared, overlap = _links(graph, nodes, at)
    nearness = _alike(space, nodes, at) * (APART + (1 - APART) * np.where(adjacent, 1.0, overlap))
    own = nodes[:, None] == at[None, :]
    nearness[own] = 1.0
    found = []
    for i in range(len(nodes)):
        best = np.argsort(-nearness[i], kind="stable")[:CAUSES]
        words = [_link(bool(own[i, j]), bool(adjacent[i, j]), int(shared[i, j])) for j in best]
        found.append(
            [
                _cause(graph, changes[j], float(nearness[i, j]), link)
                for j, link in zip(best, words)
                if nearness[i, j] >= LEAST
            ]
        )
    return found


def _cause(graph: Graph, change: Change, nearness: float, link: str) -> Cause:
    return Cause(
        str(graph.node_ids[change.node]),
        graph.display_name(change.node),
        change.verdict,
        change.before,
        nearness,
        link,
    )


def _links(graph: Graph, nodes: IntArray, others: IntArray) -> tuple[npt.NDArray[np.bool_], Array, Array]:
    """(M, C) whether neighbours, number of shared neighbours, and that number over √(|N(u)| |N(v)|)."""
    left, right = graph.adjacency[nodes], graph.adjacency[others]
    adjacent = left[:, others].toarray() > 0
    left, right = (left != 0).astype(np.float64), (right != 0).astype(np.float64)
    shared = (left @ right.T).toarray()
    size = np.sqrt(np.outer(np.diff(left.indptr), np.diff(right.indptr)))
    return adjacent, shared, np.divide(shared, size, out=np.zeros_like(shared), where=size > 0)


def _alike(space: npt.NDArray[Any] | None, nodes: IntArray, others: IntArray) -> Array:
    """(M, C) cosine around the mean of all nodes, at least 0; 1 without an embedding."""
    if space is None:
        return np.ones((len(nodes), len(others)))
    # A hypersphere gathers all nodes around its centre: without centring every cosine would be near 1.
    middle = np.mean(space, axis=0, dtype=np.float64)
    one, two = space[nodes] - middle, space[others] - middle
    length = np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(two, axis=1))
    cosine = np.divide(one @ two.T, length, out=np.zeros(length.shape), where=length > 0)
    return np.asarray(np.clip(cosine, 0.0, 1.0))


def _link(own: bool, adjacent: bool, shared: int) -> str:
    if own:
        return "its own label"
    if adjacent:
        return "a neighbour"
    if shared:
        return f"{shared:,} shared neighbour{'s' * (shared != 1)}"
    return "looks alike"


def other_differences(before: RunInfo, after: RunInfo) -> str:
    """A sentence when more than the labels changed between two runs, else an empty text."""
    names = (("model", "model"), ("params", "parameters"), ("seed", "seed"))
    changed = [word for key, word in names if getattr(before, key) != getattr(after, key)]
    if not changed:
        return ""
    return f"The {' and the '.join(changed)} changed too, so labels explain only part of the movement."
