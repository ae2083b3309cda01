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
        lines += self._column_lines() + [f"  · {note}" for note in self.notes] + self._dropped_lines()
        if self.truth_counts is not None:
            words = ", ".join(f"{n:,} {word}" for word, n in self.truth_counts.items())
            lines.append(f"  truth (kept apart, for experiments only): {words}")
        return "\n".join(lines)

    def _column_lines(self) -> list[str]:
        if not self.columns:
            return []
        width = min(28, max(len(c.name) for c in self.columns))
        lines = ["  columns:"]
        for c in self.columns[:_LISTED_COLUMNS]:
            missing = f", {c.missing:,} missing" if c.missing else ""
            example = f", e.g. {c.example}" if c.example else ""
            lines.append(
                f"    {c.name:<{width}}  {c.kind} → {counted(c.features, 'feature')}{missing}{example}"
            )
        rest = len(self.columns) - _LISTED_COLUMNS
        return lines + ([f"    … and {rest:,} more"] if rest > 0 else [])

    def _dropped_lines(self) -> list[str]:
        if not self.dropped:
            return []
        lines = ["  rows left out:"]
        lines += [f"    {d.file}:{d.line}  {d.reason}" for d in self.dropped[:_LISTED_ROWS]]
        rest = len(self.dropped) - _LISTED_ROWS
        return lines + ([f"    … and {rest:,} more"] if rest > 0 else [])


def degree_summary(adjacency: Any) -> dict[str, float]:
    """Number of neighbours: min, median, mean, max, and how many nodes have none."""
    neighbours = np.diff(adjacency.indptr)
    if not len(neighbours):
        return {"min": 0.0, "median": 0.0, "mean": 0.0, "max": 0.0, "isolated": 0}
    return {
        "min": float(neighbours.min()),
        "median": float(np.median(neighbours)),
        "mean": float(neighbours.mean()),
        "max": float(neighbours.max()),
        "isolated": int((neighbours == 0).sum()),
    }


def component_summary(adjacency: Any) -> dict[str, float]:
    """Number of connected components and the size of the largest."""
    count, member = connected_components(adjacency, directed=False)
    largest = int(np.bincount(member).max()) if len(member) else 0
    return {"count": int(count), "largest": largest, "largest_share": largest / max(len(member), 1)}


def truth_summary(y: TruthArray | None) -> dict[str, int] | None:
    if y is None:
        return None
    return {word: int((y == v).sum()) for word, v in (("anomalous", 1), ("normal", 0), ("unknown", -1))}
