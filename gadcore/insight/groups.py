"""The group around a confirmed anomaly: who belongs to it, and why.

Two kinds of evidence: a rare value that the nodes share (a device, an address), and links that stay inside
the group. For the latter nodes are taken in the order of a personalised PageRank from the start (Andersen,
Chung and Lang 2006); the group ends where the share of links that leave it (the conductance) is least. With
scores, nodes that rank low and are not confirmed are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.graph import Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import percentile_ranks
from gadcore.records import ProposedGroup

CAP = 30  # largest group proposed
TIGHT = 10  # largest group found by links alone
SHARED_AT_MOST = 15  # nodes with one value for it to tie them together
ALPHA, STEPS = 0.25, 12  # restart probability and steps of the walk
LOW = 0.7  # percentile below which a node is left out unless it is confirmed
_DATE = r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4}"
BROAD = 0.85  # share of links leaving the group above which there is no group to speak of


def propose_group(
    graph: Graph,
    node: int,
    labels: Labels | None = None,
    scores: npt.NDArray[np.floating] | None = None,
    cap: int = CAP,
) -> ProposedGroup:
    """The group around ``node``, itself first: who shares a rare value with it, and who is tightly linked."""
    labels = Labels.none() if labels is None else labels
    percentile = None if scores is None else percentile_ranks(scores)
    shared, column = _shared_value(graph, node)
    linked = [v for v in _tight_group(graph, node, min(cap, TIGHT)) if _suspect(v, labels, percentile)]
    members = [v for v in shared if v not in set(labels.normal.tolist())]
    group = list(dict.fromkeys([node, *members, *(v for v in linked if v != node)]))[:cap]
    value = f"{column.replace('_', ' ')} {graph.node_table[column].iat[node]}" if members else ""
    cleared, linked_only = len(shared) - len(members), len(set(group) - {node, *members})
    reason = _reason(graph.display_name(node), value, len(shared) + 1, cleared, linked_only)
    return ProposedGroup([str(graph.node_ids[v]) for v in group], reason)


def _suspect(node: int, labels: Labels, percentile: npt.NDArray[np.float64] | None) -> bool:
    """Confirmed, or neither cleared nor ranked low."""
    if node in labels.anomalous:
        return True
    return node not in labels.normal and (percentile is None or bool(percentile[node] >= LOW))


def _shared_value(graph: Graph, node: int) -> tuple[list[int], str]:
    """Other nodes with the rarest value that ``node`` shares with a few, and its column."""
    best: list[int] = []
    found = ""
    for column in graph.node_table.columns:
        values = graph.node_table[column]
        if column == graph.label_column or not _names_things(values):
            continue
        value = values.iat[node]
        if not isinstance(value, str) or not value.strip():
            continue
        same = np.flatnonzero((values == value).to_numpy(dtype=bool, na_value=False))
        others = [int(v) for v in same if v != node]
        if 0 < len(others) < SHARED_AT_MOST and (not best or len(others) < len(best)):
            best, found = others, str(column)
    return best, found


def _names_things(values: pd.Series[Any]) -> bool:
    """Text with so many values that sharing one means something."""
    if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_datetime64_any_dtype(values):
        return False
    head = values.dropna().head(300)
    if not len(head) or not head.map(type).eq(str).all() or head.str.match(_DATE).all():
        return False
    return bool(head.nunique() > 0.3 * len(head))


def _tight_group(graph: Graph, node: int, cap: int) -> list[int]:
    """Nodes of the sweep cut with least conductance, at most ``cap``."""
    degree = graph.degree.astype(np.float64)
    if degree[node] == 0:
        return [node]
    mass = _walk(graph, node)
    reached = np.array(list(mass))
    order = reached[np.argsort([-mass[int(v)] / degree[v] for v in reached], kind="stable")]
    order = np.r_[node, order[order != node]][: cap + 1]
    inside: set[int] = set()
    volume = cut = 0.0
    best, size = 2.0, 1
    for count, v in enumerate(order[:cap], start=1):
        ends, weights = graph.neighbours(int(v))
        within = float(weights[np.isin(ends, list(inside))].sum())
        volume, cut = volume + degree[v], cut + degree[v] - 2 * within
        inside.add(int(v))
        if count > 1 and cut / volume < best:
            best, size = cut / volume, count
    return [node] if best > BROAD else [int(v) for v in order[:size]]


def _walk(graph: Graph, node: int) -> dict[int, float]:
    """Mass of a random walk with restart; steps spread only from nodes that hold a trace of it."""
    mass = {node: 1.0}
    for _ in range(STEPS):
        spread: dict[int, float] = {node: ALPHA}
        for v, amount in mass.items():
            ends, weights = graph.neighbours(v)
            if amount < 1e-4 or not len(ends):
                spread[node] = spread.get(node, 0.0) + (1 - ALPHA) * amount
                continue
            shares = (1 - ALPHA) * amount * weights / weights.sum()
            for u, share in zip(ends.tolist(), shares.tolist()):
                spread[u] = spread.get(u, 0.0) + share
        mass = spread
    return mass


def _reason(name: str, value: str, sharing: int, cleared: int, linked: int) -> str:
    """Who shares a value (empty: nobody), of whom some are marked normal, and who is linked only."""
    parts = []
    if value:
        left_out = f" ({cleared} of them marked normal and left out)" if cleared else ""
        parts.append(f"{sharing} nodes share {value}{left_out}")
    if linked:
        parts.append(f"{linked} {'more ' * bool(value)}closely linked to {name}")
    return ", ".join(parts)
