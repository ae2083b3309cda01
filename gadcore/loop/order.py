"""The order in which cases are asked for: what decides it, and the next cases by it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from heapq import nlargest

import numpy as np
import numpy.typing as npt

from gadcore.derive.views import Views
from gadcore.detectors import BOTH
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import LabelEvent, Labels
from gadcore.loop.pool import RECENT, Changed
from gadcore.loop.strategies import (
    AUDIT_SHARE,
    DEFAULT,
    DIAL,
    STRATEGIES,
    Pool,
    Query,
    queue_order,
    tells_of_the_queue,
)

AHEAD = 100  # cases worked out at a time


@dataclass(frozen=True)
class Choice:
    """What decides the order of the cases."""

    strategy: str = DEFAULT
    audit_share: float = AUDIT_SHARE  # of cases that are random checks
    dial: float = DIAL  # 0 exploits the ranking, 1 explores
    near_duplicates: bool = False  # cases that look the same may come in one batch

    @property
    def key(self) -> str:
        """The choice as text, under which its offers are kept."""
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Scored:
    """What a run says of every node, as far as the order depends on it."""

    run_id: str
    seed: int
    basis: str  # of the ranking: "both labels", …
    scores: npt.NDArray[np.floating]
    embedding: FloatArray | None
    order: IntArray | None = None  # (N,) nodes by falling score, where it is known


def work_out(
    graph: Graph,
    scored: Scored,
    labels: Labels,
    events: Iterable[LabelEvent],
    choice: Choice,
    n: int = AHEAD,
    *,
    directions: FloatArray | None = None,
    views: Views | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
    with_audit: bool = True,
    moment: int = 0,
    begun: Sequence[int] = (),
    waiting: Collection[int] = (),
    changed: Sequence[Changed] = (),
) -> list[Query]:
    """The next ``n`` cases; the same run and labels give the same order.

    ``with_audit=False`` leaves the cases of the strategy alone, with no random ones in between. Random ones
    are drawn after the label event with the id ``moment``, the last of ``labels``. ``begun`` are the nodes of
    a batch that the first cases complete, ``waiting`` those that are queued already (``queue_order``).
    ``changed`` are nodes that may be asked about again.
    """
    # What an analyst went to, or a group, does not tell whether the queue hits.
    telling = (event for event in events if tells_of_the_queue(event.strategy))
    latest = nlargest(RECENT, telling, key=lambda event: event.id)[::-1]
    pool = Pool(
        scores=scored.scores,
        labels=labels,
        embedding=scored.embedding,
        basis=directions,
        adjacency=graph.adjacency,
        cold=scored.basis != BOTH,
        seed=scored.seed,
        recent=[graph.index_of(event.node_id) for event in latest if event.node_id in graph],
        dial=choice.dial,
        allowed=allowed,
        near_duplicates=choice.near_duplicates,
        begun=begun,
        order=scored.order,
        views=views,
        changed=changed,
    )
    # Another seed at another moment, or draws of one order would tell those of the next.
    rng = np.random.default_rng([zlib.crc32(scored.run_id.encode()), moment])
    share = choice.audit_share if with_audit else 0.0
    found = queue_order(pool, choice.strategy, n, rng, share, waiting=waiting)
    random_checks = STRATEGIES[choice.strategy].is_random_check
    if not random_checks and len(found) < min(n, len(pool.open) - len(waiting)):
        found = _up_to_last_active(found)
    return [
        query if query.inclusion_probability is None else replace(query, drawn_after=moment)
        for query in found
    ]


def _up_to_last_active(found: list[Query]) -> list[Query]:
    """Without random checks behind the last case of a strategy that has no more: nothing is between them."""
    places = [place for place, query in enumerate(found) if query.inclusion_probability is None]
    return found[: places[-1] + 1] if places else []
