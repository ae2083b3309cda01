"""What the report says, gathered and worded once; the HTML and the PDF only lay it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from gadcore import __version__
from gadcore.drawing import Picture
from gadcore.loop.calibrate import band
from gadcore.output.flagged import Filters, result_in_use, select, table_of
from gadcore.output.report.cases import Case, cases
from gadcore.output.report.pictures import distribution, surroundings
from gadcore.records import RunInfo

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

ROWS, VIEWS = 10, 3
_HISTOGRAM, _VIEW = (520.0, 130.0), (168.0, 150.0)
_VIEW_CAP = 28


@dataclass(frozen=True)
class ReportLine:
    """A row of the flagged table as text."""

    rank: str
    node_id: str
    name: str  # empty where it is the id again
    percentile: str
    probability: str
    verdict: str  # empty without one
    why: str


@dataclass(frozen=True)
class Facts:
    """Content of a report, in the order of the page."""

    title: str
    subtitle: str
    figures: list[tuple[str, str]]  # (name, value): the strip under the title
    histogram: Picture
    views: list[Picture]
    heading: str  # how many are flagged, and by which rule
    lines: list[ReportLine]  # the first ROWS of the flagged table
    cases: list[Case]  # what the same nodes did, where the graph has links
    caution: str
    provenance: list[tuple[str, str]]

    scores = "Scores of all nodes"
    bars = (
        "Nodes per score (square-root scale); the orange part of a bar counts the flagged ones among them. "
        "Under the axis: labelled nodes."
    )
    around = "Around the highest-ranked flagged nodes"
    marks = (
        "Ringed: the node itself. Diamond: marked anomalous; square: normal; triangle: unsure; "
        "circle: no verdict, the redder, the higher the score."
    )
    columns = ("Rank", "Node", "Percentile", "Probability", "Verdict", "Why")
    nobody = "No node passes these filters."
    each = "What they did, case by case"
    origin = "Provenance"


def gather(workspace: Workspace, filters: Filters | None = None, analyst: str | None = None) -> Facts:
    """Everything on the page, from the run in use and the filters of the flagged list."""
    filters = filters or Filters(top=100)
    result, graph = result_in_use(workspace), workspace.graph
    nodes = select(workspace, filters)
    shown, now = nodes[:ROWS], datetime.now(UTC)
    by = f", prepared by {analyst}" if analyst else ""
    return Facts(
        title=f"Flagged nodes: {workspace.name}",
        subtitle=f"Ringfence report of {now:%d %B %Y, %H:%M} UTC{by}",
        figures=_figures(workspace, result.info, len(nodes)),
        histogram=distribution(np.asarray(result.scores), workspace.verdicts.labels(), nodes, _HISTOGRAM),
        views=_views(workspace, [str(graph.node_ids[i]) for i in shown[:VIEWS]]),
        heading=_heading(len(nodes), filters),
        lines=[_line(row) for row in table_of(workspace, shown).to_dict("records")],
        cases=cases(workspace, [str(graph.node_ids[i]) for i in shown]),
        caution=_caution(result.info, result.probability_reason or ""),
        provenance=_provenance(result.info, now),
    )


def _figures(workspace: Workspace, run: RunInfo, found: int) -> list[tuple[str, str]]:
    counts = workspace.verdicts.counts()
    graph = workspace.graph
    links = {} if graph.links is None else {graph.links.meaning.words: len(graph.links)}
    numbers = {"nodes": graph.n_nodes, "edges": graph.n_edges, **links, "flagged": found}
    numbers |= {"marked anomalous": counts["anomalous"], "marked normal": counts["normal"]}
    numbers |= {"unsure": counts["unsure"]}
    return [
        *((name, f"{number:,}") for name, number in numbers.items()),
        ("model", f"{run.model} (run {run.number})"),
        ("out-of-fold AUC", "–" if run.auc is None else f"{run.auc:.3f}"),
    ]


def _line(row: dict[str, Any]) -> ReportLine:
    reasons = [row[key] for key in ("reason_1", "reason_2", "reason_3") if row[key]]
    said = [f"{row['analyst']}: {row['label_reason']}"] if row["label_reason"] else []
    note = [f"Note: {row['note']}"] if row["note"] else []
    probability = row["probability"]
    return ReportLine(
        rank=f"{row['rank']:,}",
        node_id=row["node_id"],
        name="" if row["name"] == row["node_id"] else row["name"],
        percentile=f"{row['percentile']:.1f}",
        probability="–" if np.isnan(probability) else band(probability),
        verdict=row["verdict"],
        why=" · ".join(said + reasons + note) or "–",
    )


def _heading(found: int, filters: Filters) -> str:
    shown = f"first {ROWS} of {found:,}" if found > ROWS else f"{found:,}"
    return f"Flagged ({shown}): {filters.in_words()}"


def _views(workspace: Workspace, node_ids: Sequence[str]) -> list[Picture]:
    pictures = []
    for node_id in node_ids:
        view = workspace.cases.neighbourhood(node_id, hops=1, cap=_VIEW_CAP)
        name = workspace.graph.display_name(workspace.graph.index_of(node_id))
        pictures.append(surroundings(view, _VIEW, node_id if name == node_id else f"{name} ({node_id})"))
    return pictures


def _provenance(run: RunInfo, now: datetime) -> list[tuple[str, str]]:
    params = ", ".join(f"{key}={value}" for key, value in sorted(run.params.items()))
    basis = run.basis or "no basis given"
    return [
        ("Run", f"{run.id} (number {run.number}), {run.model}, seed {run.seed}, device {run.device}"),
        ("Parameters", params or "the defaults of the model"),
        ("Trained on", f"{run.normal} normal and {run.anomalous} anomalous labels ({basis})"),
        ("Graph fingerprint", run.graph_fingerprint),
        ("Label-set hash", run.label_hash),
        ("Made by", f"Ringfence {__version__}, {now.isoformat(timespec='seconds')}"),
    ]


def _caution(run: RunInfo, probability_reason: str) -> str:
    text = "A score orders nodes; it is not a probability. "
    text += f"Probabilities: {probability_reason.rstrip('.')}. " if probability_reason else ""
    if run.auc is None:
        return text + "There is no out-of-fold estimate for this run: it had too few labels of both kinds."
    return (
        text + "The out-of-fold AUC is estimated on labels that the model did not see, among the nodes "
        "that were chosen for review; it is not measured on the whole graph."
    )
