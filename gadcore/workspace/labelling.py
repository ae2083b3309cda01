"""Verdicts in, verdicts out: single ones, groups, undo, notes, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isclose
from pathlib import Path
from typing import Any

from gadcore.errors import LabelError
from gadcore.graph.labels import GroupRule, LabelEvent, Verdict, checked_weight
from gadcore.insight.agreement import ADJUDICATION, SECOND_LOOK, dispute_on
from gadcore.workspace.label_files import read_labels
from gadcore.workspace.project import Project

# How the queue offered a case: the strategy that chose it and, of a random check, its inclusion probability
# and the label event after which it was drawn.
Draw = tuple[str, float | None, int | None]

SOURCES = ("app", "selection", "cli", "import", "map", "ring", "practice")  # where a verdict may come from


def record(
    project: Project,
    node_ids: Iterable[str],
    verdict: Verdict | str,
    *,
    analyst: str | None,
    draws: Mapping[str, Draw] | None = None,
    weights: Mapping[str, float] | None = None,
    **values: Any,
) -> list[LabelEvent]:
    """Write the same verdict for these nodes as one group; NotFound before anything is written.

    ``draws`` says how the queue chose a node, ``weights`` names nodes whose verdict counts less than 1.
    """
    ids = list(dict.fromkeys(node_ids))
    if not ids:
        raise LabelError("No node was named. Expected: at least one node for a verdict.")
    for node_id in ids:
        project.node(node_id)
    word = verdict if isinstance(verdict, Verdict) else Verdict.parse(verdict)
    rows = []
    for node_id in ids:
        strategy, probability, after = (draws or {}).get(node_id, ("", None, None))
        if probability is not None and not 0 < probability <= 1:
            raise LabelError(f"An inclusion probability of {probability}. Expected: above 0, at most 1.")
        own = {"strategy": strategy, "inclusion_probability": probability, "drawn_after": after}
        own |= {"weight": (weights or {}).get(node_id, 1.0)}
        rows.append({"node_id": node_id, "verdict": word.value, **own, **values})
    return project.store.events(project.id).append(rows, analyst=project.analyst(analyst))


def settle(
    project: Project, node_id: str, verdict: Verdict | str, *, analyst: str | None, note: str
) -> LabelEvent:
    """Write the verdict that settles a dispute, or what a second look at an undisputed node came to.

    The latter is an opinion like any other; LabelError for unsure, which settles nothing.
    """
    word = verdict if isinstance(verdict, Verdict) else Verdict.parse(verdict)
    if word is Verdict.UNSURE:
        raise LabelError(f"{node_id!r} cannot be settled as unsure. Expected: normal or anomalous.")
    source = ADJUDICATION if dispute_on(project.standing(node_id)) else SECOND_LOOK
    return record(project, [node_id], word, analyst=analyst, note=note, source=source)[0]


def checked_source(source: str) -> str:
    """Where a verdict comes from, as it may be given; LabelError otherwise."""
    if source not in SOURCES:
        raise LabelError(
            f"{source!r} is not where a verdict comes from. Expected one of: {', '.join(SOURCES)}. "
            "To settle a dispute use settle."
        )
    return source


class GroupEvents(list[LabelEvent]):
    """The events of a group verdict; ``kept`` names nodes of the group that stay as they were."""

    def __init__(self, events: Iterable[LabelEvent], kept: Iterable[str]) -> None:
        super().__init__(events)
        self.kept = list(kept)


def record_group(
    project: Project,
    node_ids: Iterable[str],
    verdict: Verdict | str,
    weight: float | str,
    judged: Iterable[str],
    draws: Mapping[str, Draw],
    overrule: bool,
    **values: Any,
) -> GroupEvents:
    """Write one verdict for a group; each node counts ``weight``, or its share of what a ``GroupRule`` gives.

    Nodes of ``judged`` were looked at themselves and count 1. Of the others those with a verdict of their own
    (weight 1) keep it, unless ``overrule``; no event is written for one that counts as much with this verdict
    already, for nobody gave a second opinion on it, nor for a judged one of which this analyst has said the
    same; LabelError if that leaves none. ``draws`` says how the queue chose nodes that were looked at, one by
    one.
    """
    ids, looked_at, current = list(dict.fromkeys(node_ids)), set(judged), project.view().current
    for node_id in ids:
        project.node(node_id)
    word = verdict if isinstance(verdict, Verdict) else Verdict.parse(verdict)
    same = {node_id: e.weight for node_id, e in current.items() if e.verdict is word}
    own = {node_id for node_id in given_singly(project, ids) if not overrule or node_id in same} - looked_at
    others = [node_id for node_id in ids if node_id not in looked_at | own]
    each = GroupRule.parse(weight).weight(len(others)) if isinstance(weight, str) else checked_weight(weight)
    weights = dict.fromkeys(others, each)
    unseen = [n for n in draws if n not in ids or (n not in own and weights.get(n, 1.0) < 1.0)]
    if unseen:
        raise LabelError(
            f"{unseen[0]!r} was drawn, but is not in the group or counts less than 1. Expected: draws of "
            "nodes that were looked at themselves."
        )
    kept = own | {node_id for node_id in others if same.get(node_id, 0.0) >= each}
    if not values.get("note"):
        kept |= _said_already(project, looked_at.intersection(ids), word, values.get("analyst"))
    changed = [node_id for node_id in ids if node_id not in kept]
    if kept and not changed:
        which, them = ("the node has", "it") if len(kept) == 1 else (f"all {len(kept):,} nodes have", "them")
        raise LabelError(
            f"Nothing to change: {which} this verdict already, or one that was given to {them} alone. "
            "Mark a node by itself to change that one."
        )
    events = record(project, changed, word, weights=weights, draws=draws, **values)
    return GroupEvents(events, [node_id for node_id in ids if node_id in kept])


def _said_already(
    project: Project, node_ids: Iterable[str], verdict: Verdict, analyst: str | None
) -> set[str]:
    """Those of the nodes that have this verdict in full, and by this analyst."""
    name, current = project.analyst(analyst), project.view().current
    events = [current[node_id] for node_id in node_ids if node_id in current]
    return {e.node_id for e in events if e.verdict is verdict and e.weight >= 1 and e.analyst == name}


def given_singly(project: Project, node_ids: Iterable[str]) -> list[str]:
    """Those of the nodes whose verdict was given to them alone, not with a group."""
    current = project.view().current
    found = {node_id: current[node_id] for node_id in node_ids if node_id in current}
    return [node_id for node_id, event in found.items() if event.verdict is not None and event.weight >= 1]


def note(project: Project, node_id: str, text: str, *, analyst: str | None) -> LabelEvent:
    """Keep a note on a node, with or without a verdict; an empty one removes it."""
    project.node(node_id)
    row = {"node_id": node_id, "note": text.strip()}
    return project.store.events(project.id).append([row], analyst=project.analyst(analyst), kind="note")[0]


def counts(project: Project) -> dict[str, int]:
    """Labels by verdict, and ``fresh``: changes that the run in use has not seen."""
    current = project.view().current
    found = {verdict.value: 0 for verdict in Verdict}
    learnt: dict[str, tuple[str, float]] = {}
    for node_id, event in current.items():
        if event.verdict is None:
            continue
        found[event.verdict.value] += 1
        if event.verdict is not Verdict.UNSURE:
            learnt[node_id] = (event.verdict.value, event.weight)
    result = project.result()
    seen = result.learnt({node: weight for node, (_, weight) in learnt.items()}) if result else {}
    return {**found, "fresh": len({node for node, _ in learnt.items() ^ seen.items()})}


def import_labels(project: Project, path: Path, *, analyst: str | None) -> dict[str, Any]:
    """Record the labels of a file as one group.

    Returns ``added`` (written), ``unchanged`` (already so) and ``unknown`` (ids not in the graph).
    """
    current = project.view().current
    rows, unchanged, unknown = [], 0, []
    for row in read_labels(path):
        node_id = _known_id(project, row["node_id"])
        if node_id is None:
            unknown.append(row["node_id"])
        elif _is_so(current.get(node_id), row):
            unchanged += 1
        else:
            rows.append({**row, "node_id": node_id, "source": "import"})
    if rows:
        project.store.events(project.id).append(rows, analyst=project.analyst(analyst))
    return {"added": len(rows), "unchanged": unchanged, "unknown": unknown}


def _is_so(known: LabelEvent | None, row: dict[str, Any]) -> bool:
    """Whether a row of a file says what is known; a row without a weight says nothing about it."""
    if known is None or known.verdict != row["verdict"]:
        return False
    return "weight" not in row or isclose(known.weight, row["weight"], rel_tol=1e-6)


def _known_id(project: Project, node_id: str) -> str | None:
    """The id as the graph has it; a leading ' that guarded a spreadsheet cell is taken off."""
    bare = node_id.removeprefix("'")
    return next((found for found in (node_id, bare) if found in project.graph), None)
