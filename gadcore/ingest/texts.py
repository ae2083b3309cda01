"""The text of a file as UTF-8, looked at in pieces: a large file is never in memory as a whole."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gadcore.errors import InputError
from gadcore.graph.mapped import MappedFile, Release, nothing_to_release

_PIECE = 1 << 24
_TAIL = 1 << 16
_START = 4096  # bytes that show whether a text without BOM is UTF-16
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")  # what no text has
_CP1252 = "cp1252"  # what Excel writes in Western Europe and America


@dataclass(frozen=True)
class Text:
    """UTF-8 text without BOM."""

    buffer: Any  # pyarrow buffer: of the mapped file, or of a part of it in memory
    quotes: int = 0  # double quotes in it
    release: Release = nothing_to_release
    note: str = ""  # for the report, where the file is of a writing that had to be guessed

    @classmethod
    def of(cls, path: Path, limit: int | None = None, guess: bool = False) -> Text:
        """The text of a file, or of its first ``limit`` bytes; InputError where it is no text or empty.

        With ``guess`` a text that is not UTF-8 may be Windows-1252.
        """
        with path.open("rb") as handle:
            start = handle.read(_START)
            handle.seek(0)
            if limit is None and start and not _utf16(start):
                mapped = MappedFile(handle)
                bom = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
                text = cls(mapped.buffer.slice(bom), release=mapped.release)
            else:
                data = handle.read() if limit is None else handle.read(limit)
                cut = limit is not None and len(data) == limit
                text = cls(pa.py_buffer(_in_utf8(data, cut, path.name)))
        return text._checked(path.name, guess)

    def _checked(self, file: str, guess: bool = False) -> Text:
        """This text with its quotes counted; InputError where it is not UTF-8 or says nothing."""
        data, at, quotes, blank = memoryview(self.buffer).cast("B"), 0, 0, True
        while at < len(data):
            last = at + _PIECE >= len(data)
            try:
                piece, used = codecs.utf_8_decode(data[at : at + _PIECE], "strict", last)
            except UnicodeDecodeError as error:
                older = self._windows(file, at + error.start) if guess else None
                if older is None:
                    raise self._not_utf8(file, at + error.start) from error
                return older._checked(file)
            quotes, blank, at = quotes + piece.count('"'), blank and not piece.strip(), at + used
            self.release()
        if blank:
            raise InputError(f"{file} is empty", "a table with a header line and at least one row")
        return replace(self, quotes=quotes)

    def _windows(self, file: str, at: int) -> Text | None:
        """This text read as Windows-1252, in which byte ``at`` is a letter; None where it can't be that."""
        data = memoryview(self.buffer).cast("B")
        pieces, whole, broken = [], 0, 0
        for i in range(0, len(data), _PIECE):
            piece = bytes(data[i : i + _PIECE])
            read = piece.decode("utf-8", "replace")
            broken += read.count("\ufffd")
            whole += sum(map(len, re.findall(r"[^\x00-\x7f\ufffd]+", read)))
            try:
                pieces.append(piece.decode(_CP1252).encode())
            except UnicodeDecodeError:
                return None
            if _CONTROL.search(piece):
                return None
        if whole and whole >= broken:  # UTF-8 with a damaged place
            return None
        note = (
            f"{file} is not UTF-8 and was read as Windows-1252 (line {self._line(at)} has the first such "
            "letter). If names look wrong, save it as UTF-8."
        )
        return Text(pa.py_buffer(b"".join(pieces)), note=note)

    def _line(self, at: int) -> int:
        data = memoryview(self.buffer).cast("B")
        return 1 + sum(bytes(data[i : min(i + _PIECE, at)]).count(b"\n") for i in range(0, at, _PIECE))

    def _not_utf8(self, file: str, at: int) -> InputError:
        data = memoryview(self.buffer).cast("B")
        return InputError(
            f"{file}, line {self._line(at)}: byte 0x{data[at]:02x} is not UTF-8 text",
            "a UTF-8 file",
            "save it as UTF-8 (in Excel: 'CSV UTF-8'); it may be of an older kind, damaged, or a binary file",
        )

    def open(self) -> Any:
        """The bytes as a file."""
        return pa.BufferReader(self.buffer)

    def lines(self, end: str = "") -> Iterator[str]:
        """Lines with their ends as written ("": any end), read as far as they are asked for."""
        yield from io.TextIOWrapper(self.open(), encoding="utf-8", newline=end)

    def without_last_comment(self) -> Text:
        """The text without a comment in its last line: ``#close 2025-01-31`` (Zeek)."""
        size = self.buffer.size
        tail = bytes(memoryview(self.buffer)[max(0, size - _TAIL) :])
        end = tail.rstrip().rfind(b"\n") + 1
        if not tail[end:].startswith((b"#", b"%")):
            return self
        return replace(self, buffer=self.buffer.slice(0, size - len(tail) + end))


def decoded(path: Path, limit: int | None = None) -> bytes:
    """The file as UTF-8 bytes without BOM; UTF-16 is converted, anything else is an error."""
    return bytes(memoryview(Text.of(path, limit).buffer))


def _in_utf8(data: bytes, cut: bool, file: str) -> bytes:
    """Bytes of a file, or of its head where they are ``cut``, as UTF-8."""
    if form := _utf16(data[:_START]):
        try:
            return data[: len(data) // 2 * 2].decode(form, "ignore" if cut else "strict").encode()
        except UnicodeDecodeError as error:
            raise InputError(f"{file} starts as UTF-16 but is damaged ({error})", "UTF-8") from error
    data = data.removeprefix(codecs.BOM_UTF8)
    return data[: data.rfind(b"\n") + 1] or data if cut else data


def _utf16(start: bytes) -> str:
    """The kind of UTF-16 that a file begins with, "" for any other text; without BOM by its empty halves."""
    if start.startswith(_UTF16):
        return "utf-16"
    even, odd, half = start[::2].count(0), start[1::2].count(0), len(start) // 2
    if half < 4 or min(even, odd) or max(even, odd) < 0.4 * half:
        return ""
    return "utf-16-le" if odd else "utf-16-be"
