"""What a project can be told to do otherwise, and which values make sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadcore.errors import InputError
from gadcore.loop.audit import checked_recall
from gadcore.loop.strategies import find_strategy

LEAST_RECALL = "least_recall"


def checked_preference(key: str, value: Any) -> Any:
    """A value as it may be kept under a key; a GadError says what is wrong with either."""
    if key not in _CHECKS:
        raise InputError(f"a preference {key!r}", f"one of {', '.join(_CHECKS)}")
    return _CHECKS[key](key, value)


def _strategy(key: str, value: Any) -> str:
    return find_strategy(str(value)).name


def _share(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{key} = {value!r}", "a number from 0 to 1")
    return float(value)


def _switch(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{key} = {value!r}", "true or false")
    return value


def _count(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{key} = {value!r}", "a whole number, 0 or more")
    return value


def _document(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{key} = {value!r}", "a document with keys and values")
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "strategy": _strategy,
    "audit_share": _share,
    "dial": _share,
    "near_duplicates": _switch,
    "provisional": _switch,
    "auto_retrain": _count,
    LEAST_RECALL: lambda key, value: checked_recall(value),
    "comparison": _document,  # runs that were started to be compared
}
SETTINGS = tuple(key for key in _CHECKS if key != "comparison")  # those that a screen may change
