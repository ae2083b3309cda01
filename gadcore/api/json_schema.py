"""JSON Schema of forms and records, drawn from their types."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from gadcore.api.forms import TEXT, hints, plain_kind

Schema = dict[str, Any]
_PLAIN: dict[Any, Schema] = {
    Any: {},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    NoneType: {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    list: {"type": "array", "items": {"type": "string", "pattern": TEXT}},
    dict: {"type": "object"},
}


class Schemas:
    """Collects the schemas of records under their names."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}

    def of(self, kind: Any, given: dict[Any, Any] | None = None) -> Schema:
        """The schema of a type of an answer; ``given`` says what type variables stand for."""
        given = given or {}
        origin, inner = get_origin(kind), get_args(kind)
        if isinstance(kind, TypeVar):
            return self.of(given[kind])
        if origin in (UnionType, Union):
            return {"anyOf": [self.of(each, given) for each in inner]}
        if origin is tuple:
            return {"type": "array", "prefixItems": [self.of(each, given) for each in inner]}
        if origin is list:
            return {"type": "array", "items": self.of(inner[0], given)}
        if origin is dict:
            return {"type": "object", "additionalProperties": self.of(inner[1], given)}
        if is_dataclass(origin or kind):
            return self._record(origin or kind, inner)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return {"enum": [each.value for each in kind]}
        return dict(_PLAIN[kind])

    def _record(self, kind: Any, inner: tuple[Any, ...]) -> Schema:
        name = kind.__name__ + "".join(each.__name__ for each in inner)
        if name not in self.named:
            self.named[name] = {}  # one that holds itself ends here
            given = dict(zip(getattr(kind, "__parameters__", ()), inner))
            parts = {key: self.of(each, given) for key, each in get_type_hints(kind).items()}
            self.named[name] = {"type": "object", "properties": parts, "required": list(parts)}
        return {"$ref": f"#/components/schemas/{name}"}


def form_parts(form: type, *, in_query: bool = False) -> dict[str, tuple[Schema, bool]]:
    """Name -> schema of each field of a form, and whether it is required."""
    kinds, found = hints(form), {}
    for each in fields(form):
        schema = _field_schema(kinds[each.name], dict(each.metadata), in_query)
        required = each.default is MISSING
        if not required and each.default is not None:
            schema["default"] = each.default
        found[each.name] = (schema, required)
    return found


def form_schema(form: type) -> Schema:
    """The schema of a form as a JSON object."""
    parts = form_parts(form)
    required = [name for name, (_, needed) in parts.items() if needed]
    properties = {name: schema for name, (schema, _) in parts.items()}
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})


def _field_schema(kind: Any, limits: dict[str, Any], in_query: bool) -> Schema:
    only, optional = plain_kind(kind)
    schema: Schema = {"description": limits.pop("about", "")}
    if get_origin(only) is Literal:
        schema |= {"enum": [*get_args(only), *([None] if optional and not in_query else [])]}
        return schema
    schema |= _PLAIN[get_origin(only) or only]
    if only is str:
        schema["pattern"] = TEXT
    if only is int:
        limits = {"minimum": 1 - 10**15, "maximum": 10**15 - 1, **limits}
    if only is float:
        limits = {"minimum": -1e300, "maximum": 1e300, **limits}
    if optional and not in_query:
        schema["type"] = [schema["type"], "null"]
    return schema | limits
