"""Markdown tables and the words for a mean, as all pages of the studies have them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from gadcore.studies.harness import Row

NONE = "–"


def table(head: Sequence[str], lines: Iterable[Sequence[object]], title: str = "") -> str:
    """A table below its title; a line is as many cells as the head has."""
    rule = ["---"] * len(head)
    return title + "".join(f"| {' | '.join(map(str, line))} |\n" for line in (head, rule, *lines))


def std(values: Collection[float]) -> float:
    """Standard deviation of a sample; 0 of a single value."""
    return float(np.std(list(values), ddof=1)) if len(values) > 1 else 0.0


def mean_std(values: Collection[float]) -> str:
    """Mean (std), as the paper writes them."""
    return f"{np.mean(list(values)):.1f} ({std(values):.1f})"


def span(values: Iterable[int]) -> str:
    """The lowest to the highest number, or the only one."""
    known = sorted(set(values))
    return str(known[0]) if len(known) == 1 else f"{known[0]} to {known[-1]}"


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows that agree in these columns."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups
