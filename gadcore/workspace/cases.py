"""Cases to look at: the queue, the card of a node, what is around it and what is like it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from pathlib import Path

import pandas as pd

from gadcore.insight import paths as connections
from gadcore.insight.activity import PAGE, activity, link_table
from gadcore.insight.groups import propose_group
from gadcore.insight.listed_links import links_between
from gadcore.insight.neighbourhood import neighbourhood
from gadcore.jobs import ask
from gadcore.loop.order import Choice
from gadcore.records import (
    AssignedCases,
    LinkPage,
    Neighbourhood,
    NodeCard,
    ProposedGroup,
    QueueBasis,
    QueueRow,
)
from gadcore.records.links import Activity, LinkFilter, Paths
from gadcore.records.versions import WatchedNode
from gadcore.workspace import node_cards, queue, team, watching
from gadcore.workspace.preferences import checked_preference
from gadcore.workspace.project import Project
from gadcore.workspace.queue_rows import Filter, positive, rows, search_index
from gadcore.workspace.reranking import queue_basis

TAKEN = timedelta(minutes=5)  # how long a case that an analyst has before them is theirs


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
        What a lead has assigned to the ``analyst`` comes first; second opinions are among the others.
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

    def take(
        self,
        node_ids: Sequence[str],
        n: int,
        *,
        analyst: str | None = None,
        instead_of: Collection[str] = (),
    ) -> list[str]:
        """Have the first ``n`` of these cases that no other analyst has, for some minutes; returns them.

        Those of ``instead_of``, taken before, are given back.
        """
        project, taken = self._project, self._project.store.taken
        name = project.analyst(analyst)
        others = team.given_to_others(project, name)
        free = [node_id for node_id in node_ids if node_id not in others]
        return taken.take(project.id, name, free, n, TAKEN, instead_of=instead_of)

    def taken(self, *, analyst: str | None = None) -> dict[str, str]:
        """Node id -> the other analyst who has it before them now."""
        held, own = self._project.store.taken.by(self._project.id), self._project.analyst(analyst)
        return {node_id: name for node_id, name in held.items() if name != own}

    def watch(self, node_id: str, *, analyst: str | None = None) -> None:
        """Put a node on the analyst's watchlist."""
        watching.watch(self._project, self._project.analyst(analyst), node_id)

    def unwatch(self, node_id: str, *, analyst: str | None = None) -> None:
        """Take a node off the analyst's watchlist."""
        project = self._project
        project.store.watchlist.drop(project.id, project.analyst(analyst), node_id)

    def watched(self, *, analyst: str | None = None) -> list[WatchedNode]:
        """The analyst's watchlist, those that have risen first."""
        return watching.watched(self._project, self._project.analyst(analyst))

    def watchlist(self, *, analyst: str | None = None) -> list[str]:
        """Ids of the nodes on the analyst's watchlist."""
        project = self._project
        return [row.node_id for row in project.store.watchlist.of(project.id, project.analyst(analyst))]

    def rises_seen(self, *, analyst: str | None = None) -> None:
        """Have a rise of a watched node count from its rank of now on."""
        watching.seen(self._project, self._project.analyst(analyst))

    def assign(self, cases: Sequence[str] | int, to: str, *, analyst: str | None = None) -> list[str]:
        """Give cases to an analyst, whose queue then begins with them: nodes, or so many of the queue.

        Nobody else is asked about them. Returns those given; nodes that have a verdict are left out.
        """
        project, by = self._project, self._project.analyst(analyst)
        nodes = self._next_free(cases, to, by) if isinstance(cases, int) else list(cases)
        return team.assign(project, nodes, to, by)

    def take_back(
        self, node_ids: Collection[str] | None = None, *, of: str | None = None, analyst: str | None = None
    ) -> list[str]:
        """Take back assigned cases that are open: all, these, or those ``of`` an analyst; returns them."""
        return team.take_back(self._project, node_ids, of, self._project.analyst(analyst))

    def assigned(self) -> list[AssignedCases]:
        """Of every analyst with assigned cases: which are open, and how many are done."""
        return team.assigned(self._project)

    def assigned_state(self) -> str:
        """Another text whenever a case was assigned or taken back."""
        return "-".join(map(str, self._project.store.assigned.revision(self._project.id)))

    def second_opinions(self, *, analyst: str | None = None) -> list[str]:
        """Nodes that a colleague has decided and this analyst is asked about too, blind."""
        return team.second_opinions(self._project, self._project.analyst(analyst))

    def team(self) -> list[str]:
        """Everybody who may be given a case."""
        return team.names(self._project)

    def _next_free(self, n: int, to: str, by: str) -> list[str]:
        """The next cases of the queue that nobody has, or ``to`` has before them."""
        taken = self._project.store.taken.by(self._project.id)
        asked = team.asked_of(self._project, by)
        apart = {node for node, name in taken.items() if name != to} | {*asked.assigned, *asked.second}
        rows = self.queue(n=positive(n, "n") + len(apart), analyst=by)
        return [row.node_id for row in rows if row.node_id not in apart][:n]

    def choice(self) -> Choice:
        """How the project prefers its cases to be chosen."""
        return self._project.choice()

    def basis(self) -> QueueBasis:
        """What the queue is ordered by: the run in use, or that and the verdicts given since."""
        return queue_basis(self._project)

    # What was said of ``hidden`` nodes, those of ``second_opinions``, is left out below.

    def card(self, node_id: str, *, hidden: Collection[str] = ()) -> NodeCard:
        """Everything known of a node."""
        return team.veiled_card(node_cards.card(self._project, node_id), hidden)

    def search(self, text: str, limit: int = 20, *, hidden: Collection[str] = ()) -> list[QueueRow]:
        """Nodes by id, name or attribute; ``column=value`` and ``column>value`` look into one column."""
        found = rows(self._project, search_index(self._project).find(text, positive(limit, "limit")))
        return team.veiled(found, hidden)

    def similar(self, node_id: str, n: int = 8) -> list[QueueRow]:
        """Nodes that look like this one to the model, nearest first."""
        return node_cards.similar(self._project, self._project.node(node_id), positive(n, "n"))

    def neighbourhood(
        self,
        node_id: str,
        *,
        hops: int = 1,
        cap: int = 60,
        expanded: Iterable[str] = (),
        pinned: Iterable[str] = (),
        hidden: Collection[str] = (),
    ) -> Neighbourhood:
        """The nodes around a node, chosen by suspicion and weight, with fixed positions, and those pinned."""
        project, result = self._project, self._project.result()
        view = neighbourhood(
            project.graph,
            result.percentile if result else None,
            project.verdicts(),
            project.node(node_id),
            hops=positive(hops, "hops"),
            cap=positive(cap, "cap"),
            expanded=[project.node(other) for other in expanded],
            pinned=[project.node(other) for other in pinned],
            scores=result.scores if result else None,
        )
        return team.veiled_view(view, hidden)

    def activity(
        self,
        node_id: str,
        where: LinkFilter | None = None,
        *,
        sort: str | None = None,
        descending: bool | None = None,
        offset: int = 0,
        n: int = PAGE,
        by: str | None = None,
    ) -> Activity:
        """The links of a node: a page of those that pass ``where``, all of them added up, and a timeline.

        ``sort`` is the key of a column, or the time, newest first. ``by`` "amount" or "count" chooses the
        main counterparties. InputError where edges say no more than who is linked with whom.
        """
        graph, node = self._project.graph, self._project.node(node_id)
        return activity(
            graph, node, where, sort=sort, descending=descending, offset=offset, n=positive(n, "n"), by=by
        )

    def links(self, node_id: str, where: LinkFilter | None = None) -> pd.DataFrame:
        """All links of a node that pass ``where``, oldest first, with the columns of their file."""
        return link_table(self._project.graph, self._project.node(node_id), where)

    def paths(self, source: str, target: str) -> Paths:
        """How two nodes are connected: the shortest ways, those in the order of time, common neighbours."""
        project = self._project
        return connections.paths(project.graph, project.node(source), project.node(target))

    def links_between(
        self,
        node_id: str,
        other_id: str,
        *,
        start: int = 0,
        limit: int = 100,
        after: float | None = None,
        before: float | None = None,
        without: Collection[int] = (),
    ) -> LinkPage:
        """The links between two nodes by time, a page of them; see ``insight.listed_links``."""
        graph, node, other = self._project.graph, self._project.node(node_id), self._project.node(other_id)
        return links_between(
            graph, node, other, start=start, limit=limit, after=after, before=before, without=without
        )

    def group(self, node_id: str) -> ProposedGroup:
        """Nodes that belong together with this one, itself first, and why: a group to label at once."""
        project, result = self._project, self._project.result()
        scores = result.scores if result else None
        return propose_group(
            project.graph, project.node(node_id), project.labels(), scores, views=project.views()
        )

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
