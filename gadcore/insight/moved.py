"""What rose and fell between two runs, and which new labels lie behind it.

Movers are ranked by log₂(rank before / rank now), so that a rise from 800 to 12 counts more than one from
18,000 to 9,000. Named are the new, changed or taken back labels that push a mover's way most by the linear
head of provisional.py, each with its share of that push (influence.py). The head stands for the run only
where it moves the node as the run did: the same way, and at least half as far. There places are told too,
elsewhere that it does not explain the move. Without such a head, a label pushes up (towards anomalous) or
down, and of those that push a mover's way the nearest are named:

    nearness = cosine in the embedding (centred, at least 0) · closeness in the graph
    closeness = APART + (1 − APART) · (1 for neighbours, else |N(u) ∩ N(v)| / √(|N(u)| |N(v)|))

Either way these are likely causes; no run is trained again to prove it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import Graph, IntArray
from gadcore.insight.influence import Influence
from gadcore.records import RunInfo

Array = npt.NDArray[np.float64]
Learnt = Mapping[str, tuple[str, float]]  # node id -> verdict and weight

APART = 0.1  # closeness of nodes that share no neighbour
CAUSES = 3  # labels named for each mover
LEAST = 0.02  # nearness under which a label is not named, and push under which none is
LEAST_SHARE = 0.01  # of the push
REPRODUCED = 0.5  # part of a move that the linear head must show before it is believed in places
_VALUE = {"anomalous": 1, "normal": -1}


@dataclass(frozen=True)
class Change:
    """A label that one run knew and the other did not."""

    node: int
    verdict: str | None  # None: taken back
    before: str | None
    weight: float = 1.0
    weight_before: float = 1.0

    @property
    def now(self) -> float:
        """The weight, below 0 for normal, 0 where there is no label."""
        return _VALUE.get(self.verdict or "", 0) * self.weight

    @property
    def then(self) -> float:
        """The same before the change."""
        return _VALUE.get(self.before or "", 0) * self.weight_before

    @property
    def push(self) -> float:
        """> 0 towards anomalous, < 0 towards normal."""
        return self.now - self.then

    @property
    def words(self) -> str:
        """E.g. "anomalous", "normal taken back", "anomalous, counts 1 instead of 0.17"."""
        if self.verdict is None:
            return f"{self.before} taken back"
        if self.verdict != self.before:
            return self.verdict
        return f"{self.verdict}, counts {self.weight:.2g} instead of {self.weight_before:.2g}"


@dataclass(frozen=True)
class Cause:
    """A label that may have moved a node."""

    node_id: str
    name: str
    verdict: str | None
    before: str | None
    label: str  # verdict and what became of it, in words
    nearness: float  # 0..1; 0 where the share is known
    link: str  # how the two are related, in words
    share: float | None = None  # of all that pushes the node that way in the linear head: > 0 up, < 0 down
    places: int | None = None  # lower (> 0) or higher (< 0) that the node would stand without the label

    @property
    def effect(self) -> str:
        """What the label does, in words; empty where that is not known."""
        if self.share is None:
            return ""
        said = f"{abs(self.share):.0%} of the push {'up' if self.share > 0 else 'down'}"
        if not self.places:
            return said
        size = abs(self.places)
        way = "lower" if self.places > 0 else "higher"
        return f"{said}, would stand {size:,} place{'s' * (size != 1)} {way} without it"


@dataclass(frozen=True)
class Mover:
    """A node that changed its place."""

    node_id: str
    name: str
    rank_before: int
    rank_now: int
    verdict: str | None  # that the later run was trained on
    causes: list[Cause]
    head: int | None = None  # places that the changed labels move it up in the linear head; None without one

    @property
    def places(self) -> int:
        """> 0 risen."""
        return self.rank_before - self.rank_now

    @property
    def reproduced(self) -> bool:
        """Whether the linear head moves the node as the run did."""
        return _reproduced(self.head, self.places)

    @property
    def remark(self) -> str:
        """How far the changed labels explain the move, in words; empty where the causes say all."""
        if self.head is None:
            passed = "fell behind it" if self.places > 0 else "moved past it"
            return "" if self.causes else f"no changed label near it: others {passed}"
        nobody = "" if self.causes else "no single label; "
        if self.reproduced:
            return f"{nobody}without all changed labels: rank {self.rank_now + self.head:,}"
        part = "explains only part of" if self.head * self.places > 0 else "does not explain"
        return f"{nobody}the linear model {part} this move"


def _reproduced(head: int | None, places: int) -> bool:
    return head is not None and head * places > 0 and abs(head) >= REPRODUCED * abs(places)


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
    """What a run knew and said: (N,) ranks from 1, and node id -> verdict and weight."""

    rank: IntArray
    labels: Learnt


def label_changes(graph: Graph, before: Learnt, after: Learnt) -> list[Change]:
    """Labels that are new, changed, taken back, or count more or less, in the order of the graph."""
    ids = {node_id for node_id, _ in before.items() ^ after.items() if node_id in graph}
    found = [_change(graph.index_of(i), after.get(i), before.get(i)) for i in ids]
    return sorted(found, key=lambda change: change.node)


def _change(node: int, now: tuple[str, float] | None, before: tuple[str, float] | None) -> Change:
    (verdict, weight), (word, counted) = now or (None, 0.0), before or (None, 0.0)
    return Change(node, verdict, word, weight, counted)


def movers(
    graph: Graph,
    before: Ranking,
    after: Ranking,
    space: npt.NDArray[Any] | None,
    n: int,
    influence: Influence | None = None,
) -> tuple[list[Mover], list[Mover]]:
    """Up to ``n`` nodes that rose most and that fell most; ``space`` is an (N, K) embedding, if any.

    Causes come from ``influence`` where there is one, otherwise from nearness in ``space`` and the graph.
    """
    shift = np.log2(before.rank / after.rank)
    changes = label_changes(graph, before.labels, after.labels)
    risen = np.argsort(-shift, kind="stable")[:n]
    fallen = np.argsort(shift, kind="stable")[:n]
    found = []
    for nodes, up in ((risen[shift[risen] > 0], True), (fallen[shift[fallen] < 0], False)):
        pushing = [change for change in changes if change.push * (1 if up else -1) > 0]
        if influence is None or not changes:
            causes = nearest_changes(graph, nodes, pushing, space)
            heads: list[int | None] = [None] * len(nodes)
        else:
            moves = before.rank[nodes] - after.rank[nodes]
            causes, heads = responsible_changes(graph, nodes, moves, changes, influence)
        each = zip(map(int, nodes), causes, heads)
        found.append([_mover(graph, node, before, after, why, head) for node, why, head in each])
    return found[0], found[1]


def _mover(
    graph: Graph, node: int, before: Ranking, after: Ranking, causes: list[Cause], head: int | None
) -> Mover:
    node_id, ranks = str(graph.node_ids[node]), (int(before.rank[node]), int(after.rank[node]))
    verdict = after.labels.get(node_id, (None, 0.0))[0]
    return Mover(node_id, graph.display_name(node), *ranks, verdict, causes, head)


def responsible_changes(
    graph: Graph, nodes: IntArray, moves: IntArray, changes: Sequence[Change], influence: Influence
) -> tuple[list[list[Cause]], list[int | None]]:
    """For each node the labels that push it most the way it moved, and the places all of them move it up.

    What a single label does in places is told only where the head moves the node as the run did.
    """
    at = np.array([change.node for change in changes], dtype=np.int64)
    now, then = (np.array([getattr(change, name) for change in changes]) for name in ("now", "then"))
    parts, bends = influence.parts(at, now, then), influence.bends(at, now, then)
    heads = influence.places([(int(node), 0) for node in nodes], parts.sum(axis=0, keepdims=True))
    named = _most_responsible(influence.shifts(nodes, parts), np.sign(moves))
    told = [(i, j) for i, j, _ in named if _reproduced(heads[i], int(moves[i]))]
    places = dict(zip(told, influence.places([(int(nodes[i]), j) for i, j in told], bends)))
    adjacent, shared, _ = _links(graph, nodes, at)
    causes: list[list[Cause]] = [[] for _ in nodes]
    for i, j, share in named:
        own, alike = int(nodes[i]) == changes[j].node, (changes[j].push > 0) == (share > 0)
        link = _link(own, bool(adjacent[i, j]), int(shared[i, j]), alike=alike)
        lower = places.get((i, j))
        lower = lower if lower is not None and lower * share >= 0 else None
        causes[i].append(replace(_cause(graph, changes[j], 0.0, link), share=share, places=lower))
    return causes, list(heads)


def _most_responsible(pushes: Array, way: IntArray) -> list[tuple[int, int, float]]:
    """(node, change, share) of the changes that push each node its way, most responsible first.

    ``pushes`` is (M, C), ``way`` (M,) 1 up and −1 down; a share has the sign of the way.
    """
    along = np.maximum(pushes * way[:, None], 0.0)
    total = along.sum(axis=1)
    found = []
    for i in np.flatnonzero(total >= LEAST):
        for j in np.argsort(-along[i], kind="stable")[:CAUSES]:
            share = float(along[i, j] / total[i])
            if share >= LEAST_SHARE:
                found.append((int(i), int(j), share * int(way[i])))
    return found


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
    found: list[list[Cause]] = [[] for _ in nodes]
    for i, causes in enumerate(found):
        for j in np.argsort(-nearness[i], kind="stable")[:CAUSES]:
            if nearness[i, j] >= LEAST:
                link = _link(bool(own[i, j]), bool(adjacent[i, j]), int(shared[i, j]))
                causes.append(_cause(graph, changes[j], float(nearness[i, j]), link))
    return found


def _cause(graph: Graph, change: Change, nearness: float, link: str) -> Cause:
    node_id, name = str(graph.node_ids[change.node]), graph.display_name(change.node)
    return Cause(node_id, name, change.verdict, change.before, change.words, nearness, link)


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


def _link(own: bool, adjacent: bool, shared: int, *, alike: bool = True) -> str:
    if own:
        return "its own label"
    if adjacent:
        return "a neighbour"
    if shared:
        return f"{shared:,} shared neighbour{'s' * (shared != 1)}"
    return "looks alike" if alike else "looks different"


def other_differences(before: RunInfo, after: RunInfo) -> str:
    """A sentence when more than the labels changed between two runs, otherwise an empty text."""
    names = (("model", "model"), ("params", "parameters"), ("seed", "seed"))
    changed = [word for key, word in names if getattr(before, key) != getattr(after, key)]
    if not changed:
        return ""
    return f"The {' and the '.join(changed)} changed too, so labels explain only part of the movement."
