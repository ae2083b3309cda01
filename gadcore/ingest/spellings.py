"""Values of a category as people write them: words for "not known", and several spellings of one value."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

from gadcore.ingest.cells import Cells
from gadcore.ingest.names import normal

_NOT_KNOWN = (  # not "none" or "NA": a level may be none, and NA is a country
    "-", "--", "?", "n/a", "#n/a", "nan", "null", "unknown", "not known", "not available",
    "unbekannt", "k.a.", "inconnu", "inconnue", "desconocido", "desconocida",
)  # fmt: skip
_SHOWN = 3  # groups of spellings that a note names


def known(cells: Cells) -> Cells:
    """Cells without the spaces around them, null where they say that the value is not known."""
    trimmed = pc.utf8_trim_whitespace(cells)
    unknown = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(("", *_NOT_KNOWN), pa.large_string()))
    return pc.if_else(unknown, pa.scalar(None, pa.large_string()), trimmed)


def variants(cells: Cells) -> dict[str, str]:
    """Spellings that differ from a more frequent one in case, spaces, accents, _ and - alone."""
    found = cells.drop_null().value_counts()
    written = zip(found.field("values").to_pylist(), found.field("counts").to_pylist())
    alike: dict[str, list[str]] = defaultdict(list)
    for value, _ in sorted(written, key=lambda pair: (-pair[1], pair[0])):
        alike[normal(value) or value].append(value)
    return {other: first for first, *others in alike.values() for other in others}


def merged(cells: Cells, spellings: dict[str, str]) -> Cells:
    """Cells with each spelling replaced by the usual one."""
    if not spellings:
        return cells
    at = pc.index_in(cells, value_set=pa.array(list(spellings), pa.large_string()))
    usual = pa.array(list(spellings.values()), pa.large_string()).take(at)
    return pc.coalesce(usual, cells)


def variants_note(name: str, spellings: dict[str, str], done: bool) -> str:
    """The line about values that are spelt in several ways."""
    groups: dict[str, list[str]] = defaultdict(list)
    for other, first in spellings.items():
        groups[first].append(other)
    some = [f"{', '.join(map(repr, others))} and {first!r}" for first, others in groups.items()]
    more = f" and {len(some) - _SHOWN:,} more" if len(some) > _SHOWN else ""
    named = f"Column {name!r}: {'; '.join(some[:_SHOWN])}{more}"
    if done:
        return f"{named} are one value each."
    return (
        f"{named} differ in case, spaces or accents alone. To make one of them, name the column under merge."
    )
