"""What the analysts said: verdicts, groups, undo, notes, label files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import isclose
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gadcore.errors import LabelError
from gadcore.graph.labels import GroupRule, LabelEvent, Labels, Verdict, checked_weight
from gadcore.insight.agreement import ADJUDICATION, SECOND_LOOK, dispute_on
from gadcore.store import LabelEvents, Result
from gadcore.workspace.label_files import read_labels, with_draw_and_note, write_labels
from gadcore.workspace.preferences import REASONS, USUAL_REASONS
from gadcore.workspace.project import Project
from gadcore.workspace.queue import shown_as

# Where a verdict may come from.
SOURCES = ("app", "selection", "cli", "import", "map", "ring", "practice", "api", "assistant")


class GroupEvents(list[LabelEvent]):
    """The events of a group verdict; ``kept`` names nodes of the group that stay as they were."""

    def __init__(self, events: Iterable[LabelEvent], kept: Iterable[str]) -> None:
        super().__init__(events)
        self.kept = list(kept)


class Verdicts:
    """What the analysts said. Every call that writes is one transaction and one undo."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def record(
        self,
        node_id: str,
        verdict: Verdict | str,
        *,
        analyst: str | None = None,
        note: str = "",
        source: str = "app",
        offer: int | None = None,
        reason: str = "",
    ) -> LabelEvent:
        """Keep a verdict on a node; ``offer`` says as which case the queue has shown it."""
        offers = {} if offer is None else {node_id: offer}
        given = self._given(note, source, reason)
        return self._write([node_id], verdict, offers, analyst, **given)[0]

    def record_each(
        self,
        node_ids: Iterable[str],
        verdict: Verdict | str,
        *,
        strategy: str | None = None,
        analyst: str | None = None,
        note: str = "",
        source: str = "app",
        reason: str = "",
    ) -> list[LabelEvent]:
        """Keep one verdict on nodes that were looked at one by one, each as the queue has shown it.

        A node counts as a random check only if a queue (of ``strategy``) had shown it as one.
        """
        ids = list(node_ids)
        offers = shown_as(self._project, ids, strategy)
        return self._write(ids, verdict, offers, analyst, **self._given(note, source, reason))

    def record_group(
        self,
        node_ids: Iterable[str],
        verdict: Verdict | str,
        *,
        analyst: str | None = None,
        note: str = "",
        source: str = "ring",
        weight: float | str = 1.0,
        judged: Iterable[str] = (),
        offers: Mapping[str, int] | None = None,
        overrule: bool = False,
        reason: str = "",
    ) -> GroupEvents:
        """Keep one verdict on a group; each node counts ``weight``, or its share by a ``GroupRule``.

        Nodes of ``judged`` were looked at themselves and count 1. Of the others, those with a verdict of
        their own (weight 1) keep it, unless ``overrule``. No event is written for one that counts as much
        with this verdict already: nobody gave a second opinion on it. Nor for a judged one of which this
        analyst has said the same. LabelError if that leaves none. ``offers`` says, of nodes that count 1,
        as which case the queue has shown them.
        """
        word, ids, looked_at = _parsed(verdict), list(dict.fromkeys(node_ids)), set(judged)
        given, offers = self._given(note, source, reason), offers or {}
        self._check_known(ids)
        current = self._project.view().current
        same = {node_id: e.weight for node_id, e in current.items() if e.verdict is word}
        own = {n for n in self.given_singly(ids) if not overrule or n in same} - looked_at
        others = [node_id for node_id in ids if node_id not in looked_at | own]
        each = _weight_of(weight, len(others))
        weights = dict.fromkeys(others, each)
        _check_looked_at(offers, {n for n in ids if n in own or weights.get(n, 1.0) >= 1.0})
        kept = own | {node_id for node_id in others if same.get(node_id, 0.0) >= each}
        if not note:
            kept |= self._said_already(looked_at.intersection(ids), word, analyst)
        changed = [node_id for node_id in ids if node_id not in kept]
        if kept and not changed:
            raise _nothing_to_change(len(kept))
        events = self._write(changed, word, offers, analyst, weights=weights, **given)
        return GroupEvents(events, [node_id for node_id in ids if node_id in kept])

    def settle(
        self,
        node_id: str,
        verdict: Verdict | str,
        *,
        analyst: str | None = None,
        note: str = "",
        reason: str = "",
    ) -> LabelEvent:
        """Settle a dispute between analysts, or a case of ``second_look``, as normal or anomalous.

        The latter is an opinion like any other; LabelError for unsure, which settles nothing.
        """
        word = _parsed(verdict)
        if word is Verdict.UNSURE:
            raise LabelError(f"{node_id!r} cannot be settled as unsure. Expected: normal or anomalous.")
        source = ADJUDICATION if dispute_on(self._project.standing(node_id)) else SECOND_LOOK
        given: dict[str, Any] = {"note": note, "source": source, "reason": self._checked_reason(reason)}
        return self._write([node_id], word, {}, analyst, **given)[0]

    def given_singly(self, node_ids: Iterable[str]) -> list[str]:
        """Those of the nodes whose verdict was given to them alone, not with a group."""
        current = self._project.view().current
        found = {node_id: current[node_id] for node_id in node_ids if node_id in current}
        return [
            node_id for node_id, event in found.items() if event.verdict is not None and event.weight >= 1
        ]

    def undo(self, analyst: str | None = None) -> list[LabelEvent]:
        """Take back the analyst's last group; the label events taken back, [] if there is nothing."""
        return self._store.toggle("undo", self._project.analyst(analyst))

    def redo(self, analyst: str | None = None) -> list[LabelEvent]:
        """Restore what the analyst took back last; the label events restored, [] if there is nothing."""
        return self._store.toggle("redo", self._project.analyst(analyst))

    def can_undo(self, analyst: str | None = None) -> bool:
        return self._store.can("undo", self._project.analyst(analyst))

    def can_redo(self, analyst: str | None = None) -> bool:
        return self._store.can("redo", self._project.analyst(analyst))

    def note(self, node_id: str, text: str, *, analyst: str | None = None) -> LabelEvent:
        """Keep a note on a node, with or without a verdict; an empty one removes it."""
        self._check_known([node_id])
        row = {"node_id": node_id, "note": text.strip()}
        return self._store.append([row], analyst=self._project.analyst(analyst), kind="note")[0]

    def give_reason(self, node_id: str, reason: str, *, analyst: str | None = None) -> list[LabelEvent]:
        """Say why the analyst's last verdict on a node was given; "" takes the reason away.

        One on a group has the reason for all of its nodes. LabelError without such a verdict.
        """
        name, checked = self._project.analyst(analyst), self._checked_reason(reason)
        return self._store.give_reason(node_id, checked, analyst=name)

    def reasons(self) -> list[str]:
        """The reasons to choose from, which a lead keeps for the project."""
        kept = self._project.store.projects.preference(self._project.id, REASONS)
        return list(kept or USUAL_REASONS)

    def current(self) -> Mapping[str, LabelEvent]:
        """Node id -> its label event that holds now."""
        return MappingProxyType(self._project.view().current)

    def words(self) -> tuple[int, Mapping[str, str]]:
        """The last event, and node id -> verdict that holds now; for reading only."""
        state = self._project.label_state()
        return state.view.last_id, state.words

    def changed_since(self, event_id: int) -> set[str]:
        """Nodes whose verdict may be another than after an event."""
        return self._project.store.events(self._project.id).touched_since(event_id)

    def notes(self) -> dict[str, str]:
        """Node id -> its latest note, with or without a verdict."""
        return dict(self._project.view().notes)

    def history(self, node_id: str) -> list[LabelEvent]:
        """Every event that touched a node, oldest first; undo and redo among them."""
        return self._store.history(node_id)

    def in_order(self) -> list[LabelEvent]:
        """One event per labelled node: its first one, which tells how the case was drawn, in that order."""
        return self._project.verdicts_in_order()

    def labels(self) -> Labels:
        """The label set that a run would be trained on now."""
        return self._project.labels()

    def counts(self, run_id: str | None = None) -> dict[str, int]:
        """normal, anomalous, unsure, and fresh: changes that a run (the one in use) has not seen."""
        result = self._project.result(run_id)
        key = ("counts", result.info.id if result else "")
        return dict(self._project.label_state().once(key, lambda: self._counted(result)))

    def _counted(self, result: Result | None) -> dict[str, int]:
        found = {verdict.value: 0 for verdict in Verdict}
        learnt: dict[str, tuple[str, float]] = {}
        for node_id, event in self._project.view().current.items():
            if event.verdict is None:
                continue
            found[event.verdict.value] += 1
            if event.verdict is not Verdict.UNSURE:
                learnt[node_id] = (event.verdict.value, event.weight)
        seen = result.learnt({node: weight for node, (_, weight) in learnt.items()}) if result else {}
        return {**found, "fresh": len({node for node, _ in learnt.items() ^ seen.items()})}

    def import_file(self, path: str | Path, *, analyst: str | None = None) -> dict[str, Any]:
        """Record the labels of a file as one group.

        Returns ``added`` (written), ``unchanged`` (already so) and ``unknown`` (ids not in the graph).
        """
        current = self._project.view().current
        rows, unchanged, unknown = [], 0, []
        for row in read_labels(Path(path)):
            node_id = self._known_id(row["node_id"])
            if node_id is None:
                unknown.append(row["node_id"])
            elif _is_so(current.get(node_id), row):
                unchanged += 1
            else:
                rows.append({**row, "node_id": node_id, "source": "import"})
        if rows:
            self._store.append(rows, analyst=self._project.analyst(analyst))
        return {"added": len(rows), "unchanged": unchanged, "unknown": unknown}

    def export_file(self, path: str | Path) -> int:
        """Write the current labels to a .csv, .tsv, .parquet or .jsonl file; returns how many.

        Notes are the latest of each node; how a case was drawn is what its first verdict says.
        """
        view = self._project.view()
        count = write_labels(Path(path), with_draw_and_note(view.current, view.first, view.notes))
        who, told = self._project.analyst(None), {"file": Path(path).name, "rows": count}
        self._project.store.trail.add("export", who, self._project.id, **told)
        return count

    @property
    def _store(self) -> LabelEvents:
        return self._project.store.events(self._project.id)

    def _given(self, note: str, source: str, reason: str) -> dict[str, Any]:
        """What a verdict is given with, as it may be kept."""
        return {
            "note": note,
            "source": _checked_source(source),
            "reason": self._checked_reason(reason),
        }

    def _checked_reason(self, reason: str) -> str:
        text = reason.strip()
        if text and text not in self.reasons():
            known = "; ".join(self.reasons())
            raise LabelError(f"{reason!r} is no reason of this project. Expected one of: {known}.")
        return text

    def _write(
        self,
        node_ids: Iterable[str],
        verdict: Verdict | str,
        offers: Mapping[str, int],
        analyst: str | None,
        *,
        weights: Mapping[str, float] | None = None,
        **values: Any,
    ) -> list[LabelEvent]:
        """Write the same verdict for these nodes as one group; NotFound before anything is written."""
        ids, word = list(dict.fromkeys(node_ids)), _parsed(verdict)
        if not ids:
            raise LabelError("No node was named. Expected: at least one node for a verdict.")
        self._check_known(ids)
        common = {"verdict": word.value, **values}
        rows = [
            {
                "node_id": n,
                "weight": (weights or {}).get(n, 1.0),
                **common,
                **self._answered(n, offers.get(n)),
            }
            for n in ids
        ]
        return self._store.append(rows, analyst=self._project.analyst(analyst))

    def _answered(self, node_id: str, offer_id: int | None) -> dict[str, Any]:
        """How the queue chose a case, for the event that answers it.

        An offer that went with its run is forgotten: the verdict counts, as one that nobody asked for.
        """
        offer = None if offer_id is None else self._project.store.offers.get(self._project.id, offer_id)
        if offer is None:
            return {}
        if offer.node_id != node_id:
            raise LabelError(f"Offer {offer_id} is of {offer.node_id!r}, the verdict is on {node_id!r}.")
        return {
            "offer_id": offer_id,
            "strategy": offer.strategy,
            "inclusion_probability": offer.probability,
            "drawn_after": offer.drawn_after,
        }

    def _check_known(self, node_ids: Iterable[str]) -> None:
        for node_id in node_ids:
            self._project.node(node_id)

    def _said_already(self, node_ids: Iterable[str], verdict: Verdict, analyst: str | None) -> set[str]:
        """Those of the nodes that have this verdict in full, and by this analyst."""
        name, current = self._project.analyst(analyst), self._project.view().current
        events = [current[node_id] for node_id in node_ids if node_id in current]
        return {e.node_id for e in events if e.verdict is verdict and e.weight >= 1 and e.analyst == name}

    def _known_id(self, node_id: str) -> str | None:
        """The id as the graph has it; a leading ' that guarded a spreadsheet cell is taken off."""
        bare = node_id.removeprefix("'")
        return next((found for found in (node_id, bare) if found in self._project.graph), None)


def _parsed(verdict: Verdict | str) -> Verdict:
    return verdict if isinstance(verdict, Verdict) else Verdict.parse(verdict)


def _weight_of(weight: float | str, others: int) -> float:
    return GroupRule.parse(weight).weight(others) if isinstance(weight, str) else checked_weight(weight)


def _checked_source(source: str) -> str:
    """Where a verdict comes from, as it may be given; LabelError otherwise."""
    if source not in SOURCES:
        raise LabelError(
            f"{source!r} is not where a verdict comes from. Expected one of: {', '.join(SOURCES)}. "
            "To settle a dispute use settle."
        )
    return source


def _check_looked_at(offers: Mapping[str, int], looked_at: Collection[str]) -> None:
    unseen = [node_id for node_id in offers if node_id not in looked_at]
    if unseen:
        raise LabelError(
            f"{unseen[0]!r} is named with an offer, but is not in the group or counts less than 1. "
            "Expected: offers of nodes that were looked at themselves."
        )


def _nothing_to_change(kept: int) -> LabelError:
    which, them = ("the node has", "it") if kept == 1 else (f"all {kept:,} nodes have", "them")
    return LabelError(
        f"Nothing to change: {which} this verdict already, or one that was given to {them} alone. "
        "Mark a node by itself to change that one."
    )


def _is_so(known: LabelEvent | None, row: dict[str, Any]) -> bool:
    """Whether a row of a file says what is known; a row without a weight says nothing about it."""
    if known is None or known.verdict != row["verdict"]:
        return False
    return "weight" not in row or isclose(known.weight, row["weight"], rel_tol=1e-6)
