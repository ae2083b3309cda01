"""Verdicts on cases that a queue would have drawn, for tests that need such a history and no queue."""

from __future__ import annotations

from gadcore.graph.labels import LabelEvent, Verdict
from gadcore.store import Offer
from gadcore.workspace import Workspace


def record_drawn(
    workspace: Workspace,
    node_id: str,
    verdict: str,
    *,
    inclusion_probability: float | None = None,
    strategy: str = "",
    analyst: str = "ana",
    note: str = "",
) -> LabelEvent:
    """Write a verdict as one on a case that was chosen by ``strategy`` or drawn with a probability."""
    row = {
        "node_id": node_id,
        "verdict": Verdict.parse(verdict).value,
        "strategy": strategy,
        "inclusion_probability": inclusion_probability,
        "note": note,
    }
    project = workspace._project
    return project.store.events(project.id).append([row], analyst=analyst)[0]


def offer_of(workspace: Workspace, offer: int | None) -> Offer:
    """The offer of a row of the queue."""
    project = workspace._project
    found = project.store.offers.get(project.id, offer or 0)
    assert found is not None
    return found
