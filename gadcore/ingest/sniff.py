"""Which format a file is in: by its name, checked against its first bytes where these can tell."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

from gadcore.errors import InputError

TABLE = "table"
UNREADABLE = (  # what zipfile, gzip and numpy raise on damaged archives
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    LookupError,
    RuntimeError,  # a password, or a compression that zipfile does not know
    ValueError,
    MemoryError,
)
FORMATS = {
    ".csv": TABLE,
    ".tsv": TABLE,
    ".tab": TABLE,
    ".txt": TABLE,
    ".edges": TABLE,
    ".edgelist": TABLE,
    ".jsonl": TABLE,
    ".ndjson": TABLE,
    ".parquet": TABLE,
    ".pq": TABLE,
    ".graphml": "graphml",
    ".gexf": "gexf",
    ".json": "json",
    ".cyjs": "json",
    ".npz": "npz",
    ".mat": "mat",
    ".mtx": "mtx",
    ".pt": "pt",
    ".pth": "pt",
    ".zip": "zip",
    ".gz": "gz",
}
NAMES = {
    "csv": TABLE,
    "tsv": TABLE,
    "parquet": TABLE,
    "edgelist": TABLE,
    "snap": TABLE,
    "node-link": "json",
    "cytoscape": "json",
}
_READABLE = (
    "CSV, TSV, Parquet, GraphML, GEXF, node-link or Cytoscape JSON, .npz, .mat, .mtx, .pt, "
    "or a .zip, .gz or folder of these"
)


def sniff(path: Path, format_name: str | None = None) -> str:
    """One of table, graphml, gexf, json, npz, mat, mtx, pt, zip, gz."""
    if format_name is not None:
        return _named(format_name)
    start = _start(path)
    by_name = FORMATS.get(path.suffix.lower())
    by_content = _by_content(path, start)
    if by_name is None and by_content is None:
        if b"\x00" in start:
            raise InputError(f"{path.name} is a binary file of an unknown kind", _READABLE)
        return TABLE
    if by_name in ("zip", "npz", "pt", "gz", None) or by_content in ("gz", "zip"):
        return by_content or str(by_name)
    return str(by_name)


def _named(format_name: str) -> str:
    known = {*FORMATS.values(), *NAMES}
    plain = format_name.lower().lstrip(".")
    if plain not in known:
        raise InputError(f"unknown format {format_name!r}", ", ".join(sorted(known)))
    return NAMES.get(plain, plain)


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as handle:
            start = handle.read(512)
    except OSError as error:
        raise InputError(f"{path} cannot be opened ({error.strerror or error})", "a readable file") from error
    if not start:
        raise InputError(f"{path.name} is empty (0 bytes)", _READABLE, "export or copy the file again")
    return start


def _by_content(path: Path, start: bytes) -> str | None:
    if start.startswith(b"PK\x03\x04"):
        return _kind_of_zip(path)
    if start.startswith(b"\x1f\x8b"):
        return "gz"
    if start.startswith(b"PAR1"):
        return TABLE
    if start.startswith(b"%%MatrixMarket"):
        return "mtx"
    if start.startswith(b"MATLAB 5.0"):
        return "mat"
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"<graphml" in text[:512]:
        return "graphml"
    if b"<gexf" in text[:512]:
        return "gexf"
    return "json" if text.startswith((b"{", b"[")) else None


def _kind_of_zip(path: Path) -> str:
    """A zip may be an .npz or a .pt under another name; a broken one is left to its reader."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except UNREADABLE:
        return FORMATS.get(path.suffix.lower(), "zip")
    if names and all(n.endswith(".npy") for n in names):
        return "npz"
    return "pt" if any(n.endswith("/data.pkl") for n in names) else "zip"
