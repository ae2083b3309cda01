"""The registry of file formats: reader, recognition, uploader, README and messages are drawn from it.

A new format is one file beside this one, with its ``FORMAT``, and its name in ``_MODULES``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

from gadcore.errors import InputError
from gadcore.ingest.formats import gexf, graphml, json, mat, mtx, npz, pt, table
from gadcore.ingest.formats.file_format import UNREADABLE, Archive, FileFormat, FileHead

_MODULES = (table, graphml, gexf, json, npz, mat, mtx, pt)
FORMATS: tuple[FileFormat, ...] = tuple(module.FORMAT for module in _MODULES)
ZIP = Archive((".zip",), lambda head: head.start.startswith(b"PK\x03\x04"))
GZIP = Archive((".gz",), lambda head: head.start.startswith(b"\x1f\x8b"))
ARCHIVES = (ZIP, GZIP)

Known = FileFormat | Archive

_KNOWN: tuple[Known, ...] = (*FORMATS, *ARCHIVES)
_BY_SUFFIX = {suffix: f for f in _KNOWN for suffix in f.suffixes}
_BY_WORD = {word: f for f in FORMATS for word in (f.key, *f.aliases)}
_BENCHMARKS = "`cora`, `citeseer`, `pubmed`, `photo`, `computers`, …"


def suffixes() -> tuple[str, ...]:
    """Endings of all files that can be read, archives too: '.csv', …"""
    return tuple(_BY_SUFFIX)


def words() -> list[str]:
    """What ``format=`` takes."""
    return sorted(_BY_WORD)


def readable() -> str:
    """What can be read, for a message."""
    packed = ", ".join(s for archive in ARCHIVES for s in archive.suffixes)
    return f"{', '.join(f.name for f in FORMATS)}, or a {packed} or folder of these"


def markdown() -> str:
    """The table of formats in the README."""
    packed = _code(s for archive in ARCHIVES for s in archive.suffixes)
    rows = [("format", "endings", "what is recognised", "node attributes", "truth"), ("---",) * 5]
    for f in FORMATS:
        rows.append((f.name, _code(f.suffixes), f.recognised, "yes" * f.node_attributes, "yes" * f.truth))
    rows.append(("folder or archive of these", packed, "may carry a `mapping.json`", "", ""))
    downloads = "from the folder `GAD_DATASETS`, or through torch_geometric when online"
    rows.append((_BENCHMARKS, "", downloads, "yes", "yes"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _code(words: Iterable[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def named(word: str) -> FileFormat:
    """The format that a word means, as ``format=`` takes it."""
    found = _BY_WORD.get(word.lower().lstrip("."))
    if found is None:
        raise InputError(f"unknown format {word!r}", ", ".join(words()))
    return found


def sniff(path: Path) -> Known:
    """Which format a file is in: by its name, checked against its first bytes where these can tell."""
    start = _start(path)
    by_name = _BY_SUFFIX.get(path.suffix.lower())
    by_content = _by_content(path, start, by_name)
    if by_content is None:
        if by_name is None and b"\x00" in start:
            raise InputError(f"{path.name} is a binary file of an unknown kind", readable())
        return by_name or table.FORMAT
    if by_name is None or by_name.content_decides or isinstance(by_content, Archive):
        return by_content
    return by_name


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as handle:
            start = handle.read(512)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror or error})", "a readable file") from error
    if not start:
        raise InputError(f"{path.name} is empty (0 bytes)", readable(), "export or copy the file again")
    return start


def _by_content(path: Path, start: bytes, by_name: Known | None) -> Known | None:
    members: tuple[str, ...] = ()
    if ZIP.matches(FileHead(start)):
        try:
            with zipfile.ZipFile(path) as archive:
                members = tuple(archive.namelist())
        except UNREADABLE:
            return by_name or ZIP  # broken: left to its reader
    head = FileHead(start, members)
    return next((f for f in _KNOWN if f.matches(head)), None)
