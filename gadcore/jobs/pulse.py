"""The sign of life of a job: heartbeat, progress and the request to stop, on a thread of its own.

The working thread only appends to a list and looks at a flag, so an epoch never waits for the database.
"""

from __future__ import annotations

import threading
from typing import Any, Self

from gadcore.errors import StoreError
from gadcore.store import Store

INTERVAL = 0.05  # seconds between looks at the cancel flag
HEARTBEAT = 1.0  # seconds between heartbeats without news


class Pulse:
    """Context of a running job."""

    def __init__(self, store: Store, job_id: str) -> None:
        self._jobs, self._id = store.jobs, job_id
        self._so_far: dict[str, Any] = {}
        self._epochs: list[dict[str, Any]] = []
        self._news = False
        self._guard = threading.Lock()
        self._stop, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"pulse-{job_id}", daemon=True)

    def tell(self, *epochs: dict[str, Any], **progress: Any) -> None:
        """Say how far the job has come; what is not said again still holds. Epochs are kept as history."""
        with self._guard:
            self._epochs += epochs
            self._so_far, self._news = self._so_far | progress, True

    @property
    def stopping(self) -> bool:
        """Whether the job was asked to stop."""
        return self._stop.is_set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._write()

    def _beat(self) -> None:
        quiet = 0.0
        while not self._ended.wait(INTERVAL):
            quiet += INTERVAL
            try:
                if self._news or quiet >= HEARTBEAT:
                    self._write()
                    quiet = 0.0
                elif self._jobs.cancelled(self._id):
                    self._stop.set()
            except StoreError:
                continue  # a database that is busy now answers at the next beat

    def _write(self) -> None:
        with self._guard:
            so_far = self._so_far if self._news else None
            epochs, self._epochs, self._news = self._epochs, [], False
        if self._jobs.beat(self._id, so_far, epochs):
            self._stop.set()
