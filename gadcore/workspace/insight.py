"""What the labels and runs say of themselves: audit, movement, agreement, cases for a second look."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from gadcore.graph import FloatArray
from gadcore.graph.labels import LabelEvent
from gadcore.insight.agreement import Agreement, agreement, final_words
from gadcore.insight.explain import explain
from gadcore.insight.moved import Moved, Ranking, label_changes, movers, other_differences
from gadcore.insight.second_look import Doubt, SecondLook, doubts, total, unheard
from gadcore.loop.audit import LEAST_RECALL, AuditReport
from gadcore.loop.audit import audit as estimates
from gadcore.records import Explanation
from gadcore.store import Result
from gadcore.workspace import preferences
from gadcore.workspace.node_cards import probability_basis
from gadcore.workspace.project import Project
from gadcore.workspace.queue_rows import positive
from gadcore.workspace.reranking import influence
from gadcore.workspace.team import second_opinions, veiled_explanation

NO_RUN = "There is no finished run yet. Train first."
ONE_RUN = "There is only one finished run. Label a few cases and train again: the movement is shown then."


class Insight:
    """What labels and runs say of themselves, and why a node stands where it stands."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def audit(self, k: int = 100, recall: float | None = None) -> AuditReport:
        """Precision of the top ``k`` of the run in use, anomalies left, recall, and whether to stop.

        Stopping needs a ``recall`` for sure (None: as preferred). What cannot be estimated yet is None, with
        its reason.
        """
        least = self.least_recall() if recall is None else recall
        project, result = self._project, self._project.result()
        k = min(positive(k, "k"), project.graph.n_nodes)
        mixed_in = project.choice().audit_share > 0
        key = ("audit", k, least, mixed_in, result.info.id if result else "")
        return project.label_state().once(key, lambda: self._audited(result, k, least, mixed_in))

    def _audited(self, result: Result | None, k: int, least: float, mixed_in: bool) -> AuditReport:
        project, size = self._project, self._project.graph.n_nodes
        events = project.verdicts_in_order()
        if result is None:
            report = estimates(size, events, least_recall=least, mixed_in=mixed_in)
            return replace(report, top=k, precision=None, precision_interval=None, precision_reason=NO_RUN)
        current = project.view().current
        ids = [str(project.graph.node_ids[node]) for node in result.order[:k]]
        verdicts = [current[node_id].verdict if node_id in current else None for node_id in ids]
        return estimates(size, events, verdicts, least, mixed_in)

    def least_recall(self) -> float:
        """The part of all anomalies that must be found for sure before the audit says stop."""
        found = self._project.store.projects.preference(self._project.id, preferences.LEAST_RECALL)
        return LEAST_RECALL if found is None else float(found)

    def explain(self, node_id: str, *, hidden: Collection[str] = ()) -> Explanation:
        """Why a node stands where it stands in the run in use; RunError before the first run.

        Nodes that are ``hidden``, those of ``second_opinions``, are no examples.
        """
        project, result = self._project, self._project.result_in_use()
        labels, node = project.labels(), project.node(node_id)
        seen = project.graph_seen_by(result)
        own = (project.basis(), project.views())
        why = explain(seen, result.model_folder, result.scores, labels, node, *own)
        return veiled_explanation(why, hidden)

    def probability_missing(self) -> str:
        """Why there are no probabilities, by now; empty where the run in use has some."""
        result = self._project.result()
        has_some = result is not None and result.probability is not None
        return "" if has_some else probability_basis(self._project)

    def moved(self, run_id: str | None = None, n: int = 20) -> Moved:
        """Who rose and fell since the run before a run (the one in use), and the labels behind it."""
        project, n = self._project, positive(n, "n")
        result = project.result(project.own_run(run_id) if run_id else None)
        if result is None:
            return Moved(None, None, 0, [], [], "", NO_RUN)
        before = project.result_before(result)
        if before is None:
            reason = ONE_RUN if len(project.results()) < 2 else f"Run {result.info.number} is the first one."
            return Moved(None, result.info, 0, [], [], "", reason)
        graph = project.graph
        earlier, later = _rankings(project, before, result)
        space, head = _space(project, result), influence(project, result)
        risen, fallen = movers(graph, earlier, later, space, n, head)
        return Moved(
            before=before.info,
            after=result.info,
            changes=len(label_changes(graph, earlier.labels, later.labels)),
            risen=risen,
            fallen=fallen,
            note=other_differences(before.info, result.info),
            reason="" if risen or fallen else "The two runs rank all nodes alike.",
        )

    def agreement(self) -> Agreement:
        """How far analysts agree, and the nodes that they dispute."""
        return agreement(self._project.standing())

    def second_look(self, n: int = 20) -> list[SecondLook]:
        """Labelled cases whose verdict is in doubt, most doubtful first; those by ``settle`` are left out.

        So are those that wait for a second opinion, which must not be swayed.
        """
        project, n = self._project, positive(n, "n")
        result, current = project.result(), project.view().current
        open_, disputed = second_opinions(project, ""), self.agreement().disputed
        left_out = {*final_words(project.standing()), *open_}
        held = self._held_out(open_)
        by_node = doubts(project.graph, project.labels(), held, disputed, project.basis())
        found = []
        for node, reasons in by_node.items():
            event = current.get(str(project.graph.node_ids[node]))
            if event is not None and event.node_id not in left_out:
                found.append(_second_look(project, result, node, event, reasons))
        return found[:n]

    def nothing_in_doubt(self) -> str:
        """Why there is no case for a second look, and what would bring some."""
        if not len(self._project.labels()):
            return "No verdict yet. Label some cases: those that look wrong later are listed here."
        held = self._held_out()
        if held is None:
            return (
                "No verdict is in doubt so far. With a few labels of both kinds and a run trained on them, "
                "the model's own doubts are listed too."
            )
        if why := unheard(self._project.labels(), held):
            return f"Neighbours and analysts do not contradict the labels; {why}."
        if settled := len(final_words(self._project.standing())):
            were = "was" if settled == 1 else "were"
            return f"No verdict is in doubt but for {settled:,} that {were} settled."
        return "No verdict is in doubt: model, neighbours and analysts agree with the labels."

    def _held_out(self, hidden: Collection[str] = ()) -> FloatArray | None:
        """Scores by models without the label, of the newest run with some: it may not be the one in use.

        Nothing is said of ``hidden`` nodes.
        """
        newest = (result.out_of_fold for result in reversed(self._project.results()))
        held = next((found for found in newest if found is not None), None)
        if held is None or not hidden:
            return held
        told = np.array(held)
        told[[self._project.node(node) for node in hidden]] = np.nan
        return told


def _rankings(project: Project, before: Result, after: Result) -> tuple[Ranking, Ranking]:
    """Two runs as rankings; weights that a run did not keep are taken to be as later on."""
    now = {node: event.weight for node, event in project.view().current.items()}
    learnt = after.learnt(now)
    earlier = before.learnt({node: weight for node, (_, weight) in learnt.items()})
    return Ranking(before.rank, earlier), Ranking(after.rank, learnt)


def _space(project: Project, result: Result) -> FloatArray | None:
    """Where nodes look alike: the run's embedding, else directions of the graph."""
    return result.embedding if result.embedding is not None else project.basis()


def _second_look(
    project: Project, result: Result | None, node: int, event: LabelEvent, reasons: list[Doubt]
) -> SecondLook:
    return SecondLook(
        node_id=event.node_id,
        name=project.graph.display_name(node),
        verdict=event.verdict.value if event.verdict else "",
        analyst=event.analyst,
        rank=int(result.rank[node]) if result else 0,
        kinds=[doubt.kind for doubt in reasons],
        reasons=[doubt.reason for doubt in reasons],
        strength=total(reasons),
    )
