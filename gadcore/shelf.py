"""Recently used things. ``functools.lru_cache`` does not fit: the same key is made in different ways."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Shelf:
    """A few things kept by key, the least recently used given up first; safe for threads."""

    def __init__(self, size: int) -> None:
        self._size, self._kept = size, OrderedDict[Any, Any]()
        self._guard = threading.RLock()

    def get(self, key: Any, make: Callable[[], T]) -> T:
        """What is kept under a key; made outside the lock, so that nobody waits for another's graph."""
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                known: T = self._kept[key]
                return known
        made = make()
        with self._guard:
            found: T = self._kept.setdefault(key, made)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
            return found
