"""Conditions on a column as people type them: ``country=FR``, ``total in > 1,000``, ``age < 9 days``."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

import numpy as np
import numpy.typing as npt
from pandas.api.types import is_bool_dtype, is_numeric_dtype

Mask = npt.NDArray[np.bool_]

_OPERATOR = re.compile(r">=|<=|≥|≤|[=:<>]")
_SAME = {"≥": ">=", "≤": "<=", ":": "="}
_COMPARE = {">": np.greater, "<": np.less, ">=": np.greater_equal, "<=": np.less_equal, "=": np.equal}
_NUMBER = re.compile(r"(?:1 in )?([-−]?\d[\d,]*(?:\.\d+)?|[-−]?\.\d+)\s*(\D*)")
_PARTS_OF_A_DAY = {"hour": 24, "minute": 24 * 60, "second": 24 * 3600}


def split(text: str, columns: Container[str]) -> tuple[str, str, str] | None:
    """Column, operator (a key of _COMPARE) and value; None where no column is named."""
    for found in _OPERATOR.finditer(text):
        column = text[: found.start()].strip()
        if column in columns:
            return column, _SAME.get(found[0], found[0]), text[found.end() :].strip()
    return None


def ordered(operator: str) -> bool:
    """Whether it asks for more or less, not for equal."""
    return operator != "="


def compared(values: Any, operator: str, text: str) -> Mask | None:
    """Rows of a column of numbers that meet the condition; None for words, or where no number is given."""
    bound = number_of(text)
    if bound is None or not is_numeric_dtype(values) or is_bool_dtype(values):
        return None
    with np.errstate(invalid="ignore"):
        return np.asarray(_COMPARE[operator](values.to_numpy(dtype=float, na_value=np.nan), bound))


def condition(text: str) -> tuple[str, str]:
    """Operator and value of a condition without its column: "> 5", "= FR", "FR"."""
    found = _OPERATOR.match(text.strip())
    if found is None or found[0] in (":", "="):
        return "=", text
    return _SAME.get(found[0], found[0]), text.strip()[found.end() :].strip()


def number_of(text: str) -> float | None:
    """The number in "1,234.50 EUR", "96 %", "−4", "12 hours" (of a day) or "1 in 1,200"."""
    found = _NUMBER.fullmatch(text.strip().lower())
    if found is None:
        return None
    parts = _PARTS_OF_A_DAY.get(found[2].strip().removesuffix("s"), 1)
    return float(found[1].replace(",", "").replace("−", "-")) / parts
