"""Which column plays which part, given by the user or recognised (names.py, link_roles.py).

A folder may carry a ``mapping.json`` with the fields of ``Mapping``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from gadcore.errors import InputError

MAPPING_FILE = "mapping.json"
REPEATS = {  # how the links of a pair become the weight of its edge: MERGES of the graph
    "count": "the number of its links",
    "sum": "the sum over its links",
    "mean": "the mean over its links",
    "largest": "the largest of its links",
    "one": "1, however many links it has",
}
UNKNOWN = {  # what becomes of links whose end is not in the node table
    "leave out": "leave the link out, and list it",
    "add": "make a node of the end",
}
KINDS = {  # what a column can be said to hold
    "number": "numbers",
    "category": "categories",
    "date": "dates",
    "boolean": "yes or no",
    "tags": "lists of tags",
    "text": "free text",
    "identifier": "identifiers: shown, not learned from",
}
CHOICES = {"repeats": tuple(REPEATS), "unknown": tuple(UNKNOWN)}  # fields that name no column


@dataclass(frozen=True)
class Mapping:
    """Columns by part. None = recognised by name; ``attributes=None`` = every column left over.

    ``ignore``: columns that are not read at all. A column that is neither ignored nor in ``attributes``
    is shown to the analyst but is no attribute. An empty ``label``, ``truth``, ``weight``, ``time``,
    ``amount`` or ``kind`` ("") means: none, whatever the columns are called. ``ignore`` may also name columns
    that are derived from the links. ``repeats`` says how the links of a pair become its weight (one of
    REPEATS), and ``unknown`` what becomes of links whose end is not in the node table (one of UNKNOWN).
    ``kinds`` says what columns of nodes hold (one of KINDS) where it is not to be found out. ``merge`` names
    columns whose values are one where they differ in case, spaces or accents alone.
    """

    id: str | None = None
    label: str | None = None
    attributes: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    truth: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    time: str | None = None
    amount: str | None = None
    kind: str | None = None
    repeats: str | None = None
    unknown: str | None = None
    kinds: dict[str, str] | None = None
    merge: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain dict for ``mapping.json`` and for the stored graph."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: object, where: str = MAPPING_FILE) -> Mapping:
        """Mapping of a decoded JSON object; unknown fields are named in the error."""
        names = [f.name for f in fields(cls)]
        if not isinstance(data, dict):
            raise InputError(
                f"{where} holds a {type(data).__name__}", f"a JSON object with {', '.join(names)}"
            )
        unknown = sorted(set(data) - set(names))
        if unknown:
            raise InputError(f"{where} has unknown fields {', '.join(map(repr, unknown))}", ", ".join(names))
        return cls(**{key: _field(key, value, where) for key, value in data.items()})

    def within(self, columns: Iterable[str]) -> Mapping:
        """This mapping as a hint: only the parts whose column is among the given ones."""
        present = set(columns)
        kept = {
            f: v
            for f, v in self.as_json().items()
            if f in CHOICES or not isinstance(v, str) or not v or v in present
        }
        return Mapping(**{**kept, "attributes": None})

    def filled(self, other: Mapping) -> Mapping:
        """This mapping, with the gaps taken from another."""
        gaps = {f.name: getattr(other, f.name) for f in fields(self) if getattr(self, f.name) in (None, ())}
        return replace(self, **gaps)


def load_mapping(path: Path) -> Mapping:
    """The Mapping in a JSON file."""
    try:
        return Mapping.from_json(json.loads(path.read_text(encoding="utf-8-sig")), path.name)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not readable JSON ({error})", "a JSON object") from error


def _field(key: str, value: object, where: str) -> Any:
    many = key in ("attributes", "ignore", "merge")
    if value is None:
        return () if key in ("ignore", "merge") else None
    if key == "kinds":
        return _kinds(value, where)
    if many and isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        return tuple(value)
    if key in CHOICES and value not in CHOICES[key]:
        raise InputError(f"{where}: {key!r} is {value!r}", f"one of {', '.join(CHOICES[key])}")
    if not many and isinstance(value, str):
        return value
    raise InputError(
        f"{where}: {key!r} is {value!r}", "a list of column names" if many else "one column name or null"
    )


def _kinds(value: object, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or not set(map(str, value.values())) <= set(KINDS):
        raise InputError(f"{where}: 'kinds' is {value!r}", f"columns, each with one of {', '.join(KINDS)}")
    return {str(column): str(kind) for column, kind in value.items()}
