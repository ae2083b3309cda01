"""The trail of actions: what leaves as a file is written into it, leads look at it."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path

import pandas as pd

from gadcore.records import TrailEntry, as_json, neutral
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.verify import Verified, verify
from gadcore.workspace.project import Project

__all__ = ["ProjectTrail", "Verified", "as_csv", "entries", "values", "verified"]


class ProjectTrail:
    """The trail as far as a project writes into it by itself."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def exported(self, file: str, sha256: str = "", rows: int | None = None) -> None:
        """Write down that a file with data of the project was handed out."""
        who, told = self._project.analyst(None), {"file": file, "sha256": sha256, "rows": rows}
        self._project.store.trail.add("export", who, self._project.id, **told)


def entries(settings: Settings, n: int = 1000, **wanted: str) -> list[TrailEntry]:
    """The last ``n`` entries of all projects, newest first; ``wanted`` narrows who, action and project."""
    return open_store(settings).trail.newest(n, **wanted)


def as_csv(found: list[TrailEntry]) -> bytes:
    """Entries as CSV, safe to open in a spreadsheet; the hashes prove them."""
    rows = [{**as_json(entry), "details": json.dumps(entry.details, ensure_ascii=False)} for entry in found]
    names = [field.name for field in fields(TrailEntry)]
    return str(pd.DataFrame(rows, columns=names).map(neutral).to_csv(index=False)).encode()


def values(settings: Settings, column: str) -> list[str]:
    """Every value that there is of who, action or project."""
    return open_store(settings).trail.words(column)


def verified(settings: Settings, anchors: Path | None = None) -> Verified:
    """Check the trail and the label events that it tells of; see ``gadcore.store.verify``."""
    return verify(open_store(settings), anchors)
