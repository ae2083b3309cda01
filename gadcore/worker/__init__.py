"""The worker processes of a workspace folder, as the app sees them: start, wake, ask, stop.

Two roles, at most one process each per GAD_HOME: ``train`` holds torch, graphs and the last models;
``layout`` draws UMAP and t-SNE maps at low priority, so that a map never delays a training run.

Every process that starts or uses a worker holds a client lock. A worker ends a little after its last
client has ended, or after a long time without work. This module imports nothing heavy.
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

ROLES = ("train", "layout")
LOG_LIMIT = 2_000_000  # bytes; the log begins anew beyond it
STOP_SECONDS = 5.0
PAUSE = 2.0  # seconds between births: a worker that dies at once is not born in a loop

_GUARD = threading.Lock()
_STARTED: dict[tuple[Path, str], subprocess.Popen[bytes]] = {}
_BORN: dict[tuple[Path, str], float] = {}
_CLIENTS: dict[Path, FileLock] = {}


def start(settings: Settings, role: str = "train") -> None:
    """Make sure that a worker lives or is being born; returns at once."""
    with _GUARD:
        _register(settings.home)
        key = (settings.home, role)
        known = _STARTED.get(key)
        if known is not None and (known.poll() is None or time.monotonic() - _BORN[key] < PAUSE):
            return
        if not is_held(worker_lock(settings, role)):
            _STARTED[key], _BORN[key] = _spawn(settings, role), time.monotonic()


def wake(settings: Settings, role: str = "train") -> None:
    """Tell a waiting worker that there is work; it looks within a few hundredths of a second."""
    path = wake_file(settings, role)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(time.time_ns()), encoding="utf-8")


def state(settings: Settings, role: str = "train") -> dict[str, Any]:
    """``alive``, ``ready`` (heavy imports are done), ``busy``, ``device``, ``pid``."""
    lock = worker_lock(settings, role)
    alive = is_held(lock)
    told = read_holder(lock) if alive else {}
    return {
        "alive": alive,
        "ready": bool(told.get("ready")),
        "busy": bool(told.get("busy")),
        "device": told.get("device"),
        "pid": told.get("pid"),
    }


def stop(settings: Settings) -> None:
    """End the workers of a workspace folder and wait until they have ended."""
    for role in ROLES:
        lock = worker_lock(settings, role)
        with _GUARD:
            own = _STARTED.pop((settings.home, role), None)
        if own is not None and own.poll() is None:
            own.terminate()
        elif is_held(lock) and (pid := read_holder(lock).get("pid")):
            _terminate(int(pid))
        _await_end(own, lock)
    with _GUARD:
        client = _CLIENTS.pop(settings.home, None)
    if client is not None:
        client.release()


def worker_lock(settings: Settings, role: str) -> Path:
    return Folders(settings.home).lock(f"worker-{role}")


def wake_file(settings: Settings, role: str) -> Path:
    return settings.home / "locks" / f"wake-{role}"


def _register(home: Path) -> None:
    if home not in _CLIENTS:
        lock = FileLock(Folders(home).lock(f"client-{os.getpid()}"))
        if lock.acquire():
            _CLIENTS[home] = lock


def _spawn(settings: Settings, role: str) -> subprocess.Popen[bytes]:
    log = Folders(settings.home).log
    log.parent.mkdir(parents=True, exist_ok=True)
    fresh = log.exists() and log.stat().st_size > LOG_LIMIT
    with log.open("wb" if fresh else "ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "gadcore.worker", role],
            env=child_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C at the app ends the app; the worker follows in its own time
        )


def _terminate(pid: int) -> None:
    try:
        os.kill(pid, 15)
    except (ProcessLookupError, PermissionError):
        return


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
