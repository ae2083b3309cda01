"""A worker process: waits for work, does it, ends when nobody needs it any more."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from gadcore.errors import GadError, NotFound, StoreError
from gadcore.runs import Memory, perform
from gadcore.settings import Settings
from gadcore.store import FileLock, Store, is_held, open_store
from gadcore.worker import wake_file, worker_lock
from gadcore.worker.jobs import draw_layout, score_new_nodes

POLL = 0.02  # seconds between looks at the wake file
LOOK = 1.0  # seconds between looks at the data base without a wake
GRACE = 20.0  # seconds that a worker outlives its last client
IDLE = 3600.0  # seconds without work after which a worker ends

logger = logging.getLogger("gadcore.worker")


def main(role: str) -> int:
    """Run a worker of this role until it is not needed; 0 also when another one holds the place."""
    settings = Settings.from_env()
    lock = FileLock(worker_lock(settings, role))
    if not _take(lock, role):
        return 0
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(process)d %(message)s")
    signal.signal(signal.SIGTERM, _leave)
    with lock:
        worker = Worker(settings, open_store(settings), role, lock)
        logger.info("%s worker started, %d thread(s)", role, settings.threads)
        worker.run()
        logger.info("%s worker ended", role)
    return 0


def _take(lock: FileLock, role: str) -> bool:
    """Take the lock; patient, because somebody may just be looking whether it is held."""
    for _ in range(20):
        if lock.acquire(role=role):
            return True
        time.sleep(POLL)
    return False


def _leave(_signal: int, _frame: Any) -> None:
    raise SystemExit(0)


class Worker:
    """The loop of one worker process."""

    def __init__(self, settings: Settings, store: Store, role: str, lock: FileLock) -> None:
        self._settings, self._store, self._role, self._lock = settings, store, role, lock
        self._memory = Memory()
        self._told: dict[str, Any] = {"role": role, "ready": False, "busy": False, "device": None}
        self._wake = wake_file(settings, role)

    def run(self) -> None:
        """Work and wait, until ``_needed`` says no."""
        if self._role == "train":
            threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()
        else:
            os.nice(10)  # a map can wait; a training run cannot
        last_work = time.monotonic()
        while self._needed(last_work):
            seen = self._stamp()
            try:
                if self._work():
                    last_work = time.monotonic()
                    continue
            except StoreError as error:
                logger.warning("the store does not answer: %s", error)
            self._wait(seen)

    def _warm_up(self) -> None:
        """Import what the first run needs, so that it does not pay for it."""
        began = time.monotonic()
        try:
            import torch

            from gadcore.detectors import detector_class
            from gadcore.detectors.nn.devices import pick_device

            torch.set_num_threads(self._settings.threads)
            self._tell(device=str(pick_device(self._settings.device)))
            detector_class("an+")
        finally:  # a run will meet the same error and say so on its row
            self._tell(ready=True)
        logger.info("ready after %.1f s, device %s", time.monotonic() - began, self._told["device"])

    def _work(self) -> bool:
        """Do one piece of work, training runs first; False when there is none."""
        if self._role == "layout":
            return self._next_job("layout", lambda row: draw_layout(self._store, row))
        for run in self._store.runs.queued():
            self._tell(busy=True)
            try:
                ended = perform(self._store, self._settings, run.id, memory=self._memory)
                logger.info("run %d of %s %s %s", ended.number, ended.project, ended.status, ended.message)
            except NotFound:
                logger.info("run %d of %s was deleted", run.number, run.project)
            self._tell(busy=False)
            return True
        return self._next_job("score", lambda row: score_new_nodes(self._store, row))

    def _next_job(self, kind: str, do: Callable[[Any], Any]) -> bool:
        for row in self._store.jobs.waiting(kind):
            if not self._store.jobs.claim(row.id):
                continue
            self._tell(busy=True)
            try:
                self._store.jobs.finish(row.id, "done", result=do(row))
            except GadError as error:
                self._store.jobs.finish(row.id, "failed", message=str(error))
            finally:
                self._tell(busy=False)
            return True
        return False

    def _wait(self, seen: int) -> None:
        until = time.monotonic() + LOOK
        while time.monotonic() < until and self._stamp() == seen:
            time.sleep(POLL)

    def _stamp(self) -> int:
        try:
            return self._wake.stat().st_mtime_ns
        except OSError:
            return 0

    def _needed(self, last_work: float) -> bool:
        idle = time.monotonic() - last_work
        if not self._lock.path.exists():
            return False  # the workspace folder was removed
        return idle < GRACE or (idle < IDLE and self._has_client())

    def _has_client(self) -> bool:
        return any(is_held(path) for path in self._lock.path.parent.glob("client-*.lock"))

    def _tell(self, **news: Any) -> None:
        self._told |= news
        self._lock.describe(pid=os.getpid(), **self._told)
