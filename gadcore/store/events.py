"""The append-only record of labels, and the label set that it adds up to.

Undo and redo are events that name a group of label events. Per analyst:

    a new label     puts its group on the analyst's stack and empties what could be redone
    undo            takes back the analyst's last group that is not taken back
    redo            restores the group that was taken back last

The current label of a node is its latest label event that is not taken back, whoever gave it. A reason
belongs to the group of a label, and is taken back with it; the latest one holds.
"""

from __future__ import annotations

import threading
import uuid
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, func, insert, select

from gadcore.errors import LabelError, NotFound
from gadcore.graph import Graph
from gadcore.graph.labels import LabelEvent, Labels, Verdict
from gadcore.store.schema import label_events, now, projects
from gadcore.store.second_opinions import SecondOpinions
from gadcore.store.trail import Trail, events_digest

if TYPE_CHECKING:
    from gadcore.store.database import Database

# Columns of a label event, under the names of its fields.
_NAMES = {field.name: "event_group" if field.name == "group" else field.name for field in fields(LabelEvent)}
_COLUMNS = [label_events.c[column].label(name) for name, column in _NAMES.items()]


class LabelBook:
    """All label events of a project as this process knows them; ``refresh`` reads only what is new.

    Not safe to change from two threads at once: ``LabelEvents`` guards it with a lock.
    """

    def __init__(self, project_id: str) -> None:
        self.last_id = 0
        self.second_opinions = SecondOpinions(project_id)
        self.current: dict[str, LabelEvent] = {}  # node id -> its label
        self.first: dict[str, LabelEvent] = {}  # node id -> its earliest label that is not taken back
        self.notes: dict[str, str] = {}  # node id -> latest note
        self._touched: list[tuple[int, str]] = []  # event id and node, of every change of a label
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
        if event.kind == "reason":
            self._add_reason(event)

    def _add_label(self, event: LabelEvent) -> None:
        self._touched.append((event.id, event.node_id))
        self.current[event.node_id] = event
        self.first.setdefault(event.node_id, event)
        if event.note:
            self.notes[event.node_id] = event.note
        group = self._groups.setdefault(event.group, [])
        group.append(event)
        if len(group) == 1:
            self._undoable.setdefault(event.analyst, []).append(event.group)
            self._redoable.pop(event.analyst, None)
        self.second_opinions.look(event.node_id, self.standing(event.node_id))

    def _add_reason(self, event: LabelEvent) -> None:
        """Give the label that it names its reason, wherever that label is kept."""
        group, node_id = self._groups.get(event.group, []), event.node_id
        label = next((label for label in group if label.node_id == node_id), None)
        if label is None:
            return
        told = replace(label, reason=event.reason)
        for kept in (group, self._by_node[node_id]):
            kept[kept.index(label)] = told
        for held in (self.current, self.first):
            if held.get(node_id) is label:
                held[node_id] = told

    def _toggle(self, event: LabelEvent) -> None:
        back = event.kind == "undo"
        source, target = (self._undoable, self._redoable) if back else (self._redoable, self._undoable)
        stack = source.setdefault(event.analyst, [])
        if event.group in stack:
            stack.remove(event.group)
            target.setdefault(event.analyst, []).append(event.group)
        (self._taken_back.add if back else self._taken_back.discard)(event.group)
        for label in self._groups.get(event.group, []):
            self._touched.append((event.id, label.node_id))
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
        self.second_opinions.look(node_id, labels)

    def _stands(self, event: LabelEvent) -> bool:
        return event.kind in ("label", "note") and event.group not in self._taken_back

    def standing(self, node_id: str | None = None) -> list[LabelEvent]:
        """Every label event (of a node) that is not taken back, in the order it was written."""
        if node_id is None:
            events = (label for group in self._groups.values() for label in group)
        else:
            events = (event for event in self._by_node.get(node_id, []) if event.kind == "label")
        return sorted(filter(self._stands, events), key=lambda event: event.id)

    def touched_since(self, event_id: int) -> set[str]:
        """Nodes whose label may be another than after an event."""
        return {node for _, node in self._touched[bisect_right(self._touched, (event_id, _LAST)) :]}

    def next_group(self, kind: str, analyst: str) -> str | None:
        """The group that an undo or redo of this analyst would name."""
        stack = (self._undoable if kind == "undo" else self._redoable).get(analyst)
        return stack[-1] if stack else None

    def given_by(self, analyst: str) -> int:
        """How many verdicts, on one node or a group, an analyst has given and not taken back."""
        return len(self._undoable.get(analyst, ()))

    def analysts(self) -> list[str]:
        return list(self._undoable)

    def group(self, group: str) -> list[LabelEvent]:
        return list(self._groups.get(group, []))

    def history(self, node_id: str) -> list[LabelEvent]:
        """Every event that touched the node, oldest first."""
        return list(self._by_node.get(node_id, []))


_LAST = "\U0010ffff"  # behind every node id


def _put(target: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        target.pop(key, None)
    else:
        target[key] = value


@dataclass(frozen=True)
class LabelView:
    """The label set at one moment, for reading only."""

    last_id: int
    current: dict[str, LabelEvent]
    notes: dict[str, str]
    first: dict[str, LabelEvent]  # how each case was drawn: a verdict changed later does not alter that

    def labels(self, graph: Graph) -> Labels:
        """The label set as node indices."""
        return Labels.from_events(graph, self.current.values(), self.first)


class LabelEvents:
    """Label events of one project: append, take back, restore, read."""

    def __init__(self, database: Database, project_id: str, trail: Trail) -> None:
        self._database, self._project, self._trail = database, project_id, trail
        self._book = LabelBook(project_id)
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

    def touched_since(self, event_id: int) -> set[str]:
        """Nodes whose label may be another than after an event."""
        with self._guard:
            return self._refreshed().touched_since(event_id)

    def can(self, kind: str, analyst: str) -> bool:
        """Whether this analyst has something to undo or redo."""
        with self._guard:
            return self._refreshed().next_group(kind, analyst) is not None

    def waiting(self, analyst: str, share: float) -> list[str]:
        """Nodes on which this analyst is to give a second opinion, of a ``share`` of those decided."""
        with self._guard:
            return self._refreshed().second_opinions.waiting(analyst, share)

    def given_by(self, analyst: str) -> int:
        """How many verdicts, on one node or a group, an analyst has given and not taken back."""
        with self._guard:
            return self._refreshed().given_by(analyst)

    def analysts(self) -> list[str]:
        """Everybody who has given a verdict."""
        with self._guard:
            return self._refreshed().analysts()

    # A transaction takes the write lock first and the guard second, here and wherever one is joined.

    def append(
        self, rows: Sequence[dict[str, Any]], *, analyst: str, kind: str = "label"
    ) -> list[LabelEvent]:
        """Write events of one group: all of them or, on an error, none."""
        group = uuid.uuid4().hex
        with self._database.writing(), self._guard:
            self._check_there()
            return self._write([{**row, "kind": kind, "event_group": group} for row in rows], analyst)

    def toggle(self, kind: str, analyst: str) -> list[LabelEvent]:
        """Undo or redo; the label events taken back or restored, [] when there is nothing."""
        with self._database.writing(), self._guard:
            self._check_there()
            book = self._refreshed()
            group = book.next_group(kind, analyst)
            if group is None:
                return []
            self._write([{"kind": kind, "event_group": group, "node_id": ""}], analyst)
            return book.group(group)

    def give_reason(self, node_id: str, reason: str, *, analyst: str) -> list[LabelEvent]:
        """Give the analyst's last verdict on a node its reason, with all nodes of a group that it was for."""
        with self._database.writing(), self._guard:
            self._check_there()
            book = self._refreshed()
            own = [event for event in book.standing(node_id) if event.analyst == analyst]
            if not own:
                raise LabelError(f"{analyst} has given no verdict on {node_id!r}, so it has no reason.")
            common = {"kind": "reason", "event_group": own[-1].group, "reason": reason}
            return self._write([{**common, "node_id": e.node_id} for e in book.group(own[-1].group)], analyst)

    def _check_there(self) -> None:
        if self._database.scalar(select(projects.c.id).where(projects.c.id == self._project)) is None:
            raise NotFound(f"The project {self._project!r} was deleted; the label was not kept.")

    def _write(self, rows: Sequence[dict[str, Any]], analyst: str) -> list[LabelEvent]:
        """Insert rows of which some may leave out columns that others have; an entry of the trail for all."""
        absent = dict.fromkeys(("verdict", "inclusion_probability", "drawn_after", "offer_id"))
        usual = {"source": "app", "note": "", "strategy": "", "weight": 1.0, "reason": ""}
        common = {"project_id": self._project, "analyst": analyst, "at": now(), **absent, **usual}
        before = self._database.scalar(select(func.max(label_events.c.id))) or 0
        self._database.change(insert(label_events), [{**common, **row} for row in rows])
        written = self._read(before)
        about = {"node": rows[0]["node_id"], "verdict": rows[0].get("verdict")}
        about |= {"reason": rows[0]["reason"]} if rows[0].get("reason") else {}
        self._trail.add(_ACTIONS[rows[0]["kind"]], analyst, self._project, **about, **events_digest(written))
        return written

    def _refreshed(self) -> LabelBook:
        self._database.once(("events", self), self._refresh)
        return self._book

    def _refresh(self) -> None:
        for event in self._read(self._book.last_id):
            self._book.apply(event)

    def _read(self, after: int) -> list[LabelEvent]:
        with self._database.reading() as connection:
            return events_of(connection, self._project, after)


_ACTIONS = {kind: kind for kind in ("note", "reason", "undo", "redo")} | {"label": "verdict"}  # in the trail


def events_of(
    connection: Connection, project_id: str, after: int = 0, until: int | None = None
) -> list[LabelEvent]:
    """Events of a project in the order of their ids, from behind one up to and with another."""
    wanted = [label_events.c.project_id == project_id, label_events.c.id > after]
    if until is not None:
        wanted.append(label_events.c.id <= until)
    query = select(*_COLUMNS).where(*wanted).order_by(label_events.c.id)
    return [_event(row) for row in connection.execute(query)]


def _event(row: Row[Any]) -> LabelEvent:
    found = dict(row._mapping)
    verdict = found.pop("verdict")
    return LabelEvent(**found, verdict=Verdict(verdict) if verdict else None)
