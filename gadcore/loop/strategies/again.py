"""Asking again: cases that were judged, and that later data give another look."""

from __future__ import annotations

from math import log2

from gadcore.loop.pool import Changed, Pool, Query, QueryStrategy, Random

GROWN, LEAST = 0.5, 5  # new links that are much: half as many as before, and not fewer than this
FACTOR, SHARE = 2.0, 0.01  # a move that is much: half or twice the rank, and this share of all nodes


class Again(QueryStrategy):
    """Judged cases with many new links since, or whose rank has moved against the verdict."""

    name = "again"
    title = "Judged, then changed much: ask again"
    asks_again = True

    def select(self, pool: Pool, n: int, rng: Random) -> list[Query]:
        much = [case for case in pool.changed if _allowed(pool, case) and changed_much(pool, case)]
        much.sort(key=lambda case: (-surprise(pool, case), case.node))
        return [self.query(case.node, surprise(pool, case), case.news) for case in much[:n]]


def changed_much(pool: Pool, case: Changed) -> bool:
    """Whether the verdict may no longer hold, by the links or by the rank."""
    far = abs(case.rank_before - int(pool.rank[case.node])) >= SHARE * pool.n
    moved = far and against(pool, case) >= log2(FACTOR)
    return moved or case.links >= max(LEAST, GROWN * case.links_before)


def surprise(pool: Pool, case: Changed) -> float:
    """How much there is to see: doublings of the rank against the verdict, and of the links."""
    return max(0.0, against(pool, case)) + log2(1 + case.links / (1 + case.links_before))


def against(pool: Pool, case: Changed) -> float:
    """How many times the rank has halved since "normal", or doubled since "anomalous"; 0 if not known.

    After "unsure" it counts either way.
    """
    if not case.rank_before:
        return 0.0
    risen = log2(case.rank_before / int(pool.rank[case.node]))
    code = int(pool.verdicts[case.node])
    return {0: risen, 1: -risen}.get(code, abs(risen))


def _allowed(pool: Pool, case: Changed) -> bool:
    return pool.allowed is None or bool(pool.allowed[case.node])
