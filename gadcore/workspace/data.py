"""What was imported: the project as a card, the report of the import, known answers."""

from __future__ import annotations

import json
from typing import Any

from gadcore.graph import Truth
from gadcore.records import ProjectInfo
from gadcore.workspace import catalogue
from gadcore.workspace.project import Project


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
        return catalogue.truth(self._project.store, self._project.id, self._project.name)

    def report(self) -> dict[str, Any]:
        """The preflight report of the import, as JSON types; empty if there is none."""
        path = self._project.store.folders.report(self._project.id)
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}
