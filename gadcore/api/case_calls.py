"""Calls on the nodes of a project: queue, card, why, links, search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from gadcore.api.endpoint import Ask, Page
from gadcore.api.forms import Paging, part
from gadcore.records import Explanation, NodeCard, QueueRow
from gadcore.records.links import Activity, LinkFilter
from gadcore.workspace import OTHERS, Filter

VerdictFilter = Literal["unlabelled", "normal", "anomalous", "unsure", "mine", "others", "any"]


@dataclass(frozen=True, kw_only=True)
class QueueQuery(Paging):
    """Which cases are wanted, and how they are chosen."""

    offset: int = part("cases before this page", 0, minimum=0, maximum=1000)
    strategy: str | None = part("greedy-diverse, top, uncertainty, audit, again, … (else as set)", None)
    verdict: VerdictFilter | None = part("only these (else unlabelled)", None)
    column: str | None = part("only nodes with value in this column", None)
    value: str | None = part("of the column; of numbers also '> 5'", None)
    text: str | None = part("only nodes that hold this text", None)
    since: str | None = part("only what is new or changed since 'last' (update), a version or a day", None)


@dataclass(frozen=True, kw_only=True)
class NodeQuery:
    """A node."""

    node: str = part("id of the node", minLength=1)


@dataclass(frozen=True, kw_only=True)
class SearchQuery:
    """What is looked for."""

    text: str = part("part of an id, name or attribute; column=value and column>value look into one column")
    limit: int = part("nodes at most", 20, minimum=1, maximum=200)


@dataclass(frozen=True, kw_only=True)
class LinksQuery(Paging, NodeQuery):
    """A node, and which of its links are wanted."""

    direction: Literal["in", "out"] | None = part("only what comes in, or goes out", None)
    counterparty: str | None = part("an id, or a part of ids or names", None)
    kind: str | None = part("only of this kind", None)
    since: str | None = part("2025, 2025-03, 2025-03-04, 2025-03-04 14:05; or a step", None)
    until: str | None = part("up to the end of what is named", None)
    least: float | None = part("amount", None)
    most: float | None = part("amount", None)
    sort: str | None = part("key of a column (else the time, newest first)", None)


def queue(ask: Ask) -> Page[QueueRow]:
    q: QueueQuery = ask.query
    where = Filter(verdict=q.verdict, column=q.column, value=q.value, text=q.text, since=q.since)
    wanted = q.offset + q.limit
    found = ask.workspace.cases.queue(strategy=q.strategy, n=wanted + 1, where=where)
    rows = found[q.offset : wanted]
    if q.verdict == OTHERS:  # or the second opinion would not be an independent one
        rows = [replace(row, verdict=None) for row in rows]
    return Page(rows, None, wanted if len(found) > wanted else None)


def card(ask: Ask) -> NodeCard:
    return ask.workspace.cases.card(ask.query.node)


def why(ask: Ask) -> Explanation:
    return ask.workspace.insight.explain(ask.query.node)


def search(ask: Ask) -> Page[QueueRow]:
    found = ask.workspace.cases.search(ask.query.text, ask.query.limit)
    return Page(found, len(found), None)


def links(ask: Ask) -> Activity:
    q: LinksQuery = ask.query
    names = ("direction", "counterparty", "kind", "since", "until", "least", "most")
    where = LinkFilter(**{name: getattr(q, name) for name in names})
    return ask.workspace.cases.activity(q.node, where, sort=q.sort, offset=q.offset, n=q.limit)
