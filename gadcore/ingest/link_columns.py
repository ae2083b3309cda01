"""What the columns of edge tables say of their links: time, amount, kind, and all others to look at."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from gadcore.graph import IntArray, LinkMeaning, Links
from gadcore.graph.links import DATES, Numbers
from gadcore.ingest.cells import Cells, as_cells, coded, without_missing
from gadcore.ingest.column_kinds import unread_note
from gadcore.ingest.graph_parts import Table, counted, shown, stacked
from gadcore.ingest.link_roles import is_direction
from gadcore.ingest.link_times import LinkTimes, link_times, with_clock
from gadcore.ingest.mapping import Mapping
from gadcore.ingest.names import CURRENCY_WORDS, named_like, normal, words_of
from gadcore.ingest.numbers import CURRENCIES, SYMBOLS, NumberColumn, numbers_of

ROLES = ("time", "amount", "kind")
TOLD_APART = 8  # kinds that have columns of their own; the rest is taken together
_WORDS = ("transfer", "transaction", "payment", "call", "rating", "flow", "message", "order", "trade")
_IDS = ("id", "~id", "edgeid", "linkid", "key", "index", "")
_UNITS = {
    "s": "s", "sec": "s", "secs": "s", "seconds": "s", "sekunden": "s", "ms": "ms", "min": "min",
    "minutes": "min", "hours": "h", "bytes": "bytes", "kb": "kB", "mb": "MB", "gb": "GB",
    "percent": "%", "pct": "%",
}  # fmt: skip


@dataclass(frozen=True)
class LinkTable:
    """The rows of one edge table that are links of the graph, with what their columns say."""

    table: Table
    mapping: Mapping  # as resolved for this table
    kept: IntArray  # rows of the table whose ends are nodes
    source: IntArray  # rows of the graph
    target: IntArray
    hidden: Sequence[str] = ()  # columns that are not read: ignored, or known answers

    def role(self, part: str) -> str | None:
        return getattr(self.mapping, part) or None

    def column(self, name: str | None) -> pd.Series:
        """A column of the kept rows; empty where the table has none of this name."""
        if name is None or name not in self.table.frame.columns:
            return pd.Series([None] * len(self.kept), dtype="str")
        series = self.table.frame[name]
        return series if len(self.kept) == len(series) else series.iloc[self.kept]

    @property
    def others(self) -> list[str]:
        """Columns that play no part of an end or a role."""
        m = self.mapping
        taken = {m.source, m.target, m.time, m.amount, m.kind, *self.hidden}
        return [c for c in self.table.columns if c not in taken]


@dataclass
class LinkReading:
    """Links that were read, the amounts in the order of the file, and how the columns were read."""

    links: Links
    amount: Numbers | None
    how: dict[str, Any]  # for links that arrive later
    columns: list[str] = field(default_factory=list)  # for the report: what each column is


class _Columns:
    """The columns of all edge tables together."""

    def __init__(self, found: Sequence[LinkTable]) -> None:
        self.found = found
        self.source, self.target = (stacked([getattr(t, end) for t in found]) for end in ("source", "target"))
        self.starts = np.cumsum([0, *(len(t.kept) for t in found)])

    def name(self, part: str) -> str | None:
        return next((t.role(part) for t in self.found if t.role(part)), None)

    def role(self, part: str) -> pd.Series:
        return _together([t.column(t.role(part)) for t in self.found])

    def other(self, name: str) -> pd.Series:
        return _together([t.column(name) for t in self.found])

    @property
    def others(self) -> list[str]:
        return list(dict.fromkeys(c for t in self.found for c in t.others))

    def release(self) -> None:
        """Give memory back that looking at the cells has taken."""
        for t in self.found:
            t.table.release()

    def place(self, row: int) -> str:
        """Where a row was written."""
        k = int(np.searchsorted(self.starts, row, side="right")) - 1
        t = self.found[k]
        return t.table.place(int(t.kept[row - self.starts[k]]))


def _together(parts: list[pd.Series]) -> pd.Series:
    return parts[0].reset_index(drop=True) if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def link_rows(
    found: Sequence[LinkTable], n_nodes: int, notes: list[str], how: dict[str, Any] | None = None
) -> LinkReading | None:
    """The links of all tables together; None where they say no more than who is linked with whom.

    ``how`` is how the links of the graph were read that these add to: they are links in any case.
    """
    columns = _Columns(found)
    others = {name: as_cells(columns.other(name)) for name in columns.others}
    empty = [name for name, cells in others.items() if cells.null_count == len(cells)]
    others = {name: cells for name, cells in others.items() if name not in empty}
    if how is None and not _telling(columns, others, n_nodes):
        silent = [c for c in columns.others if c != found[0].mapping.weight]
        notes += [f"{shown(silent)}: no more is said of the edges there, and it is not kept."] * bool(silent)
        return None
    if empty:
        notes.append(f"Columns of links without any value: {shown(empty)}.")
    return _Reader(columns, others, how or {}, notes).reading(n_nodes)


def _telling(columns: _Columns, others: dict[str, Cells], n_nodes: int) -> bool:
    """Whether the tables say more than who is linked with whom, and how strongly."""
    first = columns.found[0].mapping
    if any(columns.name(part) for part in ROLES) or first.repeats is not None:
        return True
    spoken = [c for c, cells in others.items() if c != first.weight and not _silent(c, cells)]
    return bool(spoken) or repeats(columns.source, columns.target, n_nodes)


def _silent(name: str, cells: Cells) -> bool:
    """Whether a column is a number of the edge or says that edges are directed or not."""
    if normal(name) in _IDS:
        return len(cells.unique()) == len(cells)
    return normal(name) == "type" and is_direction(cells.drop_null())


def merge_rule(mapping: Mapping, source: IntArray, target: IntArray, n_nodes: int) -> str:
    """How the weights of a pair become one: as the mapping says, else counted where links repeat."""
    if mapping.repeats is not None:
        return mapping.repeats
    return "count" if mapping.weight is None and repeats(source, target, n_nodes) else "largest"


def repeats(source: IntArray, target: IntArray, n_nodes: int) -> bool:
    """Whether a pair is linked more than once in the same direction."""
    keys = np.sort(source.astype(np.int64) * n_nodes + target)
    return bool((keys[1:] == keys[:-1]).any())


class _Reader:
    """Reads the parts one by one; what parsing loses stays a column to look at."""

    def __init__(
        self, columns: _Columns, others: dict[str, Cells], how: dict[str, Any], notes: list[str]
    ) -> None:
        self.columns, self.others, self.how, self.notes = columns, others, how, notes
        self.told: list[str] = []
        self.kept: dict[str, Any] = {}

    def reading(self, n_nodes: int) -> LinkReading:
        columns = self.columns
        times = self._times()
        columns.release()
        amount, unit = self._amounts()
        columns.release()
        kind, kinds = self._kinds()
        columns.release()
        meaning = LinkMeaning(
            word=_word([t.table.file for t in columns.found]),
            time=columns.name("time") if times.values is not None else None,
            amount=columns.name("amount") if amount is not None else None,
            kind=columns.name("kind") if kind is not None else None,
            unit=unit,
            precision=times.precision,
            zone=times.zone,
            kinds=kinds,
        )
        if self.others:
            self.told.append(f"to look at: {shown(list(self.others))}")
        other = pa.table(self.others) if self.others else None
        links = Links.make(
            n_nodes, columns.source, columns.target, time=times.values, amount=amount, kind=kind, other=other,
            meaning=meaning,
        )  # fmt: skip
        return LinkReading(links, amount, self.kept, self.told)

    def _times(self) -> LinkTimes:
        name = self.columns.name("time")
        if name is None:
            return LinkTimes(None)
        series = self.columns.role("time")
        times = link_times(series, name, self.columns.place, self.how.get("time"))
        if times.precision == DATES:
            self._add_clock(times, name)
        if times.values is None or not times.whole:
            self.others = {name: as_cells(series), **self.others}
        if times.values is not None:
            self.told.append(f"time: {name!r} ({times.told})")
            self.kept["time"] = times.how
            if bool((np.diff(times.values) < 0).any()):
                self.notes.append(
                    f"Rows are not in the order of {name!r}: the links of each pair are sorted by it."
                )
        self.notes += times.notes
        return times

    def _add_clock(self, times: LinkTimes, name: str) -> None:
        """A column of its own may say the time of day."""
        for other, _ in named_like("time", list(self.others)):
            if with_clock(times, pd.Series(self.others[other].to_pandas()), other, name):
                return

    def _amounts(self) -> tuple[Numbers | None, str]:
        name = self.columns.name("amount")
        if name is None:
            return None, ""
        series = self.columns.role("amount")
        found = numbers_of(series, self.how.get("amount", {}).get("decimal"))
        unread = np.union1d(found.unread, np.flatnonzero(np.isinf(found.values)))
        values = np.where(np.isinf(found.values), np.nan, found.values)
        cells = as_cells(series) if len(unread) or found.currency is not None else None
        if cells is not None:
            self.others = {name: cells, **self.others}
        if np.isnan(values).all():
            self.notes.append(f"Column {name!r}: none of its values can be read as an amount.")
            return None, ""
        self._amount_notes(name, cells, found, unread)
        unit = self._unit(name, found)
        words = found.written if found.unit or not unit else ", ".join(filter(None, (found.written, unit)))
        self.told.append(f"amount: {name!r}" + (f" ({words})" if words else ""))
        self.kept["amount"] = {"decimal": found.decimal}
        return values, unit

    def _amount_notes(self, name: str, cells: Cells, found: NumberColumn, unread: IntArray) -> None:
        if found.doubt:
            self.notes.append(f"Column {name!r}: {found.doubt}")
        if len(unread):
            self.notes.append(unread_note(cells, unread, name, "amounts", self.columns.place))
        if found.currency is not None:
            self.others[f"{name} (currency)"] = found.currency

    def _unit(self, name: str, found: NumberColumn) -> str:
        """Unit of the amounts: by their cells, their name, or a column of currencies."""
        if found.unit or found.currency is not None:
            return found.unit
        words = words_of(name)
        signs = (SYMBOLS.get(sign, "") for sign in name)
        codes = (w.upper() for w in words if w.upper() in CURRENCIES)
        measure = _UNITS.get((words or [""])[-1], "%" if "%" in name else "")
        return next(filter(None, (*signs, *codes, measure)), "") or self._unit_by_column(name)

    def _unit_by_column(self, name: str) -> str:
        column = next((c for c in self.others if CURRENCY_WORDS & set(words_of(c))), None)
        if column is None:
            return ""
        values = without_missing(self.others[column]).unique().drop_null().to_pylist()
        if len(values) > 1:
            self.notes.append(
                f"Column {name!r}: {len(values)} currencies (column {column!r}: {shown(sorted(values), 4)}); "
                "numbers are kept as written."
            )
        return str(values[0]) if len(values) == 1 else ""

    def _kinds(self) -> tuple[npt.NDArray[np.int64] | None, tuple[str, ...]]:
        name = self.columns.name("kind")
        if name is None:
            return None, ()
        codes, names = _kind_codes(as_cells(self.columns.role("kind")))
        if not (codes >= 0).any():
            self.notes.append(f"Column {name!r}: no row says its kind.")
            return None, ()
        ranked, kinds = by_frequency(codes, names)
        self.told.append(f"kind: {name!r} ({counted(len(kinds), 'kind')})")
        if len(kinds) > TOLD_APART:
            self.notes.append(
                f"Column {name!r} has {len(kinds):,} kinds: all are kept; derived columns and models tell "
                f"the {TOLD_APART} most frequent apart and take the others together."
            )
        return ranked, kinds


def _kind_codes(cells: Cells) -> tuple[IntArray, list[str]]:
    """Place of each cell among the kinds, -1 where it says none; and the kinds."""
    written, words = coded(cells)
    place, names = coded(without_missing(pa.array(words, pa.large_string())))
    return np.append(place, -1)[written], names


def by_frequency(codes: IntArray, names: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Codes and names of kinds with the most frequent first; -1 stays unknown."""
    order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")
    place = np.append(np.argsort(order), -1)
    return place[codes], tuple(str(names[i]) for i in order)


def _word(files: Sequence[str]) -> str:
    """What a link is called, by the name of its file."""
    return next((w for w in _WORDS for file in files if re.search(w, file, re.IGNORECASE)), "link")
