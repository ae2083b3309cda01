"""Verdicts that deserve a second look, each with its reasons.

    model        a normal node scores, out of fold, above the median anomalous one (or an anomalous node below
                 the median normal one): the rule of confident learning (Northcutt et al. 2021) on ranks
    neighbours   most labelled neighbours have the other verdict, and more than is usual for this verdict
    pair         the model does not rank the labels, and this verdict and one on a node like it contradict
    analysts     analysts disagree and nobody has settled it
    group        one of these holds, and the node was labelled with a group: nobody looked at it itself

A model that does not rank the labels cannot tell which are wrong, nor can one with a handful of them: it does
not speak of single verdicts, and ``unheard`` says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.insight.agreement import Dispute
from gadcore.insight.contradictions import contradictions
from gadcore.metrics import auc

Array = npt.NDArray[np.float64]

LEAST_VERDICTS = 5  # of each kind, before the model may disagree; labels of a group count by their weight
ROUNDING = 1e-9  # weights of a group add up with an error
LEAST_AUC = 0.7  # out of fold, likewise
MOST_PAIRS = 5  # of contradicting verdicts
LEAST_AROUND = 3  # labelled neighbours
MOST = 0.75  # share of them with the other verdict
UNSEEN = 0.25  # strength added to a doubt about a node that was labelled with a group
UNUSUAL = 0.25  # by how much that exceeds the share around other nodes with the same verdict
_WORD = ("normal", "anomalous")


@dataclass(frozen=True)
class Doubt:
    """One reason to look again."""

    node: int
    kind: str  # model, pair, neighbours, analysts, group
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
    graph: Graph,
    labels: Labels,
    out_of_fold: npt.NDArray[Any] | None,
    disputed: Iterable[Dispute],
    space: FloatArray | None = None,
) -> dict[int, list[Doubt]]:
    """Node -> its doubts, most doubtful node first. ``space`` (N, r) tells which nodes look alike."""
    found: dict[int, list[Doubt]] = {}
    by_model = model_doubts(labels, out_of_fold) or pair_doubts(graph, labels, out_of_fold, space)
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


@dataclass(frozen=True)
class _Held:
    """Labels that a model has scored without having seen them."""

    nodes: IntArray
    y: npt.NDArray[np.int8]
    scores: Array
    least: float  # weight of the labels of the rarer kind

    @property
    def few(self) -> bool:
        return self.least < LEAST_VERDICTS - ROUNDING

    @property
    def auc(self) -> float:
        return auc(self.y, self.scores)


def _held(labels: Labels, out_of_fold: npt.NDArray[Any] | None) -> _Held | None:
    """None where nothing was held out, or labels of one kind alone."""
    if out_of_fold is None:
        return None
    held = np.asarray(out_of_fold, dtype=np.float64)
    known = np.isfinite(held[labels.indices])
    nodes, y, weight = labels.indices[known], labels.targets[known], labels.weights[known]
    least = min(float(weight[y == 1].sum()), float(weight[y == 0].sum()))
    return _Held(nodes, y, held[nodes], least) if least else None


def unheard(labels: Labels, out_of_fold: npt.NDArray[Any] | None) -> str:
    """Why the model does not speak of single verdicts; empty where it does."""
    held = _held(labels, out_of_fold)
    if held is None:
        return "no model has ranked labels of both kinds that it had not seen"
    if held.auc < LEAST_AUC:
        return (
            f"the model ranks verdicts that it had not seen with an AUC of {held.auc:.2f} (chance is 0.50), "
            "too poor to tell which of them are wrong"
        )
    return f"the model waits for {LEAST_VERDICTS} verdicts of each kind" if held.few else ""


def pair_doubts(
    graph: Graph, labels: Labels, out_of_fold: npt.NDArray[Any] | None, space: FloatArray | None
) -> list[Doubt]:
    """Verdicts on nodes that look alike and contradict each other, where the model ranks the labels badly."""
    held = _held(labels, out_of_fold)
    if held is None or out_of_fold is None or held.auc >= LEAST_AUC:
        return []
    found = []
    for pair in contradictions(labels, np.asarray(out_of_fold, dtype=np.float64), space, MOST_PAIRS):
        both = (pair.normal, "normal", pair.anomalous), (pair.anomalous, "anomalous", pair.normal)
        for node, word, other in both:
            reason = (
                f"marked {word}, but {graph.display_name(other)} is marked otherwise and looks like it: "
                "the model cannot have both"
            )
            found.append(Doubt(node, "pair", 0.5 + 0.25 * pair.likeness, reason))
    return found


def model_doubts(labels: Labels, out_of_fold: npt.NDArray[Any] | None) -> list[Doubt]:
    """Labels that a model which did not see them places among the others."""
    held = _held(labels, out_of_fold)
    if held is None or held.few or held.auc < LEAST_AUC:
        return []
    nodes, y, scores = held.nodes, held.y, held.scores
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
