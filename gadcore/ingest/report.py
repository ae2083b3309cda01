"""The preflight report: what was read and what was changed, before anything is stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from gadcore.ingest.graph_parts import Dropped, TruthArray, counted

_LISTED_ROWS = 10
_LISTED_COLUMNS = 40


@dataclass(frozen=True)
class ColumnReport:
    """One raw column: kind, holes, an example and how many features it gives."""

    name: str
    kind: str
    missing: int
    example: str
    features: int


@dataclass(frozen=True)
class Report:
    """Counts, types, dropped rows, degree and component summary of a graph that was read."""

    source: str
    format: str
    n_nodes: int
    n_edges: int
    n_features: int = 0
    columns: list[ColumnReport] = field(default_factory=list)
    links: list[str] = field(default_factory=list)  # what is said of the links, line by line
    notes: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    degree: dict[str, float] = field(default_factory=dict)
    components: dict[str, float] = field(default_factory=dict)
    truth_counts: dict[str, int] | None = None

    def text(self) -> str:
        """The report for a terminal or a text box."""
        lines = [
            f"{self.source} ({self.format})",
            f"  {counted(self.n_nodes, 'node')}, {counted(self.n_edges, 'edge')}, "
            f"{counted(self.n_features, 'feature')}",
            f"  degree: median {self.degree['median']:g}, mean {self.degree['mean']:.2f}, "
            f"max {self.degree['max']:g}; {counted(int(self.degree['isolated']), 'node')} without an edge",
            f"  components: {int(self.components['count']):,}; "
            f"the largest has {self.components['largest_share']:.1%} of the nodes",
        ]
        lines += _listed("links", self.links, len(self.links)) + self._column_lines()
        lines += [f"  · {note}" for note in self.notes] + self._dropped_lines()
        if self.truth_counts is not None:
            words = ", ".join(f"{n:,} {word}" for word, n in self.truth_counts.items())
            lines.append(f"  truth (kept apart, for experiments only): {words}")
        return "\n".join(lines)

    def _column_lines(self) -> list[str]:
        width = min(28, max((len(c.name) for c in self.columns), default=0))
        lines = []
        for c in self.columns:
            missing = f", {c.missing:,} missing" if c.missing else ""
            example = f", e.g. {c.example}" if c.example else ""
            lines.append(f"{c.name:<{width}}  {c.kind} → {counted(c.features, 'feature')}{missing}{example}")
        return _listed("columns", lines, _LISTED_COLUMNS)

    def _dropped_lines(self) -> list[str]:
        lines = [f"{d.file}:{d.line}  {d.reason}" for d in self.dropped]
        return _listed("rows left out", lines, _LISTED_ROWS)


def _listed(title: str, lines: list[str], limit: int) -> list[str]:
    more = [f"… and {len(lines) - limit:,} more"] if len(lines) > limit else []
    return [f"  {title}:", *(f"    {line}" for line in lines[:limit] + more)] if lines else []


def degree_summary(adjacency: Any) -> dict[str, float]:
    """Number of neighbours: min, median, mean, max, and how many nodes have none."""
    neighbours = np.diff(adjacency.indptr)
    known = neighbours if len(neighbours) else np.zeros(1)
    values = (known.min(), np.median(known), known.mean(), known.max())
    summary = {word: float(v) for word, v in zip(("min", "median", "mean", "max"), values)}
    return {**summary, "isolated": int((neighbours == 0).sum())}


def component_summary(adjacency: Any) -> dict[str, float]:
    """Number of connected components and the size of the largest."""
    count, member = connected_components(adjacency, directed=False)
    largest = int(np.bincount(member).max()) if len(member) else 0
    return {"count": int(count), "largest": largest, "largest_share": largest / max(len(member), 1)}


def truth_summary(y: TruthArray | None) -> dict[str, int] | None:
    if y is None:
        return None
    return {word: int((y == v).sum()) for word, v in (("anomalous", 1), ("normal", 0), ("unknown", -1))}
