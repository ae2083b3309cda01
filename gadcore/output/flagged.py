"""The flagged list as a table: who is in it, and the columns that let a reader check each row.

A row holds the id and the name to show (the id again where there is none), the score with its rank and
percentile, the probability with its basis (or empty, with the reason), the verdict with its reason, who gave
it and when, three reasons of the model, the neighbours that count, and the provenance: run, graph
fingerprint, hash of the labels the run learned from, model parameters and time of export. Columns that the
links give come last.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from gadcore.errors import InputError, RunError
from gadcore.graph import Graph, IntArray
from gadcore.graph.labels import LabelEvent, Verdict
from gadcore.insight import explain

if TYPE_CHECKING:
    from gadcore.store import Result
    from gadcore.workspace import Workspace

UNLABELLED = "unlabelled"
VERDICTS = (Verdict.ANOMALOUS.value, Verdict.UNSURE.value, UNLABELLED, Verdict.NORMAL.value)
REASONS = 3
KEY_NEIGHBOURS = 3
COLUMNS = (
    *("node_id", "name", "rank", "score", "percentile", "probability", "probability_basis"),
    *("verdict", "label_reason", "label_source", "label_weight", "analyst", "labelled_at", "note"),
    *(f"reason_{i + 1}" for i in range(REASONS)),
    *("key_neighbours", "run_id", "graph_fingerprint", "label_hash", "model_parameters", "exported_at"),
)


@dataclass(frozen=True)
class Filters:
    """Who is flagged; a field that is None filters nothing. ``top`` counts what the others leave."""

    top: int | None = None
    min_score: float | None = None
    min_percentile: float | None = None  # 0..100
    verdict: str | Sequence[str] | None = None  # words of VERDICTS
    min_probability: float | None = None  # 0..1
    keep_marked: bool = False  # nodes marked anomalous stay, whatever their score (if ``verdict`` allows)

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise InputError(f"top = {self.top}", "a number of rows, 1 or more")
        _within("percentile", self.min_percentile, 100)
        _within("probability", self.min_probability, 1)
        for word in self.verdicts or ():
            if word not in VERDICTS:
                raise InputError(f"the verdict filter {word!r}", "one of " + ", ".join(VERDICTS))

    @property
    def verdicts(self) -> tuple[str, ...] | None:
        if self.verdict is None:
            return None
        return (self.verdict,) if isinstance(self.verdict, str) else tuple(self.verdict)

    def as_dict(self) -> dict[str, Any]:
        """The filters that are set, for the manifest."""
        return {key: value for key, value in asdict(self).items() if value is not None and value is not False}

    def in_words(self) -> str:
        """The rule as part of a sentence, e.g. "the 5 highest-ranked nodes"."""
        least = {name: getattr(self, f"min_{name}") for name in ("percentile", "score", "probability")}
        parts = [] if self.verdicts is None else ["verdict " + (" or ".join(self.verdicts) or "none")]
        parts += [f"{name} at least {value:g}" for name, value in least.items() if value is not None]
        kept = f"nodes with {', '.join(parts)}" if parts else "nodes"
        rule = f"the {self.top:,} highest-ranked {kept}" if self.top else f"all {kept}, by score"
        return rule + (", and all marked anomalous" if self.keep_marked else "")


def _within(what: str, value: float | None, top: int) -> None:
    if value is not None and not 0 <= value <= top:
        raise InputError(f"a least {what} of {value:g}", f"a number from 0 to {top}")


def result_in_use(workspace: Workspace) -> Result:
    """Scores of the run in use; RunError says how to get some."""
    result = workspace.runs.result()
    if result is None:
        raise RunError(
            f"The project {workspace.name!r} has no scores yet, so there is nothing to flag. "
            "Train a model first: on the Train page, or with `ringfence train`."
        )
    return result


def select(workspace: Workspace, filters: Filters) -> IntArray:
    """Rows of the flagged nodes, highest score first."""
    result = result_in_use(workspace)
    scores = np.asarray(result.scores)
    keep = np.ones(len(scores), dtype=bool)
    words = verdict_words(workspace)
    if filters.min_score is not None:
        keep &= scores >= filters.min_score
    if filters.min_percentile is not None:
        keep &= np.asarray(result.percentile) >= filters.min_percentile
    if filters.min_probability is not None:
        keep &= _probable(result, filters.min_probability)
    allowed = np.isin(words, filters.verdicts) if filters.verdicts is not None else np.ones_like(keep)
    rank = np.asarray(result.rank)
    chosen = _by_rank(np.flatnonzero(keep & allowed), rank)[: filters.top]
    if filters.keep_marked:
        marked = np.flatnonzero(allowed & (words == Verdict.ANOMALOUS.value))
        chosen = _by_rank(np.union1d(chosen, marked), rank)
    return chosen


def _by_rank(nodes: IntArray, rank: IntArray) -> IntArray:
    return nodes[np.argsort(rank[nodes], kind="stable")].astype(np.int64)


def _probable(result: Result, least: float) -> npt.NDArray[np.bool_]:
    if result.probability is None:
        raise RunError(
            f"This run gives no probabilities ({result.probability_reason or 'too few labels'}), so none can "
            "be asked for. Leave the probability filter out, or label more nodes of both kinds and retrain."
        )
    return np.asarray(np.nan_to_num(np.asarray(result.probability), nan=-1.0) >= least)


def verdict_words(workspace: Workspace) -> npt.NDArray[np.str_]:
    """(N,) word of VERDICTS for every node."""
    coded = workspace.verdicts.labels().as_array(workspace.graph.n_nodes)
    # the codes -2, -1, 0 and 1 of unsure, no verdict, normal and anomalous
    words = np.array([Verdict.UNSURE.value, UNLABELLED, Verdict.NORMAL.value, Verdict.ANOMALOUS.value])
    return np.asarray(words[coded.astype(np.int64) + 2])


def flagged_table(
    workspace: Workspace, *, exported_at: datetime | None = None, **filters: Any
) -> pd.DataFrame:
    """The flagged nodes, highest score first; without a filter, all nodes.

    Columns are those of COLUMNS, then those that were derived from the links, if there are any.

    ``filters`` are the fields of ``Filters``: top, min_score, verdict, …
    """
    return table_of(workspace, select(workspace, Filters(**filters)), exported_at=exported_at)


def table_of(workspace: Workspace, nodes: IntArray, *, exported_at: datetime | None = None) -> pd.DataFrame:
    """The rows of these nodes, in the order given."""
    result, graph = result_in_use(workspace), workspace.graph
    info = result.info
    ids = graph.node_ids[nodes].tolist()
    events, notes = workspace.verdicts.current(), workspace.verdicts.notes()
    columns: dict[str, Any] = {
        "node_id": ids,
        "name": graph.display_names(nodes),
        "rank": np.asarray(result.rank)[nodes].astype(np.int64),
        "score": np.asarray(result.scores)[nodes].astype(np.float64),
        "percentile": np.round(np.asarray(result.percentile)[nodes].astype(np.float64), 3),
        "probability": _probabilities(result, nodes),
        "probability_basis": result.probability_reason or "",
        **_verdict_columns([events.get(node) for node in ids]),
        "note": [notes.get(node, "") for node in ids],
        **_reason_columns(workspace, nodes),
        "key_neighbours": [
            "; ".join(graph.node_ids[j] for j in key_neighbours(graph, np.asarray(result.percentile), i))
            for i in nodes
        ],
        "run_id": info.id,
        "graph_fingerprint": info.graph_fingerprint,
        "label_hash": info.label_hash,
        "model_parameters": json.dumps(parameters_of(result), sort_keys=True, default=str),
        "exported_at": (exported_at or datetime.now(UTC)).isoformat(timespec="seconds"),
    }
    derived = {name: graph.node_table.take(name, nodes).to_numpy() for name in graph.derived}
    return pd.DataFrame(columns | derived, columns=[*COLUMNS, *derived], index=range(len(ids)))


def parameters_of(result: Result) -> dict[str, Any]:
    """Every parameter that the model was fitted with, its defaults too, and its name."""
    info = result.info
    return {"seed": info.seed, **info.params, **result.details.get("params", {}), "model": info.model}


def _probabilities(result: Result, nodes: IntArray) -> npt.NDArray[np.float64]:
    if result.probability is None:
        return np.full(len(nodes), np.nan)
    return np.asarray(result.probability, dtype=np.float64)[nodes].round(4)


def _verdict_columns(events: Sequence[LabelEvent | None]) -> dict[str, list[Any]]:
    """Verdict, reason, source, weight, analyst and time; empty where a node has no verdict."""
    given = [e if e is not None and e.verdict is not None else None for e in events]
    return {
        "verdict": [e.verdict.value if e and e.verdict else "" for e in given],
        "label_reason": [e.reason if e else "" for e in given],
        "label_source": [e.source if e else "" for e in given],
        "label_weight": [e.weight if e else None for e in given],
        "analyst": [e.analyst if e else "" for e in given],
        "labelled_at": [e.at.isoformat(timespec="seconds") if e else "" for e in given],
    }


def _reason_columns(workspace: Workspace, nodes: IntArray) -> dict[str, list[str]]:
    result = result_in_use(workspace)
    reasons = explain.reasons(workspace.graph, result.model_folder, nodes, result.scores)
    return {f"reason_{i + 1}": [row[i] if len(row) > i else "" for row in reasons] for i in range(REASONS)}


def key_neighbours(graph: Graph, percentile: npt.NDArray[np.floating], node: int) -> IntArray:
    """The neighbours that an analyst would look at first: suspicion times share of the edge weight."""
    neighbours, weights = graph.neighbours(node)
    if not len(neighbours):
        return neighbours
    order = np.lexsort((neighbours, -(percentile[neighbours] * weights / weights.sum())))
    return neighbours[order[:KEY_NEIGHBOURS]]
