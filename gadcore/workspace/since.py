"""What came since: nodes that updates have touched, since a version, a day, or the verdict on them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import pandas as pd

from gadcore.errors import InputError
from gadcore.graph.changes import read_touched
from gadcore.loop.pool import Changed
from gadcore.records.versions import VersionInfo
from gadcore.store import Result
from gadcore.workspace.conditions import Mask
from gadcore.workspace.project import DERIVED, Project

LAST = "last"  # since the last update
_VERSION = re.compile(r"(?:version |v)?(\d{1,6})")


@dataclass(frozen=True)
class Touch:
    """A version, and the nodes that it touched: ``new``, ``links`` and ``rank`` by node id."""

    version: VersionInfo
    nodes: pd.DataFrame


def touches(project: Project) -> list[Touch]:
    """What the updates touched that led to the present version, oldest first."""
    key = ("touches", project.version_key)
    found: list[Touch] = DERIVED.get(key, lambda: _read(project))
    return found


def _read(project: Project) -> list[Touch]:
    line = project.store.versions.line(project.id, project.version)[1:]
    paths = [project.store.folders.touched(project.id, version.number) for version in line]
    return [Touch(v, read_touched(path).set_index("node_id")) for v, path in zip(line, paths)]


def touched_since(project: Project, text: str) -> Mask:
    """(N,) nodes that are new or changed since "last" (update), "version 3" or "2025-06-01"."""
    key = ("touched since", project.version_key, text)
    found: Mask = DERIVED.get(key, lambda: _mask(project, _since(touches(project), text.strip().lower())))
    return found


def _since(found: Sequence[Touch], text: str) -> Sequence[Touch]:
    if text == LAST:
        return found[-1:]
    if numbered := _VERSION.fullmatch(text):
        return [touch for touch in found if touch.version.number > int(numbered[1])]
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"a queue of what is new since {text!r}",
            "'last', a version such as 3, or a day such as 2025-06-01",
        ) from None
    return [touch for touch in found if day_of(touch.version) >= day]


def day_of(version: VersionInfo) -> date:
    """The day that the data of a version stand for, else the day on which it was stored."""
    try:
        return date.fromisoformat(version.as_of)
    except ValueError:
        return version.created_at.date()


def _mask(project: Project, found: Sequence[Touch]) -> Mask:
    mask = np.zeros(project.graph.n_nodes, dtype=bool)
    for touch in found:
        rows = project.graph.node_ids.rows(touch.nodes.index.to_numpy(dtype=object))
        mask[rows[rows >= 0]] = True
    return mask


def changed_since_verdict(project: Project) -> list[str]:
    """Nodes with a verdict that an update has touched since."""
    current = project.view().current
    return [node_id for node_id, event in current.items() if _of_node(_after(project, event.at), node_id)]


def changed_cases(project: Project, result: Result) -> list[Changed]:
    """The same, with how much each has changed; ``result`` is the run whose ranks are those of now."""
    key = ("changed cases", project.version_key, result.info.id)
    return project.label_state().once(key, lambda: _changed_cases(project))


def _changed_cases(project: Project) -> list[Changed]:
    current, graph = project.view().current, project.graph
    return [
        _changed(project, node_id, _of_node(_after(project, current[node_id].at), node_id))
        for node_id in changed_since_verdict(project)
        if node_id in graph and current[node_id].verdict is not None
    ]


def _changed(project: Project, node_id: str, found: Sequence[Touch]) -> Changed:
    rows, node = [touch.nodes.loc[node_id] for touch in found], project.node(node_id)
    came, links = sum(int(row["links"]) for row in rows), project.graph.links
    has = len(project.graph.neighbours(node)[0]) if links is None else len(links.of(node))
    return Changed(node, came, max(0, has - came), int(rows[0]["rank"]), news_of(project, node_id))


def _of_node(found: Sequence[Touch], node_id: str) -> list[Touch]:
    return [touch for touch in found if node_id in touch.nodes.index]


def news_of(project: Project, node_id: str) -> str:
    """What came since the verdict on a node, or with the last update; "" for nothing."""
    event = project.view().current.get(node_id)
    found = _of_node(_after(project, event.at) if event else touches(project)[-1:], node_id)
    if not found:
        return ""
    rows = [touch.nodes.loc[node_id] for touch in found]
    parts = [
        _links(project, sum(int(row["links"]) for row in rows)),
        _rise(project, node_id, int(rows[0]["rank"])),
    ]
    told = ", ".join(filter(None, parts)) or "changed since"
    if event is not None and event.verdict is not None:
        return f"judged {event.verdict.value} on {_day(event.at)}; {told}"
    last = found[-1].version
    how = "new" if rows[0]["new"] else "changed"
    return f"{how} with version {last.number} ({_day(day_of(last))}); {told}"


def _day(moment: date) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _after(project: Project, moment: datetime) -> list[Touch]:
    return [touch for touch in touches(project) if touch.version.created_at > moment]


def _links(project: Project, n: int) -> str:
    links = project.graph.links
    word = links.meaning.word if links is not None else "edge"
    words = links.meaning.words if links is not None else "edges"
    return f"{n:,} {word if n == 1 else words} since" if n else ""


def _rise(project: Project, node_id: str, before: int) -> str:
    result = project.result()
    if not before or result is None:
        return ""
    return f"rank {before:,} → {result.rank_of(project.node(node_id)):,}"
