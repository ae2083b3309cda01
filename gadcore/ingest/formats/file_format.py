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
    """How much may be read: bytes after unpacking, and rows of a table (None = all)."""

    max_bytes: int
    rows: int | None = None


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
