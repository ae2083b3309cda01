"""The group around a case: who belongs to it, and why. An ordinary case stands alone.

Three kinds of evidence: a rare value that the nodes share (a device, an address); a structure that is loud in
the whole graph (structures.py: a near-clique, a fan, amounts passed around); and, around a case that is
confirmed or ranks high, links that stay inside the group. For the latter nodes are taken in the order of a
personalised PageRank from the start (Andersen, Chung and Lang 2006); the group ends where the share of links
that leave it (the conductance) is least. With scores, nodes that rank low and are not confirmed are left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.derive.views import Views
from gadcore.graph import Graph, NodeTable
from gadcore.graph.labels import Labels
from gadcore.insight.structures import Structure, structure_around
from gadcore.insight.view_sentences import group_sentence
from gadcore.metrics import percentile_ranks
from gadcore.records import ProposedGroup

CAP = 30  # largest group proposed
TIGHT = 10  # largest group found by links alone
SHARED_AT_MOST = 15  # nodes with one value for it to tie them together
ALPHA, STEPS = 0.25, 12  # restart probability and steps of the walk
TRACE = 1e-4  # share of the walk from which a node spreads it further
LOW = 0.7  # percentile below which a node is left out unless it is confirmed
_DATE = r"\d{4}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{2,4}"
HIGH = 0.9  # percentile from which a case is looked around of by its links alone
BROAD = 0.6  # share of links leaving the group above which there is no group to speak of


def propose_group(
    graph: Graph,
    node: int,
    labels: Labels | None = None,
    scores: npt.NDArray[np.floating] | None = None,
    cap: int = CAP,
    views: Views | None = None,
) -> ProposedGroup:
    """The group around ``node``, itself first: by a loud structure, or a rare value and tight links.

    ``cap`` does not hold for structures: these are as large as they are.
    """
    labels = Labels.none() if labels is None else labels
    cleared = set(labels.normal.tolist())
    if views is not None and (around := structure_around(graph, node, views)):
        return _of_structure(graph, node, around, cleared)
    shared, column = _shared_value(graph, node)
    members = [v for v in shared if v not in cleared]
    linked = _linked(graph, node, labels, scores, min(cap, TIGHT))
    group = list(dict.fromkeys([node, *members, *linked]))[:cap]
    value = f"{column.replace('_', ' ')} {graph.node_table.cell(column, node)}" if members else ""
    left_out, linked_only = len(shared) - len(members), len(set(group) - {node, *members})
    reason = _reason(graph.display_name(node), value, len(shared) + 1, left_out, linked_only)
    return ProposedGroup([str(graph.node_ids[v]) for v in group], reason)


def _of_structure(graph: Graph, node: int, around: Structure, cleared: set[int]) -> ProposedGroup:
    group = [node, *(v for v in around.others if v not in cleared)]
    return ProposedGroup([str(graph.node_ids[v]) for v in group], group_sentence(graph, node, around))


def _linked(
    graph: Graph, node: int, labels: Labels, scores: npt.NDArray[np.floating] | None, cap: int
) -> list[int]:
    """Suspects that are tightly linked with a case which is confirmed or ranks high."""
    percentile = None if scores is None else percentile_ranks(scores)
    if percentile is not None and node not in labels.anomalous and percentile[node] < HIGH:
        return []
    return [v for v in _tight_group(graph, node, cap) if v != node and _suspect(v, labels, percentile)]


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
        if column == graph.label_column or not _names_things(graph.node_table, column):
            continue
        value = graph.node_table.cell(column, node)
        if not isinstance(value, str) or not value.strip():
            continue
        values = graph.node_table[column]
        same = np.flatnonzero((values == value).to_numpy(dtype=bool, na_value=False))
        others = [int(v) for v in same if v != node]
        if 0 < len(others) < SHARED_AT_MOST and (not best or len(others) < len(best)):
            best, found = others, str(column)
    return best, found


def _names_things(table: NodeTable, column: str) -> bool:
    """Text with so many values that sharing one means something."""
    if table.is_number(column):
        return False
    values = table[column]
    if pd.api.types.is_bool_dtype(values) or pd.api.types.is_datetime64_any_dtype(values):
        return False
    head = values.take(np.flatnonzero(values.notna())[:300])
    if not len(head) or not head.map(type).eq(str).all() or head.str.match(_DATE).all():
        return False
    return bool(head.nunique() > 0.3 * len(head))


def _tight_group(graph: Graph, node: int, cap: int) -> list[int]:
    """Nodes of the sweep cut with least conductance, at most ``cap``."""
    degree = graph.degree.astype(np.float64)
    if degree[node] == 0:
        return [node]
    mass = _walk(graph, node)
    reached = np.flatnonzero(mass)
    order = reached[np.argsort(-mass[reached] / degree[reached], kind="stable")]
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


def _walk(graph: Graph, node: int) -> npt.NDArray[np.float64]:
    """(N,) mass of a random walk with restart; steps spread only from nodes that hold a trace of it."""
    mass = np.zeros(graph.n_nodes)
    mass[node] = 1.0
    for _ in range(STEPS):
        spread = np.zeros(graph.n_nodes)
        left = 1.0  # what is too thin to spread goes back to the start
        for v in np.flatnonzero(mass >= TRACE).tolist():
            ends, weights = graph.neighbours(v)
            if len(ends):
                spread[ends] += (1 - ALPHA) * mass[v] * (weights / weights.sum())
                left -= mass[v]
        spread[node] += ALPHA + (1 - ALPHA) * left
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
