"""Links: the rows of an edge table, kept as they were read. Who → whom, when, how much, of which kind.

Rows are in the order of (source, target, time): what u sends, and what runs between u and v, are slices.
What u receives is found through ``by_target``, the rows in the order of (target, source, time). On disk every
column is one file that is memory-mapped: opening costs nothing, and looking at one node reads its rows alone.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gadcore.errors import InputError

DAY = 86_400.0  # seconds; one step of a time that is counted in steps
STEPS, DATES, CLOCK = "steps", "dates", "clock"  # what times say: numbers of steps, days, or also the hour

Rows = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float64]

_ARRAYS = ("source", "target", "time", "amount", "kind", "by_target", "out_start", "in_start")
_OTHER, _MEANING = "other.arrow", "meaning.json"


@dataclass(frozen=True)
class LinkMeaning:
    """What the columns of the links are, in the words of their file."""

    word: str = "link"  # what one row is: "transfer", "call", "rating"
    time: str | None = None  # column that gave the time; None: there is none
    amount: str | None = None
    kind: str | None = None
    unit: str = ""  # of the amounts: "EUR"; "" when unknown or mixed
    precision: str = ""  # of the times: STEPS, DATES or CLOCK; "" without times
    zone: str = ""  # of the times where the file names one for all, "UTC" where they were brought together
    kinds: tuple[str, ...] = ()  # by code, the most frequent first

    @property
    def words(self) -> str:
        """More than one row: "transfers"."""
        return self.word[:-1] + "ies" if self.word.endswith("y") else self.word + "s"


@dataclass(frozen=True)
class Links:
    """All links of a graph; arrays may be memory-mapped and are for reading only."""

    source: Codes  # (L,) rows of the graph
    target: Codes  # (L,)
    time: Numbers | None  # (L,) seconds since 1970, or DAY times the step; nan where unknown
    amount: Numbers | None  # (L,) nan where unknown
    kind: Codes | None  # (L,) place in ``meaning.kinds``; -1 where unknown
    other: pa.Table  # (L, …) all other columns, to look at
    by_target: Rows  # (L,) rows in the order of (target, source, time)
    out_start: Rows  # (N + 1,) rows of node u begin here
    in_start: Rows  # (N + 1,) the same in ``by_target``
    meaning: LinkMeaning = field(default_factory=LinkMeaning)

    @classmethod
    def make(
        cls,
        n_nodes: int,
        source: npt.NDArray[Any],
        target: npt.NDArray[Any],
        *,
        time: Numbers | None = None,
        amount: Numbers | None = None,
        kind: npt.NDArray[Any] | None = None,
        other: pa.Table | None = None,
        meaning: LinkMeaning | None = None,
    ) -> Links:
        """Sort rows that come in any order, and index them."""
        a, b = np.asarray(source, dtype=np.int32), np.asarray(target, dtype=np.int32)
        order = _order(a, b, time, n_nodes)
        a, b = a[order], b[order]
        if other is None:
            other = pa.table({})
        return cls(
            source=a,
            target=b,
            time=None if time is None else np.asarray(time, dtype=np.float64)[order],
            amount=None if amount is None else np.asarray(amount, dtype=np.float64)[order],
            kind=None if kind is None else np.asarray(kind, dtype=np.int32)[order],
            other=other.take(order) if other.num_columns else other,
            by_target=np.argsort(b, kind="stable").astype(np.int64),
            out_start=_starts(a, n_nodes),
            in_start=_starts(b, n_nodes),
            meaning=meaning or LinkMeaning(),
        )

    def __len__(self) -> int:
        return len(self.source)

    @property
    def n_nodes(self) -> int:
        return len(self.out_start) - 1

    def out_of(self, node: int) -> Rows:
        """Rows that a node sends, by target and time."""
        return np.arange(self.out_start[node], self.out_start[node + 1], dtype=np.int64)

    def into(self, node: int) -> Rows:
        """Rows that a node receives, by source and time."""
        return np.asarray(self.by_target[self.in_start[node] : self.in_start[node + 1]])

    def of(self, node: int) -> Rows:
        """All rows of a node, those it sends first; one to itself comes once."""
        received = self.into(node)
        return np.concatenate([self.out_of(node), received[self.source[received] != node]])

    def sent(self, node: int, other: int) -> Rows:
        """Rows from one node to another, by time."""
        a, b = int(self.out_start[node]), int(self.out_start[node + 1])
        first, last = np.searchsorted(self.target[a:b], [other, other + 1])
        return np.arange(a + first, a + last, dtype=np.int64)

    def spans(self, nodes: Rows, others: Rows) -> tuple[Rows, Rows]:
        """Where the rows from each node to the other one of its pair begin and end; all pairs at once."""
        return self._first_at_least(nodes, others), self._first_at_least(nodes, others + 1)

    def _first_at_least(self, nodes: Rows, others: Rows) -> Rows:
        """The first row of each node whose target is not below the other one: bisection side by side."""
        low, high = self.out_start[nodes], self.out_start[nodes + 1]
        while (unsure := low < high).any():
            middle = np.where(unsure, (low + high) // 2, 0)
            below = unsure & (self.target[middle] < others)
            low, high = np.where(below, middle + 1, low), np.where(unsure & ~below, middle, high)
        return low

    def between(self, node: int, other: int) -> Rows:
        """Rows between two nodes, those from the first to the second before the others."""
        back = self.sent(other, node) if node != other else np.zeros(0, np.int64)
        return np.concatenate([self.sent(node, other), back])

    def kind_names(self, rows: Rows) -> list[str]:
        """Kind of each row; "" where unknown or where there are no kinds."""
        if self.kind is None:
            return [""] * len(rows)
        names = (*self.meaning.kinds, "")  # -1 is the last one
        return [names[code] for code in self.kind[rows]]

    @cached_property
    def digest(self) -> str:
        """sha256 over ends, times, amounts and kinds: equal links, equal digest."""
        digest = hashlib.sha256()
        for array in (self.source, self.target, self.time, self.amount, self.kind):
            if array is not None:
                digest.update(np.ascontiguousarray(array).data)
        digest.update(json.dumps(asdict(self.meaning)).encode())
        return digest.hexdigest()

    def save(self, folder: Path) -> None:
        """Write every column as a file of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in _ARRAYS:
            array = getattr(self, name)
            if array is not None:
                np.save(folder / f"{name}.npy", array)
        with pa.OSFile(str(folder / _OTHER), "wb") as file, pa.ipc.new_file(file, self.other.schema) as out:
            out.write_table(self.other.combine_chunks())
        told = {**asdict(self.meaning), "digest": self.digest}
        (folder / _MEANING).write_text(json.dumps(told), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Links | None:
        """Links that ``save`` wrote, memory-mapped; None where there are none."""
        if not folder.is_dir():
            return None
        try:
            told = json.loads((folder / _MEANING).read_text(encoding="utf-8"))
            arrays = {name: _mapped(folder / f"{name}.npy") for name in _ARRAYS}
            other = pa.ipc.open_file(pa.memory_map(str(folder / _OTHER))).read_all()
        except (OSError, ValueError, pa.ArrowInvalid) as error:
            raise InputError(
                f"the stored links in {folder} cannot be read ({error})", fix="import the graph again"
            ) from error
        digest = told.pop("digest")
        links = cls(**arrays, other=other, meaning=LinkMeaning(**{**told, "kinds": tuple(told["kinds"])}))
        links.__dict__["digest"] = digest
        return links


def _order(source: Codes, target: Codes, time: Numbers | None, n: int) -> Rows:
    """Rows in the order of (source, target, time); two sorts of one key each beat one of three."""
    pairs = source.astype(np.int64) * n + target
    if time is None or bool((time[1:] >= time[:-1]).all()):
        return np.argsort(pairs, kind="stable")
    by_time = np.argsort(time, kind="stable")
    return by_time[np.argsort(pairs[by_time], kind="stable")]


def _starts(nodes: Codes, n: int) -> Rows:
    """(n + 1,) where the rows of each node begin when rows are in the order of ``nodes``."""
    counts = np.bincount(nodes, minlength=n) if len(nodes) else np.zeros(n, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _mapped(path: Path) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False) if path.exists() else None
