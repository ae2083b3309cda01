"""Zip files of what is kept: a document that says what is in them, and the hash of every file.

Equal contents make equal archives: entries are sorted and carry no time of their own.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from gadcore.errors import InputError, StoreError
from gadcore.store.artefacts import written_aside
from gadcore.store.folders import Folders

ABOUT = "about.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_PIECE = 1 << 20


def write_archive(path: Path, about: dict[str, Any], files: dict[str, Path]) -> str:
    """Write an archive whole or not at all; returns the hash of its document, which proves all of it."""
    try:
        with written_aside(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            hashes = {name: _add(archive, name, file) for name, file in sorted(files.items())}
            document = json.dumps({**about, "sha256": hashes}, sort_keys=True, indent=1).encode()
            archive.writestr(zipfile.ZipInfo(ABOUT, _EPOCH), document, zipfile.ZIP_DEFLATED)
    except FileNotFoundError as error:
        raise StoreError(f"{error.filename} was deleted while it was copied. Start again.") from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror})", fix="choose another folder"
        ) from error
    return hashlib.sha256(document).hexdigest()


def _add(archive: zipfile.ZipFile, name: str, file: Path) -> str:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, file.stat().st_size
    with file.open("rb") as source, archive.open(info, "w") as target:
        return _copied(source, target)


def _copied(source: Any, target: Any) -> str:
    """Copy a file in pieces and give its hash."""
    digest = hashlib.sha256()
    while piece := source.read(_PIECE):
        digest.update(piece)
        target.write(piece)
    return digest.hexdigest()


def read_about(path: Path, kind: str) -> dict[str, Any]:
    """The document of an archive of this kind; InputError for anything else."""
    expected = f"an archive that ringfence wrote ({kind})"
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read(ABOUT))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}", fix="check the path") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path.name} cannot be read ({error})", expected) from error
    if not isinstance(about, dict) or about.get("kind") != kind:
        raise InputError(f"{path.name} is something else", expected)
    return about


def unpack(path: Path, about: dict[str, Any], folder: Path, below: str = "") -> None:
    """Unpack the files of an archive that lie ``below`` a folder of it; InputError where a hash differs."""
    with zipfile.ZipFile(path) as archive:
        for name, expected in about["sha256"].items():
            if not name.startswith(below):
                continue
            target = folder / _inside(path, name.removeprefix(below))
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with archive.open(name) as source, target.open("wb") as out:
                    found = _copied(source, out)
            except (KeyError, zipfile.BadZipFile) as error:
                raise InputError(f"{path.name} is damaged ({error})", fix="use another copy") from error
            if found != expected:
                raise InputError(f"{name} in {path.name} was changed", "the hash that it was written with")


def _inside(path: Path, name: str) -> PurePosixPath:
    inside = PurePosixPath(name)
    if inside.is_absolute() or ".." in inside.parts or not inside.parts:
        raise InputError(f"{path.name} has a file {name!r} that leaves its folder", "files below it")
    return inside


def project_files(folders: Folders, project_id: str, done: Iterable[str]) -> dict[str, Path]:
    """Files of a project by their place in its folder; of runs only those that are ``done``."""
    root, runs = folders.project(project_id), set(done)
    found: dict[str, Path] = {}
    for path in root.rglob("*"):
        place = path.relative_to(root)
        unfinished = place.parts[0] == "runs" and len(place.parts) > 1 and place.parts[1] not in runs
        if path.is_file() and not unfinished and ".part" not in path.name and path.name != "unsettled":
            found[place.as_posix()] = path
    return found
