"""The watchlist of an analyst: who is on it, and who of them has risen."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row

from gadcore.records.versions import WatchedNode
from gadcore.workspace.project import Project


def watch(project: Project, analyst: str, node_id: str) -> None:
    """Put a node on the list; NotFound where there is none of this id."""
    node, result = project.node(node_id), project.result()
    rank = None if result is None else result.rank_of(node)
    project.store.watchlist.put(project.id, analyst, node_id, rank)


def watched(project: Project, analyst: str) -> list[WatchedNode]:
    """Those on the list, the ones that have risen most first."""
    rows = project.store.watchlist.of(project.id, analyst)
    found = [_watched(project, row) for row in rows] if rows else []
    return sorted(found, key=lambda node: (not node.risen, node.rank or 0))


def _watched(project: Project, row: Row[Any]) -> WatchedNode:
    node_id, at, before = str(row.node_id), row.at, row.rank
    if node_id not in project.graph:
        return WatchedNode(node_id, node_id, at, before, None)
    node, result = project.node(node_id), project.result()
    assert isinstance(at, datetime)
    rank = None if result is None else result.rank_of(node)
    return WatchedNode(node_id, project.graph.display_name(node), at, before, rank)


def seen(project: Project, analyst: str) -> None:
    """The analyst has seen who has risen: from now on a rise counts from here."""
    ranks = {node.node_id: node.rank for node in watched(project, analyst)}
    project.store.watchlist.seen(project.id, analyst, ranks)
