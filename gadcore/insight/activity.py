"""What a node does: its links as a table, added up, with its main counterparties and a timeline.

The rows of the node alone are read, filtered and sorted; a page of them becomes records.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.graph.link_words import amount_text, count_text
from gadcore.graph.links import LinkMeaning, Numbers, Rows
from gadcore.insight import periods
from gadcore.insight.node_links import DIRECTIONS, IN, OUT, SELF, Mask, NodeLinks
from gadcore.records import neutral
from gadcore.records.links import Activity, Counterparty, LinkFilter, LinkRow, LinkTotals, TimelineBar

PAGE = 200  # rows of the table that are shown at first, and added at a time
MAIN = 5  # counterparties that are named
AMOUNT, COUNT = "amount", "count"  # what bars and main counterparties go by


def activity(
    graph: Graph,
    node: int,
    where: LinkFilter | None = None,
    *,
    sort: str | None = None,
    descending: bool | None = None,
    offset: int = 0,
    n: int = PAGE,
    by: str | None = None,
) -> Activity:
    """The links of a node that pass a filter; newest first if nothing else is asked for."""
    where, links = where or LinkFilter(), NodeLinks(graph, node)
    beside = links.passing(where)
    keep = beside & links.in_period(where)
    column = sort or _usual_order(links)
    down = column in ("time", "amount") if descending is None else descending
    page = links.ordered(np.flatnonzero(keep), column, down)[offset : offset + n]
    measure = _measure(links, by)
    bars, step = _timeline(links, beside)
    return Activity(
        node_id=str(graph.node_ids[node]),
        word=links.meaning.word,
        words=links.meaning.words,
        unit=links.meaning.unit,
        columns=links.columns,
        sort=column,
        descending=down,
        offset=offset,
        rows=_rows(links, page),
        found=int(keep.sum()),
        of=len(links),
        totals=_totals(links, keep),
        by=measure,
        counterparties=_main(links, keep, measure),
        kinds=links.kinds(),
        timeline=bars,
        step=step,
    )


def link_table(graph: Graph, node: int, where: LinkFilter | None = None) -> pd.DataFrame:
    """All links of a node that pass a filter, oldest first, with the columns of their file.

    No cell is taken for a formula by a spreadsheet.
    """
    where, links = where or LinkFilter(), NodeLinks(graph, node)
    found = links.ordered(
        np.flatnonzero(links.passing(where) & links.in_period(where)), _usual_order(links), False
    )
    rows, meaning = links.rows[found], links.meaning
    table: dict[str, Any] = {}
    for end, nodes in (("source", links.links.source[rows]), ("target", links.links.target[rows])):
        table[end] = [str(i) for i in graph.node_ids[nodes]]
        table[f"{end} name"] = graph.display_names(nodes.astype(np.int64))
    if links.time is not None:
        table[meaning.time or "time"] = [
            periods.moment(t, meaning.precision) for t in links.time[found].tolist()
        ]
    if links.amount is not None:
        table[meaning.amount or "amount"] = links.amount[found]
    if links.kind is not None:
        table[meaning.kind or "kind"] = links.links.kind_names(rows)
    for name in links.links.other.column_names:
        table[name] = links.links.other[name].take(rows).to_pylist()
    return pd.DataFrame(table).map(neutral).rename(columns=neutral)


def _usual_order(links: NodeLinks) -> str:
    return next(key for key in ("time", "amount", "counterparty") if key in {c.key for c in links.columns})


def _measure(links: NodeLinks, by: str | None) -> str:
    """What to go by: amounts where they can be added up, that is where none is below 0."""
    if by not in (None, AMOUNT, COUNT):
        raise InputError(f"bars by {by!r}", f"{AMOUNT} or {COUNT}")
    if links.amount is None or by == COUNT:
        return COUNT
    return AMOUNT if by == AMOUNT or not np.any(links.amount < 0) else COUNT


# ---- rows -----------------------------------------------------------------------------------------------


def _rows(links: NodeLinks, page: Rows) -> list[LinkRow]:
    graph, rows = links.graph, links.rows[page]
    names = graph.display_names(links.other[page])
    times = repeat(np.nan) if links.time is None else links.time[page].tolist()
    amounts = repeat(np.nan) if links.amount is None else links.amount[page].tolist()
    cells = zip(*(_texts(links, name, rows) for name in links.links.other.column_names))
    others: Iterable[list[str]] = [list(each) for each in cells] or repeat([])
    return [
        LinkRow(
            DIRECTIONS[way],
            str(node_id),
            name,
            periods.moment(time, links.meaning.precision),
            known(amount),
            kind,
            other,
        )
        for way, node_id, name, time, amount, kind, other in zip(
            links.direction[page],
            graph.node_ids[links.other[page]],
            names,
            times,
            amounts,
            links.links.kind_names(rows),
            others,
        )
    ]


def _texts(links: NodeLinks, column: str, rows: Rows) -> list[str]:
    return ["" if cell is None else str(cell) for cell in links.links.other[column].take(rows).to_pylist()]


def known(value: float) -> float | None:
    """A number, or None where it is unknown."""
    return None if np.isnan(value) else float(value)


# ---- sums -----------------------------------------------------------------------------------------------


class _Sums:
    """Links and amounts of groups of links, in and out: of bars, of counterparties."""

    def __init__(self, links: NodeLinks, group: Rows, keep: Mask, groups: int) -> None:
        self.group, self.groups, self.amount = group, groups, links.amount
        self.ways = [keep & (links.direction == way) for way in (IN, OUT)]
        self.counts = [np.bincount(group[way], minlength=groups) for way in self.ways]
        self.amounts = [] if links.amount is None else [self._added(links.amount, way) for way in self.ways]

    def of(self, at: int) -> tuple[int, int, float | None, float | None]:
        """Links in, links out, amount in, amount out of one group."""
        amount_in, amount_out = (float(each[at]) for each in self.amounts) if self.amounts else (None, None)
        return int(self.counts[0][at]), int(self.counts[1][at]), amount_in, amount_out

    def turnover(self) -> Numbers:
        """Amounts of each group whatever their sign, both ways; the number of links without amounts."""
        if self.amount is None:
            return (self.counts[0] + self.counts[1]).astype(np.float64)
        size = np.abs(self.amount)
        return self._added(size, self.ways[0]) + self._added(size, self.ways[1])

    def _added(self, values: Numbers, way: Mask) -> Numbers:
        added = np.bincount(self.group[way], np.nan_to_num(values[way]), minlength=self.groups)
        return added.astype(np.float64)


def _totals(links: NodeLinks, keep: Mask) -> LinkTotals:
    whole = _Sums(links, np.zeros(len(links), np.int64), keep, 1)
    links_in, links_out, amount_in, amount_out = whole.of(0)
    others = len(np.unique(links.other[keep & (links.direction != SELF)]))
    found = int(keep.sum())
    said = [
        way_text(links_in, amount_in, "in", links.meaning),
        way_text(links_out, amount_out, "out", links.meaning),
        f"{count_text(found, links.meaning)} with {others:,} counterpart{'y' if others == 1 else 'ies'}",
    ]
    if links.amount is not None and (blank := int(np.isnan(links.amount[keep]).sum())):
        said.append(f"{blank:,} without an amount")
    return LinkTotals(found, links_in, links_out, amount_in, amount_out, others, ", ".join(said))


def way_text(links: int, amount: float | None, way: str, meaning: LinkMeaning) -> str:
    """What runs one way, as its amount where there are amounts: "3,410 EUR in", "3 out"."""
    return f"{links:,} {way}" if amount is None else f"{amount_text(amount, meaning)} {way}"


def _main(links: NodeLinks, keep: Mask, by: str) -> list[Counterparty]:
    """The counterparties with the largest amounts, or with the most links."""
    nodes, place = links.partners
    sums = _Sums(links, place, keep, len(nodes))
    number = sums.counts[0] + sums.counts[1]
    size = number if by == COUNT else sums.turnover()
    chosen = [at for at in np.lexsort((nodes, -number, -size))[:MAIN].tolist() if number[at]]
    return [_counterparty(links, sums, at, int(nodes[at])) for at in chosen]


def _counterparty(links: NodeLinks, sums: _Sums, at: int, node: int) -> Counterparty:
    links_in, links_out, amount_in, amount_out = sums.of(at)
    ways = [(links_in, amount_in, "in"), (links_out, amount_out, "out")]
    said = [way_text(n, amount, way, links.meaning) for n, amount, way in ways if n]
    if amount_in is not None:
        said.append(count_text(links_in + links_out, links.meaning))
    name = links.graph.display_name(node)
    return Counterparty(
        str(links.graph.node_ids[node]), name, links_in, links_out, amount_in, amount_out, ", ".join(said)
    )


def _timeline(links: NodeLinks, keep: Mask) -> tuple[list[TimelineBar], str]:
    """Bars from the first to the last link of the node, whatever the filter; and what one bar is."""
    if links.time is None or not np.any(dated := np.isfinite(links.time)):
        return [], ""
    times = links.time[dated]
    ruler = periods.ruler(times.min(), times.max(), links.meaning.precision)
    place = np.zeros(len(links), np.int64)
    place[dated] = ruler.place(times)
    first, last = int(place[dated].min()), int(place[dated].max())
    sums = _Sums(links, place - first, keep & dated, last - first + 1)
    bars = []
    for bar in range(first, last + 1):
        since, until = ruler.ends(bar)
        bars.append(TimelineBar(since, until, ruler.words(bar, links.meaning), *sums.of(bar - first)))
    return bars, ruler.word
