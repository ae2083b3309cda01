"""The Workspace: one door to a project, with a small service for each kind of question."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from gadcore.access import LOCAL, Who, check, guarded, may, only_read
from gadcore.graph import Graph
from gadcore.records import ProjectInfo
from gadcore.settings import Settings
from gadcore.workspace import catalogue
from gadcore.workspace.cases import Cases
from gadcore.workspace.data import Data
from gadcore.workspace.insight import Insight
from gadcore.workspace.messages import Messages
from gadcore.workspace.preferences import COMPARISON, checked_preference
from gadcore.workspace.project import Project
from gadcore.workspace.runs import Runs
from gadcore.workspace.trail import ProjectTrail
from gadcore.workspace.updates import look_back
from gadcore.workspace.verdicts import Verdicts

if TYPE_CHECKING:
    from gadcore.ingest import Reading

T = TypeVar("T")


class Workspace:
    """An open project. Cheap to open; safe to share between threads.

    ``cases`` are looked at, ``verdicts`` are given on them, ``runs`` learn from these, ``insight`` looks back
    at all three, ``data`` is what was imported, ``messages`` are what browser tabs have sent,
    ``trail`` takes down what leaves as a file.

    ``who`` is the person at work. One with a login may do what the table of ``access.rights`` says, under the
    name of the login; NotAllowed otherwise.
    """

    def __init__(self, project: Project) -> None:
        self._project, who = project, project.who
        self.id, self.name, self.settings, self.who = project.id, project.name, project.settings, who
        self.data = self._service(Data(project), "data")
        self.runs = self._service(Runs(project), "runs")
        self.cases = self._service(Cases(project), "cases")
        self.verdicts = self._service(Verdicts(project), "verdicts")
        self.insight = self._service(Insight(project), "insight")
        self.messages = self._service(Messages(project), "messages")
        self.trail = self._service(ProjectTrail(project), "trail")

    def _service(self, service: T, name: str) -> T:
        """A service, with its guards before it."""
        kept = only_read(service, name, self._project.version) if self._project.past else service
        return guarded(kept, name, self.who)

    @classmethod
    def open(
        cls, project: str, settings: Settings | None = None, who: Who = LOCAL, *, version: int | None = None
    ) -> Workspace:
        """A project by id or name; NotFound otherwise. A ``version`` of before can only be looked at."""
        check(who, "projects.open")
        opened = Project(settings or Settings.from_env(), project, who)
        if version is not None and version != opened.version:
            look_back(opened, version)
        return cls(opened)

    @staticmethod
    def version_of(project: str, settings: Settings | None = None) -> int:
        """The version of the graph that a project has now."""
        return catalogue.version_of(project, settings or Settings.from_env())

    @classmethod
    def create(
        cls,
        name: str,
        reading: Reading,
        *,
        owner: str | None = None,
        settings: Settings | None = None,
        who: Who = LOCAL,
    ) -> Workspace:
        """Store a graph as a new project; StoreError if the name is in use."""
        check(who, "projects.create")
        settings = settings or Settings.from_env()
        return cls.open(catalogue.create(name, reading, who.name or owner, settings), settings, who)

    @classmethod
    def open_demo(cls, settings: Settings | None = None, who: Who = LOCAL) -> Workspace:
        """The bundled demo project, imported at first use."""
        check(who, "projects.demo")
        settings = settings or Settings.from_env()
        return cls.open(catalogue.demo(settings), settings, who)

    @staticmethod
    def projects(settings: Settings | None = None) -> list[ProjectInfo]:
        """Every project, newest first."""
        return catalogue.projects(settings or Settings.from_env())

    @staticmethod
    def delete(project: str, settings: Settings | None = None, who: Who = LOCAL) -> None:
        """Remove a project with its graph, labels and runs; one's own practice copy is one's own."""
        settings = settings or Settings.from_env()
        check(who, "practice" if catalogue.practised_by(project, settings) == who.name else "projects.delete")
        catalogue.delete(project, settings, by=who.name or settings.analyst)

    def other(self, project: str) -> Workspace:
        """Another project, with the same person at work."""
        return Workspace.open(project, self.settings, self.who)

    def may(self, act: str) -> bool:
        """Whether the person at work may do something; see ``access.rights``."""
        return may(self.who, act)

    def check(self, act: str) -> None:
        """NotAllowed if the person at work may not do something."""
        check(self.who, act)

    def analyst(self, name: str | None = None) -> str:
        """The name under which something is recorded: that of the login, else the given one."""
        return self._project.analyst(name)

    def reading_once(self) -> AbstractContextManager[None]:
        """What this thread reads of the store within holds to the end, or until it writes something."""
        return self._project.store.database.remembering()

    @property
    def graph(self) -> Graph:
        return self._project.graph

    def preference(self, key: str, default: Any = None) -> Any:
        return self._project.store.projects.preference(self.id, key, default)

    def set_preference(self, key: str, value: Any) -> None:
        """Keep a preference of the project; InputError for a key or value that makes no sense."""
        self.check("practice" if key == COMPARISON else "set_preference")
        checked, by = checked_preference(key, value), self._project.analyst(None)
        self._project.store.projects.set_preference(self.id, key, checked, by=by)
