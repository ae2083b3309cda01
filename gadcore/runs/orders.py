"""The order in which a run's cases are asked for. It is worked out when the run ends, for no page to wait."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors import BOTH
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import LabelEvent, Labels
from gadcore.loop.pool import RECENT
from gadcore.loop.strategies import AUDIT_SHARE, DEFAULT, DIAL, Pool, Query, preferred_strategy, queue_order
from gadcore.loop.strategies.sampling import Audit
from gadcore.store import Store

AHEAD = 100  # cases worked out at a time


@dataclass(frozen=True)
class Choice:
    """What decides the order of the cases."""

    strategy: str = DEFAULT
    audit_share: float = AUDIT_SHARE  # of cases that are random checks
    dial: float = DIAL  # 0 exploits the ranking, 1 explores
    near_duplicates: bool = False  # cases that look the same may come in one batch

    @classmethod
    def preferred(cls, store: Store, project: str, **given: Any) -> Choice:
        """The project's preferences; those ``given`` that are not None count instead."""
        known = {one.name: store.projects.preference(project, one.name) for one in fields(cls)}
        known["strategy"] = preferred_strategy(known["strategy"])
        known |= {key: value for key, value in given.items() if value is not None}
        return cls(**{key: value for key, value in known.items() if value is not None})


@dataclass(frozen=True)
class Ranking:
    """What a run says of every node, as far as the order depends on it."""

    run_id: str
    seed: int
    basis: str  # of the ranking: "both labels", …
    scores: npt.NDArray[np.floating]
    embedding: FloatArray | None
    spread: FloatArray | None


def work_out(
    graph: Graph,
    ranking: Ranking,
    labels: Labels,
    events: Iterable[LabelEvent],
    choice: Choice,
    n: int = AHEAD,
    *,
    directions: FloatArray | None = None,
    allowed: npt.NDArray[np.bool_] | None = None,
    with_audit: bool = True,
    moment: int = 0,
    begun: Sequence[int] = (),
    waiting: Collection[int] = (),
) -> list[Query]:
    """The next ``n`` cases; the same run and labels give the same order.

    ``with_audit=False`` leaves the cases of the strategy alone, with no random ones in between. Random ones
    are drawn after the label event with the id ``moment``, the last of ``labels``. ``begun`` are the nodes of
    a batch that the first cases complete, ``waiting`` those that are queued already (``queue_order``).
    """
    # What an analyst went to, or a group, does not tell whether the queue hits.
    latest = sorted((event for event in events if event.strategy), key=lambda event: event.id)[-RECENT:]
    pool = Pool(
        scores=ranking.scores,
        labels=labels,
        embedding=ranking.embedding,
        spread=ranking.spread,
        basis=directions,
        adjacency=graph.adjacency,
        cold=ranking.basis != BOTH,
        seed=ranking.seed,
        recent=[graph.index_of(event.node_id) for event in latest if event.node_id in graph],
        dial=choice.dial,
        allowed=allowed,
        near_duplicates=choice.near_duplicates,
        begun=begun,
    )
    # Another seed at another moment, or draws of one order would tell those of the next.
    rng = np.random.default_rng([zlib.crc32(ranking.run_id.encode()), moment])
    share = choice.audit_share if with_audit else 0.0
    found = queue_order(pool, choice.strategy, n, rng, share, waiting=waiting)
    if choice.strategy != Audit.name and len(found) < min(n, len(pool.open) - len(waiting)):
        found = _up_to_last_active(found)
    return [
        query if query.inclusion_probability is None else replace(query, drawn_after=moment)
        for query in found
    ]


def _up_to_last_active(found: list[Query]) -> list[Query]:
    """Without random checks behind the last case of a strategy that has no more: nothing is between them."""
    places = [place for place, query in enumerate(found) if query.inclusion_probability is None]
    return found[: places[-1] + 1] if places else []


def document(choice: Choice, queries: list[Query]) -> dict[str, Any]:
    """order.json."""
    return {"choice": asdict(choice), "queries": [asdict(query) for query in queries]}


def kept(run: Path, order: dict[str, Any], choice: Choice) -> list[Query]:
    """Cases offered by this choice: as last kept, else those of order.json if it was made for it."""
    with suppress(OSError, ValueError):
        order = json.loads(_file(run, choice).read_text(encoding="utf-8"))
    if order.get("choice") != asdict(choice):
        return []
    return [Query(**query) for query in order["queries"]]


def every_kept(run: Path) -> list[list[Query]]:
    """The cases of every order that was kept with a run, the latest order first."""
    files = sorted((run / "orders").glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    found = []
    for path in files:
        with suppress(OSError, ValueError):
            order = json.loads(path.read_text(encoding="utf-8"))
            found.append([Query(**query) for query in order["queries"]])
    return found


def keep(run: Path, choice: Choice, queries: list[Query]) -> None:
    """Write down what is offered, so that every process offers the same cases and knows the random ones."""
    path = _file(run, choice)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(exist_ok=True)
        part.write_text(json.dumps(document(choice, queries)), encoding="utf-8")
        os.replace(part, path)
    except OSError:
        return  # the folder is read-only or was deleted: this process still has the order


def _file(run: Path, choice: Choice) -> Path:
    return run / "orders" / f"{zlib.crc32(repr(choice).encode()):08x}.json"
