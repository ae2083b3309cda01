"""What was imported and what came later: the project as a card, reports, versions, known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gadcore.graph import Truth
from gadcore.ingest import Mapping
from gadcore.ingest.updated import APPEND
from gadcore.records import ProjectInfo
from gadcore.records.versions import VersionInfo
from gadcore.workspace import catalogue
from gadcore.workspace.carrying import carry_over
from gadcore.workspace.project import Project
from gadcore.workspace.updates import Update, read_for, store_update, use_version


class Data:
    """What a project was made of."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def info(self) -> ProjectInfo:
        """The project as a card."""
        store = self._project.store
        return catalogue.project_info(store, store.projects.get(self._project.id))

    @property
    def has_truth(self) -> bool:
        return self._project.has_truth

    def truth(self) -> Truth:
        """Known answers of a benchmark, for studies and practice only; NotFound without."""
        project = self._project
        return catalogue.truth(project.store, project.id, project.name, project.version)

    def preview(
        self,
        path: str | Path,
        edges: str | Path | None = None,
        *,
        way: str = APPEND,
        mapping: Mapping | None = None,
        as_of: str = "",
    ) -> Update:
        """Read files as the next version of the graph; what would change is in ``changes``.

        Nothing is stored. ``way`` is "append" or "replace", ``as_of`` the day that the data stand for.
        """
        return read_for(self._project, path, edges, way=way, mapping=mapping, as_of=as_of)

    def store(
        self,
        update: Update,
        *,
        force: bool = False,
        wait: bool = True,
        retrain: bool | None = None,
        arrival: tuple[str, str] | None = None,
    ) -> VersionInfo:
        """Store an update as the present version and have the model in use score it.

        InputError where something would be lost, unless ``force``. ``wait``: the scores are there when this
        returns; otherwise a worker makes them. ``retrain``: a run that learns follows by itself (None: as the
        project prefers). ``arrival``: hash and name of a file that must be taken once.
        """
        project = self._project
        used = project.store.projects.run_in_use(project.id)
        version = store_update(project, update, force=force, arrival=arrival)
        carry_over(project, used, wait=wait, retrain=retrain)
        return version

    def arrived(self, sha256: str) -> bool:
        """Whether a file with this content was taken before."""
        return self._project.store.arrivals.taken(self._project.id, sha256)

    def refused(self, sha256: str, name: str, reason: str) -> None:
        """Keep why a file could not be taken."""
        self._project.store.arrivals.add(self._project.id, sha256, name, None, reason)

    def versions(self) -> list[VersionInfo]:
        """Versions of the graph, the import first."""
        return self._project.store.versions.of(self._project.id)

    def use_version(self, number: int) -> VersionInfo:
        """Go back (or forward) to another version, with the scores of the newest run that saw it."""
        return use_version(self._project, number)

    def report(self) -> dict[str, Any]:
        """The preflight report of the import, as JSON types; empty if there is none."""
        path = self._project.store.folders.report(self._project.id, self._project.version)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
