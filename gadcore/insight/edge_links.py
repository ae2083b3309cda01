"""What runs along the edges of a view: links each way, amounts, times, kinds, and their spread over time.

Only the rows of the edges in view are read. A browser that shows a period or leaves kinds out needs no more
than the *cells*: links counted by edge, period, kind and way. Periods get longer until the cells are few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite

import numpy as np
import numpy.typing as npt

from gadcore.graph import Graph, IntArray, Links
from gadcore.graph.link_words import amount_text, count_text, period_text
from gadcore.insight.equal_periods import Periods, periods
from gadcore.records import EdgeLinks, LinkCells, ViewLinks

KINDS = 8  # told apart in the picture: the most frequent of the whole graph, so that colours stay
OTHER = "other"
MAX_CELLS = 12_000  # about 200 kB of message
WAYS = 2  # from the edge's source to its target, and back

Values = npt.NDArray[np.float64]


def edge_links(
    graph: Graph, source: IntArray, target: IntArray
) -> tuple[ViewLinks | None, Sequence[EdgeLinks | None]]:
    """The links between the ends (rows of the graph) of edges, together and of each; None without links."""
    if graph.links is None:
        return None, [None] * len(source)
    flow = _Flow(graph.links, source, target)
    return _view(flow), _summaries(graph, flow)


@dataclass(frozen=True)
class _Flow:
    """The rows behind some edges, those of one edge and way side by side."""

    links: Links
    source: IntArray  # (E,) rows of the graph
    target: IntArray

    @cached_property
    def counts(self) -> IntArray:
        """(2 E,) links of each edge, sent and back in turn."""
        return np.asarray(self._spans[1] - self._spans[0])

    @cached_property
    def _spans(self) -> tuple[IntArray, IntArray]:
        there = self.links.spans(self.source, self.target)
        back = self.links.spans(self.target, self.source)
        begin, end = (np.column_stack(pair).ravel() for pair in zip(there, back))
        return begin, end

    @cached_property
    def rows(self) -> IntArray:
        """(T,) rows of the links."""
        before = np.cumsum(self.counts) - self.counts
        rows = np.arange(self.counts.sum()) + np.repeat(self._spans[0] - before, self.counts)
        return np.asarray(rows, dtype=np.int64)

    @cached_property
    def lane(self) -> IntArray:
        """(T,) place in ``counts`` of each row: twice its edge, and one more on the way back."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def time(self) -> Values:
        """(T,) nan where unknown."""
        return self._column(self.links.time)

    @cached_property
    def amount(self) -> Values:
        return self._column(self.links.amount)

    def _column(self, values: Values | None) -> Values:
        return np.full(len(self.rows), np.nan) if values is None else np.asarray(values[self.rows])

    @cached_property
    def kind(self) -> IntArray:
        """(T,) place in ``kinds``."""
        return kind_slots(self.links, self.rows)

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds that are told apart; "other" is there where a link needs it."""
        if self.links.kind is None:
            return []
        named = list(self.links.meaning.kinds[:KINDS])
        return [*named, OTHER] if np.any(self.kind == len(named)) else named


def kind_slots(links: Links, rows: IntArray) -> IntArray:
    """(T,) place of each row's kind among those told apart; all others come after the last of them."""
    if links.kind is None:
        return np.zeros(len(rows), dtype=np.int64)
    codes = np.asarray(links.kind[rows], dtype=np.int64)
    return np.where((codes < 0) | (codes >= KINDS), len(links.meaning.kinds[:KINDS]), codes)


# ---- the view -----------------------------------------------------------------------------------------


def _view(flow: _Flow) -> ViewLinks:
    found, cells = _spread(flow)
    meaning = flow.links.meaning
    starts, ends = found.texts(meaning)
    return ViewLinks(
        word=meaning.word,
        words=meaning.words,
        unit=meaning.unit,
        kinds=flow.kinds,
        starts=starts,
        ends=ends,
        first=found.first,
        width=found.width,
        cells=cells,
    )


def _spread(flow: _Flow) -> tuple[Periods, LinkCells]:
    """Cells of the shortest periods with which there are not too many of them."""
    found = Periods()
    for found in periods(flow.time, flow.links.meaning):
        keys, cell_of = _cells(flow, found)
        if len(keys) <= MAX_CELLS:
            break
    return found, _as_columns(flow, found, keys, cell_of)


def _cells(flow: _Flow, found: Periods) -> tuple[IntArray, IntArray]:
    """The different cells as (lane, kind, period) in one number, and the cell of each row."""
    slots = max(1, len(flow.kinds))
    key = (flow.lane * slots + flow.kind) * (found.n + 1) + found.of(flow.time) + 1
    keys, cell_of = np.unique(key, return_inverse=True)
    return keys, cell_of


def _as_columns(flow: _Flow, found: Periods, keys: IntArray, cell_of: IntArray) -> LinkCells:
    lane_and_kind, period = np.divmod(keys, found.n + 1)
    lane, kind = np.divmod(lane_and_kind, max(1, len(flow.kinds)))
    known = flow.links.amount is not None
    sums = _sums(cell_of, flow.amount, len(keys)) if known else np.zeros(0)
    return LinkCells(
        edge=(lane // WAYS).tolist(),
        bin=(period - 1).tolist(),
        kind=kind.tolist(),
        back=(lane % WAYS).tolist(),
        count=np.bincount(cell_of, minlength=len(keys)).tolist(),
        amount=np.round(sums, 2).tolist(),
    )


def _sums(group: IntArray, values: Values, n: int) -> Values:
    return np.bincount(group, weights=np.nan_to_num(values), minlength=n).astype(np.float64)


# ---- each edge ----------------------------------------------------------------------------------------


def _summaries(graph: Graph, flow: _Flow) -> list[EdgeLinks]:
    counts = flow.counts.reshape(-1, WAYS).tolist()
    amounts = _amounts(flow).reshape(-1, WAYS).tolist()
    first, last = (values.tolist() for values in _times(flow))
    facts = zip(counts, amounts, first, last, _kinds(flow))
    found = [
        EdgeLinks(sent, back, _known(out), _known(returned), _known(early), _known(late), kinds)
        for (sent, back), (out, returned), early, late, kinds in facts
    ]
    names = zip(graph.display_names(flow.source), graph.display_names(flow.target))
    return [replace(told, text=_text(flow.links, told, pair)) for told, pair in zip(found, names)]


def _known(value: float) -> float | None:
    return value if isfinite(value) else None


def _amounts(flow: _Flow) -> Values:
    """(2 E,) sums; nan where no amount is known."""
    n = len(flow.counts)
    known = np.bincount(flow.lane, weights=np.isfinite(flow.amount), minlength=n)
    return np.where(known > 0, _sums(flow.lane, flow.amount, n), np.nan)


def _times(flow: _Flow) -> tuple[Values, Values]:
    """(E,) first and last known time of each edge; nan where there is none."""
    total = flow.counts.reshape(-1, WAYS).sum(1)
    some = np.flatnonzero(total)
    starts = (np.cumsum(total) - total)[some]
    first, last = np.full(len(total), np.nan), np.full(len(total), np.nan)
    if len(some):
        first[some], last[some] = (f.reduceat(flow.time, starts) for f in (np.fmin, np.fmax))
    return first, last


def _kinds(flow: _Flow) -> list[list[tuple[str, int]]]:
    """Kinds of each edge with their numbers, most frequent first."""
    n, slots = len(flow.source), len(flow.kinds)
    if not slots:
        return [[] for _ in range(n)]
    key = flow.lane // WAYS * slots + flow.kind
    table = np.bincount(key, minlength=n * slots).reshape(n, slots)
    order = np.argsort(-table, axis=1, kind="stable")
    return [[(flow.kinds[k], int(row[k])) for k in at if row[k]] for row, at in zip(table, order)]


def _text(links: Links, told: EdgeLinks, names: tuple[str, str]) -> str:
    """ "12 transfers, 3,410 EUR, 3–19 March 2025 · Ada → Bo 10, Bo → Ada 2"; "" without links."""
    if not told.sent + told.back:
        return ""
    parts = [count_text(told.sent + told.back, links.meaning), _total_text(links, told)]
    if told.first is not None and told.last is not None:
        parts.append(period_text(told.first, told.last, links.meaning))
    return f"{', '.join(part for part in parts if part)} · {_ways_text(told, names)}"


def _total_text(links: Links, told: EdgeLinks) -> str:
    known = [amount for amount in (told.amount_sent, told.amount_back) if amount is not None]
    if not known:
        return ""
    text = amount_text(sum(known), links.meaning)
    return text if links.meaning.unit else f"total {text}"


def _ways_text(told: EdgeLinks, names: tuple[str, str]) -> str:
    there, back = f"{names[0]} → {names[1]}", f"{names[1]} → {names[0]}"
    if told.sent and told.back:
        return f"{there} {told.sent:,}, {back} {told.back:,}"
    return there if told.sent else back
