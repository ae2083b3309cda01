"""Folders, .zip and .gz: the files inside, unpacked into a scratch folder under one byte limit."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from gadcore.errors import InputError
from gadcore.ingest.mapping import MAPPING_FILE
from gadcore.ingest.matrices import too_large
from gadcore.ingest.sniff import FORMATS, UNREADABLE, sniff

_CHUNK = 1 << 20
_MAX_FILES = 1_000
_MAX_DEPTH = 3  # archives within archives
_NOT_DATA = ("readme", "license", "licence", "changelog", "notice", "requirements")


@dataclass
class Unpacker:
    """Unpacks into ``scratch``; all archives of one reading share the limit of ``max_bytes``."""

    scratch: Path
    max_bytes: int
    used: int = 0
    mapping_files: list[Path] = field(default_factory=list)

    def files(self, path: Path, depth: int = 0) -> list[Path]:
        """The graph files of a file, folder or archive, in the order of their names."""
        if depth > _MAX_DEPTH:
            raise InputError(f"{path.name} is an archive in an archive in an archive", "the files themselves")
        if path.is_dir():
            return self._folder(path, depth)
        if not path.exists():
            raise InputError(
                f"there is no file or folder {str(path)!r}",
                "an existing path, or the name of a benchmark graph such as 'cora'",
            )
        kind = sniff(path)
        if kind == "zip":
            return self._folder(self._unzip(path), depth + 1, inside=path.name)
        if kind == "gz":
            return self.files(self._gunzip(path), depth + 1)
        return [path]

    def _folder(self, folder: Path, depth: int, inside: str | None = None) -> list[Path]:
        every = sorted(p for p in folder.rglob("*") if p.is_file() and _visible(p.relative_to(folder)))
        if len(every) > _MAX_FILES:
            raise InputError(f"{folder.name} holds more than {_MAX_FILES:,} files", "one graph")
        self.mapping_files += [p for p in every if p.name == MAPPING_FILE]
        data = [p for p in every if _is_data(p)]
        if not data:
            found = ", ".join(p.name for p in every[:8]) or "nothing"
            raise InputError(
                f"{inside or folder.name} holds no graph file (found: {found})",
                "an edge table, or one file in a graph format",
            )
        return [file for p in data for file in self.files(p, depth)]

    def _unzip(self, path: Path) -> Path:
        target = self._place(path)
        target.mkdir()
        try:
            with zipfile.ZipFile(path) as archive:
                members = [m for m in archive.infolist() if not m.is_dir() and _visible(Path(m.filename))]
                if len(members) > _MAX_FILES:
                    raise InputError(f"{path.name} holds more than {_MAX_FILES:,} files", "one graph")
                self._refuse_over(path, sum(m.file_size for m in members))
                for number, member in enumerate(members):
                    # A member's own folders are not recreated: no name can lead out of the scratch folder.
                    spot = target / f"{number:04d}" / Path(member.filename.replace("\\", "/")).name
                    spot.parent.mkdir()
                    with archive.open(member) as packed:
                        self._copy(packed, spot, path)
        except UNREADABLE as error:
            raise _broken(path, error) from error
        return target

    def _gunzip(self, path: Path) -> Path:
        target = self._place(path)
        target.mkdir()
        name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
        try:
            with gzip.open(path, "rb") as packed:
                self._copy(packed, target / name, path)
        except UNREADABLE as error:
            raise _broken(path, error) from error
        if name.lower().endswith(".tar") or path.suffix.lower() == ".tgz":
            raise InputError(
                f"{path.name} is a tar archive", "a .zip, a .gz of one file, or a folder", "unpack it first"
            )
        return target / name

    def _copy(self, packed: IO[bytes] | gzip.GzipFile, spot: Path, source: Path) -> None:
        """Copy in chunks and count what really comes out, whatever the archive's header says."""
        with spot.open("wb") as out:
            while chunk := packed.read(_CHUNK):
                self._refuse_over(source, len(chunk))
                self.used += len(chunk)
                out.write(chunk)

    def _refuse_over(self, path: Path, more: int) -> None:
        if self.used + more > self.max_bytes:
            shutil.rmtree(self.scratch, ignore_errors=True)
            raise too_large(path.name, self.used + more, self.max_bytes)

    def _place(self, path: Path) -> Path:
        return self.scratch / f"{len(list(self.scratch.iterdir())):03d}-{path.stem}"


def _broken(path: Path, error: Exception) -> InputError:
    return InputError(
        f"{path.name} cannot be unpacked ({error or type(error).__name__})",
        "a complete archive without a password",
        "copy or download it again",
    )


def _visible(relative: Path) -> bool:
    return not any(part.startswith((".", "__MACOSX")) and part != ".." for part in relative.parts)


def _is_data(path: Path) -> bool:
    if path.name == MAPPING_FILE or path.stem.lower().startswith(_NOT_DATA):
        return False
    return path.suffix.lower() in FORMATS
