"""What rose and fell between two runs, and which new labels lie behind it.

Movers are ranked by log₂(rank before / rank now), so that a rise from 800 to 12 counts more than one from
18,000 to 9,000. Named are the new, changed or taken back labels without which the node would stand furthest
from where it is, by the linear head of provisional.py (influence.py): exact for the head, which stands for
the run. Where none of them alone would change its place, what they do together is said. Where there is no
such head, a label pushes up (towards anomalous) or down, and of those that push a
mover's way the nearest are named:

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

from gadcore.cases import RunInfo
from gadcore.graph import Graph, IntArray
from gadcore.influence import Influence, Signs

Array = npt.NDArray[np.float64]

APART = 0.1  # closeness of nodes that share no neighbour
CAUSES = 3  # labels named for each mover
LEAST = 0.02  # nearness, or change of the head's score, under which a label is not named
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
    nearness: float  # 0..1; 0 where places are known
    link: str  # how the two are related, in words
    places: int | None = None  # lower (> 0) or higher (< 0) that the node would stand without the label

    @property
    def without(self) -> str:
        """What would be without the label, in words; empty where that is not known."""
        if self.places is None:
            return ""
        if not self.places:
            return "would keep its place without it alone"
        size = abs(self.places)
        way = "lower" if self.places > 0 else "higher"
        return f"would stand {size:,} place{'s' * (size != 1)} {way} without it"


@dataclass(frozen=True)
class Together:
    """What would be without all the named labels, where no single one of them changes the place.

    Where none is named, as each does next to nothing: without all labels that changed.
    """

    labels: int
    rank: int  # that the node would have
    places: int  # lower (> 0) or higher (< 0) that this is
    change: float  # by which the score of the linear model, a normal quantile, would fall
    named: bool = True

    @property
    def words(self) -> str:
        """E.g. "without these 3 together: rank 120"."""
        without = "without it" if self.labels == 1 else f"without these {self.labels} together"
        if not self.named:
            without = f"without all {self.labels:,} changed labels"
        if self.places:
            return f"{without}: rank {self.rank:,}"
        way = "lower" if self.change > 0 else "higher"
        return f"{without}: the same place, with a score {abs(self.change):.2g} {way} in the linear model"


@dataclass(frozen=True)
class Mover:
    """A node that changed its place."""

    node_id: str
    name: str
    rank_before: int
    rank_now: int
    verdict: str | None  # that the later run was trained on
    causes: list[Cause]
    together: Together | None = None  # where no cause alone changes the place

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
    graph: Graph,
    before: Ranking,
    after: Ranking,
    space: npt.NDArray[Any] | None,
    n: int,
    influence: Influence | None = None,
) -> tuple[list[Mover], list[Mover]]:
    """Up to ``n`` nodes that rose most and that fell most; ``space`` is an (N, K) embedding, if any.

    Causes come from ``influence`` where there is one, else from nearness in ``space`` and the graph.
    """
    shift = np.log2(before.rank / after.rank)
    changes = label_changes(graph, before.labels, after.labels)
    risen = np.argsort(-shift, kind="stable")[:n]
    fallen = np.argsort(shift, kind="stable")[:n]
    found = []
    for nodes, up in ((risen[shift[risen] > 0], True), (fallen[shift[fallen] < 0], False)):
        pushing = [change for change in changes if change.push * (1 if up else -1) > 0]
        if influence is None:
            causes = nearest_changes(graph, nodes, pushing, space)
        else:
            causes = decisive_changes(graph, nodes, changes, influence, up=up)
        moved = [_mover(graph, int(v), before, after, why) for v, why in zip(nodes, causes)]
        found.append(moved if influence is None else _with_joint_effects(graph, moved, changes, influence))
    return found[0], found[1]


def _with_joint_effects(
    graph: Graph, moved: list[Mover], changes: Sequence[Change], influence: Influence
) -> list[Mover]:
    """The movers; those whose causes change nothing one by one get what they do together."""
    still = [mover for mover in moved if not any(cause.places for cause in mover.causes)]
    if not still or not changes:
        return moved
    by_id = {str(graph.node_ids[change.node]): change for change in changes}
    groups = [[by_id[cause.node_id] for cause in mover.causes] or list(changes) for mover in still]
    bends = np.stack([influence.joint_bend(*_arrays(group)) for group in groups])
    nodes = np.array([graph.index_of(mover.node_id) for mover in still], dtype=np.int64)
    places = influence.places([(int(node), i) for i, node in enumerate(nodes)], bends)
    change = np.diag(influence.shifts(nodes, bends))
    joint = {
        mover.node_id: Together(len(group), mover.rank_now + lower, lower, float(shift), bool(mover.causes))
        for mover, group, lower, shift in zip(still, groups, places, change)
        if mover.causes or lower * mover.places > 0
    }
    return [replace(mover, together=joint.get(mover.node_id)) for mover in moved]


def _arrays(changes: Sequence[Change]) -> tuple[IntArray, Signs, Signs]:
    """(C,) nodes, and their verdicts now and before as 1, −1 or 0."""
    now, before = (
        np.array([_VALUE.get(word or "", 0) for word in words], dtype=np.int8)
        for words in zip(*[(change.verdict, change.before) for change in changes])
    )
    return np.array([change.node for change in changes], dtype=np.int64), now, before


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


def decisive_changes(
    graph: Graph, nodes: IntArray, changes: Sequence[Change], influence: Influence, *, up: bool
) -> list[list[Cause]]:
    """For each node the changed labels that moved it most that way, and where it would stand without each."""
    if not len(nodes) or not changes:
        return [[] for _ in nodes]
    at, now, before = _arrays(changes)
    bends = influence.bends(at, now, before)
    shifts = influence.shifts(nodes, bends) * (1 if up else -1)
    best = np.argsort(-shifts, axis=1, kind="stable")[:, :CAUSES]
    pairs = [(i, int(j)) for i, row in enumerate(best) for j in row if shifts[i, j] >= LEAST]
    places = influence.places([(int(nodes[i]), j) for i, j in pairs], bends)
    adjacent, shared, _ = _links(graph, nodes, at)
    found: list[list[Cause]] = [[] for _ in nodes]
    for (i, j), lower in zip(pairs, places):
        if lower * (1 if up else -1) >= 0:
            own, alike = int(nodes[i]) == changes[j].node, (changes[j].push > 0) == up
            link = _link(own, bool(adjacent[i, j]), int(shared[i, j]), alike=alike)
            found[i].append(replace(_cause(graph, changes[j], 0.0, link), places=lower))
    return [sorted(causes, key=lambda cause: -abs(cause.places or 0)) for causes in found]


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


def _link(own: bool, adjacent: bool, shared: int, *, alike: bool = True) -> str:
    if own:
        return "its own label"
    if adjacent:
        return "a neighbour"
    if shared:
        return f"{shared:,} shared neighbour{'s' * (shared != 1)}"
    return "looks alike" if alike else "looks different"


def other_differences(before: RunInfo, after: RunInfo) -> str:
    """A sentence when more than the labels changed between two runs, else an empty text."""
    names = (("model", "model"), ("params", "parameters"), ("seed", "seed"))
    changed = [word for key, word in names if getattr(before, key) != getattr(after, key)]
    if not changed:
        return ""
    return f"The {' and the '.join(changed)} changed too, so labels explain only part of the movement."
