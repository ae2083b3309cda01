"""Folders, .zip and .gz: the files inside, unpacked into a scratch folder under one byte limit."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO

from gadcore.errors import InputError, UsageError
from gadcore.ingest import formats
from gadcore.ingest.formats.file_format import UNREADABLE, Archive, FileFormat, too_large
from gadcore.ingest.mapping import MAPPING_FILE, Mapping, load_mapping

_CHUNK = 1 << 20
_MAX_FILES = 1_000
_MAX_DEPTH = 3  # archives within archives
_NOT_DATA = ("readme", "license", "licence", "changelog", "notice", "requirements")

PathLike = str | Path
Files = dict[Path, FileFormat]


@dataclass(frozen=True)
class Source:
    """Files to read with their formats, those given as edge tables apart, and the mapping beside them."""

    files: Files
    edge_files: Files
    mapping: Mapping
    passed_over: Sequence[str] = ()  # names of files beside them that no reader takes

    @property
    def every(self) -> Files:
        return self.files | self.edge_files

    @property
    def tabular(self) -> bool:
        """Whether all files are tables."""
        return all(found.tabular for found in self.every.values())

    @property
    def table_format(self) -> str:
        """Name of a format of tables, by the endings of their files."""
        endings = sorted({f.suffix.lower().lstrip(".") or "text" for f in self.every})
        return "/".join(endings) + (" tables" if len(self.every) > 1 else " table")


@contextmanager
def unpacked(path: Path, edges: PathLike | None, max_bytes: int, word: str | None = None) -> Iterator[Source]:
    """The files at a path; what is unpacked from archives is deleted in the end.

    ``word`` names the format of a single file.
    """
    with tempfile.TemporaryDirectory(prefix="ringfence-") as scratch:
        unpacker = Unpacker(Path(scratch), max_bytes)
        files = unpacker.files(path)
        edge_files = {} if edges is None else unpacker.files(Path(edges))
        if word is not None and len(files) == 1:
            files, edge_files = (dict.fromkeys(f, formats.named(word)) for f in (files, edge_files))
        beside = unpacker.mapping_files
        mapping = load_mapping(beside[0]) if beside else Mapping()
        yield Source(files, edge_files, mapping, unpacker.passed_over)


@dataclass
class Unpacker:
    """Unpacks into ``scratch``; all archives of one reading share the limit of ``max_bytes``."""

    scratch: Path
    max_bytes: int
    used: int = 0
    mapping_files: list[Path] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)

    def files(self, path: Path, depth: int = 0) -> Files:
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
        if not path.is_file():  # opening a pipe waits until somebody writes into it
            raise InputError(
                f"{path} is a pipe, a socket or a device", "a file or folder", "copy it to a file"
            )
        found = formats.sniff(path)
        if not isinstance(found, Archive):
            return {path: found}
        if found is formats.GZIP:
            return self.files(self._gunzip(path), depth + 1)
        return self._folder(self._unzip(path), depth + 1, inside=path.name)

    def _folder(self, folder: Path, depth: int, inside: str | None = None) -> Files:
        every = sorted(islice(_files_below(folder), _MAX_FILES + 1))
        if len(every) > _MAX_FILES:
            raise UsageError(f"{folder} holds more than {_MAX_FILES:,} files. Expected: those of one graph.")
        self.mapping_files += [p for p in every if p.name == MAPPING_FILE]
        self.passed_over += [p.name for p in every if not _is_data(p) and p.name != MAPPING_FILE]
        files = {file: kind for p in every if _is_data(p) for file, kind in self.files(p, depth).items()}
        if not files:
            found = ", ".join(p.name for p in every[:8]) or "nothing"
            where = inside or folder.name
            raise InputError(f"{where} holds no graph file (found: {found})", formats.readable())
        return files

    def _unzip(self, path: Path) -> Path:
        target = self._place(path)
        with _explained(path), zipfile.ZipFile(path) as archive:
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
        return target

    def _gunzip(self, path: Path) -> Path:
        name = path.name[:-3] if path.suffix.lower() == ".gz" else path.name
        target = self._place(path) / name
        with _explained(path), gzip.open(path, "rb") as packed:
            self._copy(packed, target, path)
        if name.lower().endswith(".tar") or path.suffix.lower() == ".tgz":
            raise InputError(
                f"{path.name} is a tar archive", "a .zip, a .gz of one file, or a folder", "unpack it first"
            )
        return target

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
        target = self.scratch / f"{len(list(self.scratch.iterdir())):03d}-{path.stem}"
        target.mkdir()
        return target


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except UNREADABLE as error:
        raise InputError(
            f"{path.name} cannot be unpacked ({error or type(error).__name__})",
            "a complete archive without a password",
            "copy or download it again",
        ) from error


def _files_below(folder: Path) -> Iterator[Path]:
    """Files that are not hidden, in no order; what may not be looked at is passed over."""
    for top, _, names in os.walk(folder):
        for path in (Path(top) / name for name in names):
            if os.path.isfile(path) and _visible(path.relative_to(folder)):
                yield path


def _visible(relative: Path) -> bool:
    return not any(part.startswith((".", "__MACOSX")) and part != ".." for part in relative.parts)


def _is_data(path: Path) -> bool:
    if path.name == MAPPING_FILE or path.stem.lower().startswith(_NOT_DATA):
        return False
    return path.suffix.lower() in formats.suffixes()
