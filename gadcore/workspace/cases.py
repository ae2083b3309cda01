"""Cases to look at: the queue, the card of a node, what is around it and what is like it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gadcore.insight.groups import propose_group
from gadcore.insight.neighbourhood import neighbourhood
from gadcore.jobs import ask
from gadcore.loop.order import Choice
from gadcore.records import Neighbourhood, NodeCard, ProposedGroup, QueueBasis, QueueRow
from gadcore.workspace import node_cards, queue
from gadcore.workspace.preferences import checked_preference
from gadcore.workspace.project import Project
from gadcore.workspace.queue_rows import Filter, positive, rows, search_index
from gadcore.workspace.reranking import queue_basis


class Cases:
    """The nodes of a project as an analyst meets them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def queue(
        self,
        *,
        strategy: str | None = None,
        n: int = 50,
        where: Filter | None = None,
        analyst: str | None = None,
        provisional: bool | None = None,
        dial: float | None = None,
        audit_share: float | None = None,
        near_duplicates: bool | None = None,
    ) -> list[QueueRow]:
        """The next cases; what is None is as the project prefers.

        ``provisional``: verdicts since the run count. ``dial``: 0 exploits the ranking, 1 explores. Random
        checks are among the first cases only: those further ahead are drawn when their turn is near.
        """
        given = {"dial": dial, "audit_share": audit_share, "near_duplicates": near_duplicates}
        tuning = {key: checked_preference(key, value) for key, value in given.items() if value is not None}
        return queue.queue(self._project, strategy, positive(n, "n"), where, analyst, provisional, **tuning)

    def remark(self, waiting: int, *, strategy: str | None = None, where: Filter | None = None) -> str:
        """What there is to say of a queue with so many cases, for instance why it has none; mostly ""."""
        return queue.remark(self._project, strategy, where, waiting)

    def offers_of(self, node_ids: Iterable[str], strategy: str | None = None) -> dict[str, int]:
        """Node id -> the offer as which a queue has shown it since the last run; of nodes without a verdict.

        With a ``strategy`` only its own queue counts; without one a random check of any queue is one.
        """
        return queue.shown_as(self._project, node_ids, strategy)

    def choice(self) -> Choice:
        """How the project prefers its cases to be chosen."""
        return self._project.choice()

    def basis(self) -> QueueBasis:
        """What the queue is ordered by: the run in use, or that and the verdicts given since."""
        return queue_basis(self._project)

    def card(self, node_id: str) -> NodeCard:
        """Everything known of a node."""
        return node_cards.card(self._project, node_id)

    def search(self, text: str, limit: int = 20) -> list[QueueRow]:
        """Nodes by id, name or attribute; ``column=value`` looks into one column."""
        return rows(self._project, search_index(self._project).find(text, positive(limit, "limit")))

    def similar(self, node_id: str, n: int = 8) -> list[QueueRow]:
        """Nodes that look like this one to the model, nearest first."""
        return node_cards.similar(self._project, self._project.node(node_id), positive(n, "n"))

    def neighbourhood(
        self, node_id: str, *, hops: int = 1, cap: int = 60, expanded: Iterable[str] = ()
    ) -> Neighbourhood:
        """The nodes around a node, chosen by suspicion and weight, with fixed positions."""
        project, result = self._project, self._project.result()
        return neighbourhood(
            project.graph,
            result.percentile if result else None,
            project.verdicts(),
            project.node(node_id),
            hops=positive(hops, "hops"),
            cap=positive(cap, "cap"),
            expanded=[project.node(other) for other in expanded],
            scores=result.scores if result else None,
        )

    def group(self, node_id: str) -> ProposedGroup:
        """Nodes that belong together with this one, itself first, and why: a group to label at once."""
        project, result = self._project, self._project.result()
        scores = result.scores if result else None
        return propose_group(project.graph, project.node(node_id), project.labels(), scores)

    def score_new(
        self, path: str | Path, edges: str | Path | None = None, *, in_worker: bool = True
    ) -> list[QueueRow]:
        """Nodes that arrived after training, scored by the run in use, highest first; nothing is stored.

        The worker does it, so that this process stays light; ``in_worker=False`` does it here.
        """
        project, result = self._project, self._project.result_in_use()
        nodes, links = Path(path), Path(edges) if edges else None
        if not in_worker:
            from gadcore.jobs.score import score_new as score

            return score(project.graph, result, nodes, links)
        files = {"path": str(nodes.absolute()), "edges": str(links.absolute()) if links else None}
        job = ask.ask(project.settings, "score", {"run": result.info.id, **files}, project.id)
        return [QueueRow(**row) for row in ask.result_of(project.settings, job)]
