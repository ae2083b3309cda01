"""The Workspace: one door to a project, with a small service for each kind of question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gadcore.graph import Graph
from gadcore.records import ProjectInfo
from gadcore.settings import Settings
from gadcore.workspace import catalogue
from gadcore.workspace.cases import Cases
from gadcore.workspace.data import Data
from gadcore.workspace.insight import Insight
from gadcore.workspace.messages import Messages
from gadcore.workspace.preferences import checked_preference
from gadcore.workspace.project import Project
from gadcore.workspace.runs import Runs
from gadcore.workspace.verdicts import Verdicts

if TYPE_CHECKING:
    from gadcore.ingest import Reading


class Workspace:
    """An open project. Cheap to open; safe to share between threads.

    ``cases`` are looked at, ``verdicts`` are given on them, ``runs`` learn from these, ``insight`` looks back
    at all three, ``data`` is what was imported, ``messages`` are what browser tabs have sent.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self.id, self.name, self.settings = project.id, project.name, project.settings
        self.data = Data(project)
        self.runs = Runs(project)
        self.cases = Cases(project)
        self.verdicts = Verdicts(project)
        self.insight = Insight(project)
        self.messages = Messages(project)

    @classmethod
    def open(cls, project: str, settings: Settings | None = None) -> Workspace:
        """A project by id or name; NotFound otherwise."""
        return cls(Project(settings or Settings.from_env(), project))

    @classmethod
    def create(
        cls, name: str, reading: Reading, *, owner: str | None = None, settings: Settings | None = None
    ) -> Workspace:
        """Store a graph as a new project; StoreError if the name is in use."""
        settings = settings or Settings.from_env()
        return cls.open(catalogue.create(name, reading, owner, settings), settings)

    @classmethod
    def open_demo(cls, settings: Settings | None = None) -> Workspace:
        """The bundled demo project, imported at first use."""
        settings = settings or Settings.from_env()
        return cls.open(catalogue.demo(settings), settings)

    @staticmethod
    def projects(settings: Settings | None = None) -> list[ProjectInfo]:
        """Every project, newest first."""
        return catalogue.projects(settings or Settings.from_env())

    @staticmethod
    def delete(project: str, settings: Settings | None = None) -> None:
        """Remove a project with its graph, labels and runs."""
        catalogue.delete(project, settings or Settings.from_env())

    @property
    def graph(self) -> Graph:
        return self._project.graph

    def preference(self, key: str, default: Any = None) -> Any:
        return self._project.store.projects.preference(self.id, key, default)

    def set_preference(self, key: str, value: Any) -> None:
        """Keep a preference of the project; InputError for a key or value that makes no sense."""
        self._project.store.projects.set_preference(self.id, key, checked_preference(key, value))
