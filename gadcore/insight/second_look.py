"""Verdicts that deserve a second look, each with its reasons.

    model        a normal node scores, out of fold, above the median anomalous one (or an anomalous node below
                 the median normal one): the rule of confident learning (Northcutt et al. 2021) on ranks
    neighbours   most labelled neighbours have the other verdict, and more than is usual for this verdict
    analysts     analysts disagree and nobody has settled it
    group        one of these holds, and the node was labelled with a group: nobody looked at it itself

Nothing is claimed from a model that does not rank the labels, nor from a handful of labels.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.insight.agreement import Dispute
from gadcore.metrics import auc

Array = npt.NDArray[np.float64]

LEAST_VERDICTS = 5  # of each kind, before the model may disagree; labels of a group count by their weight
ROUNDING = 1e-9  # weights of a group add up with an error
LEAST_AUC = 0.7  # out of fold, likewise
LEAST_AROUND = 3  # labelled neighbours
MOST = 0.75  # share of them with the other verdict
UNSEEN = 0.25  # strength added to a doubt about a node that was labelled with a group
UNUSUAL = 0.25  # by how much that exceeds the share around other nodes with the same verdict
_WORD = ("normal", "anomalous")


@dataclass(frozen=True)
class Doubt:
    """One reason to look again."""

    node: int
    kind: str  # model, neighbours, analysts, group
    strength: float  # 0..1
    reason: str


@dataclass(frozen=True)
class SecondLook:
    """A case to look at again."""

    node_id: str
    name: str
    verdict: str
    analyst: str
    rank: int  # 0 without a run
    kinds: list[str]
    reasons: list[str]
    strength: float


def doubts(
    graph: Graph, labels: Labels, out_of_fold: npt.NDArray[Any] | None, disputed: Iterable[Dispute]
) -> dict[int, list[Doubt]]:
    """Node -> its doubts, most doubtful node first."""
    found: dict[int, list[Doubt]] = {}
    by_model = model_doubts(labels, out_of_fold)
    for doubt in (*analyst_doubts(graph, disputed), *by_model, *neighbour_doubts(graph, labels)):
        found.setdefault(doubt.node, []).append(doubt)
    for node in found.keys() & labels.weight.keys():
        found[node].append(Doubt(node, "group", UNSEEN, "labelled with a group, not looked at itself"))
    order = sorted(found, key=lambda node: (-total(found[node]), node))
    return {node: found[node] for node in order}


def total(found: Iterable[Doubt]) -> float:
    """Strength of several doubts about one node."""
    return sum(doubt.strength for doubt in found)


def analyst_doubts(graph: Graph, disputed: Iterable[Dispute]) -> list[Doubt]:
    """Nodes on which analysts disagree."""
    known = [dispute for dispute in disputed if dispute.node_id in graph]
    said = [", ".join(f"{name} says {word}" for name, word in d.verdicts.items()) for d in known]
    nodes = [graph.index_of(dispute.node_id) for dispute in known]
    return [Doubt(v, "analysts", 1.0, f"analysts disagree: {words}") for v, words in zip(nodes, said)]


def model_doubts(labels: Labels, out_of_fold: npt.NDArray[Any] | None) -> list[Doubt]:
    """Labels that a model which did not see them places among the others."""
    if out_of_fold is None:
        return []
    held = np.asarray(out_of_fold, dtype=np.float64)
    known = np.isfinite(held[labels.indices])
    nodes, y, weight = labels.indices[known], labels.targets[known], labels.weights[known]
    scores = held[nodes]
    least = min(float(weight[y == 1].sum()), float(weight[y == 0].sum()))
    if least < LEAST_VERDICTS - ROUNDING or auc(y, scores) < LEAST_AUC:
        return []
    normal, anomalous = scores[y == 0], scores[y == 1]
    found = []
    for node, target, score in zip(nodes, y, scores):
        others = normal if target else anomalous
        beyond = float(np.mean(others > score if target else others < score))
        if beyond >= 0.5:
            side, other = ("below", "normal") if target else ("above", "anomalous")
            reason = (
                f"marked {_WORD[target]}, but a model that did not see the verdict scores it {side} "
                f"{100 * beyond:.0f} % of the {other} labels"
            )
            found.append(Doubt(int(node), "model", beyond, reason))
    return found


def neighbour_doubts(graph: Graph, labels: Labels) -> list[Doubt]:
    """Labels whose labelled neighbours mostly have the other verdict."""
    nodes, y = labels.indices, labels.targets
    if not len(nodes):
        return []
    around, other = _labelled_around(graph, nodes, y)
    enough = around >= LEAST_AROUND
    share = np.divide(other, around, out=np.zeros(len(nodes)), where=around > 0)
    usual = _usual_elsewhere(share, enough, y)
    found = []
    for i in np.flatnonzero(enough & (share >= MOST) & (share - usual >= UNUSUAL)):
        reason = (
            f"marked {_WORD[y[i]]}, but {int(other[i])} of {int(around[i])} labelled neighbours are "
            f"{_WORD[1 - y[i]]}"
        )
        found.append(Doubt(int(nodes[i]), "neighbours", float(share[i] - usual[i]), reason))
    return found


def _labelled_around(graph: Graph, nodes: IntArray, y: npt.NDArray[np.int8]) -> tuple[Array, Array]:
    """Labelled neighbours of each labelled node, and those of them with the other verdict."""
    links = (graph.adjacency[nodes][:, nodes] != 0).astype(np.float64)
    around = np.asarray(links.sum(axis=1)).ravel()
    anomalous = np.asarray(links @ y.astype(np.float64)).ravel()
    return around, np.where(y == 1, around - anomalous, anomalous)


def _usual_elsewhere(share: Array, enough: npt.NDArray[np.bool_], y: npt.NDArray[np.int8]) -> Array:
    """Mean share around the other nodes with the same verdict; 0 where there are none to compare with."""
    usual = np.zeros(len(share))
    for word in (0, 1):
        same = enough & (y == word)
        count = int(same.sum())
        if count > 1:
            usual[same] = (share[same].sum() - share[same]) / (count - 1)
    return usual
