"""Linear heads of ``an+`` (heads.py): on unit rows, on standardised columns, and against the background.

linear       Σ_d w_d z_vd + b on ÂᵏX with unit rows, k = 0 … 3
standard     the same on standardised columns: magnitudes count, for attributes that are dense numbers
background   the same, fitted with random unlabelled nodes as weak normals: anomalies are rare, so these
             show what is normal when only a few nodes are labelled

Saved: row hops, unit, intercept, strength; array coefficient (D,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from gadcore.detectors.accounts import Accountable
from gadcore.detectors.base import ANOMALOUS_ONLY, BOTH, NORMAL_ONLY
from gadcore.detectors.heads import FeatureTable, Head, HeadTask, fit_head, score_heads
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.base import HOPS, Member, PlannedFit, Slot, few
from gadcore.graph import FloatArray

BACKGROUND = 200  # unlabelled nodes taken as weak normals
WEAK = 0.01  # C of standardised heads that only know normal nodes
SOME = 40  # normal labels at which heads that know nothing else get half of the weight


@dataclass(frozen=True, kw_only=True)
class Headed(Member):
    """A member with a head of its own."""

    head: Head

    @property
    def strength(self) -> float:
        return self.head.strength

    @classmethod
    def fitted(
        cls, bench: Bench, name: str, task: HeadTask, table: FeatureTable, hops: int, unit: bool, **own: Any
    ) -> Self:
        """Fit a head, score all nodes with it and its folds, and report it."""
        found = fit_head(task, table, hops, unit=unit)
        scores, *folds = score_heads([found.head, *found.folds], table).T
        bench.report.step(found.loss, stage=name)
        ranks = bench.judge.ranks(scores, folds)
        return cls(name=name, scores=scores, ranks=ranks, fold_scores=tuple(folds), head=found.head, **own)

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.put("coefficient", self.head.coefficient)
        slot.row.update(self.head.state())

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        return {"head": Head.from_state(slot.row, slot.get("coefficient"))}


@dataclass(frozen=True, kw_only=True)
class Linear(Headed):
    """On unit rows of ÂᵏX."""

    kind: ClassVar[str] = "linear"
    unit: ClassVar[bool] = True
    powers: ClassVar[Sequence[int]] = range(HOPS + 1)  # k

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        return [PlannedFit(partial(cls._fit, hops)) for hops in cls.powers]

    @classmethod
    def _fit(cls, hops: int, bench: Bench, done: Sequence[Member]) -> list[Member]:
        name = f"{cls.kind} {hops}"
        return [cls.fitted(bench, name, bench.task_of(name), bench.cache.table(hops), hops, cls.unit)]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """With few labels attributes without neighbours count less."""
        return 1.0 if self.head.hops else 1 - few(labels)

    def score_new(self, cache: GraphCache) -> FloatArray:
        return self.head.scores(cache.table(self.head.hops).z)

    @property
    def part(self) -> Accountable:
        return self.head


@dataclass(frozen=True, kw_only=True)
class Standard(Linear):
    """On standardised columns of X and Â²X."""

    kind: ClassVar[str] = "standard"
    unit: ClassVar[bool] = False
    powers: ClassVar[Sequence[int]] = (0, 2)


@dataclass(frozen=True, kw_only=True)
class Background(Linear):
    """Against random unlabelled nodes, as normals or, where only normals are known, as the other class."""

    kind: ClassVar[str] = "background"
    bases: ClassVar[tuple[str, ...]] = (BOTH, NORMAL_ONLY, ANOMALOUS_ONLY)

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        if bench.model.basis_ == NORMAL_ONLY:
            return [PlannedFit(partial(cls._against, hops, 1, hops == 1)) for hops in range(HOPS + 1)]
        hops = (2, 3) if bench.model.basis_ == BOTH else range(HOPS + 1)
        return [PlannedFit(partial(cls._against, k, 0, True)) for k in hops]

    @classmethod
    def _against(
        cls, hops: int, value: int, unit: bool, bench: Bench, done: Sequence[Member]
    ) -> list[Member]:
        """``value``: the class that unlabelled nodes are taken for."""
        name = f"background {hops}" if unit else f"background standard {hops}"
        task = bench.task_of(name) if unit else replace(bench.task, strengths=np.array([WEAK]))
        task = with_background(task, bench.cache.graph.n_nodes, bench.model.seed, value)
        return [cls.fitted(bench, name, task, bench.cache.table(hops), hops, unit)]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """With few labels more; beside normal labels alone, four share what the unusual ones leave."""
        return (1 - SOME / (SOME + labels)) / 4 if basis == NORMAL_ONLY else 1 + 2 * few(labels)


def with_background(task: HeadTask, n_nodes: int, seed: int, value: int) -> HeadTask:
    """The task with unlabelled rows of a class, together as heavy as its labels (at least 1)."""
    free = np.setdiff1d(np.arange(n_nodes), np.concatenate([task.nodes, task.held]))
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(free, min(len(free), BACKGROUND), replace=False))
    if not len(chosen):
        return task
    share = max(1.0, float(task.weight[task.y == value].sum())) / len(chosen)
    fold = None if task.fold is None else np.concatenate([task.fold, np.full(len(chosen), -1)])
    return replace(
        task,
        nodes=np.concatenate([task.nodes, chosen]),
        y=np.concatenate([task.y, np.full(len(chosen), value, dtype=np.int8)]),
        weight=np.concatenate([task.weight, np.full(len(chosen), share)]),
        fold=fold,
    )
