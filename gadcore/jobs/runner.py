"""The runner: takes a job, does it and writes down how it ended; and the loop of a worker process.

lock → claim → do, with a pulse → outcome: done, cancelled, or failed with the reason
"""

from __future__ import annotations

import _thread
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from gadcore import logs
from gadcore.errors import Cancelled, GadError, NotFound, StoreError
from gadcore.jobs.kind import Job, Kind, Memory
from gadcore.jobs.lost import STOPPED, end_if_lost
from gadcore.jobs.pulse import Pulse
from gadcore.jobs.registry import KINDS
from gadcore.jobs.sweeping import sweep
from gadcore.jobs.workers import pass_on, stop_file, wake_file, worker_lock
from gadcore.settings import Settings, child_environment
from gadcore.store import FileLock, Store, is_held, open_store

QUICKEST, SLOWEST = 0.01, 0.1  # seconds between looks at the wake file
LOOK = 2.0  # seconds between looks at the database without a wake
STOP_LOOK = 0.25  # seconds between looks at the request that the worker end
CANCEL_LOOK = 0.02  # seconds between looks at the request that a job apart end
GRACE = 20.0  # seconds that a worker outlives its last client
_TOO_LONG = getattr(signal, "SIGXCPU", 24)  # how the system ends a process that had its time
IDLE = 3600.0  # seconds without work after which a worker ends

logger = logging.getLogger("gadcore.jobs")


def carry_out(
    store: Store,
    settings: Settings,
    job_id: str,
    *,
    memory: Memory | None = None,
    begin: Callable[[], object] | None = None,
    listen: Callable[..., None] | None = None,
) -> None:
    """Do a queued job in this process; one that fails or is cancelled does not raise.

    ``begin`` makes a job that never waits, so that no worker can take it. An error that is no GadError is a
    defect: the row says so, and the error goes on to the caller.
    """
    with FileLock(store.folders.lock(f"job-{job_id}")) as lock:
        # The lock comes before the row is seen as running, or it would look as if its process were gone.
        if not lock.acquire() or not (begin() if begin else store.jobs.claim(job_id)):
            return
        row = store.jobs.get(job_id)
        kind = KINDS[row.kind]
        with _outcome(store, kind, job_id):
            with Pulse(store, job_id) as pulse:
                asked = (row.project_id or "", row.payload, store, settings, memory or Memory())
                result = kind.do(Job(job_id, *asked, pulse, listen or (lambda *_: None)))
            store.jobs.finish(job_id, "done", result=result)
    have_events_sent(store, settings)


def have_events_sent(store: Store, settings: Settings) -> None:
    """Have a process send what waits, if there is anything; see ``deliver``."""
    for row in store.jobs.live("deliver"):
        if row.status == "queued" or end_if_lost(store, row):
            pass_on(settings, KINDS["deliver"].lane)


@contextmanager
def _outcome(store: Store, kind: Kind, job_id: str) -> Iterator[None]:
    """Turn what ended a job into the outcome on its row; errors that are no defects end here."""
    try:
        yield
    except BaseException as error:
        status = "cancelled" if isinstance(error, Cancelled) else "failed"
        store.jobs.finish(job_id, status, message=_reason(kind, error))
        if not isinstance(error, GadError | MemoryError):
            raise


def _reason(kind: Kind, error: BaseException) -> str:
    if isinstance(error, GadError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"There was not enough memory for the {kind.work}. {kind.lighter} The labels are safe."
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return f"The {kind.work} was stopped before its end. Start it again; the labels are safe."
    return (
        f"Unexpected error in the {kind.work} ({type(error).__name__}: {error}). "
        "This is a defect; worker.log in the workspace folder has the details. The labels are safe."
    )


def do_alone() -> int:
    """Body of a process that does the job named on its standard input; it ends when its worker is gone."""
    logs.set_up(as_json=Settings.from_env().log_json)
    job_id = os.read(0, 100).decode().strip()  # written at once, perhaps long after the start
    if job_id:
        _aside(_end_with_parent)
        settings = Settings.from_env()
        store = open_store(settings)
        _limit(settings, KINDS[store.jobs.get(job_id).kind])
        carry_out(store, settings, job_id)
    return 0


def _limit(settings: Settings, kind: Kind) -> None:
    """Bound the memory of this process, and its time where the kind says so; where the platform can."""
    if sys.platform == "win32":
        return
    import resource

    # Of the data, not of the address space: large files are mapped, and mapped files are no memory.
    _lower(resource.RLIMIT_DATA, settings.max_memory)
    if kind.cpu_seconds is not None:
        _lower(resource.RLIMIT_CPU, kind.cpu_seconds + int(time.process_time()))


def _lower(what: int, limit: int) -> None:
    import resource

    _, most = resource.getrlimit(what)
    allowed = limit if most == resource.RLIM_INFINITY else min(limit, most)
    with suppress(OSError, ValueError):  # a platform that knows the limit and does not set it
        resource.setrlimit(what, (allowed, most))


def _aside(target: Callable[..., None], *given: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=given, daemon=True)
    thread.start()
    return thread


def _end_with_parent() -> None:
    os.read(0, 1)  # standard input; nothing more is written, so it returns when the other end is closed
    os._exit(1)


def work(lane: str) -> int:
    """Run the worker of a lane until it is not needed; 0 also when another one holds the place."""
    settings = Settings.from_env()
    lock = FileLock(worker_lock(settings, lane))
    if not lock.acquire(lane=lane):
        return 0
    logs.set_up(as_json=settings.log_json)
    signal.signal(signal.SIGTERM, _leave)
    with lock:
        stop_file(settings, lane).unlink(missing_ok=True)
        store = open_store(settings)
        sweep(store)
        logger.info("%s worker started, %d thread(s)", lane, settings.threads)
        Worker(settings, store, lane, lock).run()
        logger.info("%s worker ended", lane)
    return 0


def _leave(_signal: int, _frame: Any) -> None:
    raise SystemExit(0)


class Worker:
    """The loop of one worker process."""

    def __init__(self, settings: Settings, store: Store, lane: str, lock: FileLock) -> None:
        self._settings, self._store, self._lane, self._lock = settings, store, lane, lock
        self._memory = Memory()
        self._kinds = [name for name, kind in KINDS.items() if kind.lane == lane]
        self._apart: dict[str, threading.Thread] = {}  # job id -> who watches its process
        self._spare: subprocess.Popen[bytes] | None = None  # has imported everything and waits for a job
        self._wake = wake_file(settings, lane)

    def run(self) -> None:
        """Work and wait, until ``_needed`` says no."""
        _aside(self._listen)
        if self._lane == "train":
            _aside(self._warm_up)
        elif self._lane == "layout":
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
            self._wait(seen, last_work)

    def _listen(self) -> None:
        """End this worker when it is asked to, also in the middle of a job."""
        while not stop_file(self._settings, self._lane).exists():
            time.sleep(STOP_LOOK)
        _thread.interrupt_main(signal.SIGTERM)

    def _warm_up(self) -> None:
        """Import what the first run needs, so that it does not pay for it."""
        import torch

        from gadcore.detectors import detector_class
        from gadcore.detectors.nn.devices import pick_device

        torch.set_num_threads(self._settings.threads)
        self._lock.describe(pid=os.getpid(), device=(device := str(pick_device(self._settings.device))))
        detector_class("an+")
        logger.info("ready, device %s", device)

    def _work(self) -> bool:
        """Take one job up, training runs first; False when there is none."""
        self._apart = {job: thread for job, thread in self._apart.items() if thread.is_alive()}
        waiting = [row for row in self._store.jobs.queued(self._kinds) if row.id not in self._apart]
        for row in sorted(waiting, key=lambda row: not KINDS[row.kind].first):
            if self._lane == "apart":
                self._apart[row.id] = _aside(self._watch, row.id, KINDS[row.kind], self._process_for(row.id))
                return True
            with suppress(NotFound):  # its project was deleted
                carry_out(self._store, self._settings, row.id, memory=self._memory)
                ended = self._store.jobs.get(row.id)
                logger.info("%s %s %s %s", row.kind, row.id, ended.status, ended.message)
            return True
        if self._lane == "train":  # it lives whenever runs end: by themselves, cancelled or lost
            have_events_sent(self._store, self._settings)
        if self._lane == "apart" and not self._apart:  # not beside a job: the start would slow it down
            self._spare = self._spare or _spawn(self._settings)
        return False

    def _watch(self, job_id: str, kind: Kind, child: subprocess.Popen[bytes]) -> None:
        """Wait for the process that does a job; it is ended when the job is cancelled."""
        status = "failed"
        with child:
            while not _ended(child):
                with suppress(StoreError):
                    if self._store.jobs.cancelled(job_id):
                        child.kill()
                        status = "cancelled"
        reason = _death(kind, child.returncode) if status == "failed" else STOPPED
        self._store.jobs.finish(job_id, status, message=reason)  # no effect where it has said how it ended
        logger.info("%s %s ended with code %s", kind.name, job_id, child.returncode)

    def _process_for(self, job_id: str) -> subprocess.Popen[bytes]:
        """A process that does the job: the one that waits, or a new one."""
        spare, self._spare = self._spare, None
        child = spare if spare is not None and spare.poll() is None else _spawn(self._settings)
        assert child.stdin is not None
        with suppress(BrokenPipeError):  # it has just died; its exit code is told
            child.stdin.write(f"{job_id}\n".encode())
            child.stdin.flush()
        return child

    def _wait(self, seen: int, last_work: float) -> None:
        """Until there may be work; looks often after work, seldom when there has been none for a while."""
        until = time.monotonic() + LOOK
        while (moment := time.monotonic()) < until and self._stamp() == seen:
            time.sleep(min(SLOWEST, max(QUICKEST, (moment - last_work) / 50)))

    def _stamp(self) -> int:
        try:
            return self._wake.stat().st_mtime_ns
        except OSError:
            return 0

    def _needed(self, last_work: float) -> bool:
        idle = time.monotonic() - last_work
        if not self._lock.path.exists():
            return False  # the workspace folder was removed
        clients = self._lock.path.parent.glob("client-*.lock")
        return bool(self._apart) or idle < GRACE or (idle < IDLE and any(map(is_held, clients)))


def _spawn(settings: Settings) -> subprocess.Popen[bytes]:
    """A process for one job; its standard input is closed when this process ends, and it ends too."""
    command = [sys.executable, "-m", "gadcore.jobs", "job"]
    return subprocess.Popen(command, env=child_environment(settings), stdin=subprocess.PIPE)


def _ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended, after waiting for it for a moment."""
    with suppress(subprocess.TimeoutExpired):
        child.wait(CANCEL_LOOK)
    return child.returncode is not None


def _death(kind: Kind, code: int) -> str:
    """Why a process of its own that said nothing may have ended."""
    if kind.cpu_seconds is not None and code == -_TOO_LONG:
        return f"The {kind.work} took more than {kind.cpu_seconds} seconds and was ended. {kind.lighter}"
    if code == -signal.SIGKILL:
        return f"The system ended the {kind.work}, most likely because memory ran out. {kind.lighter}"
    return (
        f"The {kind.work} ended without a result (exit code {code}). Start it again; worker.log in the "
        "workspace folder says more."
    )
