"""Files on their way to become a project: kept in a folder of their own, read by a process of their own.

A large or broken file costs that process its time and memory, not the server its other users. The folder's
token is part of the page's address, so a reload, or a second browser, shows the same reading.

incoming/<token>/files/         what was uploaded (none for a path or a benchmark name)
incoming/<token>/request.json   what to read, with which mapping
incoming/<token>/stage.json     what the process does, since when
incoming/<token>/graph/, truth.npy, report.json     written when the reading ended well
incoming/<token>/error.json     why it did not
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gadcore.errors import GadError, InputError
from gadcore.graph import Graph, Truth
from gadcore.ingest import ColumnReport, Dropped, Mapping, Reading, Report, read
from gadcore.records import as_json
from gadcore.settings import Settings, import_environment

_STALE = 24 * 3600.0  # seconds after which a forgotten upload is thrown away
_TOKEN = re.compile(r"[0-9a-f]{16}")
_processes: dict[str, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class State:
    """Where a reading stands: one of waiting, reading, done, failed."""

    kind: str
    stage: str = ""
    seconds: float = 0.0
    error: str = ""


@dataclass(frozen=True)
class Incoming:
    """One folder of incoming/, by its token."""

    folder: Path

    @property
    def token(self) -> str:
        return self.folder.name

    @property
    def request(self) -> dict[str, Any]:
        return dict(_load(self.folder / "request.json") or {})

    @property
    def source(self) -> str:
        """Path or benchmark name to read."""
        return str(self.request["source"])

    @property
    def size(self) -> int:
        """Bytes to read, as far as they are files here."""
        path = Path(self.source)
        parts = [path] if path.is_file() else list(path.rglob("*")) if path.is_dir() else []
        return sum(part.stat().st_size for part in parts if part.is_file())

    def state(self) -> State:
        """What the folder and its process say now."""
        stage = _load(self.folder / "stage.json") or {}
        seconds = time.time() - float(stage.get("since", time.time()))
        if (self.folder / "report.json").exists():
            return State("done")
        failed = _load(self.folder / "error.json")
        if failed:
            return State("failed", error=str(failed["message"]))
        if not stage:
            return State("waiting")
        if not self._alive(int(stage.get("pid", 0))):
            return State("failed", error=self._death())
        return State("reading", str(stage.get("stage", "")), seconds)

    def _alive(self, pid: int) -> bool:
        process = _processes.get(self.token)
        if process is not None:
            return process.poll() is None
        try:
            os.kill(pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return pid > 0

    def _death(self) -> str:
        process = _processes.get(self.token)
        code = process.returncode if process is not None else None
        if code == -signal.SIGKILL:
            return (
                "The system ended the reading, most likely because memory ran out. Read a smaller file, "
                "ignore columns that are not needed, or use a machine with more memory."
            )
        return (
            f"The reading ended without a result (exit code {code}). Try again; the server's log says more."
        )

    def start(self, mapping: Mapping | None) -> None:
        """Read in a process of its own; an earlier reading of the same files is thrown away."""
        self.stop()
        for name in ("report.json", "error.json", "truth.npy", "stage.json"):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / "graph", ignore_errors=True)
        self.write(mapping=mapping.as_json() if mapping else None)
        process = subprocess.Popen(
            [sys.executable, "-m", "pages.home.reading", str(self.folder)],
            env=import_environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        _processes[self.token] = process
        _store(self.folder / "stage.json", {"stage": "starting", "pid": process.pid, "since": time.time()})

    def stop(self) -> None:
        """End the process, if one is at work."""
        process = _processes.pop(self.token, None)
        if process is not None and process.poll() is None:
            process.kill()
            process.wait()

    def discard(self) -> None:
        """Stop reading and delete the files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def write(self, **changes: Any) -> None:
        """Change fields of the request."""
        _store(self.folder / "request.json", {**self.request, **changes})

    def report(self) -> Report:
        """The preflight report of a reading that ended well."""
        data = _load(self.folder / "report.json") or {}
        columns = [ColumnReport(**column) for column in data.pop("columns")]
        dropped = [Dropped(**row) for row in data.pop("dropped")]
        return Report(columns=columns, dropped=dropped, **data)

    def reading(self) -> Reading:
        """The graph with its report, memory-mapped: ready for Workspace.create."""
        truth = self.folder / "truth.npy"
        known = Truth(np.load(truth, allow_pickle=False)) if truth.exists() else None
        return Reading(Graph.load(self.folder / "graph"), self.report(), known)


def receive(files: list[tuple[str, BinaryIO]], settings: Settings) -> Incoming:
    """Keep uploaded files, copied in pieces; one file is read alone, several as a folder."""
    incoming = _new(settings)
    target = incoming.folder / "files"
    target.mkdir()
    for name, stream in files:
        path = target / (Path(name.replace("\\", "/")).name or "upload")
        if path.exists():
            incoming.discard()
            raise InputError(f"two files are called {path.name!r}", "different names", "rename one of them")
        with path.open("wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
    whole = target if len(files) > 1 else target / next(target.iterdir()).name
    incoming.write(source=str(whole), title=files[0][0])
    return incoming


def name_source(source: str, settings: Settings) -> Incoming:
    """Prepare to read a path on the server or a benchmark by name; nothing is copied."""
    incoming = _new(settings)
    incoming.write(source=source.strip(), title=source.strip())
    return incoming


def find(token: str | None, settings: Settings) -> Incoming | None:
    """The folder with this token, or None when there is none (any more)."""
    if not token or not _TOKEN.fullmatch(token):
        return None
    folder = settings.home / "incoming" / token
    return Incoming(folder) if (folder / "request.json").exists() else None


def _new(settings: Settings) -> Incoming:
    base = settings.home / "incoming"
    base.mkdir(parents=True, exist_ok=True)
    for old in base.iterdir():
        if time.time() - old.stat().st_mtime > _STALE:
            Incoming(old).discard()
    folder = base / secrets.token_hex(8)
    folder.mkdir()
    return Incoming(folder)


def _load(path: Path) -> dict[str, Any] | None:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def _store(path: Path, data: dict[str, Any]) -> None:
    """Write JSON so that a reader never sees half of it."""
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(data), encoding="utf-8")
    part.replace(path)


def _read(folder: Path) -> None:
    """Body of the reading process."""
    incoming = Incoming(folder)
    mapping = incoming.request.get("mapping")
    _tell(folder, "reading")
    reading = read(incoming.source, mapping=Mapping.from_json(mapping) if mapping else None)
    _tell(folder, "storing")
    reading.graph.save(folder / "graph")
    if reading.truth is not None:
        np.save(folder / "truth.npy", reading.truth.y)
    _store(folder / "report.json", as_json(reading.report))


def _tell(folder: Path, stage: str) -> None:
    since = (_load(folder / "stage.json") or {}).get("since", time.time())
    _store(folder / "stage.json", {"stage": stage, "pid": os.getpid(), "since": since})


def main(folder: Path) -> int:
    """Read what the folder's request names; leave a report or the reason."""
    try:
        _read(folder)
    except GadError as error:
        _store(folder / "error.json", {"message": str(error)})
        return 1
    except MemoryError:
        _store(folder / "error.json", {"message": "Memory ran out. Read a smaller file or ignore columns."})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
