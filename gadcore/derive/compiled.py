"""Loops over nodes and links that are compiled at their first use; the machine code is kept on disk.

Modules that hold such loops are imported where they are used: the web process loads no compiler.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function as machine code; compiled in every process where there is no folder to keep it in."""
    try:
        made: F = njit(cache=True)(function)
    except RuntimeError:
        made = njit(function)
    return made
