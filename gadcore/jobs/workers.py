"""The worker processes of a workspace folder, as the app sees them: start, wake, ask, stop.

Three lanes, at most one worker each per GAD_HOME. ``train`` holds torch, graphs and the last models.
``layout`` draws UMAP and t-SNE maps at low priority, so that a map never delays a training run. ``apart``
gives every job a process of its own, which it can end in the middle of anything; one such process waits
ready, so that a small file is not slower to read than the libraries are to import.

Every process that starts or uses a worker holds a client lock. A worker ends a little after its last
client has ended, or after a long time without work. Only a process that was started here is ever sent a
signal; any other is asked by a file. This module imports nothing heavy.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from gadcore.settings import Settings, child_environment
from gadcore.store import FileLock, Folders, is_held, read_holder

LANES = ("train", "layout", "apart")
LOG_LIMIT = 2_000_000  # bytes; the log begins anew beyond it
STOP_SECONDS = 5.0
PAUSE = 2.0  # seconds between births: a worker that dies at once is not born in a loop

_GUARD = threading.Lock()
_STARTED: dict[tuple[Path, str], subprocess.Popen[bytes]] = {}
_BORN: dict[tuple[Path, str], float] = {}
_CLIENTS: dict[Path, FileLock] = {}


def call(settings: Settings, lane: str) -> None:
    """Start the worker of a lane if there is none, and tell it that there is work; returns at once."""
    start(settings, lane)
    wake(settings, lane)


def start(settings: Settings, lane: str = "train") -> None:
    """Make sure that a worker lives or is being born; returns at once."""
    with _GUARD:
        _register(settings.home)
        _ensure(settings, lane)


def pass_on(settings: Settings, lane: str) -> None:
    """As ``call``, by a worker: it ends when its own work is done, so it is no client of another."""
    with _GUARD:
        _ensure(settings, lane)
    wake(settings, lane)


def _ensure(settings: Settings, lane: str) -> None:
    key = (settings.home, lane)
    known = _STARTED.get(key)
    if known is not None and (known.poll() is None or time.monotonic() - _BORN[key] < PAUSE):
        return
    if not is_held(worker_lock(settings, lane)):
        _STARTED[key], _BORN[key] = _spawn(settings, lane), time.monotonic()


def wake(settings: Settings, lane: str = "train") -> None:
    """Tell a waiting worker that there is work; it looks within a tenth of a second."""
    path = wake_file(settings, lane)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(time.time_ns()), encoding="utf-8")


def state(settings: Settings, lane: str = "train") -> dict[str, Any]:
    """``alive``, ``device`` (once torch is loaded), ``pid``."""
    lock = worker_lock(settings, lane)
    alive = is_held(lock)
    told = read_holder(lock) if alive else {}
    return {"alive": alive, "device": told.get("device"), "pid": told.get("pid")}


def stop(settings: Settings) -> None:
    """End the workers of a workspace folder and wait until they have ended."""
    for lane in LANES:
        with _GUARD:
            own = _STARTED.pop((settings.home, lane), None)
        if own is not None and own.poll() is None:
            own.terminate()
        elif is_held(worker_lock(settings, lane)):
            stop_file(settings, lane).touch()  # another process's child: it is asked, not signalled
        _await_end(own, worker_lock(settings, lane))
    with _GUARD:
        client = _CLIENTS.pop(settings.home, None)
    if client is not None:
        client.release()


def worker_lock(settings: Settings, lane: str) -> Path:
    return Folders(settings.home).lock(f"worker-{lane}")


def wake_file(settings: Settings, lane: str) -> Path:
    return settings.home / "locks" / f"wake-{lane}"


def stop_file(settings: Settings, lane: str) -> Path:
    return settings.home / "locks" / f"stop-{lane}"


def _register(home: Path) -> None:
    if home not in _CLIENTS:
        lock = FileLock(Folders(home).lock(f"client-{os.getpid()}"))
        if lock.acquire():
            _CLIENTS[home] = lock


def _spawn(settings: Settings, lane: str) -> subprocess.Popen[bytes]:
    log = Folders(settings.home).log
    log.parent.mkdir(parents=True, exist_ok=True)
    fresh = log.exists() and log.stat().st_size > LOG_LIMIT
    with log.open("wb" if fresh else "ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "gadcore.jobs", lane],
            env=child_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C at the app ends the app; the worker follows in its own time
        )


def _await_end(own: subprocess.Popen[bytes] | None, lock: Path) -> None:
    deadline = time.monotonic() + STOP_SECONDS
    while is_held(lock) and time.monotonic() < deadline:
        time.sleep(0.02)
    if own is not None:
        try:
            own.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            own.kill()
            own.wait()
