"""Files on their way to become a project: kept in a folder of their own, read by a job.

The folder's token is part of the page's address, so a reload, or a second browser, shows the same reading.

incoming/<token>/files/         what was uploaded (none for a path or a benchmark name)
incoming/<token>/request.json   what to read, what a first look found, and the job that reads it
incoming/<token>/<job>/         graph/ and truth.npy of a reading that ended well
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sqlalchemy import Row

from gadcore.access import LOCAL, Who, check
from gadcore.errors import InputError, NotAllowed, NotFound, RunError
from gadcore.graph import Graph, Truth
from gadcore.ingest import ColumnReport, Dropped, Mapping, Peek, Reading, Report, benchmark_names
from gadcore.jobs import ask, workers
from gadcore.records.versions import Changes
from gadcore.settings import Settings
from gadcore.store import LIVE, open_store
from gadcore.store.schema import now
from gadcore.workspace.updates import Update, checked_day

_STALE = 24 * 3600.0  # seconds after which a forgotten upload is thrown away
_TOKEN = re.compile(r"[0-9a-f]{16}")


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
    settings: Settings

    @property
    def token(self) -> str:
        return self.folder.name

    @property
    def request(self) -> dict[str, Any]:
        path = self.folder / "request.json"
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}

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
        """How the reading stands now."""
        row = self._row()
        if row is None:
            return State("waiting")
        if row.status in LIVE:
            return State("reading", row.progress.get("stage", ""), (now() - row.created_at).total_seconds())
        return State("done") if row.status == "done" else State("failed", error=row.message)

    def look(self) -> Peek:
        """Columns and format of the files, by a process of its own; it looks once.

        InputError where they cannot be read. Files are never opened in the process that shows pages.
        """
        seen = self.request.get("peek")
        if seen is None:
            try:
                seen = ask.result_of(self.settings, ask.ask(self.settings, "look", {"source": self.source}))
            except RunError as error:
                raise InputError(str(error)) from error
            self.write(peek=seen)
        return Peek.from_json(seen)

    def start(self, mapping: Mapping | None) -> None:
        """Have the files read; an earlier reading of them is thrown away."""
        self.forget()
        asked: dict[str, Any] = {"folder": str(self.folder), "source": self.source}
        asked["mapping"] = mapping.as_json() if mapping else None
        self.write(job=ask.ask(self.settings, "reading", asked))

    def start_update(self, project_id: str, way: str, as_of: str) -> None:
        """Have the files read as the next version of a project's graph."""
        day = checked_day(as_of)
        self.forget()
        self.write(update={"project": project_id, "way": way, "as_of": day})
        asked = {"folder": str(self.folder), "source": self.source, "way": way}
        self.write(job=ask.ask(self.settings, "updating", asked, project_id))

    def update(self) -> Update:
        """What was read for a project, ready to be stored."""
        asked, found = self.request["update"], self._done().result
        changes, parent = Changes(**found["changes"]), found["parent"]
        path, way, as_of = Path(self.source), asked["way"], asked["as_of"]
        return Update(self.reading(), changes, parent, way, path, None, as_of=as_of)

    def forget(self) -> None:
        """Throw the reading away, but not the files; one under way is stopped."""
        row, jobs = self._row(), open_store(self.settings).jobs
        if row is not None:
            jobs.cancel(row.id)
            jobs.remove(row.id)  # its process ends as soon as it is gone
            shutil.rmtree(self.folder / row.id, ignore_errors=True)
        self.write(job=None)

    def discard(self) -> None:
        """Stop reading and delete the files."""
        self.forget()
        shutil.rmtree(self.folder, ignore_errors=True)

    def report(self) -> Report:
        """The preflight report of a reading that ended well."""
        data = dict(self._done().result)
        data = dict(data.get("report", data))  # of an update it is beside what changes
        columns = [ColumnReport(**column) for column in data.pop("columns")]
        dropped = [Dropped(**row) for row in data.pop("dropped")]
        return Report(columns=columns, dropped=dropped, **data)

    def reading(self) -> Reading:
        """The graph with its report, memory-mapped: ready for Workspace.create."""
        folder = self.folder / self._done().id
        truth = folder / "truth.npy"
        known = Truth(np.load(truth, allow_pickle=False)) if truth.exists() else None
        return Reading(Graph.load(folder / "graph"), self.report(), known)

    def _row(self) -> Row[Any] | None:
        with suppress(NotFound):
            job = self.request.get("job")
            return ask.look(self.settings, job) if job else None
        return None

    def _done(self) -> Row[Any]:
        row = self._row()
        if row is None or row.status != "done":
            raise InputError("files that are not read", fix="read them again")
        return row

    def write(self, **changes: Any) -> None:
        """Change fields of the request, so that a reader never sees half of it."""
        part = self.folder / f"request.{os.getpid()}.tmp"  # no .part: a sweep is for jobs
        part.write_text(json.dumps({**self.request, **changes}), encoding="utf-8")
        part.replace(self.folder / "request.json")


def receive(files: list[tuple[str, BinaryIO]], settings: Settings, who: Who = LOCAL) -> Incoming:
    """Keep uploaded files, copied in pieces; one file is read alone, several as a folder."""
    check(who, "projects.create")
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


def name_source(source: str, settings: Settings, who: Who = LOCAL) -> Incoming:
    """Prepare to read a path on the server or a benchmark by name; nothing is copied.

    With a login, a path must lie below one of the folders that the settings name.
    """
    check(who, "paths")
    if who.is_login and source.strip() not in benchmark_names(settings):
        _check_folder(Path(source.strip()).expanduser().resolve(), settings.folders)
    incoming = _new(settings)
    incoming.write(source=source.strip(), title=source.strip())
    return incoming


def _check_folder(path: Path, folders: tuple[Path, ...]) -> None:
    """NotAllowed for a path outside the folders; links have been followed."""
    if not any(path.is_relative_to(folder.resolve()) for folder in folders):
        named = ", ".join(map(str, folders)) or "none is named: set GAD_FOLDERS"
        raise NotAllowed(f"{path} is not below a folder whose files may be read ({named}).")


def find(token: str | None, settings: Settings) -> Incoming | None:
    """The folder with this token, or None when there is none (any more)."""
    if not token or not _TOKEN.fullmatch(token):
        return None
    folder = settings.home / "incoming" / token
    return Incoming(folder, settings) if (folder / "request.json").exists() else None


def _new(settings: Settings) -> Incoming:
    base = settings.home / "incoming"
    base.mkdir(parents=True, exist_ok=True)
    for old in base.iterdir():
        if time.time() - old.stat().st_mtime > _STALE:
            Incoming(old, settings).discard()
    folder = base / secrets.token_hex(8)
    folder.mkdir()
    workers.start(settings, "apart")  # it gets ready while somebody looks at the columns
    return Incoming(folder, settings)
