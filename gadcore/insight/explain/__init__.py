"""Why a node stands where it stands, without torch.

    explain(graph, model_folder, scores, labels, node) -> Explanation    parts that add up to the score
    reasons(graph, model_folder, nodes) -> list[list[str]]               short sentences for the queue

For models with an account (those that the registry of detectors says) the parts are exact. Others get reasons
from peers and neighbours only, and the explanation says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.derive.views import Views
from gadcore.detectors.accounts import Account
from gadcore.detectors.surroundings import Variants, affordable_edges, view_of
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.insight.explain.columns import Columns
from gadcore.insight.explain.models import Model, read_model
from gadcore.insight.explain.sentences import (
    MARKED,
    by_column,
    columns_of,
    node_sentences,
    percent_text,
    raising,
    standing_text,
    tendency,
)
from gadcore.insight.similar import nearest, space_of
from gadcore.insight.view_sentences import view_sentences
from gadcore.metrics import percentile_ranks
from gadcore.records import Explanation, Part, QueueRow

SHOWN = 12  # parts of a kind that are listed one by one; the rest is one part
EDGES, FEWEST = 12, 2  # edges whose removal is tried: at most, and at least if each costs much
NAMED = 3  # neighbours in a sentence
EXAMPLES = 6  # labelled nodes shown
OTHER_ATTRIBUTES, OTHER_NODES = "other attributes", "other nodes"
ITSELF = "the node itself"  # in a graph without attributes
NO_ACCOUNT = "this model keeps no account of its score: reasons come from peers and neighbours"

Scores = npt.NDArray[np.floating]


def explain(
    graph: Graph,
    model_folder: Path,
    scores: Scores,
    labels: Labels,
    node: int,
    directions: FloatArray | None = None,
    views: Views | None = None,
) -> Explanation:
    """Parts of the score, effect of each edge, nearest labelled nodes, peers and up to three sentences.

    ``directions`` (N, r) of the graph tell what is alike where the model's embedding has no say. Where one of
    the ``views`` is loud at the node, a sentence says so.
    """
    model = read_model(model_folder)
    view = view_of(graph)
    tried = affordable_edges(view, model.steps, EDGES, FEWEST)
    variants = Variants(view, node, _edges_to_try(graph, scores, node, tried))
    account = model.account(variants)
    edges, not_tried = ([], 0.0) if account is None else _edge_parts(graph, model, variants)
    score = float(scores[node])
    verdicts = {int(v): True for v in labels.anomalous} | {int(v): False for v in labels.normal}
    order = None if account is None else raising(graph, account.own)
    told = _with_view(
        graph, node, views, node_sentences(graph, node, tendency(graph, scores), verdicts, order)
    )
    if account is not None and graph.attribute_free:
        told += _raised_by(graph, node, account)
    attributes = [] if account is None else _attribute_parts(graph, node, account)
    neighbours = [] if account is None else _node_parts(graph, node, account, verdicts)
    base = 0.0 if account is None else account.base
    space, space_words = space_of(model.embedding, directions, counts=model.embedding_counts)
    examples = _examples(graph, space, scores, labels, node)
    return Explanation(
        node_id=str(graph.node_ids[node]),
        score=score,
        model=model.name,
        attributes=attributes,
        neighbours=neighbours,
        base=base,
        gap=score - base - sum(part.value for part in (*attributes, *neighbours)),
        edges=edges,
        edges_unknown=not_tried,
        examples=examples,
        examples_space=space_words if examples else "",
        peers=columns_of(graph).of(node),
        reasons=told if account is not None else [*told[:2], NO_ACCOUNT],
    )


def reasons(
    graph: Graph,
    model_folder: Path,
    nodes: Iterable[int],
    scores: Scores | None = None,
    views: Views | None = None,
) -> list[list[str]]:
    """Up to four short sentences per node, from the run's scores and the labels it was trained on."""
    model = read_model(model_folder)
    ranked = model.scores if scores is None else scores
    if ranked is None or len(ranked) != graph.n_nodes:
        return [[] for _ in nodes]
    known = tendency(graph, ranked)
    verdicts = {graph.index_of(i): bad for i, bad in model.labelled.items() if i in graph}
    return [
        _with_view(graph, int(node), views, node_sentences(graph, int(node), known, verdicts))
        for node in nodes
    ]


def _with_view(graph: Graph, node: int, views: Views | None, told: list[str]) -> list[str]:
    """Sentences of a node, the loudest view in front; only anomalous verdicts around it tell more."""
    first = [line for line in told[:1] if line.endswith(MARKED)]
    return [*first, *view_sentences(graph, node, views)[:1], *told[len(first) :]]


def _edges_to_try(graph: Graph, scores: Scores, node: int, most: int) -> IntArray:
    """Neighbours by weight, then score."""
    ends, weights = graph.neighbours(node)
    order = np.lexsort((-np.asarray(scores)[ends], -weights))[:most]
    return np.sort(ends[order])


def _attribute_parts(graph: Graph, node: int, account: Account) -> list[Part]:
    """Own attributes by raw column, largest first, the rest as one part."""
    names, _, value = by_column(graph, account.own)
    if graph.attribute_free:
        return [Part("attribute", ITSELF, float(value.sum()), "its place among the links")]
    shown = [i for i in np.argsort(-np.abs(value))[:SHOWN] if abs(value[i]) > 1e-12]
    columns = columns_of(graph)
    parts = [Part("attribute", names[i], float(value[i]), _standing(columns, names[i], node)) for i in shown]
    rest = float(value.sum() - value[shown].sum())
    if len(names) > len(shown) and abs(rest) > 1e-12:
        parts.append(Part("attribute", OTHER_ATTRIBUTES, rest, f"{len(names) - len(shown):,} columns"))
    return parts


def _standing(columns: Columns, column: str, node: int) -> str:
    if column not in columns.names:
        return ""
    found = columns.attribute(column, node)
    standing = columns.standing(column, node)
    if standing is not None:
        return f"{found.value} ({standing_text(standing, date=columns.is_date(column))})"
    return f"{found.value} ({percent_text(found.share)} of nodes)" if found.share is not None else "missing"


def _node_parts(graph: Graph, node: int, account: Account, verdicts: dict[int, bool]) -> list[Part]:
    """Other nodes by what they contribute, largest first, the rest as one part."""
    value = account.nodes
    shown = [int(i) for i in np.argsort(-np.abs(value))[:SHOWN] if abs(value[i]) > 1e-12]
    linked = set(graph.neighbours(node)[0].tolist())
    parts = [
        Part("neighbour", str(graph.node_ids[u]), float(value[u]), _relation(graph, u, u in linked, verdicts))
        for u in shown
    ]
    rest = float(value.sum() - value[shown].sum())
    others = int(np.count_nonzero(value)) - len(shown)
    if others > 0:
        parts.append(Part("neighbour", OTHER_NODES, rest, f"{others:,} nodes nearby"))
    return parts


def _raised_by(graph: Graph, node: int, account: Account) -> list[str]:
    """A sentence that names the linked nodes which raise the score most; none where no link does."""
    linked = graph.neighbours(node)[0]
    best = linked[np.argsort(-account.nodes[linked], kind="stable")][:NAMED]
    names = [graph.full_name(int(other)) for other in best if account.nodes[other] > 1e-12]
    return [f"raised most by its link{'s' * (len(names) != 1)} to {', '.join(names)}"] if names else []


def _relation(graph: Graph, node: int, linked: bool, verdicts: dict[int, bool]) -> str:
    words = [graph.display_name(node), "linked" if linked else "further away"]
    if node in verdicts:
        words.append("marked anomalous" if verdicts[node] else "marked normal")
    return ", ".join(words)


def _edge_parts(graph: Graph, model: Model, variants: Variants) -> tuple[list[Part], float]:
    """What removing each edge does to the score, largest effect first, and the share not worked out anew."""
    if not len(variants.removed):
        return [], 0.0
    effects, unknown = model.edge_effects(variants)
    ends = [str(graph.node_ids[other]) for other in variants.removed]
    order = np.argsort(-np.abs(effects))
    return [Part("edge", ends[i], float(effects[i]), _effect(effects[i], unknown)) for i in order], unknown


def _effect(change: float, unknown: float) -> str:
    """What an edge does, in words; nothing is said of the share of the score that was not worked out anew."""
    part = f"the {100 * (1 - unknown):.0f} % of the score worked out anew"
    known = "the score" if unknown < 0.005 else part
    if abs(change) < 1e-9:
        return f"makes no difference to {known}"
    return f"without it {known} {'falls' if change < 0 else 'rises'} by {abs(change):.2g}"


def _examples(
    graph: Graph, space: npt.NDArray[Any] | None, scores: Scores, labels: Labels, node: int
) -> list[QueueRow]:
    """Labelled nodes nearest in a space."""
    if space is None or len(space) != graph.n_nodes or not len(labels):
        return []
    among = labels.indices[labels.indices != node]
    near = nearest(space, node, EXAMPLES, among=among)
    rank = np.empty(graph.n_nodes, dtype=np.int64)
    rank[np.argsort(-np.asarray(scores), kind="stable")] = np.arange(1, graph.n_nodes + 1)
    percentile = 100 * percentile_ranks(scores)
    anomalous = set(labels.anomalous.tolist())
    return [
        QueueRow(
            node_id=str(graph.node_ids[v]),
            name=graph.display_name(v),
            rank=int(rank[v]),
            moved=None,
            score=float(scores[v]),
            percentile=float(percentile[v]),
            verdict="anomalous" if v in anomalous else "normal",
            reason=f"looks alike, marked {'anomalous' if v in anomalous else 'normal'}",
            strategy="",
        )
        for v in near
    ]


__all__ = ["NO_ACCOUNT", "Columns", "explain", "reasons"]
