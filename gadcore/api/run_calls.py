"""Calls on runs and on what they found: start, follow, scores, flagged list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from gadcore.api.endpoint import Ask, File, Page, page_of
from gadcore.api.forms import Paging, part
from gadcore.errors import RunError
from gadcore.graph import IntArray
from gadcore.output.files import csv_bytes
from gadcore.output.flagged import Filters, result_in_use, select, table_of, verdict_words
from gadcore.records import RunInfo
from gadcore.settings import MOST_SEED
from gadcore.store import Result
from gadcore.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class NewRun:
    """A run to start."""

    model: str = part("name of the detector", "an+")
    params: dict[str, Any] | None = part("its parameters, by name", None)
    seed: int = part("random numbers start from it", 0, minimum=0, maximum=MOST_SEED)
    warm: bool = part("it may start from the run in use", True)
    use: bool = part("its scores are shown as soon as it is done", True)


@dataclass(frozen=True, kw_only=True)
class ScoreQuery(Paging):
    """Which scores are wanted."""

    limit: int = part("scores of this page", 100, minimum=1, maximum=1000)
    run: str | None = part("id or number of a run that is done (else the one in use)", None)
    node: str | None = part("only the score of this node", None)


@dataclass(frozen=True, kw_only=True)
class FlaggedQuery:
    """Who is flagged."""

    top: int | None = part("the highest scores of those that the other filters leave", None, minimum=1)
    min_score: float | None = part("least score", None, minimum=-1e30, maximum=1e30)
    min_percentile: float | None = part("least percentile", None, minimum=0, maximum=100)
    min_probability: float | None = part("least probability", None, minimum=0, maximum=1)
    verdict: Literal["anomalous", "unsure", "unlabelled", "normal"] | None = part("only these", None)


@dataclass(frozen=True, kw_only=True)
class FlaggedPage(Paging, FlaggedQuery):
    """Who is flagged, and which part of the list is wanted."""


@dataclass(frozen=True, kw_only=True)
class FlaggedFile(FlaggedQuery):
    """Who is flagged, for a file."""

    top: int = part("rows: the highest scores", 100, minimum=1, maximum=10_000)


@dataclass(frozen=True)
class NodeScore:
    """A node in a run."""

    node_id: str
    name: str
    rank: int  # 1 = highest score
    score: float
    percentile: float
    probability: float | None
    verdict: str  # normal, anomalous, unsure or unlabelled


@dataclass(frozen=True)
class Scores:
    """Some scores of a run, highest first."""

    run: str  # its id: name it for the next page, should another run end meanwhile
    items: list[NodeScore]
    total: int
    next: int | None


@dataclass(frozen=True)
class FlaggedRows:
    """A part of the flagged list; each row has the columns of its file."""

    items: list[dict[str, Any]]
    total: int
    next: int | None


def runs(ask: Ask) -> Page[RunInfo]:
    return page_of(ask.workspace.runs.all(), ask.query.offset, ask.query.limit)


def run(ask: Ask) -> RunInfo:
    return ask.workspace.runs.get(ask.path["run"])


def start(ask: Ask) -> RunInfo:
    given: NewRun = ask.body
    asked = {"params": given.params, "seed": given.seed, "warm": given.warm, "use": given.use}
    return ask.workspace.runs.start(given.model, **asked)


def cancel(ask: Ask) -> RunInfo:
    project = ask.workspace
    project.runs.cancel(ask.path["run"])
    return project.runs.get(ask.path["run"])


def scores(ask: Ask) -> Scores:
    q: ScoreQuery = ask.query
    project = ask.workspace
    result = _result(project, q.run)
    order = result.order if q.node is None else np.array([project.graph.index_of(q.node)])
    end = q.offset + q.limit
    rows = _scores(project, result, order[q.offset : end])
    return Scores(result.info.id, rows, len(order), end if end < len(order) else None)


def _result(project: Workspace, run_id: str | None) -> Result:
    if run_id is None:
        return result_in_use(project)
    result = project.runs.result(run_id)
    if result is None:
        raise RunError(f"Run {run_id} has no scores. Choose a run that is done.")
    return result


def _scores(project: Workspace, result: Result, nodes: IntArray) -> list[NodeScore]:
    names, words, chances = project.graph.display_names(nodes), verdict_words(project), result.probability
    return [
        NodeScore(
            node_id=str(project.graph.node_ids[node]),
            name=name,
            rank=int(result.rank[node]),
            score=float(result.scores[node]),
            percentile=float(result.percentile[node]),
            probability=None if chances is None else float(chances[node]),
            verdict=str(words[node]),
        )
        for node, name in zip(nodes, names)
    ]


def flagged(ask: Ask) -> FlaggedRows:
    q: FlaggedPage = ask.query
    project = ask.workspace
    nodes = select(project, _filters(q))
    end = q.offset + q.limit
    table = table_of(project, nodes[q.offset : end])
    project.trail.exported("flagged list by the API", rows=len(table))
    return FlaggedRows(table.to_dict("records"), len(nodes), end if end < len(nodes) else None)


def flagged_file(ask: Ask) -> File:
    project = ask.workspace
    table = table_of(project, select(project, _filters(ask.query)))
    content = csv_bytes(table)
    project.trail.exported("flagged.csv", hashlib.sha256(content).hexdigest(), len(table))
    return File("flagged.csv", content.decode(), "text/csv")


def _filters(query: FlaggedQuery) -> Filters:
    return Filters(**{each.name: getattr(query, each.name) for each in fields(FlaggedQuery)})
