"""Versions of a project's graph: the import, and what every update made of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, insert, select, update

from gadcore.errors import NotFound
from gadcore.records.versions import VersionInfo
from gadcore.store.database import Database
from gadcore.store.schema import graph_versions, now, projects
from gadcore.store.trail import Trail

_OF_GRAPH = ("n_nodes", "n_edges", "n_features", "fingerprint", "has_truth")


class GraphVersions:
    """Rows of the versions of all projects."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail

    def of(self, project_id: str) -> list[VersionInfo]:
        """Versions of a project, the first one first."""
        query = select(graph_versions).where(graph_versions.c.project_id == project_id)
        rows = self._database.rows(query.order_by(graph_versions.c.number))
        present = self._present(project_id)
        return [_info(row._mapping, present) for row in rows]

    def get(self, project_id: str, number: int) -> VersionInfo:
        """A version by number; NotFound otherwise."""
        found = self.of(project_id)
        for version in found:
            if version.number == number:
                return version
        raise NotFound(f"There is no version {number} of this graph. There are 1 to {found[-1].number}.")

    def line(self, project_id: str, number: int | None = None) -> list[VersionInfo]:
        """A version (the present one) and all that it was made of, the first one first."""
        every = {version.number: version for version in self.of(project_id)}
        at: int | None = self._present(project_id) if number is None else number
        found = []
        while at is not None:
            found.append(every[at])
            at = every[at].parent
        return found[::-1]

    def next_number(self, project_id: str) -> int:
        own = graph_versions.c.project_id == project_id
        return int(self._database.scalar(select(func.max(graph_versions.c.number)).where(own))) + 1

    def add(self, project_id: str, number: int, values: dict[str, Any], *, by: str) -> None:
        """Keep a version, which is the present one from now on and has no scores yet."""
        with self._database.writing() as connection:
            row = {"project_id": project_id, "number": number, "by": by, "created_at": now(), **values}
            connection.execute(insert(graph_versions).values(row))
            told = {key: values[key] for key in ("way", "fingerprint")}
            self._trail.add("graph updated", by, project_id, version=number, **told)
            self._show(project_id, number, values)

    def use(self, project_id: str, version: VersionInfo, run_id: str | None, *, by: str) -> None:
        """Go to another version and the scores of a run that saw it."""
        with self._database.writing():
            values = {key: getattr(version, key) for key in _OF_GRAPH}
            self._show(project_id, version.number, values, run_id)
            self._trail.add("version chosen", by, project_id, version=version.number)

    def _show(self, project_id: str, number: int, values: dict[str, Any], run_id: str | None = None) -> None:
        shown = {key: values[key] for key in _OF_GRAPH} | {"version": number, "run_in_use": run_id}
        self._database.change(update(projects).where(projects.c.id == project_id).values(shown))

    def _present(self, project_id: str) -> int:
        return int(self._database.scalar(select(projects.c.version).where(projects.c.id == project_id)) or 1)


def _info(row: Any, present: int) -> VersionInfo:
    told = {key: value for key, value in row.items() if key != "project_id"}
    return VersionInfo(**told, present=row["number"] == present)
