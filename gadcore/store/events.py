"""The append-only record of labels, and the label set that it adds up to.

Undo and redo are events that name a group of label events. Per analyst:

    a new label     puts its group on the analyst's stack and empties what could be redone
    undo            takes back the analyst's last group that is not taken back
    redo            restores the group that was taken back last

The current label of a node is its latest label event that is not taken back, whoever gave it.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Row, func, insert, select, update

from gadcore.errors import NotFound
from gadcore.graph import Graph
from gadcore.graph.labels import LabelEvent, Labels, Verdict
from gadcore.store.database import Database
from gadcore.store.schema import label_events, now, projects

# Columns of a label event, under the names of its fields.
_NAMES = {field.name: "event_group" if field.name == "group" else field.name for field in fields(LabelEvent)}
_COLUMNS = [label_events.c[column].label(name) for name, column in _NAMES.items()]


class LabelBook:
    """All label events of a project as this process knows them; ``refresh`` reads only what is new.

    Not safe to change from two threads at once: ``LabelEvents`` guards it with a lock.
    """

    def __init__(self) -> None:
        self.last_id = 0
        self.current: dict[str, LabelEvent] = {}  # node id -> its label
        self.first: dict[str, LabelEvent] = {}  # node id -> its earliest label that is not taken back
        self.notes: dict[str, str] = {}  # node id -> latest note
        self._by_node: dict[str, list[LabelEvent]] = {}
        self._groups: dict[str, list[LabelEvent]] = {}
        self._taken_back: set[str] = set()
        self._undoable: dict[str, list[str]] = {}  # analyst -> groups, last on top
        self._redoable: dict[str, list[str]] = {}

    def apply(self, event: LabelEvent) -> None:
        """Take the next event into account; events come in the order of their ids."""
        self.last_id = event.id
        if event.kind in ("undo", "redo"):
            self._toggle(event)
        else:
            self._by_node.setdefault(event.node_id, []).append(event)
        if event.kind == "note":
            self.notes[event.node_id] = event.note
        if event.kind == "label":
            self._add_label(event)

    def _add_label(self, event: LabelEvent) -> None:
        self.current[event.node_id] = event
        self.first.setdefault(event.node_id, event)
        if event.note:
            self.notes[event.node_id] = event.note
        group = self._groups.setdefault(event.group, [])
        group.append(event)
        if len(group) == 1:
            self._undoable.setdefault(event.analyst, []).append(event.group)
            self._redoable.pop(event.analyst, None)

    def _toggle(self, event: LabelEvent) -> None:
        back = event.kind == "undo"
        source, target = (self._undoable, self._redoable) if back else (self._redoable, self._undoable)
        stack = source.setdefault(event.analyst, [])
        if event.group in stack:
            stack.remove(event.group)
            target.setdefault(event.analyst, []).append(event.group)
        (self._taken_back.add if back else self._taken_back.discard)(event.group)
        for label in self._groups.get(event.group, []):
            self._by_node[label.node_id].append(event)
            self._settle(label.node_id)

    def _settle(self, node_id: str) -> None:
        """Recompute label and note of a node after an undo or redo."""
        standing = [e for e in self._by_node[node_id] if self._stands(e)]
        labels = [e for e in standing if e.kind == "label"]
        notes = [e.note for e in standing if e.note or e.kind == "note"]
        _put(self.current, node_id, labels[-1] if labels else None)
        _put(self.first, node_id, labels[0] if labels else None)
        _put(self.notes, node_id, notes[-1] if notes else None)

    def _stands(self, event: LabelEvent) -> bool:
        return event.kind in ("label", "note") and event.group not in self._taken_back

    def standing(self, node_id: str | None = None) -> list[LabelEvent]:
        """Every label event (of a node) that is not taken back, in the order it was written."""
        if node_id is None:
            events = (label for group in self._groups.values() for label in group)
        else:
            events = (event for event in self._by_node.get(node_id, []) if event.kind == "label")
        return sorted(filter(self._stands, events), key=lambda event: event.id)

    def next_group(self, kind: str, analyst: str) -> str | None:
        """The group that an undo or redo of this analyst would name."""
        stack = (self._undoable if kind == "undo" else self._redoable).get(analyst)
        return stack[-1] if stack else None

    def group(self, group: str) -> list[LabelEvent]:
        return list(self._groups.get(group, []))

    def history(self, node_id: str) -> list[LabelEvent]:
        """Every event that touched the node, oldest first."""
        return list(self._by_node.get(node_id, []))


def _put(target: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        target.pop(key, None)
    else:
        target[key] = value


@dataclass(frozen=True)
class LabelView:
    """The label set at one moment, for reading only."""

    last_id: int
    current: Mapping[str, LabelEvent]
    notes: Mapping[str, str]
    first: Mapping[str, LabelEvent]  # how each case was drawn: a verdict changed later does not alter that

    def labels(self, graph: Graph) -> Labels:
        """The label set as node indices."""
        return Labels.from_events(graph, self.current.values(), self.first)


class LabelEvents:
    """Label events of one project: append, take back, restore, read."""

    def __init__(self, database: Database, project_id: str) -> None:
        self._database, self._project = database, project_id
        self._book = LabelBook()
        self._view: LabelView | None = None
        self._guard = threading.RLock()

    def view(self) -> LabelView:
        """Labels and notes as of now; the same object as long as no event is added."""
        with self._guard:
            book = self._refreshed()
            if self._view is None or self._view.last_id != book.last_id:
                self._view = LabelView(book.last_id, dict(book.current), dict(book.notes), dict(book.first))
            return self._view

    def history(self, node_id: str) -> list[LabelEvent]:
        """Every event that touched the node, oldest first; undo and redo name no node themselves."""
        with self._guard:
            return self._refreshed().history(node_id)

    def standing(self, node_id: str | None = None) -> list[LabelEvent]:
        """Every label event (of a node) that is not taken back, oldest first: verdicts of all analysts."""
        with self._guard:
            return self._refreshed().standing(node_id)

    def can(self, kind: str, analyst: str) -> bool:
        """Whether this analyst has something to undo or redo."""
        with self._guard:
            return self._refreshed().next_group(kind, analyst) is not None

    # A transaction takes the write lock first and the guard second, here and wherever one is joined.

    def append(
        self, rows: Sequence[dict[str, Any]], *, analyst: str, kind: str = "label"
    ) -> list[LabelEvent]:
        """Write events of one group: all of them or, on an error, none."""
        group = uuid.uuid4().hex
        with self._database.writing(), self._guard:
            self._lock()
            before = self._database.scalar(select(func.max(label_events.c.id))) or 0
            self._write([{**row, "kind": kind, "event_group": group} for row in rows], analyst)
            return self._read(before)

    def toggle(self, kind: str, analyst: str) -> list[LabelEvent]:
        """Undo or redo; the label events taken back or restored, [] when there is nothing."""
        with self._database.writing(), self._guard:
            self._lock()
            book = self._refreshed()
            group = book.next_group(kind, analyst)
            if group is None:
                return []
            self._write([{"kind": kind, "event_group": group, "node_id": ""}], analyst)
            return book.group(group)

    def _lock(self) -> None:
        """Take the project's row: appends happen one after another on any database."""
        own = update(projects).where(projects.c.id == self._project)
        if not self._database.change(own.values(n_events=projects.c.n_events + 1)):
            raise NotFound(f"The project {self._project!r} was deleted; the label was not kept.")

    def _write(self, rows: Iterable[dict[str, Any]], analyst: str) -> None:
        """Insert rows of which some may leave out columns that others have."""
        absent = dict.fromkeys(("verdict", "inclusion_probability", "drawn_after", "offer_id"))
        usual = {"source": "app", "note": "", "strategy": "", "weight": 1.0}
        common = {"project_id": self._project, "analyst": analyst, "at": now(), **absent, **usual}
        self._database.change(insert(label_events), [{**common, **row} for row in rows])

    def _refreshed(self) -> LabelBook:
        for event in self._read(self._book.last_id):
            self._book.apply(event)
        return self._book

    def _read(self, after: int) -> list[LabelEvent]:
        new = (label_events.c.project_id == self._project, label_events.c.id > after)
        return list(
            map(_event, self._database.rows(select(*_COLUMNS).where(*new).order_by(label_events.c.id)))
        )


def _event(row: Row[Any]) -> LabelEvent:
    found = dict(row._mapping)
    verdict = found.pop("verdict")
    return LabelEvent(**found, verdict=Verdict(verdict) if verdict else None)
