"""Smoothed member of ``an+``: the mean score of a linear member where a random walk ends (graph_cache.py).

Π (f − f̄), f̄ the mean of f: evidence of the wider neighbourhood. Node u counts by its own linear score.

Saved: as a linear member, row offset f̄ and walk: true; models without ``walk`` smoothed by Â.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gadcore.detectors.accounts import Account
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.graph_cache import DAMPING, LONG, GraphCache, damped
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot
from gadcore.detectors.plus.members.linear import Headed, Linear
from gadcore.detectors.surroundings import Variants
from gadcore.graph import FloatArray

SMOOTHED = (2, 3)  # hops of the linear members that are


@dataclass(frozen=True, kw_only=True)
class Smoothed(Headed):
    """Π (f − f̄) of a linear member, whose head it has."""

    kind: ClassVar[str] = "smoothed"
    steps = LONG

    offset: float  # f̄

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        return [PlannedFit(cls._fit, reports=len(SMOOTHED))]

    @classmethod
    def _fit(cls, bench: Bench, done: Sequence[Member]) -> list[Member]:
        """All in one walk: its steps wait for memory, whatever the number of columns."""
        sources = [m for m in done if type(m) is Linear and m.head.hops in SMOOTHED]
        centred = [own - own.mean() for m in sources for own in (m.scores, *m.fold_scores)]
        spread = damped(bench.cache.walk, np.stack(centred, axis=1), LONG)
        return [
            cls._of(bench, source, own)
            for source, own in zip(sources, np.split(spread, len(sources), axis=1))
        ]

    @classmethod
    def _of(cls, bench: Bench, source: Linear, spread: FloatArray) -> Member:
        ranks = bench.judge.ranks(spread[:, 0], list(spread[:, 1:].T))
        name, scores, offset = f"smoothed {source.name}", spread[:, 0].copy(), float(source.scores.mean())
        bench.report_ranking(name, scores)
        return cls(name=name, scores=scores, ranks=ranks, head=source.head, offset=offset)

    def score_new(self, cache: GraphCache) -> FloatArray:
        centred = self.head.scores(cache.table(self.head.hops).z) - self.offset
        return np.asarray(damped(cache.walk, centred[:, None], LONG)[:, 0])

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.row.update(offset=self.offset, walk=True)

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        return {**super().fields_from(slot), "offset": slot.row["offset"]}

    @classmethod
    def readable(cls, row: Mapping[str, Any]) -> bool:
        return bool(row.get("walk"))

    def raw(self, variants: Variants) -> Array:
        walk = variants.even_walk(DAMPING, LONG)
        if walk.shape[1] == 1:
            return np.asarray(walk.T @ (self.head.everywhere(variants.view) - self.offset))
        return np.asarray(np.einsum("nc,nc->c", walk, self.head.in_variants(variants) - self.offset))

    def account(self, variants: Variants) -> Account:
        walk = variants.even_walk(DAMPING, LONG)[:, 0]
        stay = float(walk[variants.node])
        inner = self.head.account(variants).scaled(stay)
        nodes = walk * (self.head.everywhere(variants.view) - self.offset) + inner.nodes
        nodes[variants.node] = 0.0
        return Account(inner.own, nodes, inner.base - stay * self.offset)
