"""Propagation member of ``an+``: verdicts spread over edges; the score is the share of anomalous mass.

Every labelled node counts by the mass it sends. Saved with the model: its labelled nodes and signed_weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gadcore.detectors.accounts import Account
from gadcore.detectors.baselines.simple import TRACE, propagated_shares
from gadcore.detectors.logistic import fold_weights
from gadcore.detectors.plus.bench import Bench, signed_weights
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot, few
from gadcore.detectors.surroundings import GraphView, Variants
from gadcore.graph import FloatArray, IntArray

SPREADING, STEPS = 0.9, 30


@dataclass(frozen=True, kw_only=True)
class Propagation(Member):
    """Share of anomalous mass that reaches a node from labelled ones."""

    kind: ClassVar[str] = "propagation"
    steps = STEPS

    labelled: tuple[str, ...]  # node ids
    signed: Array  # (n,) balanced weight of each label, negative for normal

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        return [PlannedFit(cls._fit)]

    @classmethod
    def _fit(cls, bench: Bench, done: Sequence[Member]) -> list[Member]:
        """Once with all labels and once without each fold."""
        task, ids = bench.task, bench.cache.graph.node_ids
        weights = fold_weights(task.y, task.weight, task.fold)
        shares = propagated_shares(bench.cache.adjacency, task.nodes, task.y, weights, SPREADING, STEPS)
        scores = shares[:, 0].astype(np.float32)
        bench.report_ranking(cls.kind, scores)
        return [
            cls(
                name=cls.kind,
                scores=scores,
                ranks=bench.judge.ranks(scores, list(shares[:, 1:].T)),
                labelled=tuple(str(ids[node]) for node in task.nodes),
                signed=signed_weights(bench.labels),
            )
        ]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        return 1 - few(labels)

    def score_new(self, cache: GraphCache) -> FloatArray:
        nodes = cache.graph.indices_of(self.labelled)
        y, weights = (self.signed > 0).astype(np.int8), np.abs(self.signed)[:, None]
        shares = propagated_shares(cache.adjacency, nodes, y, weights, SPREADING, STEPS)
        return shares[:, 0].astype(np.float32)

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        saved = slot.saved
        return {"labelled": tuple(saved.state["labelled"]), "signed": saved.arrays["signed_weights"]}

    def raw(self, variants: Variants) -> Array:
        nodes = variants.view.graph.indices_of(self.labelled)
        walk = variants.walk(SPREADING, STEPS)[nodes]
        traces = self._traces(variants.view, nodes)
        anomalous = np.maximum(self.signed, 0) @ walk + traces[1]
        normal = np.maximum(-self.signed, 0) @ walk + traces[0]
        return np.asarray(anomalous / (anomalous + normal))

    def account(self, variants: Variants) -> Account:
        graph = variants.view.graph
        labelled = graph.indices_of(self.labelled)
        mass = variants.walk(SPREADING, STEPS)[labelled, 0] * self.signed
        traces = self._traces(variants.view, labelled)
        total = 2.0 * (np.abs(mass).sum() + traces.sum())
        nodes = np.zeros(graph.n_nodes)
        nodes[labelled] = mass / total
        own_verdict = float(nodes[variants.node])
        nodes[variants.node] = 0.0
        base = 0.5 + float(traces[1] - traces[0]) / total + own_verdict
        return Account(np.zeros(graph.n_features), nodes, base)

    def _traces(self, view: GraphView, nodes: IntArray) -> Array:
        """Mass of both classes, normal first, that every node has from the start."""
        sent = view.total_mass(SPREADING, STEPS)[nodes] * self.signed
        return np.array([-sent[sent < 0].sum(), sent[sent > 0].sum()]) * TRACE / view.graph.n_nodes
