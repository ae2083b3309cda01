"""Which column plays which part, given by the user or recognised by its name.

| part          | names recognised (case, spaces, ``_`` and ``-`` do not matter)                             |
| node id       | Id, node_id, ``:ID`` and ``personId:ID(Person)`` (Neo4j), ``~id`` (Neptune), …_id, …       |
| display name  | Label (Gephi), name, title, display_name, …_name                                           |
| truth         | truth, is_fraud, is_anomaly, … (``label`` and ``y`` in .mat, .npz and .pt only) |
| edge ends     | Source/Target, ``:START_ID``/``:END_ID``, ``~from``/``~to``, from/to, src/dst, … |
| edge weight   | Weight, w                                                                                  |

A folder may carry a ``mapping.json`` with the fields of ``Mapping``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from gadcore.errors import InputError

MAPPING_FILE = "mapping.json"

_ID = ("id", "nodeid", "node", "vertex", "vertexid", "key", "identifier", "accountid", "userid", "customerid")
_LABEL = ("label", "name", "displayname", "title", "fullname", "accountname", "username", "customername")
_TRUTH = ("truth", "groundtruth", "isfraud", "isanomaly", "isanomalous", "isoutlier")
_ANSWERS = ("fraudkind", "fraudtype", "anomalykind", "anomalytype", "outliertype")
_WEIGHT = ("weight", "w", "edgeweight")
_ENDS = (
    ("source", "target"), ("from", "to"), ("src", "dst"), ("src", "dest"), ("sourceid", "targetid"),
    ("srcid", "dstid"), ("fromid", "toid"), ("fromnode", "tonode"), ("fromnodeid", "tonodeid"),
    ("sourcenode", "targetnode"), ("fromaccount", "toaccount"), ("source", "destination"),
    ("origin", "destination"), ("sender", "receiver"), ("senderid", "receiverid"), ("sender", "recipient"),
    ("payer", "payee"), ("follower", "followee"), ("head", "tail"), ("start", "end"), ("startid", "endid"),
    ("node1", "node2"), ("id1", "id2"), ("u", "v"), ("i", "j"),
)  # fmt: skip
_NEO4J_PART = re.compile(r"^[^:]*:(ID|START_ID|END_ID|LABEL|TYPE|IGNORE)(\([^)]*\))?$", re.IGNORECASE)
_TYPE_SUFFIX = re.compile(
    r":(int|integer|long|float|double|bool|boolean|byte|short|char|string|date|datetime|localdatetime|time"
    r"|localtime|duration|point)(\((single|set)\))?(\[\])?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Mapping:
    """Columns by part. None = recognised by name; ``attributes=None`` = every column left over.

    ``ignore``: columns that are not read at all. A column that is neither ignored nor in ``attributes``
    is shown to the analyst but is no attribute. An empty ``label``, ``truth`` or ``weight`` ("") means: none,
    whatever the columns are called.
    """

    id: str | None = None
    label: str | None = None
    attributes: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    truth: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None

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
        kept = {f: v for f, v in self.as_json().items() if not isinstance(v, str) or not v or v in present}
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
    many = key in ("attributes", "ignore")
    if value is None:
        return () if key == "ignore" else None
    if many and isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value):
        return tuple(value)
    if not many and isinstance(value, str):
        return value
    raise InputError(
        f"{where}: {key!r} is {value!r}", "a list of column names" if many else "one column name or null"
    )


def normal(name: str) -> str:
    """Column name without case, spaces, _ and -: what recognition compares."""
    return re.sub(r"[\s_\-]+", "", name.strip().lower())


def neo4j_part(name: str) -> str | None:
    """ID, START_ID, END_ID, LABEL, TYPE or IGNORE of a Neo4j header field."""
    match = _NEO4J_PART.match(name.strip())
    return match.group(1).upper() if match else None


def is_bulk_header(columns: Iterable[str]) -> bool:
    """Whether the header is of a Neo4j or Neptune bulk file, whose names carry types (``age:int``)."""
    return any(c.strip().startswith("~") or neo4j_part(c) for c in columns)


def plain_name(name: str) -> tuple[str, bool]:
    """(name without a bulk file's type suffix, whether the type is an array)."""
    match = _TYPE_SUFFIX.search(name)
    if not match:
        return name, False
    return name[: match.start()] or name, bool(match.group(4)) or (match.group(3) or "").lower() == "set"


def _by_words(columns: Sequence[str], words: Sequence[str]) -> str | None:
    """The column that is named like the first word that any is named like."""
    return next((c for word in words for c in columns if normal(c) == word), None)


def guess_id(columns: Sequence[str]) -> str | None:
    """Column that holds the node ids, by name."""
    bulk = next((c for c in columns if neo4j_part(c) == "ID" or c.strip().lower() == "~id"), None)
    named = bulk if bulk is not None else _by_words(columns, _ID)
    if named is not None or not columns:
        return named
    first = columns[0].strip()  # empty: the index column that pandas writes
    return columns[0] if not first or first.lower().endswith(("_id", " id")) or first.endswith("Id") else None


def guess_label(columns: Sequence[str]) -> str | None:
    """Column with the name to show, by name."""
    ending = [c for c in columns if c.strip().lower().endswith(("_name", " name"))]
    return _by_words(columns, _LABEL) or (ending[0] if len(ending) == 1 else None)


def guess_truth(columns: Sequence[str]) -> str | None:
    """Column with known answers, by name; never ``label``, which Gephi uses for names."""
    return _by_words(columns, _TRUTH)


def answer_columns(columns: Iterable[str]) -> list[str]:
    """Columns that tell the answer beside the truth column (``fraud_kind`` …): never attributes."""
    return [c for c in columns if normal(c) in _ANSWERS or normal(c) in _TRUTH]


def guess_ends(columns: Sequence[str]) -> tuple[str, str] | None:
    """Source and target column of an edge table, by name."""
    parts = {neo4j_part(c): c for c in columns}
    if "START_ID" in parts and "END_ID" in parts:
        return parts["START_ID"], parts["END_ID"]
    by_name = {c.strip().lower() if c.strip().startswith("~") else normal(c): c for c in reversed(columns)}
    for a, b in (("~from", "~to"), *_ENDS):
        if a in by_name and b in by_name:
            return by_name[a], by_name[b]
    return None


def guess_weight(columns: Sequence[str]) -> str | None:
    """Weight column of an edge table, by name."""
    return next((c for word in _WEIGHT for c in columns if normal(plain_name(c)[0]) == word), None)
