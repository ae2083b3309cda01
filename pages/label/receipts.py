"""Which events of which browser tab were performed: a resent event is never done twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

CLIENTS = 4096  # tabs remembered


class Receipts:
    """The number of the last event performed for each tab; one object for all sessions of a server."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, int] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def once(self, client: str, seq: int, perform: Callable[[], None]) -> None:
        """Perform an event unless it was; it counts as done when ``perform`` returns."""
        with self._guard:
            lock = self._locks.setdefault(client, threading.Lock())
        with lock:
            if seq <= self.last(client):
                return
            perform()
            with self._guard:
                self._last[client] = seq
                self._last.move_to_end(client)
                while len(self._last) > CLIENTS:
                    self._locks.pop(self._last.popitem(last=False)[0], None)

    def last(self, client: str) -> int:
        with self._guard:
            return self._last.get(client, 0)
