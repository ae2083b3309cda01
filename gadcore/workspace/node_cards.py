"""The card of a node: everything known of it, in one record."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy.typing as npt

from gadcore.graph.labels import LabelEvent
from gadcore.insight.agreement import dispute_on, judges
from gadcore.insight.explain.sentences import columns_of
from gadcore.insight.similar import embedding_counts, nearest, space_of
from gadcore.loop.calibrate import LEAST, evidence
from gadcore.loop.calibrate import band as probability_band
from gadcore.records import NodeCard, QueueRow
from gadcore.workspace.project import DERIVED, Project
from gadcore.workspace.queue_rows import WORDS, live_reasons, rows
from gadcore.workspace.reranking import provisional
from gadcore.workspace.since import news_of

RUNS_SHOWN = 12
SIMILAR_SHOWN = 8
BANDS = ((99.0, "high"), (95.0, "raised"), (50.0, "usual"), (0.0, "low"))  # from this percentile on


def card(project: Project, node_id: str) -> NodeCard:
    """Everything known of a node; NotFound otherwise."""
    node, result = project.node(node_id), project.result()
    reason = live_reasons(project, result, [node])[0] if result else project.unranked()
    bent = provisional(project, result) if result else None
    row = rows(project, [node], result=result, reasons=[reason], bent=bent)[0]
    standing = project.standing(node_id)
    dispute, given = dispute_on(standing), project.store.assigned.of(project.id).get(node_id)
    probability = result.probability[node] if result and result.probability is not None else None
    return NodeCard(
        row=row,
        degree=len(project.graph.neighbours(node)[0]),
        probability=None if probability is None else float(probability),
        probability_band="" if probability is None else probability_band(float(probability)),
        probability_reason=probability_basis(project),
        band=band(row.percentile) if result else "",
        attributes=columns_of(project.graph).of(node),
        rank_history=_rank_history(project, node),
        neighbour_verdicts=_neighbour_verdicts(project, node),
        events=[_shown(event) for event in reversed(project.store.events(project.id).history(node_id))],
        note=project.view().notes.get(node_id, ""),
        similar=similar(project, node, SIMILAR_SHOWN),
        similar_space=_space(project)[1],
        disputed=dispute.verdicts if dispute else {},
        judged_by=sorted(judges(standing).get(node_id, ())),
        news=news_of(project, node_id),
        link_words=project.graph.links.meaning.words if project.graph.links is not None else "",
        assigned_to=given.analyst if given else "",
    )


def probability_basis(project: Project) -> str:
    """What probabilities rest on; while a run had too few verdicts, what is missing by now."""
    result = project.result()
    if result is None:
        return "No probability yet: nothing is ranked."
    labels, run = project.labels(), result.info
    now = {word: evidence(labels, y) for word, y in (("anomalous", 1), ("normal", 0))}
    same = (now["anomalous"].labels, now["normal"].labels) == (run.anomalous, run.normal)
    if result.probability is not None or min(run.anomalous, run.normal) >= LEAST or same:
        return result.probability_reason
    short = {word: found.missing for word, found in now.items() if found.missing}
    if not short:
        return "No probability yet: there are enough verdicts now, retrain for one."
    missing = " and ".join(f"{count} more {word}" for word, count in short.items())
    verdicts = f"verdict{'s' * (sum(short.values()) != 1)}"
    return f"No probability yet: needs {missing} {verdicts} ({LEAST} of each kind), then a retrain."


def band(percentile: float) -> str:
    """A word for a percentile: no false precision on screen."""
    return next(word for least, word in BANDS if percentile >= least)


def similar(project: Project, node: int, n: int) -> list[QueueRow]:
    """Nodes that look like this one to the model, nearest first; to the eye of the graph before a run."""
    space, _ = _space(project)
    if space is None:
        return []
    return rows(project, nearest(space, node, n), result=project.result(), reasons=None)


def _space(project: Project) -> tuple[npt.NDArray[Any] | None, str]:
    """Where nodes look alike in the run in use, and what that is in words."""
    result = project.result()
    if result is None:
        return space_of(None, project.basis(), counts=False)
    counts = DERIVED.get(("embedding counts", result.info.id), lambda: embedding_counts(result.model_state))
    return space_of(result.embedding, project.basis(), counts=counts)


def _rank_history(project: Project, node: int) -> list[tuple[int, int]]:
    """(run, rank) in the runs of the model in use."""
    result = project.result()
    alike = project.results_like(result) if result else []
    return [(run.info.number, run.rank_of(node)) for run in alike[-RUNS_SHOWN:]]


def _neighbour_verdicts(project: Project, node: int) -> dict[str, int]:
    around, _ = project.graph.neighbours(node)
    words = Counter(WORDS.get(int(code), "unlabelled") for code in project.verdicts()[around])
    return {word: words[word] for word in ("normal", "anomalous", "unsure", "unlabelled")}


def _shown(event: LabelEvent) -> dict[str, Any]:
    verdict = event.verdict.value if event.verdict else None
    names = ("at", "analyst", "note", "kind", "source", "strategy", "group", "weight", "reason")
    return {"verdict": verdict, **{name: getattr(event, name) for name in names}}
