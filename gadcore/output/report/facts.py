"""What the report says, gathered once; the HTML and the PDF only lay it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from gadcore import __version__
from gadcore.output import Filters, select
from gadcore.output.flagged import result_in_use, table_of
from gadcore.output.report.drawing import Picture
from gadcore.output.report.pictures import distribution, surroundings
from gadcore.records import RunInfo

if TYPE_CHECKING:
    from gadcore.workspace import Workspace

ROWS, VIEWS = 10, 3
_HISTOGRAM, _VIEW = (520.0, 130.0), (168.0, 150.0)
_VIEW_CAP = 28


MARKS = (
    "Ringed: the node itself. Diamond: marked anomalous; square: normal; triangle: unsure; "
    "circle: no verdict, the redder, the higher the score."
)
BARS = (
    "Nodes per score (square-root scale); the orange part of a bar counts the flagged ones among them. "
    "Under the axis: labelled nodes."
)


@dataclass(frozen=True)
class Facts:
    """Content of a report, in the order of the page."""

    title: str
    subtitle: str
    figures: list[tuple[str, str]]  # (name, value): the strip under the title
    heading: str  # how many are flagged, and by which rule
    rows: list[dict[str, Any]]  # the first ROWS of the flagged table, with the shown name
    histogram: Picture
    views: list[Picture]
    provenance: list[tuple[str, str]]
    caution: str


def gather(workspace: Workspace, filters: Filters | None = None, analyst: str | None = None) -> Facts:
    """Everything on the page, from the run in use and the filters of the flagged list."""
    filters = filters or Filters(top=100)
    result, graph = result_in_use(workspace), workspace.graph
    nodes = select(workspace, filters)
    shown = nodes[:ROWS]
    rows: list[dict[str, Any]] = table_of(workspace, shown).to_dict("records")
    for row, node in zip(rows, shown):
        row["name"] = graph.display_name(int(node))
    scores = np.asarray(result.scores)
    now = datetime.now(UTC)
    return Facts(
        title=f"Flagged nodes: {workspace.name}",
        subtitle=f"Ringfence report of {now:%d %B %Y, %H:%M} UTC"
        + (f", prepared by {analyst}" if analyst else ""),
        figures=_figures(workspace, result.info, len(nodes)),
        heading=_heading(len(nodes), filters),
        rows=rows,
        histogram=distribution(scores, workspace.verdicts.labels(), nodes, _HISTOGRAM),
        views=_views(workspace, [str(graph.node_ids[i]) for i in shown[:VIEWS]]),
        provenance=_provenance(workspace, result.info, now),
        caution=_caution(result.info, result.probability_reason or ""),
    )


def _figures(workspace: Workspace, run: RunInfo, found: int) -> list[tuple[str, str]]:
    counts = workspace.verdicts.counts()
    return [
        ("nodes", f"{workspace.graph.n_nodes:,}"),
        ("edges", f"{workspace.graph.n_edges:,}"),
        ("flagged", f"{found:,}"),
        ("marked anomalous", f"{counts['anomalous']:,}"),
        ("marked normal", f"{counts['normal']:,}"),
        ("unsure", f"{counts['unsure']:,}"),
        ("model", f"{run.model} (run {run.number})"),
        ("out-of-fold AUC", "–" if run.auc is None else f"{run.auc:.3f}"),
    ]


def _heading(found: int, filters: Filters) -> str:
    shown = f"first {ROWS} of {found:,}" if found > ROWS else f"{found:,}"
    return f"Flagged ({shown}): {rule_in_words(filters)}"


def rule_in_words(filters: Filters) -> str:
    """The filters as a sentence."""
    parts: list[str] = []
    if filters.verdicts is not None:
        parts.append("verdict " + _any_of(filters.verdicts))
    if filters.min_percentile is not None:
        parts.append(f"percentile at least {filters.min_percentile:g}")
    if filters.min_score is not None:
        parts.append(f"score at least {filters.min_score:g}")
    if filters.min_probability is not None:
        parts.append(f"probability at least {filters.min_probability:g}")
    kept = ("nodes with " + ", ".join(parts)) if parts else "nodes"
    rule = f"the {filters.top:,} highest-ranked {kept}" if filters.top else f"all {kept}, by score"
    return rule + (", and all marked anomalous" if filters.keep_marked else "")


def _any_of(words: Sequence[str]) -> str:
    return " or ".join(words) if words else "none"


def _views(workspace: Workspace, node_ids: Sequence[str]) -> list[Picture]:
    pictures = []
    for node_id in node_ids:
        view = workspace.cases.neighbourhood(node_id, hops=1, cap=_VIEW_CAP)
        name = workspace.graph.display_name(workspace.graph.index_of(node_id))
        title = node_id if name == node_id else f"{name} ({node_id})"
        pictures.append(surroundings(view, _VIEW, title))
    return pictures


def _provenance(workspace: Workspace, run: RunInfo, now: datetime) -> list[tuple[str, str]]:
    params = (
        ", ".join(f"{key}={value}" for key, value in sorted(run.params.items()))
        or "the defaults of the model"
    )
    return [
        ("Run", f"{run.id} (number {run.number}), {run.model}, seed {run.seed}, device {run.device}"),
        ("Parameters", params),
        (
            "Trained on",
            f"{run.normal} normal and {run.anomalous} anomalous labels ({run.basis or 'no basis given'})",
        ),
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
