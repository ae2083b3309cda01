"""The links of one node as columns: found by a filter, put in an order.

No more is read than the rows of that node.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gadcore.errors import InputError
from gadcore.graph import Graph
from gadcore.graph.links import Codes, Links, Numbers, Rows
from gadcore.insight import periods
from gadcore.records.links import LinkColumn, LinkFilter

IN, OUT, SELF = 0, 1, 2
DIRECTIONS = ("in", "out", "self")
OTHER = "other:"  # before the name of a column without a role, where it is a key to sort by

Mask = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.float64]


def links_of(graph: Graph) -> Links:
    """The links of a graph; InputError where it has none."""
    if graph.links is None:
        raise InputError(
            f"{graph.name!r} says no more than who is linked with whom",
            "edges with a time, an amount, a kind or other columns",
        )
    return graph.links


class NodeLinks:
    """Columns of the links of a node; position i is the same link in all of them."""

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph, self.node, self.links = graph, node, links_of(graph)
        self.meaning = self.links.meaning
        self.rows: Rows = self.links.of(node)
        source, target = self.links.source[self.rows], self.links.target[self.rows]
        sends = source == node
        self.other: Rows = np.where(sends, target, source).astype(np.int64)
        self.direction = np.where(self.other == node, SELF, np.where(sends, OUT, IN)).astype(np.int8)
        self.time = self._column(self.links.time)
        self.amount = self._column(self.links.amount)
        self.kind = None if self.links.kind is None else self.links.kind[self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def _column(self, values: Numbers | None) -> Numbers | None:
        return None if values is None else values[self.rows]

    @cached_property
    def partners(self) -> tuple[Rows, Rows]:
        """The nodes at the other ends, each once, and the place of every link's one among them."""
        nodes, place = np.unique(self.other, return_inverse=True)
        return nodes, place

    @cached_property
    def columns(self) -> list[LinkColumn]:
        """What there is to show of the links, in the order of the table."""
        meaning = self.meaning
        told = [
            ("time", self.time is not None, meaning.time),
            ("direction", True, None),
            ("counterparty", True, None),
            ("amount", self.amount is not None, meaning.amount),
            ("kind", self.kind is not None, meaning.kind),
        ]
        named = [LinkColumn(key, title or key) for key, there, title in told if there]
        return [*named, *(LinkColumn(OTHER + name, name) for name in self.links.other.column_names)]

    def kinds(self) -> list[str]:
        """Kinds of all links, the most frequent first; "" stands for unknown."""
        if self.kind is None:
            return []
        codes, counts = np.unique(self.kind, return_counts=True)
        return [self._kind_name(code) for code in codes[np.argsort(-counts, kind="stable")]]

    def _kind_name(self, code: int) -> str:
        return self.meaning.kinds[code] if code >= 0 else ""

    # ---- filter ---------------------------------------------------------------------------------------

    def passing(self, where: LinkFilter) -> Mask:
        """Links that pass all of a filter but its period."""
        keep = np.ones(len(self), dtype=bool)
        if where.direction is not None:
            keep &= self.direction == _direction(where.direction)
        if where.counterparty:
            keep &= self._with(where.counterparty)
        if where.kind is not None:
            keep &= self._of_kind(where.kind)
        return keep & self._within(self.amount, where.least, where.most, "amounts")

    def in_period(self, where: LinkFilter) -> Mask:
        """Links of the period of a filter."""
        precision = self.meaning.precision
        since = periods.begin(where.since, precision) if where.since else None
        until = periods.end(where.until, precision) if where.until else None
        last = None if until is None else float(np.nextafter(until, -np.inf))
        return self._within(self.time, since, last, "times")

    def _within(self, values: Numbers | None, least: float | None, most: float | None, what: str) -> Mask:
        keep = np.ones(len(self), dtype=bool)
        if least is None and most is None:
            return keep
        if values is None:
            raise InputError(f"the {self.meaning.words} have no {what}", fix="leave this condition out")
        if least is not None:
            keep &= values >= least
        return keep if most is None else keep & (values <= most)

    def _with(self, text: str) -> Mask:
        """Links with the counterparty of this id; if none has it, with all whose id or name contains it."""
        nodes, place = self.partners
        if text in self.graph and (exact := self.other == self.graph.index_of(text)).any():
            return np.asarray(exact)
        wanted = text.casefold()
        names, ids = self.graph.display_names(nodes), self.graph.node_ids[nodes]
        fits = [wanted in name.casefold() or wanted in str(i).casefold() for name, i in zip(names, ids)]
        return np.array(fits, dtype=bool)[place] if fits else np.zeros(0, dtype=bool)

    def _of_kind(self, name: str) -> Mask:
        if self.kind is None:
            raise InputError(f"the {self.meaning.words} have no kinds", fix="leave this condition out")
        if name == "":
            return np.asarray(self.kind < 0)
        code = self.meaning.kinds.index(name) if name in self.meaning.kinds else len(self.meaning.kinds)
        return np.asarray(self.kind == code)

    # ---- order ----------------------------------------------------------------------------------------

    def ordered(self, found: Rows, column: str, descending: bool) -> Rows:
        """Positions by a column, unknown values last; equal ones with the newest first."""
        if self.time is not None:
            found = found[np.argsort(-self.time[found], kind="stable")]
        keys = self._keys(column, found)
        order = np.argsort(-keys if descending else keys, kind="stable")  # nan comes last either way
        return found[order]

    def _keys(self, column: str, found: Rows) -> Keys:
        """Numbers in the order of a column's values; nan where unknown."""
        if column == "direction":
            return self.direction[found].astype(np.float64)
        if column == "counterparty":
            return self._name_keys(found)
        if column == "time" and self.time is not None:
            return self.time[found]
        if column == "amount" and self.amount is not None:
            return self.amount[found]
        if column == "kind" and self.kind is not None:
            return self._kind_keys(self.kind[found])
        if column.removeprefix(OTHER) in self.links.other.column_names:
            return _cell_keys(self.links.other[column.removeprefix(OTHER)].take(self.rows[found]))
        keys = ", ".join(each.key for each in self.columns)
        raise InputError(f"a column {column!r} to sort by", f"one of {keys}")

    def _name_keys(self, found: Rows) -> Keys:
        nodes, place = self.partners
        names = [name.casefold() for name in self.graph.display_names(nodes)]
        return _ranks(pa.array(names, pa.string()))[place[found]]

    def _kind_keys(self, kinds: Codes) -> Keys:
        codes, place = np.unique(kinds, return_inverse=True)
        names = [self._kind_name(code).casefold() or None for code in codes]
        return _ranks(pa.array(names, pa.string()))[place.astype(np.int64)]


def _direction(word: str) -> int:
    if word not in DIRECTIONS:
        raise InputError(f"a direction {word!r}", "in or out")
    return DIRECTIONS.index(word)


def _cell_keys(cells: pa.ChunkedArray) -> Keys:
    """Keys of cells: as numbers where all are numbers, otherwise as text."""
    if pa.types.is_string(cells.type):
        cells = pc.if_else(pc.equal(cells, ""), None, cells)
        try:
            cells = pc.cast(cells, pa.float64())
        except pa.ArrowInvalid:
            return _ranks(pc.utf8_lower(cells).combine_chunks())
    return np.asarray(pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _ranks(texts: pa.Array) -> Keys:
    """Place of each text in the alphabet; nan for none."""
    ranks = np.asarray(pc.rank(texts, tiebreaker="dense")).astype(np.float64)
    ranks[np.asarray(texts.is_null())] = np.nan
    return ranks
