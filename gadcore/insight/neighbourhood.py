"""The part of the graph around a case: a bounded number of nodes, at positions that keep still.

*Which* nodes are shown follows suspicion, verdicts and edge weights. *Where* they stand follows the graph
alone: a label or a retrain never moves a node that stays in view, and one more hop or an expanded node only
adds nodes around those that are already there.

Cost is bounded by the degrees of the nodes in view, read row by row from the CSR adjacency; the neighbours
of a hub are ranked with one partial sort.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import InputError
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Verdict
from gadcore.insight.edge_links import edge_links
from gadcore.insight.positions import Batch, edges_among, positions
from gadcore.records import Neighbourhood, ViewEdge, ViewNode

MAX_HOPS = 3
MAX_NODES = 300  # the canvas stays fluent and readable up to about here
MAX_EDGES = 1500
ROUND = 60  # nodes per hop that are chosen and placed together
STEP = 25  # neighbours added by one "+N more"
COLUMNS = 10  # raw columns in the hover card

VERDICT_OF = {1: Verdict.ANOMALOUS.value, 0: Verdict.NORMAL.value, -2: Verdict.UNSURE.value}
_LIFT = {1: 200.0, 0: 20.0, -2: 20.0}  # known anomalies always come first; other verdicts are lifted
_WEIGHT_LIFT = 10.0
_UNSEEN = 127

Node = int | np.integer[Any] | str
Array = npt.NDArray[Any]


def neighbourhood(
    graph: Graph,
    percentile: Array | None,
    verdicts: Array | None,
    node: Node,
    hops: int = 1,
    cap: int = 60,
    expanded: Iterable[Node] = (),
    *,
    pinned: Iterable[Node] = (),
    scores: Array | None = None,
) -> Neighbourhood:
    """The nodes within ``hops`` of ``node``, at most ``cap`` per hop and 300 in all, with fixed positions.

    ``percentile`` (N,) is 0..100, ``verdicts`` (N,) as in ``Labels.as_array``; either may be None.
    ``node`` and ``expanded`` are row numbers or ids. Each time a node is named in ``expanded``, up to 25
    more of its neighbours are added. ``left_out`` counts the neighbours of followed nodes not in view.
    ``pinned`` nodes are shown wherever they are: aside, where they are not among the nodes around.
    """
    if not 1 <= hops <= MAX_HOPS:
        raise InputError(f"{hops} hops were asked for", f"1 to {MAX_HOPS} hops")
    if cap < 1:
        raise InputError(f"a cap of {cap} nodes was asked for", "at least 1 node per hop")
    search = _Search(graph, _priority(graph, percentile, verdicts), _row(graph, node))
    # in rounds, so that a larger cap only adds to what a smaller one shows
    for start in range(0, min(cap, MAX_NODES), ROUND):
        for hop in range(1, hops + 1):
            search.add_hop(hop, min(ROUND, cap - start))
    search.pin(_row(graph, n) for n in pinned)
    for row, times in Counter(_row(graph, n) for n in expanded).items():
        search.expand(row, STEP * times)
    return _drawn(graph, search, hops, percentile, verdicts, scores)


@dataclass
class _Search:
    """Grows the view one batch at a time; ``hop_of`` is in order of arrival."""

    graph: Graph
    priority: FloatArray  # (N,) larger is shown first
    centre: int
    hop_of: dict[int, int] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    aside: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.distance = np.full(self.graph.n_nodes, _UNSEEN, dtype=np.int8)  # from the centre, so far as seen
        self.shown = np.zeros(self.graph.n_nodes, dtype=bool)
        self.distance[self.centre], self.shown[self.centre], self.hop_of[self.centre] = 0, True, 0

    def add_hop(self, hop: int, cap: int) -> None:
        """Add the best ``cap`` nodes next to those one hop nearer, a fair share through each of them."""
        frontier = sorted(row for row, at in self.hop_of.items() if at == hop - 1)
        cap = min(cap, MAX_NODES - len(self.hop_of))
        if not frontier or cap <= 0:
            return
        share = cap if len(frontier) == 1 else max(5, cap // 4)
        found = [self._best(row, share) for row in frontier]
        nodes = np.concatenate([part for part, *_ in found])
        values = np.concatenate([value for _, value, _ in found])
        parents = np.repeat(frontier, [len(part) for part, *_ in found])
        chosen: dict[int, int] = {}
        for i in np.lexsort((parents, nodes, -values)):
            if len(chosen) == cap:
                break
            chosen.setdefault(int(nodes[i]), int(parents[i]))
        complete = all(whole for *_, whole in found) and len(chosen) == len(np.unique(nodes))
        self._take(chosen, hop, ring=True, complete=complete)

    def pin(self, rows: Iterable[int]) -> None:
        """Show these too, beside the others; those in view already stay where they are."""
        self.aside = set(rows) - set(self.hop_of)
        if not self.aside:
            return
        new = sorted(self.aside)
        far = np.minimum(self.distance[new], MAX_HOPS + 1)
        self.hop_of.update(zip(new, far.tolist()))
        self.shown[new] = True
        self.batches.append(Batch(new, [self.centre] * len(new), MAX_HOPS + 1, False, False, aside=True))

    def expand(self, row: int, count: int) -> None:
        """Add up to ``count`` more neighbours of a node in view; a node that is not in view is ignored."""
        if row not in self.hop_of:
            return
        nodes, *_ = self._best(row, min(count, MAX_NODES - len(self.hop_of)))
        self._take(dict.fromkeys(nodes.tolist(), row), self.hop_of[row] + 1, ring=False, complete=False)

    def _best(self, row: int, count: int) -> tuple[IntArray, FloatArray, bool]:
        """The ``count`` neighbours not in view with the highest priority, and whether these are all."""
        nodes, weights = self.graph.neighbours(row)
        self.distance[nodes] = np.minimum(self.distance[nodes], self.hop_of[row] + 1)
        value = self.priority[nodes]
        if len(weights) and weights.min() != weights.max():
            value = value + _WEIGHT_LIFT * (weights / weights.max())
        # those in view may be among the best: look that much further
        reach = count + len(self.hop_of)
        if reach < len(nodes):
            best = np.argpartition(-value, reach)[:reach]
            nodes, value = nodes[best], value[best]
        keep = ~self.shown[nodes]
        nodes, value = nodes[keep], value[keep]
        order = np.lexsort((nodes, -value))[:count]
        return nodes[order], value[order], len(order) == len(nodes) and reach >= len(weights)

    def _take(self, chosen: dict[int, int], hop: int, *, ring: bool, complete: bool) -> None:
        rows = sorted(chosen)
        # a neighbour of the centre that was cut may come in through another one: it is still at hop 1
        self.hop_of.update(zip(rows, self.distance[rows].tolist()))
        self.shown[rows] = True
        if rows:
            self.batches.append(Batch(rows, [chosen[r] for r in rows], hop, ring, complete))


def _priority(graph: Graph, percentile: Array | None, verdicts: Array | None) -> FloatArray:
    """(N,) what makes a neighbour worth showing, before its edge weight."""
    value = np.zeros(graph.n_nodes, np.float32) if percentile is None else np.nan_to_num(percentile)
    value = value.astype(np.float32)
    if verdicts is not None:
        for code, lift in _LIFT.items():
            value[verdicts == code] += lift
    return value


def _drawn(
    graph: Graph,
    search: _Search,
    hops: int,
    percentile: Array | None,
    verdicts: Array | None,
    scores: Array | None,
) -> Neighbourhood:
    rows = np.fromiter(search.hop_of, dtype=np.int64)
    source, target, weight, inside = _edges_within(graph, rows, search.aside)
    place = positions(graph, search.centre, search.batches)
    degree = graph.adjacency.indptr[rows + 1] - graph.adjacency.indptr[rows]
    rank = np.zeros(len(rows)) if percentile is None else np.nan_to_num(percentile[rows])
    score = rank if scores is None else np.nan_to_num(scores[rows])
    said = [None] * len(rows) if verdicts is None else [VERDICT_OF.get(int(v)) for v in verdicts[rows]]
    ids, names = graph.node_ids[rows].tolist(), graph.display_names(rows)
    attributes = _attributes(graph, rows)
    nodes = [
        ViewNode(
            node_id=ids[i],
            name=names[i],
            hop=search.hop_of[r],
            degree=int(degree[i]),
            score=float(score[i]),
            percentile=float(rank[i]),
            verdict=said[i],
            hidden=int(degree[i] - inside[i]),
            x=place[r][0],
            y=place[r][1],
            attributes=attributes[i],
            aside=r in search.aside,
        )
        for i, r in enumerate(rows.tolist())
    ]
    links, told = edge_links(graph, rows[source], rows[target])
    edges = [ViewEdge(ids[a], ids[b], float(w), t) for a, b, w, t in zip(source, target, weight, told)]
    left_out = int(np.count_nonzero((search.distance < _UNSEEN) & ~search.shown))
    return Neighbourhood(str(graph.node_ids[search.centre]), hops, nodes, edges, left_out, links)


def _edges_within(graph: Graph, rows: IntArray, aside: set[int]) -> tuple[Array, Array, Array, IntArray]:
    """Edges between the rows (positions in ``rows``), strongest first, and how many each row has."""
    source, target, weight = edges_among(graph, rows)
    inside = np.bincount(source, minlength=len(rows))
    once = source < target
    source, target, weight = source[once], target[once], weight[once]
    # edges of the centre (position 0) and of pinned nodes always stay
    must = np.isin(rows, [rows[0], *aside])
    keep = np.lexsort((target, source, -weight, ~(must[source] | must[target])))[:MAX_EDGES]
    return source[keep], target[keep], weight[keep], inside


def _attributes(graph: Graph, rows: IntArray) -> list[dict[str, str]]:
    """The first raw columns of each row as text, for the hover card; empty cells are left out."""
    cards: list[dict[str, str]] = [{} for _ in rows]
    for column in list(graph.node_table)[:COLUMNS]:
        for card, value in zip(cards, graph.node_table.cells(column, rows)):
            if isinstance(value, float):
                if value == value:
                    card[column] = f"{value:g}"
            elif value is not None and (text := str(value)).strip():
                card[column] = text
    return cards


def _row(graph: Graph, node: Node) -> int:
    if isinstance(node, str):
        return graph.index_of(node)
    row = int(node)
    if not 0 <= row < graph.n_nodes:
        raise InputError(f"row {row} was asked for", f"rows 0 to {graph.n_nodes - 1}")
    return row
