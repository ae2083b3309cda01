"""Files that updates were made of: kept compressed, once each, and laid out again to be read."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

_PIECE = 1 << 20
_PARTS = ("nodes", "edges")  # the first path of an update, and its edge table

Given = list[dict[str, str]]  # part, name (below the folder where a folder was given), sha256


def sha256_of(path: Path) -> str:
    """Hash of what is in a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep_given(folder: Path, path: Path, edges: Path | None) -> Given:
    """Keep the files of an update in a folder, under their hash; returns what they are."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        {"part": part, "name": name, "sha256": _kept(folder, file)}
        for part, source in zip(_PARTS, (path, edges))
        if source is not None
        for name, file in _files(source)
    ]


def _files(source: Path) -> list[tuple[str, Path]]:
    if not source.is_dir():
        return [(source.name, source)]
    inside = sorted(path for path in source.rglob("*") if path.is_file())
    return [(f"{source.name}/{path.relative_to(source).as_posix()}", path) for path in inside]


def _kept(folder: Path, file: Path) -> str:
    digest = sha256_of(file)
    target = folder / f"{digest}.zst"
    if not target.exists():
        part = folder / f".{digest}.{os.getpid()}"
        with file.open("rb") as source, pa.CompressedOutputStream(str(part), "zstd") as out:
            while piece := source.read(_PIECE):
                out.write(piece)
        os.replace(part, target)
    return digest


@contextmanager
def laid_out(folder: Path, given: Given) -> Iterator[tuple[Path, Path | None]]:
    """The files of an update as they were given: the first path, and the edge table if there was one."""
    with tempfile.TemporaryDirectory(prefix="ringfence-") as made:
        for file in given:
            target = Path(made) / file["part"] / file["name"]
            target.parent.mkdir(parents=True, exist_ok=True)
            kept = str(folder / f"{file['sha256']}.zst")
            with pa.CompressedInputStream(kept, "zstd") as source, target.open("wb") as out:
                shutil.copyfileobj(source, out, _PIECE)
        paths = [next((Path(made) / part).iterdir(), None) for part in _PARTS if (Path(made) / part).is_dir()]
        assert paths[0] is not None
        yield paths[0], paths[1] if len(paths) > 1 else None
