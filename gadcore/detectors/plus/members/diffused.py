"""Diffused members of ``an+``: linear heads on attributes of the wider neighbourhood, where these are sparse.

diffused evenly   on ΠX (graph_cache.py)
diffused          on the same with Â for P, which counts a node less the more edges it has, and with columns
                  weighted by rarity

Rows of X have unit length before and after: z is the unit row of Σ_u π_u x_u / ||x_u||.

Saved: as a linear member, row hops 4, or 5 for the even one; array usual (D,), and of the model rare (D,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gadcore.detectors.accounts import Account, linear_account
from gadcore.detectors.arrays import row_normalised
from gadcore.detectors.heads import FeatureTable, fitting_columns
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.graph_cache import DAMPING, SHORT, GraphCache, damped
from gadcore.detectors.plus.members.base import HOPS, Member, PlannedFit, Slot
from gadcore.detectors.plus.members.linear import Headed
from gadcore.detectors.surroundings import Variants
from gadcore.graph import FloatArray, Graph

UNEVENLY, EVENLY = HOPS + 1, HOPS + 2  # ``hops`` of their heads, after those of ÂᵏX
ENTRIES = 50_000_000  # of diffused attributes: two dense arrays, together 400 MB, are kept
WIDE = 100  # labels, judged out of fold, at which diffused members get half of their weight


@dataclass(frozen=True, kw_only=True)
class Diffused(Headed):
    """f(v) = w·z + b, z the unit row of diffused attributes with weighted columns."""

    kind: ClassVar[str] = "diffused"
    steps = SHORT

    usual: FloatArray  # (D,) mean z, which its parts are told against
    rare: FloatArray  # (D,) weights of the columns of the uneven one

    @property
    def even(self) -> bool:
        return self.head.hops == EVENLY

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        ways = (False, True) if suits_diffusion(bench.cache.graph) else ()
        return [PlannedFit(partial(cls._fit, even)) for even in ways]

    @classmethod
    def _fit(cls, even: bool, bench: Bench, done: Sequence[Member]) -> list[Member]:
        name, cache = "diffused evenly" if even else "diffused", bench.cache
        rare = cache.kept("rarity", lambda: rarity(cache.graph))
        table = cache.kept(
            ("diffused", even), lambda: FeatureTable(diffused_attributes(cache, None if even else rare))
        )
        hops, task = EVENLY if even else UNEVENLY, bench.task_of(name)
        usual = table.z.T @ (table.inverse / table.z.shape[0]).astype(np.float32)
        return [cls.fitted(bench, name, task, table, hops, True, usual=usual, rare=rare)]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        """No other head sees so far: much, but with many labels, or such as no member saw."""
        return 2.0 if validated else 2 * labels / (labels + WIDE)

    def score_new(self, cache: GraphCache) -> FloatArray:
        return self.head.scores(diffused_attributes(cache, None if self.even else self.rare))

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.put("usual", self.usual)
        slot.saved.arrays["rare"] = self.rare

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        rare = slot.saved.arrays["rare"]
        return {**super().fields_from(slot), "usual": slot.get("usual"), "rare": rare}

    def raw(self, variants: Variants) -> Array:
        _, _, z = variants.diffused(DAMPING, SHORT, even=self.even)
        return np.asarray(row_normalised(z * self._columns()) @ self.head.weights + self.head.intercept)

    def account(self, variants: Variants) -> Account:
        walk, rows, z = variants.diffused(DAMPING, SHORT, even=self.even)
        columns, weights = self._columns(), self.head.weights
        scale = columns / (float(np.linalg.norm(z[0] * columns)) or 1.0)
        usual = weights * self.usual.astype(float)
        return linear_account(
            variants, rows[:, 0], weights * scale, usual, self.head.intercept, reach=walk[:, 0]
        )

    def _columns(self) -> Array:
        """(D,) weights of the attributes."""
        return np.ones(len(self.usual)) if self.even else self.rare.astype(float)


def suits_diffusion(graph: Graph) -> bool:
    """Whether attributes are sparse, and few enough to be diffused."""
    small = graph.n_nodes * graph.n_features <= ENTRIES
    return sp.issparse(graph.x) and not graph.attribute_free and small


def rarity(graph: Graph) -> FloatArray:
    """(D,) √log((N + 1) / (n_d + 1)), n_d nodes having the attribute: the root of its inverse frequency."""
    n = graph.n_nodes
    having = np.bincount(sp.csr_array(graph.x).indices, minlength=graph.n_features)
    return np.sqrt(np.log((n + 1) / (np.minimum(having, n) + 1))).astype(np.float32)


def diffused_attributes(cache: GraphCache, rare: FloatArray | None) -> FloatArray:
    """(N, D) dense: walked over Â with columns weighted by ``rare``, or evenly without."""
    rows = row_normalised(cache.graph.x).toarray()
    if rare is None:
        return damped(cache.walk, rows, SHORT)
    return damped(cache.adjacency, rows, SHORT) * fitting_columns(rare[:, None], rows)[:, 0]
