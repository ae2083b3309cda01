"""Scores of nodes that arrived later: each member as it is, ranked among the nodes it was fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import normalised_adjacency, propagate
from gadcore.detectors.baselines.simple import propagated_shares
from gadcore.detectors.plus.combine import percentile_between
from gadcore.detectors.plus.members import (
    HOPS,
    SPREADING,
    SPREADING_STEPS,
    Member,
    damped,
    diffused_attributes,
    random_walk,
)
from gadcore.detectors.plus.reduced import Directions
from gadcore.detectors.plus.unlabelled import Scale, attribute_distance, neighbour_residual
from gadcore.graph import FloatArray, Graph

Array = npt.NDArray[np.float64]
HEADS = ("linear", "standard", "background", "diffused")


@dataclass(frozen=True)
class Memory:
    """What scoring needs beside the members: spread verdicts, directions and scales."""

    labelled: tuple[str, ...]  # node ids, for propagation
    signed_weights: Array  # (n,) balanced weight of each label, negative for normal
    directions: Directions | None = None
    centre: FloatArray | None = None
    scale: Scale | None = None
    rare: FloatArray | None = None  # (D,) weights of the columns that a diffused member sees
    spheres: Any = None  # Members of the hypersphere


def score_grown(graph: Graph, members: Sequence[Member], weights: Array, memory: Memory) -> FloatArray:
    """(N',) Σ ω_m p_m for the nodes of a graph that has grown."""
    scorer = _Scorer(graph, members, memory)
    total = np.zeros(graph.n_nodes)
    for member, weight in zip(members, weights):
        total += weight * percentile_between(member.scores, scorer.raw(member))
    return total.astype(np.float32)


class _Scorer:
    """Products of the new graph, made once."""

    def __init__(self, graph: Graph, members: Sequence[Member], memory: Memory) -> None:
        self.graph, self.members, self.memory = graph, members, memory
        hops = [member.head.hops for member in members if member.head is not None]
        hops += [member.hops for member in members]
        if memory.directions is not None:
            hops.append(memory.directions.hops)
        self.powers = propagate(graph, HOPS if memory.rare is not None else max(hops, default=0))
        self.adjacency = normalised_adjacency(graph)
        self.walk = random_walk(self.adjacency, graph)
        if memory.rare is not None:
            self.powers += diffused_attributes(graph, self.adjacency, self.walk, memory.rare)
        needed = any(member.kind == "sphere" for member in members)
        self.spheres: Any = memory.spheres.score_new(graph) if needed else None

    def raw(self, member: Member) -> FloatArray:
        """The member's own score of every node."""
        if member.kind in HEADS and member.head is not None:
            return member.head.scores(self.powers)
        if member.kind == "smoothed" and member.head is not None:
            centred = member.head.scores(self.powers) - member.offset
            return np.asarray(damped(self.walk, centred[:, None])[:, 0])
        if member.kind == "sphere":
            return np.asarray(self.spheres[member.row])
        if member.kind == "trees":
            return self._trees(member)
        if member.kind == "propagation":
            return self._propagation()
        return self._unusual(member.kind)

    def _trees(self, member: Member) -> FloatArray:
        from gadcore.detectors.baselines.trees import margins, stacked

        rows = stacked(self.powers[: member.hops + 1], np.arange(self.graph.n_nodes), member.wide)
        return margins(member.booster, rows)

    def _propagation(self) -> FloatArray:
        nodes = self.graph.indices_of(self.memory.labelled)
        signed = self.memory.signed_weights
        y, weights = (signed > 0).astype(np.int8), np.abs(signed)[:, None]
        shares = propagated_shares(self.adjacency, nodes, y, weights, SPREADING, SPREADING_STEPS)
        return shares[:, 0].astype(np.float32)

    def _unusual(self, kind: str) -> FloatArray:
        memory = self.memory
        if kind == "neighbourhood" and memory.directions is not None and memory.centre is not None:
            away = memory.directions.embed(self.powers) - memory.centre
            return np.asarray(np.square(away).sum(axis=1), dtype=np.float32)
        if memory.scale is None:
            raise KeyError(f"no scale saved for member {kind!r}")
        measure = attribute_distance if kind == "attributes" else neighbour_residual
        return measure(memory.scale, self.graph)
