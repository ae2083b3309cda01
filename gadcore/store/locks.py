"""Locks that the operating system frees when their holder ends, however it ends.

A pid in a file can outlive its process and be given to another; a held lock cannot. The file also
carries a little JSON about its holder, for people and for ``read_holder``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Self

TRIES, PAUSE = 15, 0.02  # of taking a lock; seconds between them

if sys.platform == "win32":
    import msvcrt

    def _lock(fd: int, shared: bool) -> None:
        os.lseek(fd, 1 << 30, os.SEEK_SET)  # beyond the text, which stays readable
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(fd: int, shared: bool) -> None:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class FileLock:
    """An exclusive lock on a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self, **holder: Any) -> bool:
        """Take the lock and write who holds it; False when another holds it.

        Tried for a moment, because somebody may just be looking whether it is held.
        """
        for _ in range(TRIES):
            if self._take():
                self.describe(pid=os.getpid(), **holder)
                return True
            time.sleep(PAUSE)
        return False

    def _take(self) -> bool:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(fd, shared=False)
            current = os.path.samestat(os.fstat(fd), os.stat(self.path))
        except OSError:
            current = False
        if not current:  # held by another, or the file was removed by its last holder meanwhile
            os.close(fd)
            return False
        self._fd = fd
        return True

    def describe(self, **holder: Any) -> None:
        """Replace the JSON in the file of a held lock."""
        if self._fd is None:
            return
        text = json.dumps(holder).encode()
        os.lseek(self._fd, 0, os.SEEK_SET)
        os.write(self._fd, text)
        os.ftruncate(self._fd, len(text))

    def release(self) -> None:
        """Give the lock back and remove its file."""
        if self._fd is not None:
            self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock."""
    try:
        fd = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(fd, shared=True)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def read_holder(path: Path) -> dict[str, Any]:
    """What the holder wrote about itself; empty when there is nothing readable."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
