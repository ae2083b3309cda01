"""Columns of nodes that are derived from the links, in the analyst's words.

A group of columns is one file and a line in ``GROUPS``: ``offered(meaning)`` describes its columns,
``values(links)`` gives the values by key. A value that does not exist for a node (the largest amount of one
that received nothing) is nan: it is shown as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

import numpy as np

from gadcore.derive import amounts, counts, kinds, passing, structure, times, unusual_amounts
from gadcore.derive.column import Derived, DerivedColumn, Values
from gadcore.graph import LinkMeaning, Links


@dataclass(frozen=True)
class ColumnGroup:
    """Columns that are computed together."""

    offered: Callable[[LinkMeaning], Iterable[DerivedColumn]]
    values: Callable[[Links], Iterable[tuple[str, Values]]]  # by key; may give more than is offered


GROUPS = {
    "counts": ColumnGroup(counts.offered, counts.values),
    "amounts": ColumnGroup(amounts.offered, amounts.values),
    "unusual": ColumnGroup(unusual_amounts.offered, unusual_amounts.values),
    "times": ColumnGroup(times.offered, times.values),
    "passing": ColumnGroup(passing.offered, passing.values),
    "kinds": ColumnGroup(kinds.offered, kinds.values),
    "structure": ColumnGroup(structure.offered, structure.values),
}


def offered(meaning: LinkMeaning) -> list[DerivedColumn]:
    """Every column that links of this meaning give, without computing it; names are unique."""
    seen: dict[str, int] = {}
    columns = []
    for column in (c for group in GROUPS.values() for c in group.offered(meaning)):
        seen[column.name] = seen.get(column.name, 0) + 1
        again = seen[column.name] > 1
        columns.append(replace(column, name=f"{column.name} ({seen[column.name]})") if again else column)
    return columns


def derive(links: Links, ignore: Collection[str] = ()) -> list[Derived]:
    """All columns that these links give, but for those whose name or key is in ``ignore``.

    A column whose values are all equal, where there are any, says nothing and is left out.
    """
    wanted = [c for c in offered(links.meaning) if c.name not in ignore and c.key not in ignore]
    found: dict[str, Values] = {}
    for name in dict.fromkeys(c.group for c in wanted):
        found |= GROUPS[name].values(links)
    return [Derived(c, found[c.key]) for c in wanted if _varies(found[c.key])]


def _varies(values: Values) -> bool:
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(known.min() < known.max())


__all__ = ["GROUPS", "ColumnGroup", "Derived", "DerivedColumn", "derive", "offered"]
