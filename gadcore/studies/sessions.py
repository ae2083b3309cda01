"""Simulated analysts: what a query strategy finds, and what the model learns, per label spent.

A session works as the app does: the model ranks, the strategy (with its share of audit cases) chooses ten
cases, each gets a verdict, the model is fitted again from where it stood. Other than in the app no verdict
bends the ranking within a batch; but the default looks at the hits of a cold ranking as they come. Verdicts
come from the truth and are wrong with a given probability. A random fifth of each class is held out (or none,
for studies of what the session itself says): never asked, only scored.

Beside the strategies of the app there are four to compare with, none of them with audit cases:

    unchecked the default of the app, but for the audit cases
    plain     the highest scores as they are, near-duplicates too
    random    any open node
    entropy   smallest |w·z + b| of a logistic regression on z = ÂX: the uncertainty sampling that general
              active-learning packages (scikit-activeml, small-text) do on the same features; at random until
              both classes are known
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.derive.views import Views, views_of
from gadcore.detectors import BOTH, Detector, make_detector
from gadcore.detectors.arrays import propagate
from gadcore.errors import GadError, LabelError, UsageError
from gadcore.graph import FloatArray, Graph, IntArray, Truth
from gadcore.graph.labels import Labels
from gadcore.loop.pool import BATCH, RECENT, Pool, Query
from gadcore.loop.strategies import AUDIT_SHARE, DEFAULT, STRATEGIES, diversity_basis, interleave, queue_order
from gadcore.loop.strategies.diverse import GreedyDiverse
from gadcore.loop.strategies.sampling import Audit
from gadcore.metrics import auc, average_precision

UNCHECKED, PLAIN, RANDOM, ENTROPY = "unchecked", "plain", "random", "entropy"
TITLES = {
    **{name: strategy.title for name, strategy in STRATEGIES.items() if not strategy.asks_again},
    UNCHECKED: "The default without random checks",
    PLAIN: "Highest score and nothing else",
    RANDOM: "Blind draws",
    ENTROPY: "Uncertainty of a logistic regression",
}
SESSION_STRATEGIES = tuple(TITLES)
BLIND = (RANDOM, ENTROPY)  # they choose without the model
_AROUND = [name for name, strategy in STRATEGIES.items() if strategy.asks_around_anomalies]
STARTS_AS_DEFAULT = (DEFAULT, UNCHECKED, *_AROUND)  # these need a confirmed anomaly first

LABELS, HELD_OUT = 200, 0.2
CHECK_BATCH = 50  # random checks between two fits
AHEAD = 100  # cases chosen at a time where nobody retrains
LEAST = 2  # nodes of each class: one to find, one to hold out


@dataclass(frozen=True)
class Step:
    """Where a session stands after a batch."""

    labels: int  # verdicts given
    found: int  # anomalies confirmed
    auc: float | None  # of the model, on the held-out nodes
    ap: float | None


OnStep = Callable[[Step], bool | None]  # True ends the session
OnFit = Callable[["Session", Detector | None], None]  # the session so far and the model fitted to it


@dataclass
class Session:
    """One simulated analyst at work."""

    strategy: str
    model: str
    seed: int
    wrong: float  # probability of a wrong verdict
    held_out: IntArray  # nodes never asked
    anomalies: int  # that could be found
    asked: list[int] = field(default_factory=list)  # nodes in the order asked
    verdicts: list[int] = field(default_factory=list)  # 1 anomalous, 0 normal
    inclusion: dict[int, float] = field(default_factory=dict)  # audit draws
    batches: list[int] = field(default_factory=list)  # verdicts given when each batch was chosen
    steps: list[Step] = field(default_factory=list)

    def labels(self, graph: Graph) -> Labels:
        """The verdicts so far."""
        nodes, said = np.array(self.asked, dtype=np.int64), np.array(self.verdicts, dtype=np.int8)
        plain = Labels.from_indices(graph, normal=nodes[said == 0], anomalous=nodes[said == 1])
        chosen = self.strategy != RANDOM and len(self.asked) > len(self.inclusion)
        return replace(plain, inclusion=dict(self.inclusion), chosen=chosen)

    def curve(self) -> dict[str, list[float | None]]:
        """Lists of equal length: labels, found, auc, ap."""
        return {
            name: [getattr(step, name) for step in self.steps] for name in ("labels", "found", "auc", "ap")
        }


def simulate(
    graph: Graph,
    truth: Truth,
    strategy: str = DEFAULT,
    *,
    model: str = "an+",
    params: Mapping[str, Any] | None = None,
    labels: int = LABELS,
    batch: int = BATCH,
    wrong: float = 0.0,
    seed: int = 0,
    holdout: float = HELD_OUT,
    checks: int = 0,
    still: int | None = None,
    seldom: int = 1,
    on_step: OnStep | None = None,
    on_fit: OnFit | None = None,
) -> Session:
    """Label in batches until ``labels`` verdicts are given or no node is left to ask about.

    Then come ``checks`` cases of the random audit alone. After ``still`` labels the model is not fitted any
    more and cases are chosen AHEAD at a time, as in the queue of an analyst who never retrains. Where the
    model has no part in the choice it is fitted after every ``seldom``-th batch only, and at the end.
    """
    _check(strategy, labels, batch, wrong, holdout)
    rng = np.random.default_rng(seed)
    held = _held_out(truth, holdout, np.random.default_rng([seed, 1]))
    allowed = truth.known.copy()
    allowed[held] = False
    anomalies = int((truth.y[allowed] == 1).sum())
    session = Session(strategy, model, seed, wrong, held, anomalies)
    desk = _Desk(graph, truth, session, allowed, rng, params or {})
    last = min(labels, int(allowed.sum()))
    while True:
        idle = strategy in BLIND and len(session.batches) % seldom > 0 and len(session.asked) < last
        if still is not None and len(session.asked) > still:
            batch = max(batch, AHEAD)
        elif not idle:
            desk.fit()
        session.steps.append(desk.measure(fitted=not idle))
        if on_fit is not None:
            on_fit(session, desk.detector)
        stopped = on_step is not None and on_step(session.steps[-1])
        if checks and len(session.asked) >= labels:
            session.strategy, labels, checks, batch = Audit.name, labels + checks, 0, CHECK_BATCH
        session.batches.append(len(session.asked))
        waiting = [] if stopped else desk.choose(min(batch, labels - len(session.asked)))
        if not waiting:
            return session
        given: list[Query] = []
        while waiting:
            desk.answer(waiting[0])
            given.append(waiting[0])
            waiting = desk.reconsidered(waiting[1:], given)


@dataclass
class _Desk:
    """Graph, model and session together: the analyst's place of work."""

    graph: Graph
    truth: Truth
    session: Session
    allowed: npt.NDArray[np.bool_]
    rng: np.random.Generator
    params: Mapping[str, Any]  # of the model
    detector: Detector | None = None

    @cached_property
    def directions(self) -> FloatArray:
        return diversity_basis(self.graph)

    @cached_property
    def views(self) -> Views:
        return views_of(self.graph)

    @cached_property
    def smoothed(self) -> FloatArray:
        """(N, D) ÂX."""
        x = propagate(self.graph, 1)[1]
        return np.asarray(x.toarray() if sp.issparse(x) else x, dtype=np.float32)

    @cached_property
    def unranked(self) -> FloatArray:
        """Scores while the model has too few labels: any order."""
        return self.rng.random(self.graph.n_nodes).astype(np.float32)

    @property
    def scores(self) -> FloatArray:
        return self.unranked if self.detector is None else self.detector.scores_

    @property
    def cold(self) -> bool:
        """Whether the ranking rests on no pair of normal and anomalous labels."""
        return self.detector is None or self.detector.basis_ != BOTH

    def fit(self) -> None:
        """Fit on the verdicts so far, from the last fit; no model while its labels are missing."""
        labels = self.session.labels(self.graph)
        fresh = make_detector(self.session.model, seed=self.session.seed, **self.params)
        try:
            fresh.check_labels(labels)
        except LabelError:
            return
        self.detector = fresh.fit(self.graph, labels, warm_start=self.detector)

    def measure(self, *, fitted: bool = True) -> Step:
        """The session's figures now; none of the model unless it was ``fitted`` to the last verdicts."""
        session = self.session
        y, scores = self.truth.y[session.held_out] == 1, self.scores[session.held_out]
        true = self.truth.y[session.asked] if session.asked else np.zeros(0)
        found = int(np.sum((true == 1) & (np.array(session.verdicts) == 1)))
        known = fitted and self.detector is not None and len(y) > 0
        figures = (_figure(of(y, scores)) if known else None for of in (auc, average_precision))
        return Step(len(session.asked), found, *figures)

    def answer(self, query: Query) -> None:
        """Give a verdict, wrong now and then."""
        right = int(self.truth.y[query.node])
        self.session.asked.append(query.node)
        self.session.verdicts.append(1 - right if self.rng.random() < self.session.wrong else right)
        if query.inclusion_probability is not None:
            self.session.inclusion[query.node] = query.inclusion_probability

    def choose(self, n: int) -> list[Query]:
        """The next ``n`` cases, fewer when the graph has no more."""
        if n <= 0:
            return []
        strategy = self.session.strategy
        if strategy in (PLAIN, *BLIND):
            nodes = self._pool().open if strategy == PLAIN else self._blind(by_margin=strategy == ENTROPY)
            return [Query(int(node), 0.0, strategy, strategy=strategy) for node in nodes[:n]]
        if strategy == UNCHECKED:
            return queue_order(self._pool(), DEFAULT, n, self.rng, audit_share=0.0)
        queries = queue_order(self._pool(), strategy, n, self.rng, AUDIT_SHARE)
        if len(queries) < n:  # rings need a confirmed anomaly with open neighbours
            taken = {query.node for query in queries}
            more = queue_order(self._pool(), DEFAULT, n + len(taken), self.rng, audit_share=0.0)
            queries += [query for query in more if query.node not in taken]
        return queries[:n]

    def reconsidered(self, waiting: list[Query], given: Sequence[Query]) -> list[Query]:
        """The rest of a batch: the default follows a cold ranking that hits; checks keep their places."""
        if not waiting or not self.cold or not self._by_default(waiting):
            return waiting
        active = [query.node for query in given if query.inclusion_probability is None]
        pool = replace(self._pool(), begun=active[len(active) - len(active) % BATCH :])
        if not GreedyDiverse.trusts(pool):
            return waiting
        checks = {place: query for place, query in enumerate(waiting) if query.inclusion_probability}
        taken = {query.node for query in checks.values()}
        chosen = queue_order(pool, DEFAULT, len(waiting), audit_share=0.0, waiting=taken)
        return interleave(chosen, checks, len(waiting))

    def _by_default(self, queries: Sequence[Query]) -> bool:
        """Whether these cases are of the default's choice."""
        around = any(query.strategy in _AROUND for query in queries)
        return self.session.strategy in STARTS_AS_DEFAULT and not around

    def _pool(self) -> Pool:
        detector, session = self.detector, self.session
        return Pool(
            scores=self.scores,
            labels=session.labels(self.graph),
            embedding=None if detector is None else detector.embedding_,
            basis=self.directions,
            adjacency=self.graph.adjacency,
            cold=self.cold,
            seed=session.seed,
            recent=session.asked[-RECENT:],
            allowed=self.allowed,
            views=self.views,
        )

    def _blind(self, *, by_margin: bool) -> IntArray:
        free = self.allowed.copy()
        free[self.session.asked] = False
        nodes = self.rng.permutation(np.flatnonzero(free))
        labels = self.session.labels(self.graph)
        if by_margin and len(labels.normal) and len(labels.anomalous):
            nodes = nodes[np.argsort(self._margins(labels, nodes), kind="stable")]
        return nodes

    def _margins(self, labels: Labels, nodes: IntArray) -> FloatArray:
        """(n,) |w·z + b| of these nodes."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(class_weight="balanced", max_iter=1000)
        model.fit(self.smoothed[labels.indices], labels.targets)
        return np.abs(np.asarray(model.decision_function(self.smoothed[nodes]), dtype=np.float32))


def _held_out(truth: Truth, share: float, rng: np.random.Generator) -> IntArray:
    """A random share of each class, at least one node, at most all but one; no node for a share of 0."""
    if share == 0:
        return np.zeros(0, dtype=np.int64)
    parts = []
    for value, word in ((0, "normal"), (1, "anomalous")):
        nodes = np.flatnonzero(truth.y == value)
        if len(nodes) < LEAST:
            raise LabelError(
                f"The truth has {len(nodes)} {word} nodes. Practice needs at least {LEAST}: one to find and "
                "one to hold out."
            )
        size = min(max(1, round(share * len(nodes))), len(nodes) - 1)
        parts.append(rng.choice(nodes, size, replace=False))
    return np.sort(np.concatenate(parts)).astype(np.int64)


def _check(strategy: str, labels: int, batch: int, wrong: float, holdout: float) -> None:
    if strategy not in SESSION_STRATEGIES:
        raise UsageError(
            f"There is no query strategy {strategy!r}. Expected one of: {', '.join(SESSION_STRATEGIES)}."
        )
    if labels < 1 or batch < 1:
        raise GadError(f"{labels} labels in batches of {batch}: expected at least 1 of each.")
    if not 0 <= wrong < 1 or not 0 <= holdout < 1:
        raise GadError(f"Wrong verdicts {wrong}, held out {holdout}: expected shares from 0 to below 1.")


def _figure(value: float) -> float | None:
    return None if isnan(value) else round(value, 6)
