"""Strategies that look at the geometry: medoids for a cold start, greedy-diverse (the default), rings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import numpy as np

from gadcore.graph import IntArray
from gadcore.loop.geometry import distinct, farthest_first, medoids, unseen
from gadcore.loop.pool import BATCH, Pool, Query, QueryStrategy, Random, running_rate
from gadcore.loop.strategies.ranked import Top, distinct_batches, struck, without_duplicates
from gadcore.loop.strategies.view_turns import EVERY, every, view_turns
from gadcore.metrics import percentile_ranks

START = 20  # medoids of a cold start
TRIAL = 4  # first cases of a cold start: the top of its ranking, to see whether it hits
TRUSTED = 0.5  # hit rate from which the default follows a cold ranking
WINDOW = 4  # widest window, in batches
_STRANGE = "ranks high and is unlike all cases so far"
_NO_HIT = "of a kind that has no hit yet"
COLD = 2  # one of so many cases of a cold start is a turn of a view
HITTING = 0.4  # hit rate from which the default follows the ranking as it is


class Medoids(QueryStrategy):
    """The most central node of each group of similar nodes: what the graph consists of."""

    name = "medoids"
    title = "One of each group"
    groups = True

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        return list(islice(self.in_turn(pool, n, rng), n))

    def in_turn(self, pool: Pool, n: int, rng: Random) -> Iterator[Query]:
        """The same one by one, and some more behind them; what nobody asks for is not worked out."""
        found = self.of(pool, START)
        if len(found) < n:
            seen = {query.node for query in found}
            found += [q for q in self.of(pool, n + START) if q.node not in seen]
        yield from found
        taken = {query.node for query in found}
        yield from (q for q in Top().select(pool, n + len(taken), rng) if q.node not in taken)

    def of(self, pool: Pool, k: int) -> list[Query]:
        """Open medoids of ``k`` groups, largest group first."""
        nodes, sizes = medoids(pool.space, min(k, pool.n), pool.seed)
        free = pool.free[nodes]
        groups = zip(nodes[free], sizes[free])
        return [self.query(v, size / pool.n, _typical(int(size))) for v, size in groups]


class GreedyDiverse(QueryStrategy):
    """Farthest-first within a window of the top: the default.

    The window is one batch while verdicts hit (the ranking as it is); it widens, at full dial to four, when
    they do not.
    While the ranking is cold, a few cases from its top tell whether it hits all the same. Unless half do,
    medoids follow, as many, and then alternate with what ranks high and is new.
    In between, views of the graph that wait for a hit have their turns (view_turns.py).
    """

    name = "greedy-diverse"
    title = "Top of the ranking, kept diverse (default)"
    dialled = True
    asks_by_score = True

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        due, trusts = view_turns(pool), self.trusts(pool)
        chosen = self._trusting(pool, n) if trusts else self._cold(pool, n, rng)
        if not len(due):
            return chosen
        by_node = {query.node: query for query in chosen}
        by_node |= {int(v): self.query(v, pool.percentile[v], _NO_HIT) for v in due}
        order = every(EVERY if trusts else COLD, due, [query.node for query in chosen])
        return [by_node[node] for node in order[:n]]

    def _trusting(self, pool: Pool, n: int) -> list[Query]:
        chosen: list[Query] = []
        left = pool.open
        window = self.window(pool)
        while len(chosen) < n and len(left):
            begun = () if chosen else pool.begun
            batch = self._batch(pool, left, window, BATCH - len(begun), begun)
            chosen += batch
            left = struck(left, [query.node for query in batch])
        return chosen[:n]  # of whole batches, so that a case does not depend on how many are asked for

    @staticmethod
    def trusts(pool: Pool) -> bool:
        """Whether the ranking is followed: it knows both kinds of labels, or a trial of its top has hit.

        Misses after that end it only when the hits are no longer among the last verdicts.
        """
        rates = running_rate(pool.decided == 1)
        return not pool.cold or bool(np.any(rates[TRIAL - 1 :] >= TRUSTED))

    @staticmethod
    def window(pool: Pool) -> int:
        """Nodes to choose a batch from."""
        missing = max(0.0, HITTING - pool.hit_rate) / HITTING
        return round(BATCH * (1 + pool.dial * (WINDOW - 1) * missing))

    def _batch(
        self, pool: Pool, left: IntArray, window: int, n: int, begun: Sequence[int] = ()
    ) -> list[Query]:
        size = max(window, n)
        head = distinct(pool.space, left, size, pool.seed, begun) if pool.distinct else left[:size]
        if window <= n + len(begun):
            return [self._ranked(pool, v) for v in head[:n]]
        picks = farthest_first(pool.space, head, np.asarray(pool.recent[-BATCH:], dtype=np.int64), n)
        order = [head[i] for i in sorted(picks)]
        return [self._ranked(pool, v, window) for v in order]

    def _ranked(self, pool: Pool, node: int, window: int = 0) -> Query:
        reason = f"rank {pool.rank[node]:,} of {pool.n:,}"
        if window:
            reason += f", unlike the others among the top {window:,}"
        return self.query(node, pool.percentile[node], reason)

    def _cold(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        """The trial, as many medoids, then in turns a medoid and what is unlike all labelled ones."""
        typical = islice(Medoids().in_turn(pool, n, rng), n)
        asked = len(pool.labels.indices)
        chosen = sum(v not in pool.labels.inclusion for v in pool.labels.indices)  # a check takes no turn
        trial = without_duplicates(pool, pool.open, max(0, TRIAL - chosen))
        utility = pool.percentile + percentile_ranks(unseen(pool.space, pool.labels.indices))
        ranked = pool.open[np.argsort(-utility[pool.open], kind="stable")]
        ranked = np.r_[trial, struck(ranked, trial)]
        high = (
            self.query(v, utility[v], _STRANGE) if asked and v not in trial else self._ranked(pool, v)
            for v in chain.from_iterable(distinct_batches(pool, ranked, 2 * n))
        )
        mixed: dict[int, Query] = {}
        for step in range(2 * n):
            turn = chosen + step < TRIAL or (chosen + step >= 2 * TRIAL and (asked + step) % 2)
            query = next(high if turn else typical, None)
            if query is not None:
                mixed.setdefault(query.node, query)
        kept = without_duplicates(pool, np.array(list(mixed), dtype=np.int64), n)
        return [mixed[int(node)] for node in kept]


class Ring(QueryStrategy):
    """Open neighbours of confirmed anomalies, those with most of them first."""

    name = "ring"
    title = "Around confirmed anomalies"
    asks_around_anomalies = True

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        if pool.adjacency is None or not len(pool.labels.anomalous):
            return []
        ends = pool.adjacency[pool.labels.anomalous].indices
        count = np.bincount(ends, minlength=pool.n)[pool.open]
        near = count > 0
        nodes, count = pool.open[near], count[near]
        utility = count + pool.percentile[nodes]
        found = {
            int(nodes[i]): self.query(nodes[i], utility[i], _linked(count[i]))
            for i in np.argsort(-utility, kind="stable")
        }
        return [found[int(v)] for v in without_duplicates(pool, np.array(list(found), dtype=np.int64), n)]


def _typical(size: int) -> str:
    return f"typical of a group of {size:,} similar nodes" if size > 1 else "like no other node"


def _linked(count: float) -> str:
    return f"linked to {int(count)} confirmed anomal{'y' if count == 1 else 'ies'}"
