"""The queue: cases in the order of a query strategy over the run in use.

An order is worked out per run and choice, a stretch at a time, and kept as offers in the store, so that all
processes ask for the same cases; labels only strike nodes off it. A stretch is added when few cases wait,
however many are asked for, and random checks are drawn for it alone. Where verdicts are let into the order
before the next run, the strategy chooses again by the provisional ranking (reranking.py).
Random checks stay those that were drawn by the run's own scores, so that their recorded probabilities hold,
and each comes after as many cases of the strategy as before. Every case that is shown is an offer.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import numpy as np

from gadcore.detectors import BOTH
from gadcore.graph.labels import LabelEvent
from gadcore.loop.order import AHEAD, Choice, Scored, work_out
from gadcore.loop.pool import BATCH
from gadcore.loop.rerank import Provisional
from gadcore.loop.strategies import STRATEGIES, Query, find_strategy, interleave, tells_of_the_queue
from gadcore.records import QueueRow
from gadcore.store import Result
from gadcore.store.offers import NOTHING, Offer, Revision
from gadcore.workspace.project import DERIVED, Project
from gadcore.workspace.queue_rows import (
    Filter,
    filtered,
    live_reasons,
    plain_rows,
    rows,
    unranked,
    widest,
    within,
)
from gadcore.workspace.reranking import provisional
from gadcore.workspace.since import changed_cases
from gadcore.workspace.team import Asked, asked_of, veiled

COMPLETE = "Every node has a verdict."
UNFIT = "No node fits this filter. Choose another one."
NONE_OPEN = "No node without a verdict fits this filter. Choose another one."
UNCOUNTED = "Checks within a filter do not count for the audit."
NONE_FOUND = (
    "No confirmed anomaly yet: this order asks about the neighbours of such. Choose another one until then."
)
NONE_AROUND = "Every neighbour of a confirmed anomaly has a verdict. Choose another order."
NONE_CHANGED = "No judged case has changed much since its verdict. Choose another order."
WIDE = 200  # cases chosen at once where some are typical of groups
OFFERED = 75  # next cases that are drawn for: no screen has more


def queue(
    project: Project,
    strategy: str | None,
    n: int,
    where: Filter | None,
    analyst: str | None,
    wanted: bool | None = None,
    **tuning: Any,
) -> list[QueueRow]:
    """The next cases: by strategy when unlabelled nodes are asked for, otherwise by the run's score.

    ``wanted`` says whether verdicts since the run count, ``tuning`` has other fields of ``Choice`` (None: as
    the project prefers).
    """
    where, result = where or Filter(), project.result()
    if where.verdict in (None, "unlabelled"):
        asked = within(project, where, result, asked_of(project, analyst))
        if result is None:
            own, common = unranked(project, where, n, asked)
        else:
            order = _order(project, result, where, strategy=strategy, **tuning)
            bent = provisional(project, result, wanted)
            own, common = order.own_rows(asked, bent), order.rows(n, bent, order.apart(asked))
        second = veiled(plain_rows(project, result, asked.second[: n // asked.every + 1]), asked.second)
        return asked.mixed(own, common, second)[:n]
    if result is None:
        return widest(project, np.flatnonzero(filtered(project, where, analyst, None)), n)
    keep = filtered(project, where, analyst, result)
    nodes = result.order[keep[result.order]][:n]
    return rows(project, nodes, result=result, reasons=live_reasons(project, result, nodes), strategy="top")


def remark(project: Project, strategy: str | None, where: Filter | None, waiting: int) -> str:
    """What there is to say of a queue with so many cases besides them, for instance why it has none."""
    where = where or Filter()
    by = find_strategy(project.choice(strategy=strategy).strategy)
    to_decide = where.verdict in (None, "unlabelled")
    if to_decide and not waiting and by.asks_again and not where.narrows:
        return NONE_CHANGED
    if to_decide and not waiting and not (project.verdicts() == -1).any():
        return COMPLETE
    if to_decide and where.narrows and waiting and by.is_random_check:
        return UNCOUNTED
    if waiting or project.result() is None:
        return ""
    if to_decide and by.asks_around_anomalies and not where.narrows:
        return NONE_AROUND if len(project.labels().anomalous) else NONE_FOUND
    return NONE_OPEN if to_decide else UNFIT


def shown_as(project: Project, node_ids: Iterable[str], strategy: str | None = None) -> dict[str, int]:
    """Node id -> the offer as which a queue has shown it in the run in use; of nodes without a verdict."""
    result, labelled = project.result(), project.view().current
    waiting = [node_id for node_id in node_ids if node_id not in labelled]
    if result is None:
        return {}
    found = project.store.offers.shown(result.info.id, waiting, strategy)
    return {node_id: offer.id for node_id, offer in found.items() if offer.id is not None}


@dataclass(frozen=True)
class _Latest:
    """The cases by a provisional ranking."""

    bent: Provisional
    revision: Revision
    n: int  # how many were asked for
    queries: list[Query]


def _order(project: Project, result: Result, where: Filter, **chosen: Any) -> _Order:
    choice = project.choice(**chosen)
    key = ("order", str(result.folder), choice, where)
    return DERIVED.get(key, lambda: _Order(project, result, where, choice))


@dataclass
class _Order:
    """Cases in the order in which a strategy asks for them; tabs of one process share it."""

    project: Project
    result: Result
    where: Filter
    choice: Choice
    queries: list[Query] = field(default_factory=list)  # decided ones too
    revision: Revision = NOTHING  # of ``queries`` in the store
    shown: dict[Query, int] = field(default_factory=dict)  # what this process has shown, and as which offer
    latest: _Latest | None = None  # of a provisional ranking: asked for again
    drawn: tuple[Any, dict[Query, QueueRow]] = (None, {})  # rows of one state of the labels
    guard: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def rows(self, n: int, bent: Provisional | None, apart: Collection[str] = ()) -> list[QueueRow]:
        """The first ``n`` cases that have no label yet, without those that are kept ``apart``."""
        graph = self.project.graph
        left_out = {graph.index_of(node_id) for node_id in apart if node_id in graph}
        found = [q for q in self.cases(n + len(left_out), bent) if q.node not in left_out][:n]
        return self._drawn(found, self._offers(found), bent)

    def apart(self, asked: Asked) -> Collection[str]:
        """Cases that are left out: a case to be judged blind is not asked again with what was said of it."""
        return {*asked.apart, *asked.second} if self._strategy.asks_again else asked.apart

    def own_rows(self, asked: Asked, bent: Provisional | None) -> list[QueueRow]:
        """Cases that a lead has given to the analyst; those of the order as they are in it."""
        if not asked.assigned:
            return []
        with self.guard:
            self._follow()
        nodes = {self.project.graph.index_of(node_id) for node_id in asked.assigned}
        known = [query for query in self.queries if query.node in nodes]
        drawn = {row.node_id: row for row in self._drawn(known, self._offers(known), bent)}
        plain = [node_id for node_id in asked.assigned if node_id not in drawn]
        drawn |= {row.node_id: row for row in plain_rows(self.project, self.result, plain)}
        return [replace(drawn[node_id], assigned_by=by) for node_id, by in asked.assigned.items()]

    def cases(self, n: int, bent: Provisional | None) -> list[Query]:
        """The same as queries. Cases to ask again are few and are worked out each time."""
        if self._strategy.asks_again:
            return self._work_out(self.result, n, with_audit=False)
        if bent is None or self._strategy.is_random_check:
            return self._open(n)[:n]
        with self.guard:
            self._follow()
            known = self.latest
            most = max(n, OFFERED)  # tabs ask for a few more or less: one answer serves them
            if known is None or (known.bent, known.revision, known.n) != (bent, self.revision, most):
                found = self._reranked(most, bent)
                known = self.latest = _Latest(bent, self.revision, most, found)
            return known.queries[:n]

    @property
    def _strategy(self) -> Any:
        return find_strategy(self.choice.strategy)

    @property
    def _key(self) -> tuple[str, str]:
        return self.result.info.id, self.choice.key

    @property
    def _moment(self) -> int:
        """Last label event when cases were added."""
        return self.revision[1]

    def _offers(self, cases: list[Query]) -> list[int]:
        """The offers as which these cases are shown; kept where they are not yet."""
        with self.guard:
            new = [query for query in cases if query not in self.shown]
            if new:
                show = self.project.store.offers.show
                self.shown.update(zip(new, show(self.project.id, *self._key, list(map(self._offer, new)))))
            return [self.shown[query] for query in cases]

    def _offer(self, query: Query) -> Offer:
        node_id = str(self.project.graph.node_ids[query.node])
        # A draw from a narrowed queue does not stand for the graph.
        chance = None if self.where.narrows else query.inclusion_probability
        after = None if chance is None else query.drawn_after
        return Offer(node_id, query.strategy, query.reason, chance, after, query.offer)

    def _follow(self) -> None:
        """Take over what other processes have kept."""
        if self.where.narrows:
            return
        offers, graph = self.project.store.offers, self.project.graph
        if (latest := offers.revision(*self._key)) != self.revision:
            kept = [offer for offer in offers.planned(*self._key) if offer.node_id in graph]
            self.revision = latest
            self.queries = [_query(graph.index_of(offer.node_id), offer) for offer in kept]

    def _open(self, n: int) -> list[Query]:
        """The still order without labelled nodes; at least ``n`` long if the graph has so many."""
        open_ = self._kept(least=n if self._strategy.is_random_check else 0)
        if len(open_) >= n:
            return open_
        # Further ahead nothing is drawn or kept, or looking far ahead would draw for all that is looked at.
        waiting = {query.node for query in open_}
        return open_ + self._work_out(self.result, n - len(open_), with_audit=False, waiting=waiting)

    def _kept(self, *, least: int = 0, served: int | None = None) -> list[Query]:
        """Waiting cases of the order, at least OFFERED or ``least`` of them if the graph has so many.

        With ``served`` cases of a provisional ranking the order reaches as far beyond their number.
        """
        with self.guard:  # or two tabs would add the same cases
            self._follow()
            verdicts, state = self.project.verdicts(), self.project.view().last_id
            open_ = [query for query in self.queries if verdicts[query.node] == -1]
            if self._strategy.asks_around_anomalies:  # those of a new anomaly wait for no other to run out
                return open_ if self._moment == state else self._extended([], AHEAD, state)
            ahead = len(open_) if served is None else len(_active(self.queries)) - served
            missing = max(least, OFFERED) - ahead
            if missing <= 0 or len(open_) == self._free() or (self._moment == state and not least):
                return open_
            return self._extended(open_, max(missing, AHEAD), state)

    def _extended(self, known: list[Query], n: int, state: int) -> list[Query]:
        """These waiting cases, and ``n`` others behind them.

        A waiting case that is drawn moves to its turn as a random check: left out, it would be missed where
        most of the queue is from. One that is drawn twice stays as it was.
        """
        waiting = {query.node for query in known}
        found = self._work_out(self.result, n, with_audit=True, waiting=waiting)
        checks = waiting - {query.node for query in _active(known)}
        found = [query for query in found if query.node not in checks]
        drawn = {query.node for query in found}
        open_ = [query for query in known if query.node not in drawn] + found
        verdicts = self.project.verdicts()
        decided = [query for query in self.queries if verdicts[query.node] != -1]
        self._keep(decided + open_, state)
        return [query for query in self.queries if verdicts[query.node] == -1]

    def _keep(self, queries: list[Query], state: int) -> None:
        """Keep an order; where another process was quicker, its order holds."""
        if self.where.narrows:
            self.queries, self.revision = queries, (0, state)
            return
        order = [self._offer(query) for query in queries]
        plan = self.project.store.offers.plan
        plan(self.project.id, *self._key, order, moment=state, instead_of=self.revision)
        self._follow()

    def _free(self) -> int:
        """Nodes that wait for a verdict, of those that the filter lets through."""
        return int(filtered(self.project, self.where, None, self.result).sum())

    def _reranked(self, n: int, bent: Provisional) -> list[Query]:
        """The strategy's choice by the provisional ranking, around the audit cases of the still order."""
        with self.guard:
            self._follow()  # or a process that has just begun would take none of the verdicts for answers
        asked = self._asked()
        active = [event for event in asked if event.inclusion_probability is None]
        own = {query.strategy for query in self.queries}
        served = sum(event.strategy in own for event in active)
        open_ = {query.node for query in self._kept(served=served)}
        audit, before = [], 0
        for query in self.queries:
            if query.inclusion_probability is None:
                before += 1
            elif query.node in open_:
                audit.append((before - served, query))
        taken = {query.node for _, query in audit}
        graph = self.project.graph
        nodes = [graph.index_of(event.node_id) for event in active]
        begun = nodes[len(nodes) - len(nodes) % BATCH :]
        rest = self._work_out(bent, self._chosen(n), with_audit=False, begun=begun, waiting=taken)
        places = self._places(audit, asked)
        mixed = interleave(rest, places, n)
        return mixed + [query for query in places.values() if query not in mixed][: n - len(mixed)]

    def _chosen(self, n: int) -> int:
        """Cases to choose for ``n`` of them: which nodes are typical depends on how many are chosen."""
        grouped = self.result.info.basis != BOTH or self._strategy.groups
        return WIDE * ceil(n / WIDE) if grouped else n

    def _places(self, audit: list[tuple[int, Query]], asked: list[LabelEvent]) -> dict[int, Query]:
        """Positions of audit cases, given by how many others they come after.

        Those whose turn has come or passed come next, but twice as densely as usual at most.
        """
        share = self.choice.audit_share
        gap = int((1 - share) / share / 2) if share else 0
        since = next((i for i, event in enumerate(reversed(asked)) if event.inclusion_probability), gap)
        at, late, places = 0, max(0, gap - since), {}
        for i, (before, query) in enumerate(audit):
            at = max(at, before if before > 0 else late)
            late = at + gap
            places[at + i] = query
        return places

    def _asked(self) -> list[LabelEvent]:
        """Verdicts on cases of a strategy since the run ended, oldest first."""
        since, graph = self.result.info.ended_after or 0, self.project.graph
        events = [
            event
            for event in self.project.view().current.values()
            if tells_of_the_queue(event.strategy) and event.id > since and event.node_id in graph
        ]
        return sorted(events, key=lambda event: event.id)

    def _work_out(
        self,
        ranking: Result | Provisional,
        n: int,
        *,
        with_audit: bool,
        begun: Sequence[int] = (),
        waiting: Collection[int] = (),
    ) -> list[Query]:
        project, result, info = self.project, self.result, self.result.info
        again = self._strategy.asks_again
        where = replace(self.where, verdict="any") if again else self.where
        allowed = filtered(project, where, None, result) if where.narrows else None
        return work_out(
            project.graph,
            Scored(info.id, info.seed, info.basis, ranking.scores, result.embedding, ranking.order),
            project.labels(),
            project.view().current.values(),
            self.choice,
            n,
            directions=project.basis(),
            views=project.views(),
            allowed=allowed,
            with_audit=with_audit and not self.where.narrows,  # a draw from a part does not stand for all
            moment=project.view().last_id,
            begun=begun,
            waiting=waiting,
            changed=changed_cases(project, result) if again else (),
        )

    def _drawn(self, queries: list[Query], offers: list[int], bent: Provisional | None) -> list[QueueRow]:
        """A row for each case; those that a tab was given at these labels are not made again for the next."""
        state = (self.project.label_state(), bent, self.project.result_before(self.result))
        with self.guard:
            if self.drawn[0] is None or any(a is not b for a, b in zip(self.drawn[0], state)):
                self.drawn = (state, {})
            known = self.drawn[1]
        new = [(query, offer) for query, offer in zip(queries, offers) if query not in known]
        known.update(zip([query for query, _ in new], self._made(new, bent)))
        return [known[query] for query in queries]

    def _made(self, cases: list[tuple[Query, int]], bent: Provisional | None) -> list[QueueRow]:
        if not cases:
            return []
        queries, offers = zip(*cases)
        nodes = np.array([query.node for query in queries], dtype=np.int64)
        reasons = live_reasons(self.project, self.result, nodes)
        found = rows(
            self.project,
            nodes,
            result=self.result,
            reasons=[_told(reason, query) for reason, query in zip(reasons, queries)],
            inclusion=[None if self.where.narrows else query.inclusion_probability for query in queries],
            bent=bent,
        )
        return [
            replace(row, strategy=query.strategy, offer=offer)
            for row, query, offer in zip(found, queries, offers)
        ]


def _told(score: str, query: Query) -> str:
    """Why a case scores as it does, then why it was chosen, unless its place in the ranking says it all."""
    strategy = STRATEGIES[query.strategy]
    if not score or not strategy.asks_by_score:
        return query.reason
    by_rank = not strategy.dialled or query.reason.startswith("rank ")
    return score if by_rank else f"{score}; {query.reason}"


def _query(node: int, kept: Offer) -> Query:
    return Query(node, 0.0, kept.reason, kept.probability, kept.strategy, kept.drawn_after, kept.id)


def _active(queries: Iterable[Query]) -> list[Query]:
    return [query for query in queries if query.inclusion_probability is None]
