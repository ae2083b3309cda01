"""Query strategies: which nodes to ask the analyst about next, and why each.

    STRATEGIES["greedy-diverse"].select(pool, n, rng) -> list[Query]
    queue_order(pool, "greedy-diverse", n, rng) -> list[Query]      the queue as shown, audit cases mixed in

numpy and scipy only; under 20 ms at 20,000 nodes.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gadcore.errors import UsageError
from gadcore.loop.geometry import diversity_basis
from gadcore.loop.pool import DIAL, Pool, Query, QueryStrategy, Random
from gadcore.loop.strategies.again import Again
from gadcore.loop.strategies.diverse import GreedyDiverse, Medoids, Ring
from gadcore.loop.strategies.ranked import Bisection, Top, Uncertainty
from gadcore.loop.strategies.sampling import Audit

DEFAULT = GreedyDiverse.name
AUDIT_SHARE = 0.15

STRATEGIES: dict[str, QueryStrategy] = {
    strategy.name: strategy
    for strategy in (GreedyDiverse(), Top(), Uncertainty(), Bisection(), Medoids(), Audit(), Ring(), Again())
}


def find_strategy(name: str) -> QueryStrategy:
    """The strategy of this name; UsageError lists the names there are."""
    if name not in STRATEGIES:
        raise UsageError(f"There is no query strategy {name!r}. Expected one of: {', '.join(STRATEGIES)}.")
    return STRATEGIES[name]


def tells_of_the_queue(strategy: str) -> bool:
    """Whether a verdict on a case of this strategy says if the queue finds anything: the case was open."""
    return bool(strategy) and not (strategy in STRATEGIES and STRATEGIES[strategy].asks_again)


def preferred_strategy(stored: object) -> str:
    """The strategy that a stored preference names; the default where it names none that is offered."""
    return str(stored) if stored in STRATEGIES else DEFAULT


def queue_order(
    pool: Pool,
    strategy: str = DEFAULT,
    n: int = 50,
    rng: Random | None = None,
    audit_share: float = AUDIT_SHARE,
    waiting: Collection[int] = (),
) -> list[Query]:
    """The queue as shown: the strategy's cases with a random audit case in between.

    Audit cases are spread evenly at random offsets. Nodes ``waiting`` in the queue already come again only
    where they are drawn. A strategy that asks again has its cases alone.
    """
    chosen = find_strategy(strategy)
    rng = np.random.default_rng(pool.seed) if rng is None else rng
    if chosen.is_random_check:
        drawn = chosen.select(pool, n + len(waiting), rng)
        return [query for query in drawn if query.node not in waiting][:n]
    if chosen.asks_again:
        return chosen.select(pool, n, rng)
    n = min(n, len(pool.open) - len(waiting))
    slots = _audit_slots(n, audit_share, rng)
    audit = STRATEGIES[Audit.name].select(pool, len(slots), rng)
    taken = {query.node for query in audit}
    free = pool.without(waiting)
    active = [q for q in chosen.select(free, n + len(taken), rng) if q.node not in taken]
    return interleave(active, dict(zip(slots, audit)), n)


def _audit_slots(n: int, share: float, rng: Random) -> list[int]:
    """Positions of the audit cases: one in each stretch of 1/share places, at a random place in it."""
    if share <= 0:
        return []
    edges = np.arange(0.0, n, 1.0 / share)
    return sorted({int(edge + rng.random() / share) for edge in edges} & set(range(n)))


def interleave(active: list[Query], at: dict[int, Query], n: int) -> list[Query]:
    """``at`` keeps its positions; audit cases without an active case before them move up."""
    rest = iter(active)
    queue = (at.get(position) or next(rest, None) for position in range(n))
    return [query for query in queue if query is not None]


__all__ = [
    "AUDIT_SHARE",
    "DEFAULT",
    "DIAL",
    "STRATEGIES",
    "Pool",
    "Query",
    "QueryStrategy",
    "diversity_basis",
    "find_strategy",
    "interleave",
    "preferred_strategy",
    "queue_order",
    "tells_of_the_queue",
]
