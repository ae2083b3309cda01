"""What a project can be told to do otherwise, and which values make sense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gadcore.errors import InputError
from gadcore.loop.audit import checked_recall
from gadcore.loop.strategies import find_strategy

LEAST_RECALL = "least_recall"
RETRAIN_AFTER_UPDATE = "retrain_after_update"  # False unless the project says otherwise
COMPARISON = "comparison"  # runs that were started to be compared
OVERLAP = "overlap"  # share of decided cases that a second analyst is asked about
REASONS = "reasons"  # for verdicts, to choose from
USUAL_REASONS = (
    "mule account", "account takeover", "false identity", "layering", "scam victim",
    "ordinary business", "too little to tell",
)  # fmt: skip
MOST_REASONS, LONGEST_REASON = 20, 60


def checked_preference(key: str, value: Any) -> Any:
    """A value as it may be kept under a key; a GadError says what is wrong with either."""
    if key not in _CHECKS:
        raise InputError(f"a preference {key!r}", f"one of {', '.join(_CHECKS)}")
    return _CHECKS[key](key, value)


def _is(fits: Callable[[Any], bool], expected: str, kind: type) -> Callable[[str, Any], Any]:
    """A check of values that are kept as a ``kind``."""

    def check(key: str, value: Any) -> Any:
        if not fits(value):
            raise InputError(f"{key} = {value!r}", expected)
        return kind(value)

    return check


def _number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool)


def _reasons(key: str, value: Any) -> list[str]:
    """A list of short texts; an empty one stands for the usual ones."""
    texts = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    listed = list(dict.fromkeys(filter(None, map(str.strip, value)))) if texts else []
    if not texts or len(listed) > MOST_REASONS or any(len(each) > LONGEST_REASON for each in listed):
        expected = f"a list of at most {MOST_REASONS} texts, each of at most {LONGEST_REASON} letters"
        raise InputError(f"{key} = {value!r}", expected)
    return listed


_SHARE = _is(lambda value: _number(value, int | float) and 0 <= value <= 1, "a number from 0 to 1", float)
_SWITCH = _is(lambda value: isinstance(value, bool), "true or false", bool)
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "strategy": lambda key, value: find_strategy(str(value)).name,
    "audit_share": _SHARE,
    "dial": _SHARE,
    "near_duplicates": _SWITCH,
    "provisional": _SWITCH,
    RETRAIN_AFTER_UPDATE: _SWITCH,
    "auto_retrain": _is(lambda value: _number(value, int) and value >= 0, "a whole number, 0 or more", int),
    OVERLAP: _SHARE,
    REASONS: _reasons,
    LEAST_RECALL: lambda key, value: checked_recall(value),
    COMPARISON: _is(lambda value: isinstance(value, dict), "a document with keys and values", dict),
}
SETTINGS = tuple(key for key in _CHECKS if key != COMPARISON)  # those that a screen may change
