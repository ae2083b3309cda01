"""Forest member of ``an+``, for graphs whose links give attributes (forests.py).

First stage: extremely randomised trees on X give p₁(v). Second stage: the same on X and on what the first
says of the counterparties u that v receives from, sends to, either of both, and is linked with by each kind:

    mean, max and sum of p₁(u)          p₁ of a labelled node is that of the trees that did not see its label

Without an edge the columns that links give would be others: what a single edge adds is not worked out.

Saved: row depths of both forests; arrays first (N,) p₁, held (n,) p₁ of the labelled nodes, forest{stage}.…
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gadcore.detectors.accounts import Account, dense_row
from gadcore.detectors.arrays import dense
from gadcore.detectors.forests import ARRAYS, Forest, GrownForest, grow
from gadcore.detectors.held_out import spread_out
from gadcore.detectors.logistic import balanced
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.counterparties import STATISTICS, Circles, circles_of
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot, few
from gadcore.detectors.surroundings import Variants
from gadcore.engine import fill, row_blocks
from gadcore.graph import Features, FloatArray, Graph, IntArray

COLUMNS = 1000  # attributes up to which rows are made dense
PRIOR = 20.0


@dataclass(frozen=True, kw_only=True)
class LinkForest(Member):
    """Two stages of extremely randomised trees."""

    kind: ClassVar[str] = "forest"

    forests: tuple[Forest, Forest] = field(repr=False)
    first: FloatArray  # (N,) p₁
    held: FloatArray  # (n,) p₁ of the labelled nodes
    labelled: tuple[str, ...]  # their ids

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        graph = bench.cache.graph
        suits = graph.links is not None and bool(graph.derived) and graph.n_features <= COLUMNS
        return [PlannedFit(cls._fit)] if suits else []

    @classmethod
    def _fit(cls, bench: Bench, done: Sequence[Member]) -> list[Member]:
        """Once with all labels, and once without each fold for the nodes that are looked at."""
        task, judge, graph = bench.task, bench.judge, bench.cache.graph
        whole = _Stages.grown(bench, np.full(len(task.nodes), True), np.arange(graph.n_nodes))
        looked_at = np.union1d(judge.reference, task.nodes)
        folds = [_Stages.grown(bench, np.asarray(task.fold != f), looked_at) for f in range(judge.folds)]
        held = [spread_out(graph.n_nodes, looked_at, stages.scores) for stages in folds]
        bench.report_ranking(cls.kind, whole.scores)
        return [
            cls(
                name=cls.kind,
                scores=whole.scores,
                ranks=judge.ranks(whole.scores, held),
                forests=(whole.one.forest(), whole.two.forest()),
                first=whole.first.astype(np.float32),
                held=whole.first[task.nodes].astype(np.float32),
                labelled=tuple(str(graph.node_ids[node]) for node in task.nodes),
            )
        ]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """Much: it alone sees the links as they are; with few labels less."""
        return PRIOR * (1 - few(labels))

    def score_new(self, cache: GraphCache) -> FloatArray:
        return self.carried_to(cache).scores

    def carried_to(self, cache: GraphCache) -> Self:
        graph = cache.graph
        everyone = np.arange(graph.n_nodes)
        first = first_scores(self.forests[0], graph, everyone).astype(np.float32)
        first[graph.indices_of(self.labelled)] = self.held
        scores = second_scores(self.forests[1], graph, first, everyone).astype(np.float32)
        return replace(self, scores=scores, first=first, ranks=None)

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.row["depths"] = [forest.flat.depth for forest in self.forests]
        slot.put("first", self.first)
        slot.put("held", self.held)
        for stage, forest in enumerate(self.forests):
            for name, array in forest.arrays().items():
                slot.put(f"forest{stage}.{name}", array)

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        forests = tuple(
            Forest.of_arrays({name: slot.get(f"forest{stage}.{name}") for name in ARRAYS}, depth)
            for stage, depth in enumerate(slot.row["depths"])
        )
        own = {name: slot.get(name) for name in ("first", "held")}
        return {"forests": forests, "labelled": tuple(slot.saved.state["labelled"]), **own}

    def raw(self, variants: Variants) -> Array:
        """Of the graph as it is alone."""
        return self._down(variants)[0]

    def account(self, variants: Variants) -> Account:
        """What the second stage heard of counterparties is theirs, by their part in each statistic."""
        graph, node = variants.view.graph, variants.node
        score, added = self._down(variants)
        own = added[: graph.n_features]
        heard = added[graph.n_features :].reshape(-1, STATISTICS)
        nodes = np.zeros(graph.n_nodes)
        for circle, part in zip(circles_of(graph).around(np.array([node])), heard):
            if len(circle.nodes):
                nodes[circle.nodes] += np.dot(part, circle.shares(0, self.first))
        return Account(own, nodes, float(score[0] - own.sum() - nodes.sum()))

    def _down(self, variants: Variants) -> tuple[Array, Array]:
        """(1,) score of the node, and what each column of the second stage added to it."""
        graph, node = variants.view.graph, variants.node
        circles = circles_of(graph).around(np.array([node]))
        heard = [_statistics_of(circle.nodes, self.first) for circle in circles]
        row = np.concatenate([dense_row(graph.x, node), *heard]).astype(np.float32)
        return self.forests[1].flat.down(row[None, :])


class _Stages(NamedTuple):
    """Both forests grown from some of the labels, and what they say of all nodes."""

    one: GrownForest
    two: GrownForest
    first: Array  # (N,) p₁; 0 where nobody asks
    scores: FloatArray  # of the nodes asked for

    @classmethod
    def grown(cls, bench: Bench, seen: npt.NDArray[np.bool_], asked: IntArray) -> _Stages:
        """From the labels that are seen, for the nodes asked for, labelled ones among them."""
        task, graph, seed = bench.task, bench.cache.graph, bench.model.seed
        nodes, y = task.nodes[seen], task.y[seen]
        weight = balanced(y, task.weight[seen])
        one = grow(dense(graph.x[nodes], np.float32), y, weight, seed=seed)
        everyone = len(asked) == graph.n_nodes
        heard = asked if everyone else np.union1d(asked, circles_of(graph).everyone(asked))
        first = np.zeros(graph.n_nodes)
        first[heard] = first_scores(one, graph, heard)
        first[nodes] = one.held
        rows = _second_rows(graph.x, first, circles_of(graph), nodes)
        two = grow(rows, y, weight, seed=seed + 1)
        return cls(one, two, first, second_scores(two, graph, first, asked).astype(np.float32))


def first_scores(forest: Forest | GrownForest, graph: Graph, nodes: IntArray) -> Array:
    """(n,) p₁ of some nodes."""
    found = np.empty(len(nodes))
    fill(found, _first_scores, row_blocks(len(nodes)), forest, graph.x, nodes)
    return found


def second_scores(
    forest: Forest | GrownForest, graph: Graph, first: npt.NDArray[Any], nodes: IntArray
) -> Array:
    """(n,) scores of some nodes from the second stage, given p₁ of all that they are linked with."""
    found, circles = np.empty(len(nodes)), circles_of(graph)
    parts = (circles.start, circles.nodes, circles.bits, circles.number)
    fill(found, _second_scores, row_blocks(len(nodes)), forest, graph.x, first, nodes, *parts)
    return found


def _first_scores(
    block: slice, forest: Forest | GrownForest, x: Features, nodes: IntArray
) -> npt.NDArray[Any]:
    return forest.scores(dense(x[nodes[block]], np.float32))


def _second_scores(
    block: slice,
    forest: Forest | GrownForest,
    x: Features,
    first: npt.NDArray[Any],
    nodes: IntArray,
    *circles: Any,
) -> npt.NDArray[Any]:
    return forest.scores(_second_rows(x, first, Circles(*circles), nodes[block]))


def _second_rows(x: Features, first: npt.NDArray[Any], circles: Circles, nodes: IntArray) -> FloatArray:
    """(n, D + 3 circles) attributes of some nodes, and what the first stage says of their counterparties."""
    return np.hstack([dense(x[nodes], np.float32), *circles.statistics(first, nodes)])


def _statistics_of(others: npt.NDArray[Any], p: npt.NDArray[Any]) -> Array:
    own = p[others].astype(np.float64)
    return np.array([own.mean(), own.max(), own.sum()]) if len(own) else np.zeros(STATISTICS)
