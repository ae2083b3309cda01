"""What a file format declares about itself: name, endings, first bytes, what it carries, its reader."""

from __future__ import annotations

import csv
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gadcore.errors import InputError
from gadcore.ingest.graph_parts import Document, Parts, Table

_FREE_NODES = 100_000  # that any file may declare
_BYTES_PER_NODE = 256  # of id, name and row pointers: what a declared node costs at least
_BYTES_PER_CELL = 8  # of a table in memory, at least

UNREADABLE = (  # what zipfile, gzip and numpy raise on damaged archives
    *(zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, LookupError, ValueError, MemoryError),
    RuntimeError,  # a password, or a compression that zipfile does not know
)


@dataclass(frozen=True)
class FileHead:
    """The beginning of a file (512 bytes); for a zip also the names of its members."""

    start: bytes
    members: tuple[str, ...] = ()

    @property
    def text(self) -> bytes:
        """The beginning without byte order mark and white space."""
        return self.start.lstrip(b"\xef\xbb\xbf \t\r\n")


@dataclass(frozen=True)
class Limits:
    """How much may be read: bytes after unpacking, columns, and rows of a table (None = all)."""

    max_bytes: int
    max_columns: int
    rows: int | None = None

    def check_nodes(self, n: int, path: Path) -> None:
        """Refuse a small file that declares many nodes: each costs memory, also one without an edge."""
        if n * _BYTES_PER_NODE > self.max_bytes:
            raise too_large(path.name, n * _BYTES_PER_NODE, self.max_bytes)
        size = path.stat().st_size if path.is_file() else self.max_bytes  # a download is no file here
        if n > _FREE_NODES + size:
            raise InputError(
                f"{path.name} has {_size(size)} and declares {n:,} nodes",
                f"at most {_FREE_NODES:,}, and one more for every byte of the file",
                "number the nodes without gaps, or give the ids as text in a table",
            )

    def check_columns(self, n: int, file: str) -> None:
        """Refuse more columns than are allowed: every one costs time and memory."""
        if n > self.max_columns:
            raise InputError(
                f"{file} has {n:,} columns",
                f"at most {self.max_columns:,}",
                "leave out those that are not needed, or raise GAD_MAX_COLUMNS",
            )

    def check_cells(self, rows: int, columns: int, file: str) -> None:
        """Refuse a table whose cells would take more memory than the file may unpack to."""
        self.check_columns(columns, file)
        if rows * columns * _BYTES_PER_CELL > self.max_bytes:
            raise too_large(file, rows * columns * _BYTES_PER_CELL, self.max_bytes)


@dataclass(frozen=True)
class Archive:
    """A file that holds other files."""

    suffixes: tuple[str, ...]
    matches: Callable[[FileHead], bool]
    content_decides: bool = True  # as for a format


@dataclass(frozen=True)
class FileFormat:
    """One format of graph files.

    ``read`` gives one Table of several that make a graph, a Document (node and edge table), or ready Parts.
    """

    key: str  # what ``format=`` takes
    name: str  # for people
    suffixes: tuple[str, ...]
    matches: Callable[[FileHead], bool]  # whether the first bytes are of this format
    read: Callable[[Path, Limits], Table | Document | Parts]
    recognised: str  # what is recognised in such a file, in Markdown
    node_attributes: bool = True
    truth: bool = True
    tabular: bool = False  # one file is one table, and several make a graph
    previewed: bool = False  # ``peek`` shows the columns
    aliases: tuple[str, ...] = ()  # other words that ``format=`` takes
    content_decides: bool = False  # the first bytes count more than the ending


def unreadable(
    file: str, kind: str, why: object, expected: str = "a complete file", fix: str = "copy it again"
) -> InputError:
    """The error of a file that is damaged or no such file at all."""
    return InputError(f"{file} is not a readable {kind} ({why})", expected, fix)


def too_large(file: str, size: int, max_bytes: int) -> InputError:
    """The error of an archive that unpacks to more than the limit."""
    return InputError(
        f"{file} unpacks to {_size(size)} or more",
        f"at most {_size(max_bytes)}",
        "if you trust the file, raise GAD_MAX_UNPACKED (bytes)",
    )


def _size(n: int) -> str:
    for unit, worth in (("GB", 1e9), ("MB", 1e6)):
        if n >= worth:
            return f"{n / worth:,.1f} {unit}"
    return f"{n:,} bytes"


@contextmanager
def explained(file: str) -> Iterator[None]:
    """Whatever a damaged or odd file makes numpy and pandas raise comes out as an InputError."""
    try:
        yield
    except (ValueError, TypeError, LookupError, ArithmeticError, csv.Error) as error:
        raise InputError(
            f"{file} holds values that do not fit together ({type(error).__name__}: {error})",
            "values of the types and shapes that the format describes",
            "save or export it again; if it opens elsewhere, please report it",
        ) from error
