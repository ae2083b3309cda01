"""A folder that brings data: files are taken as they appear, once each, in the order of their time.

A file is taken when it did not change between two looks, so that one that is still being written waits.
Tables of nodes come before tables of links that arrived with them. What is in a file decides whether it was
taken before, not its name. What cannot be taken is moved to the subfolder "aside", with the reason beside it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from pathlib import Path

from gadcore.errors import GadError, InputError, Unavailable
from gadcore.ingest import formats, peek
from gadcore.records.versions import Changes
from gadcore.store.given import sha256_of
from gadcore.workspace.door import Workspace

ASIDE = "aside"
_UNFINISHED = (".part", ".tmp", ".crdownload", ".filepart")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Look = dict[Path, tuple[int, int]]  # size and time of change


@dataclass(frozen=True)
class Arrived:
    """What became of a file: the version that it made, or why it was put aside."""

    name: str
    version: int | None
    told: str


@dataclass
class FolderWatch:
    """Takes the files of one folder into one project."""

    workspace: Workspace
    folder: Path
    retrain: bool | None = None
    before: Look = field(default_factory=dict)  # what was there at the last look
    done: Look = field(default_factory=dict)  # files that need no more looking at

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InputError(f"there is no folder {self.folder}", fix="make it, or check the path")

    def look(self) -> Iterator[Arrived]:
        """Take the files that have not changed since the last look, one after the other."""
        seen = ((path, _stamp(path)) for path in self.folder.iterdir() if _is_data(path))
        now = {path: stamp for path, stamp in seen if stamp is not None}
        still = [path for path, stamp in now.items() if self.before.get(path) == stamp]
        self.before = now
        waiting = [path for path in still if self.done.get(path) != now[path]]
        for path in self._in_order(waiting, now):
            found = self._take(path)
            self.done[path] = now[path]
            if found is not None:
                yield found

    def _in_order(self, paths: list[Path], now: Look) -> list[Path]:
        """Tables of nodes first, then by time."""
        source = (self.workspace.graph.extra.get("mapping") or {}).get("source")
        return sorted(paths, key=lambda path: (_has_links(path, source), now[path][1], path.name))

    def _take(self, path: Path) -> Arrived | None:
        """Take a file; None where it was taken before, or is gone."""
        workspace = self.workspace
        try:
            sha256 = sha256_of(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            return self._put_aside(path, "", f"The file cannot be read ({error.strerror}).")
        if workspace.data.arrived(sha256):
            return None
        try:
            update = workspace.data.preview(path, as_of=_day_in(path.name))
            version = workspace.data.store(update, arrival=(sha256, path.name), retrain=self.retrain)
        except Unavailable:
            raise  # it comes again
        except GadError as error:
            return self._put_aside(path, sha256, str(error))
        return Arrived(path.name, version.number, Changes(**version.changes).summary)

    def _put_aside(self, path: Path, sha256: str, reason: str) -> Arrived:
        target = _free(self.folder / ASIDE / path.name)
        target.parent.mkdir(exist_ok=True)
        shutil.move(path, target)
        target.with_name(f"{target.name}.reason.txt").write_text(reason + "\n", encoding="utf-8")
        if sha256:
            self.workspace.data.refused(sha256, path.name, reason)
        return Arrived(path.name, None, reason)


def _is_data(path: Path) -> bool:
    hidden = path.name.startswith((".", "~")) or path.name.endswith(_UNFINISHED)
    return path.is_file() and not hidden and path.name.lower().endswith(tuple(formats.suffixes()))


def _stamp(path: Path) -> tuple[int, int] | None:
    """Size and time of change; None where the file is gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_size, found.st_mtime_ns


def _day_in(name: str) -> str:
    """The day that the name of a file tells; "" for none, and for what only looks like one."""
    found = _DAY.search(name)
    try:
        return date.fromisoformat(found[0]).isoformat() if found else ""
    except ValueError:
        return ""


def _free(path: Path) -> Path:
    """This path, or the next one of its kind that no file has: what was put aside before stays."""
    names = (path.with_name(f"{path.stem}-{k}{path.suffix}") for k in count(2))
    return path if not path.exists() else next(name for name in names if not name.exists())


def _has_links(path: Path, source: str | None) -> bool:
    """Whether a file has links; ``source`` is the column that they had at the import."""
    try:
        found = peek(path)
    except (GadError, OSError):
        return True  # what is wrong with it is told when it is taken
    return found.guess.source is not None or source in (*found.edge_columns, *found.node_columns)
