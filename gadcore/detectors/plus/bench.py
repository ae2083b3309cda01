"""What members are fitted from, and who judges them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.base import Reporter
from gadcore.detectors.heads import HeadTask
from gadcore.detectors.logistic import balanced
from gadcore.detectors.plus.combine import Array, percentile_among
from gadcore.detectors.plus.graph_cache import Directions, GraphCache
from gadcore.graph import FloatArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, percentile_ranks

if TYPE_CHECKING:
    from gadcore.detectors.plus.ensemble import AnPlus

REFERENCE = 2000  # nodes that a fold's scores are ranked among


class Judge:
    """Turns scores of fold models (with validation: of the model itself) into ranks of the judged nodes."""

    def __init__(self, task: HeadTask, n_nodes: int, seed: int) -> None:
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

    @property
    def validated(self) -> bool:
        """Whether labels judge that no member saw, so that a wide view need not wait for many."""
        return bool(self) and self.fold is None

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


@dataclass(frozen=True)
class Bench:
    """What every member is built from."""

    model: AnPlus  # its parameters and basis
    cache: GraphCache
    labels: Labels
    validation: Labels | None
    task: HeadTask
    judge: Judge
    report: Reporter
    earlier: AnPlus | None = None  # a fit to start from
    chosen: Mapping[str, float] = field(default_factory=dict)  # C of each head in an earlier fit, by member
    directions: Directions | None = None  # unless there are both labels
    embedding: FloatArray | None = None  # (N, r) coordinates of ``directions``
    centre: FloatArray | None = None  # (r,)

    def task_of(self, member: str) -> HeadTask:
        """The task; after an earlier fit its grid is that member's C and its two neighbours."""
        if member not in self.chosen:
            return self.task
        steps = np.abs(np.log10(self.task.strengths / self.chosen[member]))
        near = self.task.strengths[steps < 1.5]
        return replace(self.task, strengths=near) if len(near) else self.task

    def report_ranking(self, name: str, scores: FloatArray) -> None:
        """Report a member by the share of (anomalous, normal) training pairs in the wrong order."""
        self.report.step(1.0 - auc(self.task.y, scores[self.task.nodes]), stage=name)


def signed_weights(labels: Labels) -> Array:
    """(n,) balanced weight of each label, negative for normal."""
    y = labels.targets
    return np.asarray(np.where(y == 1, 1.0, -1.0) * balanced(y, labels.weights))
