"""The queue: which nodes come next, what a line shows of each, and why a node scores as it does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from gadcore.errors import InputError
from gadcore.graph import IntArray, NodeTable
from gadcore.graph.labels import Verdict
from gadcore.insight.agreement import judges
from gadcore.insight.explain import reasons as why
from gadcore.insight.explain.columns import texts_of
from gadcore.insight.explain.sentences import verdict_sentence
from gadcore.loop.rerank import Provisional
from gadcore.records import QueueRow
from gadcore.store import Result
from gadcore.workspace.conditions import compared, condition
from gadcore.workspace.project import DERIVED, Project
from gadcore.workspace.search import SearchIndex
from gadcore.workspace.since import changed_since_verdict, touched_since
from gadcore.workspace.team import Asked

CODES = {"unlabelled": -1, "normal": 0, "anomalous": 1, "unsure": -2}
OTHERS = "others"  # judged by others, not by the analyst
CHANGED = "changed"  # judged, and touched by an update since
VERDICT_FILTERS = (*CODES, "mine", OTHERS, CHANGED, "any")
WORDS = {0: Verdict.NORMAL.value, 1: Verdict.ANOMALOUS.value, -2: Verdict.UNSURE.value}

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Filter:
    """Which nodes the queue shows. ``verdict`` None means unlabelled, "any" does not look at it."""

    verdict: str | None = None  # one of VERDICT_FILTERS
    column: str | None = None
    value: str | None = None  # of the column; of numbers also "> 5" or "<= 1,000"
    min_percentile: float | None = None
    max_percentile: float | None = None
    text: str | None = None
    since: str | None = None  # only what is new or changed since "last" (update), "version 3", "2025-06-01"

    @property
    def narrows(self) -> bool:
        """Whether it leaves out unlabelled nodes."""
        given = (self.column, self.min_percentile, self.max_percentile, self.text, self.since)
        return any(value is not None for value in given)


def positive(value: int, name: str) -> int:
    """A count as it may be asked for; InputError below 1."""
    if value < 1:
        raise InputError(f"{name} = {value}", "1 or more")
    return value


def rows(
    project: Project,
    nodes: Sequence[int] | IntArray,
    *,
    result: Result | None = None,
    reasons: Sequence[str] | None = None,
    strategy: str = "",
    inclusion: Sequence[float | None] | None = None,
    moved: IntArray | None = None,
    bent: Provisional | None = None,
) -> list[QueueRow]:
    """A line for each node, with its place in a run (the one in use) and its move since the run before.

    ``bent`` adds the place in a provisional ranking.
    """
    result, at = result or project.result(), np.asarray(nodes, dtype=np.int64)
    if moved is None and result is not None and (before := project.result_before(result)) is not None:
        moved = before.rank[at] - result.rank[at]
    graph, verdicts = project.graph, project.verdicts()
    n = len(at)
    reasons, inclusion = reasons or [""] * n, inclusion or [None] * n
    ids, names = graph.node_ids[at].tolist(), graph.display_names(at)
    found = []
    for i, (node, reason, chance) in enumerate(zip(at.tolist(), reasons, inclusion)):
        found.append(
            QueueRow(
                node_id=ids[i],
                name=names[i],
                rank=int(result.rank[node]) if result else 0,
                moved=None if moved is None else int(moved[i]),
                score=float(result.scores[node]) if result else 0.0,
                percentile=float(result.percentile[node]) if result else 0.0,
                verdict=WORDS.get(int(verdicts[node])),
                reason=reason,
                strategy=strategy,
                inclusion_probability=chance,
                provisional_rank=int(bent.rank[node]) if bent else None,
            )
        )
    return found


def filtered(project: Project, where: Filter, analyst: str | None, result: Result | None) -> Mask:
    """(N,) nodes that a filter lets through."""
    graph, verdicts = project.graph, project.verdicts()
    word = where.verdict or "unlabelled"
    if word in ("mine", OTHERS, CHANGED):
        keep = np.zeros(graph.n_nodes, dtype=bool)
        found = _judged(project, word, analyst)
        keep[graph.indices_of([node for node in found if node in graph])] = True
    elif word == "any":
        keep = np.ones(graph.n_nodes, dtype=bool)
    elif word in CODES:
        keep = verdicts == CODES[word]
    else:
        raise InputError(f"a filter on verdict {word!r}", f"one of {', '.join(VERDICT_FILTERS)}")
    if where.since is not None:
        keep &= touched_since(project, where.since)
    if where.column is not None:
        keep &= _has_value(project, where.column, where.value)
    if where.text:
        keep &= search_index(project).matching(where.text)
    if result is not None and where.min_percentile is not None:
        keep &= result.percentile >= where.min_percentile
    if result is not None and where.max_percentile is not None:
        keep &= result.percentile <= where.max_percentile
    return keep


def _judged(project: Project, word: str, analyst: str | None) -> list[str]:
    """Nodes of a filter on who has judged them, or when."""
    if word == CHANGED:
        return changed_since_verdict(project)
    return _mine(project, analyst) if word == "mine" else _others(project, analyst)


def _mine(project: Project, analyst: str | None) -> list[str]:
    """Nodes that the analyst has judged, also where somebody else spoke last."""
    name, labelled = project.analyst(analyst), project.view().current
    return [e.node_id for e in project.standing() if e.analyst == name and e.node_id in labelled]


def _others(project: Project, analyst: str | None) -> list[str]:
    """Nodes that others have judged and the analyst has not: cases for an independent second opinion."""
    name = project.analyst(analyst)
    return [node for node, names in judges(project.standing()).items() if name not in names]


def _has_value(project: Project, column: str, value: str | None) -> Mask:
    table = project.graph.node_table
    if column not in table:
        known = ", ".join(map(str, table.columns)) or "(none)"
        raise InputError(f"a filter on column {column!r}", f"one of the columns {known}")
    key = ("value", project.id, project.fingerprint, column, value)
    found: Mask = DERIVED.get(key, lambda: _cells_with(table, column, value or ""))
    return found


def _cells_with(table: NodeTable, column: str, value: str) -> Mask:
    equal = np.asarray(pc.equal(texts_of(table, column), value).to_numpy(zero_copy_only=False), dtype=bool)
    operator, bound = condition(value)
    found = compared(table[column], operator, bound)
    return equal if found is None else equal | found


def search_index(project: Project) -> SearchIndex:
    """The search index of the project's graph, made at first use."""
    folder = project.store.folders.graph(project.id, project.version)
    return DERIVED.get(("search", project.version_key), lambda: SearchIndex(project.graph, folder))


def within(project: Project, where: Filter, result: Result | None, asked: Asked) -> Asked:
    """What is asked of an analyst, of nodes that a filter lets through."""
    if not where.narrows or not (asked.assigned or asked.second):
        return asked
    keep, index = filtered(project, replace(where, verdict="any"), None, result), project.graph.index_of
    own = {node: by for node, by in asked.assigned.items() if keep[index(node)]}
    others = asked.others | (asked.assigned.keys() - own.keys())
    return replace(
        asked, assigned=own, others=others, second=[node for node in asked.second if keep[index(node)]]
    )


def unranked(project: Project, where: Filter, n: int, asked: Asked) -> tuple[list[QueueRow], list[QueueRow]]:
    """Assigned cases and all others, while there is no run."""
    nodes = np.flatnonzero(filtered(project, where, None, None))
    apart = project.graph.indices_of([node for node in asked.apart if node in project.graph])
    own = [
        replace(r, assigned_by=asked.assigned[r.node_id]) for r in plain_rows(project, None, asked.assigned)
    ]
    return own, widest(project, np.setdiff1d(nodes, apart, assume_unique=True), n)


def widest(project: Project, nodes: IntArray, n: int) -> list[QueueRow]:
    """Rows of those with the most neighbours, while there is no run."""
    found = nodes[np.argsort(-project.graph.degree[nodes], kind="stable")][:n]
    return rows(project, found, reasons=[project.unranked()] * len(found))


def plain_rows(project: Project, result: Result | None, node_ids: Iterable[str]) -> list[QueueRow]:
    """Rows of nodes that no strategy has chosen."""
    nodes = [project.graph.index_of(node_id) for node_id in node_ids]
    reasons = live_reasons(project, result, nodes) if result else [project.unranked()] * len(nodes)
    return rows(project, nodes, result=result, reasons=reasons)


def live_reasons(project: Project, result: Result, nodes: Iterable[int]) -> list[str]:
    """``first_reasons``, with neighbours' verdicts as they are now instead of when the run was trained."""
    nodes, graph, now = list(map(int, nodes)), project.graph, project.verdicts()
    then = DERIVED.get(("verdicts", result.info.id), lambda: _verdicts_of(project, result))
    found = []
    for node, told in zip(nodes, first_reasons(project, result, nodes)):
        around, _ = graph.neighbours(node)
        found.append(_marked(now[around]) if told and told == _marked(then[around]) else told)
    return found


def _verdicts_of(project: Project, result: Result) -> npt.NDArray[np.int8]:
    """(N,) verdicts that a run was trained with, as in ``Labels.as_array``."""
    codes = np.full(project.graph.n_nodes, -1, dtype=np.int8)
    for node_id, word in result.labels.items():
        if node_id in project.graph:
            codes[project.graph.index_of(node_id)] = CODES[word]
    return codes


def _marked(verdicts: npt.NDArray[np.int8]) -> str:
    """A sentence on the verdicts of neighbours, empty where there is nothing to say."""
    anomalous, normal = int((verdicts == 1).sum()), int((verdicts == 0).sum())
    return verdict_sentence(anomalous, anomalous + normal, len(verdicts)) or ""


def first_reasons(project: Project, result: Result, nodes: Iterable[int]) -> list[str]:
    """One short sentence per node on why it scores as it does."""
    known = DERIVED.get(("reasons", result.info.id), dict[int, str])
    wanted = [int(node) for node in nodes]
    missing = [node for node in wanted if node not in known]
    if missing:
        seen = project.graph_seen_by(result)
        found = why(seen, result.model_folder, missing, result.scores, project.views())
        known.update({node: (lines[0] if lines else "") for node, lines in zip(missing, found)})
    return [known[node] for node in wanted]
