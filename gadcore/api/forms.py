"""Typed requests: a form is a frozen dataclass whose fields say what they mean and what they may be.

The same limits are told in the OpenAPI document (``json_schema``) and checked here. Query parameters come as
text, bodies as JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from gadcore.errors import InputError

F = TypeVar("F")
TEXT = r"^[^\u0000]*$"  # what every text is: no database keeps a NUL
_SURROGATE = re.compile("[\ud800-\udfff]")
_INTEGER = re.compile(r"-?\d{1,15}", re.ASCII)
_SHOWN = 80  # letters of a wrong value that are told


def part(about: str, default: Any = MISSING, **limits: Any) -> Any:
    """A field of a form: what it means, and limits in the words of JSON Schema."""
    return field(default=default, metadata={"about": about, **limits})


@dataclass(frozen=True, kw_only=True)
class Empty:
    """A form without fields."""


@dataclass(frozen=True, kw_only=True)
class Paging:
    """Which part of a list is wanted."""

    limit: int = part("rows of this page", 50, minimum=1, maximum=200)
    offset: int = part("rows before this page: next of the page before", 0, minimum=0, maximum=10**9)


def read_form(form: type[F], given: Any, where: str, *, from_text: bool = False) -> F:
    """The form filled with what was given; InputError names the first field that is wrong."""
    if not isinstance(given, dict):
        raise InputError(f"{where}: {_shown(given)}", "a JSON object")
    kinds = hints(cast(type, form))
    if unknown := [name for name in given if name not in kinds]:
        known = ", ".join(kinds) or "none"
        raise InputError(f"{where}: a field {unknown[0]!r}", f"fields of this call: {known}")
    values = {}
    for each in fields(form):  # type: ignore[arg-type]
        if each.name in given:
            at, kind = f"{where}: {each.name}", kinds[each.name]
            values[each.name] = _value(given[each.name], kind, each.metadata, at, from_text)
        elif each.default is MISSING:
            raise InputError(f"{where} without {each.name!r}", each.metadata["about"])
    return form(**values)


def read_json(content: str | bytes) -> Any:
    """The document of a JSON text; ValueError for what is none, holds no numbers or halves of characters."""
    try:
        found = json.loads(content, parse_constant=_no_number)
        json.dumps(found, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("too many brackets within one another") from error
    return found


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


@cache
def hints(form: type) -> dict[str, Any]:
    """Name -> type of each field."""
    return get_type_hints(form)


def plain_kind(kind: Any) -> tuple[Any, bool]:
    """A type without None, and whether None is allowed."""
    options = get_args(kind) if get_origin(kind) in (UnionType, Union) else (kind,)
    (only,) = (option for option in options if option is not NoneType)
    return only, NoneType in options


def _value(value: Any, kind: Any, limits: Mapping[str, Any], where: str, from_text: bool) -> Any:
    only, optional = plain_kind(kind)
    if only is Any or (value is None and optional):
        return value
    if get_origin(only) is Literal:
        return _one_of(value, get_args(only), where)
    base = get_origin(only) or only
    read, expected = (_FROM_TEXT if from_text else _FROM_JSON)[base]
    found = read(value)
    if found is None:
        raise InputError(f"{where} = {_shown(value)}", expected)
    _check_limits(found, limits, where)
    return found


def _one_of(value: Any, words: tuple[Any, ...], where: str) -> Any:
    if not isinstance(value, str) or value not in words:
        raise InputError(f"{where} = {_shown(value)}", f"one of {', '.join(map(str, words))}")
    return value


def _check_limits(value: Any, limits: Mapping[str, Any], where: str) -> None:
    size = len(value) if isinstance(value, str) else value
    least = limits.get("minLength" if isinstance(value, str) else "minimum")
    most = limits.get("maxLength" if isinstance(value, str) else "maximum")
    letters = " letters" if isinstance(value, str) else ""
    if least is not None and size < least:
        raise InputError(f"{where} = {_shown(value)}", f"{least} or more{letters}")
    if most is not None and size > most:
        raise InputError(f"{where} = {_shown(value)}", f"at most {most}{letters}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _text(value: Any) -> str | None:
    plain = isinstance(value, str) and "\0" not in value and not _SURROGATE.search(value)
    return value if plain else None


def _whole(value: Any) -> int | None:
    """A whole number of JSON, where 2.0 is one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= 10**15:
        return None
    return int(value) if value == int(value) else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return None
    return float(value) if math.isfinite(value) else None


def _number_of_text(value: str) -> float | None:
    try:
        return _number(float(value))
    except ValueError:
        return None


def _texts(value: Any) -> list[str] | None:
    plain = isinstance(value, list) and all(_text(each) is not None for each in value)
    return value if plain else None


def _instance(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else None


_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", str: "text without NUL"}
_Reader = tuple[Callable[[Any], Any], str]
_FROM_JSON: dict[Any, _Reader] = {
    bool: (_instance(bool), _EXPECTED[bool]),
    int: (_whole, _EXPECTED[int]),
    float: (_number, _EXPECTED[float]),
    str: (_text, _EXPECTED[str]),
    list: (_texts, "a list of texts"),
    dict: (_instance(dict), "a JSON object"),
}
_FROM_TEXT: dict[Any, _Reader] = {
    bool: ({"true": True, "false": False}.get, _EXPECTED[bool]),
    int: (lambda text: int(text) if _INTEGER.fullmatch(text) else None, _EXPECTED[int]),
    float: (_number_of_text, _EXPECTED[float]),
    str: (_text, _EXPECTED[str]),
}
