"""Versions of a graph, and what one changes of the one before."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

_NAMED = 5  # ids that a line names


@dataclass(frozen=True)
class VersionInfo:
    """A version of a project's graph."""

    number: int  # 1 is the import
    parent: int | None  # the version that it was made of
    created_at: datetime
    by: str
    way: str  # import, append, replace
    as_of: str  # the day that the data stand for; "" unknown
    fingerprint: str
    n_nodes: int
    n_edges: int
    n_features: int
    has_truth: bool
    given: dict[str, Any]  # files and mapping
    changes: dict[str, Any]  # as in Changes
    present: bool = False  # the one that is worked on

    @property
    def summary(self) -> str:
        """What it changed, in a line."""
        return Changes(**self.changes).summary if self.changes else "as it was imported"


@dataclass(frozen=True)
class Changes:
    """What an update changes: counts, the first ids of each kind, and columns."""

    word: str = "link"  # what a link is called
    nodes_added: int = 0
    nodes_changed: int = 0  # cells of their own columns; links are counted apart
    nodes_gone: int = 0
    links_added: int = 0
    links_gone: int = 0
    links_repeated: int = 0  # added ones that are equal to one that was there
    labelled_gone: list[str] = field(default_factory=list)
    columns_new: list[str] = field(default_factory=list)
    columns_missing: list[str] = field(default_factory=list)
    columns_otherwise: list[str] = field(default_factory=list)  # "age: number → category"
    left_out: int = 0  # rows of the files that could not be used
    added: list[str] = field(default_factory=list)  # the first few ids
    changed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def nothing(self) -> bool:
        """Whether all is as it was."""
        counts = (self.nodes_added, self.nodes_changed, self.nodes_gone, self.links_added, self.links_gone)
        return not any(counts) and not (self.columns_new or self.columns_missing or self.columns_otherwise)

    @property
    def stops(self) -> list[str]:
        """What would be lost; it is stored only if somebody insists."""
        found = []
        if self.nodes_gone:
            found.append(
                f"{_counted(self.nodes_gone, 'node')} would be gone ({_some(self.gone, self.nodes_gone)})"
            )
        if self.labelled_gone:
            some = _some(self.labelled_gone, len(self.labelled_gone))
            found.append(f"{_counted(len(self.labelled_gone), 'labelled node')} would be gone ({some})")
        if self.links_gone:
            found.append(f"{_counted(self.links_gone, self.word)} would be gone")
        if self.columns_missing:
            found.append(f"columns would be gone: {', '.join(self.columns_missing)}")
        if self.columns_otherwise:
            found.append(f"columns would change in kind: {', '.join(self.columns_otherwise)}")
        if self.links_added and self.links_repeated == self.links_added:
            found.append(
                f"all {_counted(self.links_added, self.word)} are there already: is it the same file?"
            )
        return found

    @property
    def summary(self) -> str:
        """One line."""
        told = (
            (self.nodes_added, "node", "new"),
            (self.nodes_changed, "node", "changed"),
            (self.nodes_gone, "node", "gone"),
            (self.links_added, self.word, "new"),
            (self.links_gone, self.word, "gone"),
            (self.left_out, "row", "left out"),
        )
        return ", ".join(f"{_counted(n, word)} {how}" for n, word, how in told if n) or "nothing changes"

    def lines(self) -> list[str]:
        """All of it, line by line."""
        counts = (
            ("added", self.nodes_added, self.added),
            ("changed", self.nodes_changed, self.changed),
            ("gone", self.nodes_gone, self.gone),
        )
        found = [f"nodes {how}: {n:,} ({_some(ids, n)})" for how, n, ids in counts if n]
        found += [f"{self.word}s added: {self.links_added:,}"] * bool(self.links_added)
        found += [f"  of them equal to one that is there: {self.links_repeated:,}"] * bool(
            self.links_repeated
        )
        found += [f"{self.word}s gone: {self.links_gone:,}"] * bool(self.links_gone)
        found += [f"rows left out: {self.left_out:,}"] * bool(self.left_out)
        columns = (
            ("new columns", self.columns_new),
            ("missing columns", self.columns_missing),
            ("columns of another kind", self.columns_otherwise),
            ("labelled nodes that are gone", self.labelled_gone),
        )
        found += [f"{title}: {_some(names, len(names))}" for title, names in columns if names]
        return found or ["nothing changes"]


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word}{'s' * (n != 1)}"


def _some(names: list[str], n: int) -> str:
    shown = ", ".join(names[:_NAMED])
    return f"{shown} …" if n > _NAMED else shown


@dataclass(frozen=True)
class WatchedNode:
    """A node on an analyst's watchlist."""

    node_id: str
    name: str
    at: datetime  # when it was put there
    rank_before: int | None  # then, or when its rise was last seen; None without a run
    rank: int | None  # now; None without a run, or where the node is gone

    @property
    def risen(self) -> bool:
        return self.rank is not None and self.rank_before is not None and self.rank < self.rank_before

    @property
    def told(self) -> str:
        """Its ranks in words."""
        if self.rank is None:
            return "not ranked"
        before = (
            "" if self.rank_before is None or self.rank_before == self.rank else f"{self.rank_before:,} → "
        )
        return f"rank {before}{self.rank:,}"
