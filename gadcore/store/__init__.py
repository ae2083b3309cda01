"""Everything that is kept: projects, label events, jobs, runs and their files (all SQL lives here)."""

from __future__ import annotations

import threading

from gadcore.settings import Settings
from gadcore.store.arrivals import Arrivals
from gadcore.store.assigned import Assigned, Assignment
from gadcore.store.database import Database
from gadcore.store.events import LabelEvents, LabelView
from gadcore.store.folders import Folders
from gadcore.store.graph_versions import GraphVersions
from gadcore.store.jobs import HOST, LIVE, JobRows
from gadcore.store.locks import FileLock, is_held, read_holder
from gadcore.store.offers import Offer, Offers
from gadcore.store.projects import Projects, name_in_use, new_project_id
from gadcore.store.receipts import Receipts
from gadcore.store.result import LAYOUTS, Result
from gadcore.store.runs import RunRows
from gadcore.store.taken import Taken
from gadcore.store.tokens import TokenRows
from gadcore.store.trail import Trail
from gadcore.store.users import Failures, LoginRows, Users
from gadcore.store.watchlist import Watchlist
from gadcore.store.webhooks import Deliveries, Webhooks


class Store:
    """One database and the folder beside it."""

    def __init__(self, settings: Settings) -> None:
        self.folders = Folders(settings.home)
        self.database = Database(settings.store_url, self.folders)
        self.trail = Trail(self.database)
        self.projects, self.offers = Projects(self.database, self.trail), Offers(self.database)
        self.webhooks, self.deliveries = Webhooks(self.database, self.trail), Deliveries(self.database)
        self.jobs = JobRows(self.database, self.trail, self.deliveries)
        self.receipts = Receipts(self.database)
        self.runs = RunRows(self.database, self.jobs, self.trail)
        self.users, self.logins = Users(self.database, self.trail), LoginRows(self.database, self.trail)
        self.failures, self.taken = Failures(self.database), Taken(self.database)
        self.versions, self.watchlist = GraphVersions(self.database, self.trail), Watchlist(self.database)
        self.arrivals = Arrivals(self.database)
        self.assigned = Assigned(self.database, self.trail)
        self.tokens = TokenRows(self.database, self.trail)
        self._events: dict[str, LabelEvents] = {}
        self._guard = threading.Lock()

    def events(self, project_id: str) -> LabelEvents:
        """Label events of a project; the same object for every caller in this process."""
        with self._guard:
            if project_id not in self._events:
                self._events[project_id] = LabelEvents(self.database, project_id, self.trail)
            return self._events[project_id]

    def forget(self, project_id: str) -> None:
        """Drop what is remembered of a deleted project."""
        with self._guard:
            self._events.pop(project_id, None)


_STORES: dict[tuple[str, str], Store] = {}
_OPENING = threading.Lock()


def open_store(settings: Settings) -> Store:
    """The store of these settings, opened once per process and shared by its threads."""
    key = (settings.store_url, str(settings.home))
    with _OPENING:
        if key not in _STORES:
            _STORES[key] = Store(settings)
        return _STORES[key]


def close_stores() -> None:
    """Close every store of this process."""
    with _OPENING:
        while _STORES:
            _STORES.popitem()[1].database.close()


__all__ = [
    "HOST",
    "LAYOUTS",
    "LIVE",
    "Assignment",
    "FileLock",
    "Folders",
    "LabelEvents",
    "LabelView",
    "Offer",
    "Result",
    "Store",
    "close_stores",
    "is_held",
    "name_in_use",
    "new_project_id",
    "open_store",
    "read_holder",
]
