"""Boosted trees of ``an+`` (boosters.py).

On X and on [X, ÂX, Â²X] where attributes are few and dense; on [X, ÂX] of any others, sparse, once many
anomalous nodes are labelled (``wide``).

Saved: row hops, wide, booster (a file of xgboost's).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.accounts import Accountable
from gadcore.detectors.boosters import BoostedTrees, as_matrix, boosted, stacked
from gadcore.detectors.logistic import balanced
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot, few
from gadcore.engine import fill, part_of, row_blocks
from gadcore.graph import Features, FloatArray, Graph

COLUMNS = 1000  # trees only up to so many attributes
NARROW: dict[str, Any] = {"rounds": 120, "learning_rate": 0.08}
WIDE: dict[str, Any] = {"rounds": 60, "learning_rate": 0.15, "columns": 0.2}
ENOUGH = 50  # anomalous labels from which trees pay with many or sparse attributes


@dataclass(frozen=True, kw_only=True)
class Trees(Member):
    """Boosted trees on [X, …, ÂʰX]."""

    kind: ClassVar[str] = "trees"

    trees: BoostedTrees = field(repr=False)

    @property
    def wide(self) -> bool:
        """On sparse rows, where absent means missing."""
        return self.trees.sparse

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        if suits_trees(bench.cache.graph):
            return [PlannedFit(partial(cls._fit, hops, False)) for hops in (2, 0)]
        return [PlannedFit(partial(cls._fit, 1, True))] if len(bench.labels.anomalous) >= ENOUGH else []

    @classmethod
    def _fit(cls, hops: int, wide: bool, bench: Bench, done: Sequence[Member]) -> list[Member]:
        """Fold models score only the nodes that are looked at."""
        task, judge, powers = bench.task, bench.judge, bench.cache.powers(hops)
        rows = stacked(powers, task.nodes, wide)

        def grown(seen: npt.NDArray[np.bool_]) -> BoostedTrees:
            settings, y = WIDE if wide else NARROW, task.y[seen]
            weight = balanced(y, task.weight[seen])
            booster = boosted(rows[seen], y, weight, seed=bench.model.seed, **settings)
            return BoostedTrees(hops, wide, booster=booster)

        trees = grown(np.full(len(task.nodes), True))
        scores = margins_of(trees, powers)
        looked_at = np.union1d(judge.reference, judge.nodes)
        seen_by_judge = as_matrix(stacked(powers, looked_at, wide)) if judge.folds else None
        held = []
        for f in range(judge.folds):
            held.append(np.zeros(len(scores), dtype=np.float32))
            held[-1][looked_at] = grown(np.asarray(task.fold != f)).margins(seen_by_judge)
        name = f"{cls.kind} {hops}"
        bench.report_ranking(name, scores)
        return [cls(name=name, scores=scores, ranks=judge.ranks(scores, held), trees=trees)]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """Much where attributes suit trees; with few labels attributes without neighbours count less."""
        return (1.0 if self.wide else 3.0) * (1.0 if self.trees.hops else 1 - few(labels))

    def score_new(self, cache: GraphCache) -> FloatArray:
        return margins_of(self.trees, cache.powers(self.trees.hops))

    def write(self, slot: Slot) -> None:
        super().write(slot)
        file = f"booster{slot.j}.json"
        (slot.saved.folder / file).write_bytes(self.trees.source)
        slot.row.update(hops=self.trees.hops, wide=self.wide, booster=file)

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        row = slot.row
        path = slot.saved.folder / row["booster"]
        return {"trees": BoostedTrees.read(path, row["hops"], sparse=row.get("wide", False))}

    @property
    def part(self) -> Accountable:
        return self.trees


def margins_of(trees: BoostedTrees, powers: Sequence[Features]) -> FloatArray:
    """(N,) log-odds of all nodes from [X, …, ÂʰX]."""
    n = powers[0].shape[0]
    found = np.empty(n, dtype=np.float32)
    fill(found, _margins, row_blocks(n), trees, *powers)
    return found


def _margins(block: slice, trees: BoostedTrees, *powers: Features) -> FloatArray:
    parts = [part_of(z, block) for z in powers]
    return trees.margins(stacked(parts, slice(None), trees.sparse))


def suits_trees(graph: Graph) -> bool:
    """Whether attributes are dense, and few enough to be split.

    amazon_fraud with 275 shuffled columns added, 20 + 80 labels, three seeds: average precision 38.0 without
    trees, 77.6 with them (xgb-graph 81.0); reddit with 236 added: 4.5 and 4.3 (4.0).
    """
    return not sp.issparse(graph.x) and graph.n_features <= COLUMNS
