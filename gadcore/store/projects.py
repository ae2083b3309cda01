"""Projects and their preferences."""

from __future__ import annotations

import re
import uuid
from typing import Any

from sqlalchemy import Row, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from gadcore.errors import NotFound, StoreError
from gadcore.graph import Graph
from gadcore.loop.order import Choice
from gadcore.loop.strategies import STRATEGIES
from gadcore.store.database import Database
from gadcore.store.schema import FIRST_VERSION, graph_versions, now, preferences, projects
from gadcore.store.trail import Trail


class Projects:
    """Rows of the projects table, by id or by name."""

    def __init__(self, database: Database, trail: Trail) -> None:
        self._database, self._trail = database, trail

    def add(self, name: str, owner: str, graph: Graph, *, has_truth: bool, project_id: str) -> Row[Any]:
        """Write a project; StoreError when the name is in use."""
        values = {
            "id": project_id,
            "name": name,
            "owner": owner,
        }
        made = {
            "created_at": now(),
            "has_truth": has_truth,
            **{key: getattr(graph, key) for key in ("n_nodes", "n_edges", "n_features", "fingerprint")},
        }
        with self._database.writing() as connection:
            try:
                connection.execute(insert(projects).values(values | made))
            except IntegrityError as error:
                raise name_in_use(name) from error
            first = {"project_id": project_id, "by": owner, **made, **FIRST_VERSION}
            connection.execute(insert(graph_versions).values(first))
            self._trail.add("project added", owner, project_id, name=name, fingerprint=graph.fingerprint)
        return self.get(project_id)

    def choice(self, project_id: str, **given: Any) -> Choice:
        """How a project prefers its cases to be chosen; what is ``given`` and not None counts instead."""
        kept = self._preferences_of(project_id)
        known: dict[str, Any] = {key: kept[key] for key in Choice.__match_args__ if key in kept}
        if known.get("strategy") not in STRATEGIES:
            known["strategy"] = None  # preferred before it was given up
        known |= {key: value for key, value in given.items() if value is not None}
        return Choice(**{key: value for key, value in known.items() if value is not None})

    def all(self) -> list[Row[Any]]:
        """Every project, newest first."""
        return self._database.rows(select(projects).order_by(projects.c.created_at.desc()))

    def find(self, project: str) -> Row[Any] | None:
        """The project with this id or name, or None."""
        query = select(projects).where(or_(projects.c.id == project, projects.c.name == project))
        return next(iter(self._database.rows(query)), None)

    def get(self, project: str) -> Row[Any]:
        """The project with this id or name; NotFound lists those there are."""
        row = self.find(project)
        if row is None:
            names = ", ".join(repr(r.name) for r in self.all()[:10]) or "none yet"
            raise NotFound(
                f"There is no project {project!r}. Projects: {names}. "
                "Import a graph first: ringfence import PATH --project NAME."
            )
        return row

    def remove(self, project_id: str, *, by: str = "") -> None:
        """Delete a project with its labels, runs and preferences."""
        name = self.get(project_id).name
        with self._database.writing():
            # The rest goes with it: every table but the trail refers to this one.
            self._database.change(delete(projects).where(projects.c.id == project_id))
            self._trail.add("project deleted", by, project_id, name=name)

    def run_in_use(self, project_id: str) -> str | None:
        """Id of the run whose scores are shown."""

        def read() -> str | None:
            found: str | None = self._database.scalar(
                select(projects.c.run_in_use).where(projects.c.id == project_id)
            )
            return found

        return self._database.once(("in use", project_id), read)

    def use_run(self, project_id: str, run_id: str | None, *, by: str = "") -> None:
        """Show the scores of another run, or of none."""
        this = update(projects).where(projects.c.id == project_id)
        with self._database.writing():
            self._database.change(this.values(run_in_use=run_id))
            self._trail.add("run chosen", by, project_id, run=run_id)

    def preference(self, project_id: str, key: str, default: Any = None) -> Any:
        """JSON value under a key, or ``default``."""
        return self._preferences_of(project_id).get(key, default)

    def _preferences_of(self, project_id: str) -> dict[str, Any]:
        def read() -> dict[str, Any]:
            own = preferences.c.project_id == project_id
            rows = self._database.rows(select(preferences.c.key, preferences.c.value).where(own))
            return {row.key: row.value for row in rows}

        return self._database.once(("preferences", project_id), read)

    def preferences(self, key: str) -> dict[str, Any]:
        """Project id -> JSON value under a key, of every project that has one."""
        query = select(preferences.c.project_id, preferences.c.value).where(preferences.c.key == key)
        return {row.project_id: row.value for row in self._database.rows(query)}

    def set_preference(self, project_id: str, key: str, value: Any, *, by: str = "") -> None:
        """Keep a JSON value under a key."""
        same = (preferences.c.project_id == project_id) & (preferences.c.key == key)
        with self._database.writing() as connection:
            connection.execute(delete(preferences).where(same))
            connection.execute(insert(preferences).values(project_id=project_id, key=key, value=value))
            self._trail.add("setting", by, project_id, key=key, value=value)


def new_project_id(name: str) -> str:
    """A readable id that is safe as a folder name: ``cora-3fa9c1``."""
    word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "project"
    return f"{word}-{uuid.uuid4().hex[:6]}"


def name_in_use(name: str) -> StoreError:
    return StoreError(
        f"A project named {name!r} exists already. Choose another name, or delete that project first."
    )
