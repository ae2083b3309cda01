"""What a query strategy sees of a project, and what it answers with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from gadcore.derive.views import Views
from gadcore.graph import IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import percentile_ranks, ranks

Array = npt.NDArray[np.floating]
Random = np.random.Generator

RECENT = 10  # verdicts that tell whether the ranking is hitting
BATCH = 10  # cases chosen together; the queue is a row of such batches
DIAL = 0.5  # between exploiting the ranking and exploring, unless a project prefers otherwise


@dataclass(frozen=True)
class Query:
    """A case to ask about, and why."""

    node: int
    utility: float  # order of preference within the strategy that chose it
    reason: str
    inclusion_probability: float | None = None  # of one audit draw; None when chosen actively
    strategy: str = ""
    drawn_after: int | None = None  # of an audit draw: id of the last label event before it
    offer: int | None = None  # under which it is kept, once it is


@dataclass(frozen=True)
class Changed:
    """A node with a verdict that updates have touched since."""

    node: int
    links: int  # that came since
    links_before: int
    rank_before: int  # at the first of these updates; 0: not known
    news: str  # all of it in words


@dataclass(frozen=True)
class Pool:
    """Scores, labels and geometry of one project at one moment."""

    scores: Array  # (N,), higher = more anomalous
    labels: Labels = field(default_factory=Labels.none)
    embedding: Array | None = None  # (N, K) of the model
    basis: Array | None = None  # (N, r) from ``diversity_basis``: geometry that needs no model
    adjacency: Any = None  # (N, N) CSR
    cold: bool = False  # the ranking rests on no pair of normal and anomalous labels
    seed: int = 0
    recent: Sequence[int] = ()  # nodes labelled last, newest at the end
    dial: float = DIAL  # 0 exploits the ranking, 1 explores
    allowed: npt.NDArray[np.bool_] | None = None  # (N,) mask of a filter
    near_duplicates: bool = False  # allow cases that look the same in one batch
    begun: Sequence[int] = ()  # nodes of the batch that was begun: the first of the next cases complete it
    order: IntArray | None = None  # (N,) nodes by falling score, ties as they stand; None: not known yet
    views: Views | None = None  # of the graph
    changed: Sequence[Changed] = ()  # judged nodes that later data have touched

    def __post_init__(self) -> None:
        if len(self.begun) >= BATCH:
            raise ValueError(f"{len(self.begun)} cases are begun: a batch of {BATCH} has no place left")

    def without(self, nodes: Collection[int]) -> Pool:
        """The same pool, but for these nodes, which are not to be chosen."""
        if not nodes:
            return self
        allowed = np.ones(self.n, dtype=bool) if self.allowed is None else self.allowed.copy()
        allowed[list(nodes)] = False
        return replace(self, allowed=allowed)

    @property
    def distinct(self) -> bool:
        """Whether a batch holds no near-duplicates: not if these are asked for, or nothing tells them."""
        return not self.near_duplicates and (self.basis is not None or self.embedding is not None)

    @property
    def n(self) -> int:
        return len(self.scores)

    @cached_property
    def verdicts(self) -> npt.NDArray[np.int8]:
        """(N,) as ``Labels.as_array``."""
        return self.labels.as_array(self.n)

    @cached_property
    def free(self) -> npt.NDArray[np.bool_]:
        """(N,) nodes without any verdict (unsure counts as one) that the filter lets through."""
        free = self.verdicts == -1
        return free if self.allowed is None else np.asarray(free & self.allowed, dtype=bool)

    @cached_property
    def open(self) -> IntArray:
        """The free nodes, best score first."""
        return np.asarray(self._order[self.free[self._order]], dtype=np.int64)

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(-np.asarray(self.scores), kind="stable") if self.order is None else self.order

    @cached_property
    def rank(self) -> IntArray:
        """(N,) 1 = highest score of all nodes."""
        return ranks(self.scores, self._order)

    @cached_property
    def percentile(self) -> npt.NDArray[np.float64]:
        """(N,) midranks of the scores in (0, 1)."""
        return percentile_ranks(self.scores, self._order)

    @cached_property
    def space(self) -> npt.NDArray[np.float32]:
        """(N, r) geometry for diversity: the basis, or the embedding, or the score alone."""
        if self.basis is not None:
            return np.asarray(self.basis, dtype=np.float32)
        if self.embedding is not None:
            return np.asarray(self.embedding, dtype=np.float32)
        return self.percentile.astype(np.float32)[:, None]

    @cached_property
    def decided(self) -> npt.NDArray[np.int8]:
        """The last verdicts, without unsure ones: 1 anomalous, 0 normal."""
        last = self.verdicts[np.asarray(self.recent[-RECENT:], dtype=np.int64)]
        return last[last >= 0]

    @cached_property
    def hit_rate(self) -> float:
        """Share of anomalies among the last verdicts, shrunk towards one half while they are few."""
        return float(running_rate(self.decided == 1)[-1]) if len(self.decided) else 0.5


def running_rate(hits: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """(n,) share of hits among the first 1, 2, …, n, shrunk towards one half while they are few."""
    return np.asarray((np.cumsum(hits) + 1.0) / (np.arange(1, len(hits) + 1) + 2.0))


class QueryStrategy:
    """One way to choose the next cases."""

    name: ClassVar[str]
    title: ClassVar[str]
    dialled: ClassVar[bool] = False
    """Whether the explore–exploit dial matters to it."""
    asks_by_score: ClassVar[bool] = False
    """Whether a case is chosen for its score, so that why it scores high also says why it is asked about."""
    asks_around_anomalies: ClassVar[bool] = False
    """Whether cases are neighbours of confirmed anomalies: there are none before the first of these."""
    is_random_check: ClassVar[bool] = False
    """Whether every case is drawn at random with a recorded probability, for the audit."""
    asks_again: ClassVar[bool] = False
    """Whether its cases are nodes that have a verdict, which later data may have made doubtful."""
    groups: ClassVar[bool] = False
    """Whether a case stands for a group of similar nodes."""

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        """At most ``n`` nodes, open ones unless it asks again; the one to ask first at the front."""
        raise TypeError(f"{type(self).__name__} does not choose")

    def query(
        self, node: int | np.integer[Any], utility: float, reason: str, probability: float | None = None
    ) -> Query:
        return Query(int(node), float(utility), reason, probability, self.name)
