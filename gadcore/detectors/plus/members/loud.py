"""Member of ``an+`` while no node is known to be anomalous: nodes at which a view of the graph is loud.

    score(v) = max_j loud_j(v) / (1 + m_j)²,    m_j the normal labels at which view j is loud

``loud`` is 0 for almost all nodes (derive/views.py). Beside it the other members only order what is as loud:
one view is enough to lift a node. Stars do not lift, for most hubs of most graphs are honest. Where no view
is loud the member is not planned, and graphs are ranked as if it did not exist.

Saved with the model: forgiven, by view the factor 1 / (1 + m_j)².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gadcore.derive.views import NAMES, STAR, Views, views_of
from gadcore.detectors.accounts import Account
from gadcore.detectors.plus.bench import Bench
from gadcore.detectors.plus.combine import Array
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot
from gadcore.detectors.plus.members.unusual import Unusual
from gadcore.detectors.surroundings import Variants
from gadcore.graph import FloatArray
from gadcore.graph.labels import Labels

LIFT = 16.0  # how much it counts beside the others, whose weights add up to 4 at most


@dataclass(frozen=True, kw_only=True)
class Loud(Unusual):
    """How loud the loudest view is."""

    kind: ClassVar[str] = "loud"

    forgiven: FloatArray  # (J,) factor of each view

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        return [PlannedFit(_fit_loud)] if _lifting(views_in(bench.cache)).any() else []

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        return LIFT

    def score_new(self, cache: GraphCache) -> FloatArray:
        return _loudest(views_in(cache), self.forgiven)

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.put("forgiven", self.forgiven)

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        return {"forgiven": slot.get("forgiven")}

    def raw(self, variants: Variants) -> Array:
        return np.array([float(self.scores[variants.node])])

    def account(self, variants: Variants) -> Account:
        graph = variants.view.graph
        own = float(self.scores[variants.node])
        return Account(np.zeros(graph.n_features), np.zeros(graph.n_nodes), own)


def views_in(cache: GraphCache) -> Views:
    """The views of the graph, worked out once."""
    found: Views = cache.kept("views", lambda: views_of(cache.graph))
    return found


def _fit_loud(bench: Bench, done: Sequence[Member]) -> list[Member]:
    views = views_in(bench.cache)
    forgiven = _forgiven(views, bench.labels)
    scores = _loudest(views, forgiven)
    bench.report.step(float(np.mean(scores)), stage="loud views")
    return [Loud(name="loud", scores=scores, ranks=bench.judge.ranks(scores, ()), forgiven=forgiven)]


def _lifting(views: Views) -> npt.NDArray[np.float32]:
    """(J, N) loudness, but for stars."""
    lifts = np.array([name != STAR for name in NAMES])
    return np.asarray(views.loud * lifts[:, None], dtype=np.float32)


def _forgiven(views: Views, labels: Labels) -> FloatArray:
    """(J,) by how many normal labels each view is loud at."""
    own = labels.weights[: len(labels.normal)]
    return np.asarray(1.0 / np.square(1.0 + (views.loud[:, labels.normal] > 0) @ own), dtype=np.float32)


def _loudest(views: Views, forgiven: FloatArray) -> FloatArray:
    return np.asarray((_lifting(views) * forgiven[:, None]).max(axis=0), dtype=np.float32)
