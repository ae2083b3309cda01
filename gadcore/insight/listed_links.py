"""Links as rows to read, a page at a time."""

from __future__ import annotations

from collections.abc import Collection
from math import nan

import numpy as np

from gadcore.errors import InputError
from gadcore.graph import Graph, IntArray, Links
from gadcore.graph.link_words import amount_column, time_text
from gadcore.insight.edge_links import kind_slots
from gadcore.records import LinkPage, ListedLink

MOST = 500  # rows of a page


def links_between(
    graph: Graph,
    node: int,
    other: int,
    *,
    start: int = 0,
    limit: int = 100,
    after: float | None = None,
    before: float | None = None,
    without: Collection[int] = (),
) -> LinkPage:
    """Links between two nodes, both ways, by time: ``limit`` of them after the first ``start``.

    ``after`` ≤ time < ``before`` in seconds; a link without a time is in no period. ``without`` leaves kinds
    out, by their place in ``ViewLinks.kinds``.
    """
    if start < 0 or not 1 <= limit <= MOST:
        raise InputError(f"{limit} links from {start} on were asked for", f"1 to {MOST} links, from 0 on")
    links = graph.links
    if links is None:
        return LinkPage(0, 0, [], [])
    rows = by_time(links, links.between(node, other))
    rows = rows[_within(links, rows, after, before) & ~np.isin(kind_slots(links, rows), list(without))]
    page = rows[start : start + limit]
    return LinkPage(len(rows), start, list(links.other.column_names), listed(graph, page))


def listed(graph: Graph, rows: IntArray) -> list[ListedLink]:
    """These links with time and amount in words; none for a graph without links."""
    links = graph.links
    if links is None:
        return []
    kinds = links.kind_names(rows)
    amounts = [nan] * len(rows) if links.amount is None else links.amount[rows].tolist()
    told = amount_column(amounts, links.meaning)
    others = _others(links, rows)
    return [
        ListedLink(
            source=str(graph.node_ids[links.source[row]]),
            target=str(graph.node_ids[links.target[row]]),
            time="" if links.time is None else time_text(float(links.time[row]), links.meaning),
            amount=told[i],
            kind=kinds[i],
            other=others[i],
        )
        for i, row in enumerate(rows.tolist())
    ]


def by_time(links: Links, rows: IntArray) -> IntArray:
    """The rows in the order of time; those without one last, as they are in the file."""
    return rows if links.time is None else rows[np.argsort(links.time[rows], kind="stable")]


def _within(links: Links, rows: IntArray, after: float | None, before: float | None) -> np.ndarray:
    if links.time is None or (after is None and before is None):
        return np.ones(len(rows), dtype=bool)
    low, high = (-np.inf if after is None else after), (np.inf if before is None else before)
    time = links.time[rows]
    return np.asarray((time >= low) & (time < high))


def _others(links: Links, rows: IntArray) -> list[list[str]]:
    """The other columns of each row as text; empty where unknown."""
    if not links.other.num_columns:
        return [[] for _ in rows]
    columns = links.other.take(rows).to_pydict().values()
    return [["" if value is None else str(value) for value in values] for values in zip(*columns)]
