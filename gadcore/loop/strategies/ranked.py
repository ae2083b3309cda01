"""Strategies that read the ranking: top, uncertainty, bisection."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gadcore.graph import IntArray
from gadcore.loop.geometry import distinct, near
from gadcore.loop.pool import BATCH, Pool, Query, QueryStrategy, Random

EXPECTED_SHARE = 0.05  # anomalies assumed while no label says otherwise
ASSUMED_BORDER = f"the assumed border (top {100 * EXPECTED_SHARE:.0f} %)"


def without_duplicates(pool: Pool, ranked: IntArray, n: int) -> IntArray:
    """The first ``n`` as a row of batches without near-duplicates, unless the pool asks for them.

    What looks like a case of one batch waits for the next.
    """
    batches = list(distinct_batches(pool, ranked, n))
    return np.concatenate(batches) if batches else ranked[:0]


def distinct_batches(pool: Pool, ranked: IntArray, n: int) -> Iterator[IntArray]:
    """The batches of ``without_duplicates``, each worked out when it is asked for."""
    if not pool.distinct or len(ranked) <= 1:
        yield ranked[:n]
        return
    left, missing, begun = ranked, min(n, len(ranked)), pool.begun
    while missing > 0:
        size = min(BATCH - len(begun), missing)
        batch = distinct(pool.space, left, size, pool.seed, begun)
        yield batch
        left, missing, begun = struck(left, batch), missing - size, ()


def struck(ranked: IntArray, gone: IntArray | list[int]) -> IntArray:
    """A ranking without some of its nodes; they are near its top, so that little of it is looked at."""
    reach = 64 * BATCH
    while True:
        hit = np.isin(ranked[:reach], gone)
        if reach >= len(ranked) or hit.sum() == len(gone):
            return np.concatenate([ranked[:reach][~hit], ranked[reach:]])
        reach *= 8


class Top(QueryStrategy):
    """The highest scores."""

    name = "top"
    title = "Highest score"
    asks_by_score = True

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        nodes = without_duplicates(pool, pool.open, n)
        return [self.query(v, pool.percentile[v], f"rank {pool.rank[v]:,} of {pool.n:,}") for v in nodes]


class Uncertainty(QueryStrategy):
    """Scores next to the border between the labelled normal and anomalous nodes."""

    name = "uncertainty"
    title = "Border cases"

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        border = border_percentile(pool)
        distance = np.abs(pool.percentile[pool.open] - border)
        ranked = pool.open[np.argsort(distance, kind="stable")]
        nodes = without_duplicates(pool, ranked, n)
        reason = f"at {ASSUMED_BORDER}"
        if has_border(pool):
            reason = "at the border between normal and anomalous"
        return [self.query(v, 1.0 - abs(pool.percentile[v] - border), reason) for v in nodes]


class Bisection(QueryStrategy):
    """Halve the stretch of ranks in which the border must lie, on a log scale: for rare anomalies."""

    name = "bisection"
    title = "Bisect the ranking"

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        low, high = self._stretch(pool)
        place = np.full(pool.n + 2, -1, dtype=np.int64)
        place[pool.rank[pool.open]] = pool.open
        chosen: list[Query] = []
        gaps = [(low, high)]
        while gaps and len(chosen) < n:
            gaps.sort(key=lambda gap: np.log(max(gap[0], 1) / gap[1]))
            a, b = gaps.pop(0)
            middle = round(float(np.sqrt(max(a, 1) * b)))
            found = _nearest_open(place, a, b, middle)
            if found is None:
                continue
            node = int(place[found])
            if pool.distinct and near(pool.space, _nodes(chosen), node, pool.seed).any():
                place[pool.rank[pool.open[near(pool.space, pool.open, node, pool.seed)]]] = -1
                gaps.append((a, b))
                continue
            reason = f"rank {found:,}: halves the ranks {a + 1:,} to {b - 1:,} between anomalous and normal"
            chosen.append(self.query(node, float(b - a), reason))
            gaps += [(a, found), (found, b)]
        return chosen + self._rest(pool, n, chosen)

    @staticmethod
    def _stretch(pool: Pool) -> tuple[int, int]:
        """Ranks (exclusive) around the split of the labelled nodes with fewest errors."""
        nodes, y = pool.labels.indices, pool.labels.targets
        if not len(nodes) or not y.any():
            return 0, int(min(pool.rank[nodes], default=pool.n + 1))
        order = np.argsort(pool.rank[nodes])
        ranks, y = pool.rank[nodes][order], y[order]
        errors = np.r_[y.sum(), y.sum() - np.cumsum(y.astype(int) * 2 - 1)]
        split = int(np.argmin(errors))
        return int(ranks[split - 1]) if split else 0, int(ranks[split]) if split < len(ranks) else pool.n + 1

    def _rest(self, pool: Pool, n: int, chosen: list[Query]) -> list[Query]:
        """When the stretch is used up: open nodes nearest to its end."""
        missing = n - len(chosen)
        border = border_percentile(pool)
        ranked = pool.open[np.argsort(np.abs(pool.percentile[pool.open] - border), kind="stable")]
        rest = without_duplicates(pool, ranked[~np.isin(ranked, _nodes(chosen))], missing)
        found = "the border that the bisection found" if has_border(pool) else ASSUMED_BORDER
        return [self.query(v, 0.0, f"next to {found}") for v in rest]


def has_border(pool: Pool) -> bool:
    """Whether labels of both kinds tell where the border lies."""
    return len(pool.labels.normal) > 0 and len(pool.labels.anomalous) > 0


def border_percentile(pool: Pool) -> float:
    """Percentile that separates the labels with the least balanced error; the top 5 % without both kinds."""
    normal, anomalous = pool.percentile[pool.labels.normal], pool.percentile[pool.labels.anomalous]
    if not has_border(pool):
        return 1.0 - EXPECTED_SHARE
    cuts = np.sort(np.r_[normal, anomalous])
    missed = np.searchsorted(np.sort(anomalous), cuts, side="left") / len(anomalous)
    wrong = 1.0 - np.searchsorted(np.sort(normal), cuts, side="left") / len(normal)
    best = np.flatnonzero(missed + wrong <= (missed + wrong).min() + 1e-12)
    cut = int(best[len(best) // 2])
    below = cuts[cut - 1] if cut else cuts[cut]
    return float((below + cuts[cut]) / 2)


def _nodes(queries: list[Query]) -> IntArray:
    return np.array([query.node for query in queries], dtype=np.int64)


def _nearest_open(place: IntArray, low: int, high: int, middle: int) -> int | None:
    """Open rank strictly between ``low`` and ``high`` nearest to ``middle``."""
    inside = np.flatnonzero(place[low + 1 : high] >= 0) + low + 1
    return int(inside[np.argmin(np.abs(inside - middle))]) if len(inside) else None
