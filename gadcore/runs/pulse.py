"""The sign of life of a run: heartbeat, reported epochs and the request to stop, on a thread of its own.

The training thread only appends to a list and looks at a flag, so an epoch never waits for the data base.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Self

from gadcore.detectors.base import Progress
from gadcore.errors import StoreError
from gadcore.store import Store

INTERVAL = 0.05  # seconds between looks at the cancel flag
HEARTBEAT = 1.0  # seconds between heartbeats without news

OnProgress = Callable[[Progress], None]


class Pulse:
    """Context of a running run; ``on_epoch`` is handed to the detector."""

    def __init__(self, store: Store, run_id: str, on_progress: OnProgress | None = None) -> None:
        self._store, self._run, self._on_progress = store, run_id, on_progress
        self._reported: list[dict[str, Any]] = []
        self._guard = threading.Lock()
        self._stop, self._ended = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"pulse-{run_id}", daemon=True)

    def on_epoch(self, progress: Progress) -> bool:
        """Report an epoch; True when the run was asked to stop."""
        row = asdict(progress)
        row |= {key: finite(row[key]) for key in ("loss", "auc")}
        with self._guard:
            self._reported.append(row)
        if self._on_progress is not None:
            self._on_progress(progress)
        return self._stop.is_set()

    @property
    def stopping(self) -> bool:
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
                if self._reported or quiet >= HEARTBEAT:
                    self._write()
                    quiet = 0.0
                elif self._store.runs.cancelled(self._run):
                    self._stop.set()
            except StoreError:
                continue  # a data base that is busy now answers at the next beat

    def _write(self) -> None:
        with self._guard:
            rows, self._reported = self._reported, []
        if self._store.runs.beat(self._run, rows):
            self._stop.set()


def finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
