"""What other processes of this machine use: CPU and memory, as Linux tells."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS, _PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far; 0 of one that has ended."""
    fields = _fields(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS if fields else 0.0


def resident_bytes(pid: int) -> int:
    """Memory of a process; 0 of one that has ended."""
    fields = _fields(pid)
    return int(fields[21]) * _PAGE if fields else 0


def descendants(pid: int, word: str) -> list[int]:
    """Processes below one whose command line has a word in it."""
    found = []
    for child in (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()):
        fields = _fields(child)
        if fields and int(fields[1]) == pid:
            found += [child] * (word in _command(child)) + descendants(child, word)
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")
    except OSError:
        return ""


def _fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, which may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []
