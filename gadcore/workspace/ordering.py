"""The queue: cases in the order of a query strategy over the run in use, kept still while labels come in.

An order is worked out once per run, strategy and filter. Labels only strike nodes off it, so no case jumps
while an analyst works; the next run brings a new order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from gadcore.cases import QueueRow
from gadcore.explain import reasons as why
from gadcore.queries import Query
from gadcore.runs import Result
from gadcore.runs.orders import AHEAD, Choice, Ranking, kept, work_out
from gadcore.workspace.project import DERIVED, Project
from gadcore.workspace.queue_rows import UNRANKED, Filter, filtered, rows

# Cases of these strategies are told by why they score as they do, others by why they were chosen.
BY_SCORE = ("greedy-diverse", "top", "audit")


def queue(
    project: Project, *, strategy: str | None, n: int, where: Filter | None, analyst: str | None
) -> list[QueueRow]:
    """The next cases: by strategy when unlabelled nodes are asked for, else by score."""
    where, result = where or Filter(), project.result()
    if result is None:
        nodes = np.flatnonzero(filtered(project, where, analyst, None))
        widest = nodes[np.argsort(-project.graph.degree[nodes], kind="stable")][:n]
        return rows(project, widest, reasons=[UNRANKED] * len(widest))
    if where.verdict in (None, "unlabelled"):
        choice = Choice.preferred(project.store, project.id, strategy)
        key = ("order", result.info.id, choice, where)
        return DERIVED.get(key, lambda: _Order(project, result, where, choice)).rows(n)
    keep = filtered(project, where, analyst, result)
    nodes = result.order[keep[result.order]][:n]
    return rows(project, nodes, result=result, reasons=first_reasons(project, result, nodes), strategy="top")


@dataclass
class _Order:
    """Cases in the order in which a strategy asks for them."""

    project: Project
    result: Result
    where: Filter
    choice: Choice
    queries: list[Query] = field(default_factory=list)
    exhausted: bool = False

    def __post_init__(self) -> None:
        if not self.where.narrows:
            self.queries = kept(self.result.queue, self.choice)

    def rows(self, n: int) -> list[QueueRow]:
        """The first ``n`` cases that have no label yet."""
        verdicts = self.project.verdicts()
        open_ = [query for query in self.queries if verdicts[query.node] == -1]
        if len(open_) < n and not self.exhausted:
            open_ = self._lengthen(open_, n)
        return self._drawn(open_[:n])

    def _lengthen(self, open_: list[Query], n: int) -> list[Query]:
        """Work out more cases behind those that are still open."""
        project, result, info = self.project, self.result, self.result.info
        known = {query.node for query in open_}
        asked = len(known) + max(n, AHEAD)
        found = work_out(
            project.graph,
            Ranking(info.id, info.seed, info.basis, result.scores, result.embedding, result.spread),
            project.labels(),
            project.view().current.values(),
            self.choice,
            asked,
            directions=project.basis(),
            allowed=filtered(project, self.where, None, result) if self.where.narrows else None,
        )
        self.exhausted = len(found) < asked
        self.queries = open_ + [query for query in found if query.node not in known]
        return self.queries

    def _drawn(self, queries: list[Query]) -> list[QueueRow]:
        nodes = np.array([query.node for query in queries], dtype=np.int64)
        reasons = first_reasons(self.project, self.result, nodes)
        found = rows(
            self.project,
            nodes,
            result=self.result,
            reasons=[
                reason if reason and query.strategy in BY_SCORE else query.reason
                for reason, query in zip(reasons, queries)
            ],
            # A draw from a narrowed queue does not stand for the graph.
            inclusion=[None if self.where.narrows else query.inclusion_probability for query in queries],
        )
        return [replace(row, strategy=query.strategy) for row, query in zip(found, queries)]


def first_reasons(project: Project, result: Result, nodes: Iterable[int]) -> list[str]:
    """One short sentence per node on why it scores as it does."""
    known = DERIVED.get(("reasons", result.info.id), dict[int, str])
    wanted = [int(node) for node in nodes]
    missing = [node for node in wanted if node not in known]
    if missing:
        found = why(project.graph, result.model_folder, missing, result.scores)
        known.update({node: (lines[0] if lines else "") for node, lines in zip(missing, found)})
    return [known[node] for node in wanted]
