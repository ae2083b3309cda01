"""Calls on verdicts: give one, once; list them, count them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from gadcore.api.endpoint import Ask, Page
from gadcore.api.forms import part
from gadcore.errors import InputError
from gadcore.graph.labels import LabelEvent
from gadcore.records import as_json
from gadcore.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class NewVerdict:
    """A verdict on a node."""

    node: str = part("id of the node", minLength=1)
    verdict: Literal["normal", "anomalous", "unsure"] = part("what is said of it")
    note: str = part("why, in a sentence", "", maxLength=10_000)
    offer: int | None = part("offer of the row of the queue that it answers", None, minimum=1)


@dataclass(frozen=True, kw_only=True)
class VerdictQuery:
    """Which verdicts are wanted."""

    after: int = part("only those with a higher id: next of the page before", 0, minimum=0)
    limit: int = part("verdicts of this page", 200, minimum=1, maximum=1000)


@dataclass(frozen=True)
class LabelCounts:
    """Nodes by verdict, and changes that the run in use has not seen."""

    normal: int
    anomalous: int
    unsure: int
    fresh: int


def record(ask: Ask) -> Any:
    """The event as JSON: with a key, the one that was kept when the call was first made."""
    project = ask.workspace
    return _record(ask, project) if ask.key is None else _record_once(ask, project, ask.key)


def _record(ask: Ask, project: Workspace) -> Any:
    given: NewVerdict = ask.body
    return as_json(
        project.verdicts.record(
            given.node, given.verdict, note=given.note, source=ask.source, offer=given.offer
        )
    )


def _record_once(ask: Ask, project: Workspace, key: str) -> Any:
    asked = _hash(asdict(ask.body))
    client = f"key-{_hash([project.who.name, project.id, key])}"
    kept, _ = project.messages.answered(client, lambda: {"asked": asked, "answer": _record(ask, project)})
    if kept["asked"] != asked:
        found = f"the idempotency key {key!r} was used for another verdict"
        raise InputError(found, "a new key for every verdict")
    return kept["answer"]


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def verdicts(ask: Ask) -> Page[LabelEvent]:
    q: VerdictQuery = ask.query
    events = sorted(ask.workspace.verdicts.current().values(), key=lambda event: event.id)
    later = [event for event in events if event.id > q.after]
    shown = later[: q.limit]
    return Page(shown, len(events), shown[-1].id if len(later) > q.limit else None)


def counts(ask: Ask) -> LabelCounts:
    return LabelCounts(**ask.workspace.verdicts.counts())
