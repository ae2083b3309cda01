"""The provisional ranking of a project, kept for the latest state of its labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gadcore.detectors import BOTH
from gadcore.graph import FloatArray
from gadcore.graph.labels import Labels, Verdict
from gadcore.insight.influence import Influence
from gadcore.loop.rerank import Provisional, Reranker, coordinates
from gadcore.records import QueueBasis
from gadcore.store import Result
from gadcore.workspace.project import DERIVED, Project

PREFERENCE = "provisional"  # True unless the project says otherwise


def enabled(project: Project) -> bool:
    """Whether verdicts change the queue before the next run."""
    return bool(project.store.projects.preference(project.id, PREFERENCE, True))


def provisional(project: Project, result: Result, wanted: bool | None = None) -> Provisional | None:
    """The ranking with the verdicts since a run; None without any, or where it is not wanted.

    ``wanted`` None leaves that to the project's preference.
    """
    if not (enabled(project) if wanted is None else wanted):
        return None
    basis = project.basis()
    if basis is None or len(basis) != project.graph.n_nodes:
        return None
    kept = DERIVED.get(("provisional", str(result.folder)), lambda: _of_run(project, result, basis))
    return kept.at(project)


def queue_basis(project: Project) -> QueueBasis:
    """What the queue is ordered by now."""
    result, on = project.result(), enabled(project)
    bent = provisional(project, result, on) if result else None
    return QueueBasis(
        run=result.info.number if result else None,
        verdicts=bent.verdicts if bent else 0,
        enabled=on,
        state=str(project.view().last_id) if bent else "",
    )


@dataclass
class _OfRun:
    """Re-ranks a run, and remembers the last outcome: a screen asks for it several times per verdict."""

    reranker: Reranker
    learnt: Labels
    weighed: bool  # the run has kept what its labels counted
    latest: tuple[int, Provisional | None] | None = None

    def at(self, project: Project) -> Provisional | None:
        state, latest = project.view().last_id, self.latest
        if latest is None or latest[0] != state:
            now = project.labels()
            # A run from before weights were kept with it: those of now, so that what did not change cancels.
            learnt = self.learnt if self.weighed else replace(self.learnt, weight=now.weight)
            latest = (state, self.reranker.rank(learnt, now))
            self.latest = latest
        return latest[1]


def influence(project: Project, result: Result) -> Influence | None:
    """What labels do in a run; None where the linear head does not apply."""
    basis = project.basis()
    if result.info.basis != BOTH or basis is None or len(basis) != project.graph.n_nodes:
        return None
    learnt = _learnt(project, result)
    if result.label_weights is None:
        learnt = replace(learnt, weight=project.labels().weight)
    return Influence(result.scores, _space(project, basis), learnt)


def _of_run(project: Project, result: Result, basis: FloatArray) -> _OfRun:
    reranker = Reranker(result.scores, _space(project, basis))
    return _OfRun(reranker, _learnt(project, result), result.label_weights is not None)


def _space(project: Project, basis: FloatArray) -> FloatArray:
    return DERIVED.get(("coordinates", project.id, project.fingerprint), lambda: coordinates(basis))


def _learnt(project: Project, result: Result) -> Labels:
    """The labels that a run was trained on."""
    graph = project.graph
    known = [(graph.index_of(node), word) for node, word in result.labels.items() if node in graph]
    normal, anomalous = (
        [node for node, word in known if word == verdict] for verdict in (Verdict.NORMAL, Verdict.ANOMALOUS)
    )
    learnt = Labels.from_indices(graph, normal, anomalous)
    weights = result.label_weights or {}
    return replace(learnt, weight={graph.index_of(n): own for n, own in weights.items() if n in graph})
