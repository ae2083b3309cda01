"""The members of ``an+`` that need no torch, each with scores of all nodes and honest ranks of the labels.

linear       Σ_d w_d z_vd + b on ÂᵏX with unit rows, k = 0 … 3 (linear.py)
standard     the same on standardised columns: magnitudes count, for attributes that are dense numbers
background   the same, fitted with random unlabelled nodes as weak normals: anomalies are rare, so these
             show what is normal when only a few nodes are labelled
smoothed     Π (f − f̄), Π = (1 − α) Σ_{s<S} α^s P^s + α^S P^S with P = D̃⁻¹(A + I), of a linear member: the
             mean score where a random walk ends, evidence of the wider neighbourhood
diffused     as linear, on attributes of the wider neighbourhood, where these are sparse: "diffused evenly" on
             ΠX, "diffused" on the same with Â for P, which counts a node less the more edges it has, and with
             columns weighted by rarity; rows of X have unit length before and after
propagation  verdicts spread over edges (floors.py)
trees        boosted trees (trees.py): on X and on [X, ÂX, Â²X] where attributes are few and dense; on [X, ÂX]
             of any others once many anomalous nodes are labelled
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.arrays import row_normalised
from gadcore.detectors.baselines.linear import Fitted, Head, Task, fit_head, fitting_columns, score_heads
from gadcore.detectors.baselines.simple import propagated_shares
from gadcore.detectors.logistic import balanced
from gadcore.detectors.plus.combine import percentile_among
from gadcore.graph import Features, FloatArray, Graph
from gadcore.metrics import percentile_ranks

if TYPE_CHECKING:
    import xgboost

Array = npt.NDArray[np.float64]

HOPS = 3
REFERENCE = 2000  # nodes that a fold's scores are ranked among
BACKGROUND = 200  # unlabelled nodes taken as weak normals
SMOOTHING, SMOOTHING_STEPS = 0.9, 20
DIFFUSION_STEPS = 10  # of Π for attributes, which cost a product with all of X each
BLOCK = 128  # columns diffused at a time: they stay in the processor's cache
DIFFUSED, DIFFUSED_EVENLY = HOPS + 1, HOPS + 2  # places of diffused attributes, after the powers
DIFFUSION_ENTRIES = 50_000_000  # of diffused attributes: two dense arrays, together 400 MB, are kept
SPREADING, SPREADING_STEPS = 0.9, 30
TREE_COLUMNS, TREE_ENTRIES = 1000, 200_000_000  # trees only up to so many attributes, and numbers to split
TREES: dict[str, Any] = {"rounds": 120, "learning_rate": 0.08}
WIDE_TREES: dict[str, Any] = {"rounds": 60, "learning_rate": 0.15, "columns": 0.2}
ENOUGH = 50  # anomalous labels from which trees pay with many or sparse attributes


@dataclass(frozen=True)
class Member:
    """A fitted member. ``ranks`` are those of the judged nodes, by models that did not see their labels."""

    name: str
    kind: str
    scores: FloatArray  # (N,)
    ranks: Array | None  # (judged,) percentile among all nodes, or None when nothing can judge
    head: Head | None = None
    offset: float = 0.0  # f̄ of a smoothed member
    booster: Any = None
    hops: int = 0  # of trees
    wide: bool = False  # trees on sparse rows, where absent means missing
    usual: FloatArray | None = None  # (D,) mean row of a diffused member, which its parts are told against
    row: int = -1  # of a sphere: its place among the hypersphere's members
    fold_scores: tuple[FloatArray, ...] = ()  # of all nodes, by the models without each fold; while fitting


@dataclass(frozen=True)
class Stack:
    """[X, …, ÂʰX] of all nodes."""

    rows: Features

    @cached_property
    def matrix(self) -> xgboost.DMatrix:
        """The same as xgboost reads it."""
        from gadcore.detectors.baselines.trees import as_matrix

        return as_matrix(self.rows)


class Judge:
    """Turns scores of fold models (with validation: of the model itself) into ranks of the judged nodes."""

    def __init__(self, task: Task, n_nodes: int, seed: int) -> None:
        self.fold = task.fold
        self.folds = task.n_folds
        self.nodes = task.nodes if task.fold is not None else task.held
        self.y = task.y if task.fold is not None else task.held_y
        uneven = task.fold is not None and bool((task.weight != 1).any())
        self.counts = task.weight if uneven else None  # how much each node counts, where not all count 1
        rng = np.random.default_rng(seed)
        self.reference = np.sort(rng.choice(n_nodes, min(n_nodes, REFERENCE), replace=False))

    def __bool__(self) -> bool:
        return len(self.nodes) > 0 and 0 < int(self.y.sum()) < len(self.y)

    def ranks(self, scores: FloatArray, fold_scores: Sequence[npt.NDArray[Any]]) -> Array | None:
        """``fold_scores[f]`` are all nodes' scores by the model that did not see fold f."""
        if not self:
            return None
        if self.fold is None:
            return np.asarray(percentile_ranks(scores)[self.nodes])
        out = np.empty(len(self.nodes))
        for f, values in enumerate(fold_scores):
            mine = self.fold == f
            out[mine] = percentile_among(values[self.reference], values[self.nodes[mine]])
        return out


def head_name(kind: str, hops: int, *, unit: bool = True) -> str:
    """Name of a member with a head of its own."""
    return f"{kind} {hops}" if unit else f"{kind} standard {hops}"


def linear_member(task: Task, judge: Judge, hops: int, *, unit: bool = True) -> tuple[Member, float]:
    """A linear or standard member and its loss."""
    fitted = fit_head(task, hops, unit=unit)
    kind = "linear" if unit else "standard"
    return _from_heads(head_name(kind, hops), kind, fitted, task, judge), fitted.loss


def background_member(
    task: Task, judge: Judge, hops: int, seed: int, *, unit: bool = True, value: int = 0
) -> tuple[Member, float]:
    """A linear member that also sees random unlabelled nodes, as class ``value``."""
    fitted = fit_head(with_background(task, seed, value), hops, unit=unit)
    name = head_name("background", hops, unit=unit)
    return _from_heads(name, "background", fitted, task, judge), fitted.loss


def with_background(task: Task, seed: int, value: int = 0) -> Task:
    """The task with unlabelled rows of a class, together as heavy as its labels (at least 1)."""
    free = np.setdiff1d(np.arange(task.powers[0].shape[0]), np.concatenate([task.nodes, task.held]))
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.choice(free, min(len(free), BACKGROUND), replace=False))
    if not len(chosen):
        return task
    share = max(1.0, float(task.weight[task.y == value].sum())) / len(chosen)
    fold = None if task.fold is None else np.concatenate([task.fold, np.full(len(chosen), -1)])
    return replace(
        task,
        nodes=np.concatenate([task.nodes, chosen]),
        y=np.concatenate([task.y, np.full(len(chosen), value, dtype=np.int8)]),
        weight=np.concatenate([task.weight, np.full(len(chosen), share)]),
        fold=fold,
    )


def smoothed_member(source: Member, walk: Any, judge: Judge) -> Member:
    """Π (f − f̄) of a linear member."""
    offset = float(source.scores.mean())
    centred = np.stack([source.scores - offset, *(f - f.mean() for f in source.fold_scores)], axis=1)
    spread = damped(walk, centred)
    ranks = judge.ranks(spread[:, 0], list(spread[:, 1:].T))
    return Member(f"smoothed {source.name}", "smoothed", spread[:, 0].copy(), ranks, source.head, offset)


def random_walk(adjacency: Any, graph: Graph) -> Any:
    """P = D̃⁻¹(A + I), from Â."""
    root = np.sqrt(graph.degree + 1.0).astype(np.float32)
    return sp.csr_array(sp.diags_array(1.0 / root) @ adjacency @ sp.diags_array(root))


def damped(step: Any, values: npt.NDArray[Any], steps: int = SMOOTHING_STEPS) -> npt.NDArray[Any]:
    """Π values, by S steps of  m ← α P m + (1 − α) values."""
    out = np.empty(values.shape, dtype=np.float32)
    scaled = step * np.float32(SMOOTHING)
    for first in range(0, values.shape[1], BLOCK):
        columns = slice(first, first + BLOCK)
        mass = np.ascontiguousarray(values[:, columns], dtype=np.float32)
        start = (1 - SMOOTHING) * mass
        for _ in range(steps):
            mass = scaled @ mass
            mass += start
        out[:, columns] = mass
    return out


def suits_diffusion(graph: Graph) -> bool:
    """Whether attributes are sparse, and few enough to be diffused."""
    small = graph.n_nodes * graph.n_features <= DIFFUSION_ENTRIES
    return sp.issparse(graph.x) and not graph.attribute_free and small


def rarity(graph: Graph) -> FloatArray:
    """(D,) √log((N + 1) / (n_d + 1)), n_d nodes having the attribute: the root of its inverse frequency."""
    n = graph.n_nodes
    having = np.bincount(sp.csr_array(graph.x).indices, minlength=graph.n_features)
    return np.sqrt(np.log((n + 1) / (np.minimum(having, n) + 1))).astype(np.float32)


def diffused_attributes(graph: Graph, adjacency: Any, walk: Any, rare: FloatArray) -> list[FloatArray]:
    """What the two diffused members see, in the order of their places; dense."""
    rows = row_normalised(graph.x).toarray()
    weights = fitting_columns(rare[:, None], rows)[:, 0]
    return [damped(adjacency, rows, DIFFUSION_STEPS) * weights, damped(walk, rows, DIFFUSION_STEPS)]


def diffused_member(task: Task, judge: Judge, place: int) -> tuple[Member, float]:
    """A linear member on diffused attributes."""
    fitted = fit_head(task, place)
    z = task.powers[place]
    usual = z.T @ (task.inverse[place] / z.shape[0]).astype(np.float32)
    member = _from_heads(diffused_name(place), "diffused", fitted, task, judge)
    return replace(member, usual=usual), fitted.loss


def diffused_name(place: int) -> str:
    """Name of the diffused member of this place."""
    return "diffused evenly" if place == DIFFUSED_EVENLY else "diffused"


def propagation_member(task: Task, judge: Judge, adjacency: Any) -> Member:
    """Verdicts spread over edges, once with all labels and once without each fold."""
    weights = [balanced(task.y, task.weight)]
    if task.fold is not None:
        weights += [balanced(task.y, np.where(task.fold == f, 0.0, task.weight)) for f in range(task.n_folds)]
    stacked = np.stack(weights, axis=1)
    shares = propagated_shares(adjacency, task.nodes, task.y, stacked, SPREADING, SPREADING_STEPS)
    scores = shares[:, 0].astype(np.float32)
    return Member("propagation", "propagation", scores, judge.ranks(scores, list(shares[:, 1:].T)))


def tree_member(
    task: Task, judge: Judge, hops: int, seed: int, every: Stack, *, wide: bool = False
) -> Member:
    """Boosted trees on [X, …, ÂʰX] (``every``); fold models score only the nodes that are looked at."""
    from gadcore.detectors.baselines.trees import as_matrix, boosted, margins

    settings = WIDE_TREES if wide else TREES
    rows = every.rows[task.nodes]
    booster = boosted(rows, task.y, balanced(task.y, task.weight), seed=seed, **settings)
    scores = margins(booster, every.matrix)
    held = []
    looked_at = np.union1d(judge.reference, judge.nodes)
    seen_by_judge = as_matrix(every.rows[looked_at]) if judge.folds else None
    for f in range(judge.folds):
        seen = task.fold != f
        part = boosted(
            rows[seen], task.y[seen], balanced(task.y[seen], task.weight[seen]), seed=seed, **settings
        )
        values = np.zeros(len(scores), dtype=np.float32)
        values[looked_at] = margins(part, seen_by_judge)
        held.append(values)
    return Member(
        f"trees {hops}", "trees", scores, judge.ranks(scores, held), booster=booster, hops=hops, wide=wide
    )


def suits_trees(graph: Graph) -> bool:
    """Whether attributes are dense, and few enough for [X, ÂX, Â²X] to be held and split.

    amazon_fraud with 275 shuffled columns added, 20 + 80 labels, three seeds: average precision 38.0 without
    trees, 77.6 with them (xgb-graph 81.0); reddit with 236 added: 4.5 and 4.3 (4.0).
    """
    small = 3 * graph.n_nodes * graph.n_features <= TREE_ENTRIES
    return not sp.issparse(graph.x) and graph.n_features <= TREE_COLUMNS and small


def _from_heads(name: str, kind: str, fitted: Fitted, task: Task, judge: Judge) -> Member:
    scores, *folds = score_heads([fitted.head, *fitted.folds], task.powers, task.inverse).T
    return Member(name, kind, scores, judge.ranks(scores, folds), fitted.head, fold_scores=tuple(folds))
