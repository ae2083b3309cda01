"""Linear heads on attributes: class-balanced logistic regressions, their choice of C, and why they score so.

f(v) = Σ_d w_d z_vd + b,    z_v = x_v / ||x_v||₂ (unit rows)  or  x_v,    x a row of ÂᵏX or of other features
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gadcore.detectors.accounts import Account, Accountable, linear_account
from gadcore.detectors.arrays import check_columns, column_moments, dense, inverse, inverse_norms
from gadcore.detectors.held_out import fold_auc, usable
from gadcore.detectors.logistic import fit_logistic, fold_weights
from gadcore.detectors.surroundings import GraphView, Variants
from gadcore.engine import fill, part_of, row_blocks
from gadcore.graph import Features, FloatArray, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, auc_error

Array = npt.NDArray[np.float64]

STRENGTHS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
FALLBACK = 1.0  # C where the labels allow no choice
STEADY, SLACK = 10.0, 4.0  # C that a cautious task prefers, and by how many standard errors of the AUC


@dataclass(frozen=True)
class FeatureTable:
    """(N, D) features that heads are fitted on, and what they need of these, worked out once."""

    z: Features

    @cached_property
    def inverse(self) -> Array:
        """(N,) 1 / length of each row."""
        return inverse_norms(self.z)

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Mean and deviation of each column."""
        return column_moments(self.z)


@dataclass(frozen=True)
class Head(Accountable):
    """One linear score f on ÂᵏX; standardised columns are folded into w and b."""

    hops: int  # k
    unit: bool  # rows divided by their Euclidean length
    coefficient: FloatArray  # (D,)
    intercept: float
    strength: float

    @classmethod
    def from_state(cls, state: dict[str, Any], coefficient: FloatArray) -> Self:
        """A head from what ``state`` gave."""
        return cls(state["hops"], state["unit"], coefficient, state["intercept"], state["strength"])

    def state(self) -> dict[str, Any]:
        """JSON-able rest of the coefficient."""
        return {name: getattr(self, name) for name in ("hops", "unit", "intercept", "strength")}

    def scores(self, z: Features) -> FloatArray:
        """f of every row of the features that the head was fitted on."""
        return score_heads([self], FeatureTable(z))[:, 0]

    @cached_property
    def weights(self) -> Array:
        """The coefficient in the precision of accounts."""
        return self.coefficient.astype(float)

    def raw(self, variants: Variants) -> Array:
        z = variants.z(self.hops)
        return np.asarray(z @ self.weights * self._inverse(z) + self.intercept)

    def account(self, variants: Variants) -> Account:
        """x_ud counts r_u w_d x_ud, z = r X, against the mean node."""
        row = variants.rows(self.hops)[:, 0].astype(np.float64)
        scale = float(self._inverse(variants.z(self.hops)[:1])[0])
        usual = variants.view.mean(self.hops, unit=self.unit)
        return linear_account(variants, row, self.weights * scale, self.weights * usual, self.intercept)

    def everywhere(self, view: GraphView) -> Array:
        """(N,) f of every node, kept for the next explanation."""
        return view.kept(
            (self.hops, self.unit, self.intercept, self.coefficient.tobytes()), lambda: self._worked_out(view)
        )

    def _worked_out(self, view: GraphView) -> Array:
        f = np.asarray(view.graph.x @ self.weights, dtype=np.float64).ravel()
        for _ in range(self.hops):
            f = view.adjacency @ f
        return np.asarray(f * view.inverse_norms(self.hops) if self.unit else f) + self.intercept

    def in_variants(self, variants: Variants) -> Array:
        """(N, 1 + edges) f of every node in every variant; lengths of rows but the node's own stay."""
        view = variants.view
        f = np.asarray(view.graph.x @ self.weights, dtype=np.float32).reshape(-1, 1)
        f = np.repeat(f, variants.count, axis=1)
        for _ in range(self.hops):
            f = variants.step(f)
        scale = view.inverse_norms(self.hops)[:, None] if self.unit else 1.0
        found: Array = np.asarray(f * scale + self.intercept, dtype=np.float64)
        found[variants.node] = self.raw(variants)
        return found

    def _inverse(self, z: Array) -> Array:
        return inverse(np.linalg.norm(z, axis=1)) if self.unit else np.ones(len(z))


@dataclass(frozen=True)
class FittedHead:
    """A head with what is known of it."""

    head: Head
    auc: float  # on labels it did not see; nan when unknown
    loss: float  # mean balanced logistic loss on the training labels
    folds: tuple[Head, ...] = ()  # the same head fitted without each fold


@dataclass(frozen=True)
class HeadTask:
    """What all heads of one fit share. Rows of fold −1 are never held out, and judge nothing."""

    nodes: IntArray
    y: npt.NDArray[np.int8]
    weight: Array
    held: IntArray  # validation nodes, may be empty
    held_y: npt.NDArray[np.int8]
    fold: IntArray | None
    strengths: Array
    cautious: bool = False  # judged out of fold, choose a C that is not clearly worse and extrapolates less

    @property
    def n_folds(self) -> int:
        return 0 if self.fold is None else int(self.fold.max()) + 1

    @classmethod
    def make(
        cls,
        labels: Labels,
        validation: Labels | None,
        fold: IntArray | None,
        strengths: Sequence[float] | None = None,
        *,
        cautious: bool = False,
    ) -> Self:
        """A task with these values of C to choose from, or with the usual ones."""
        held = validation if usable(validation) else Labels.none()
        judged = held.indices, held.targets, None if len(held) else fold
        grid = np.asarray(STRENGTHS if strengths is None else strengths, dtype=np.float64)
        return cls(labels.indices, labels.targets, labels.weights, *judged, grid, cautious)


def fit_head(task: HeadTask, table: FeatureTable, hops: int, *, unit: bool = True) -> FittedHead:
    """Fit all strengths (and folds) at once on ÂᵏX and keep the strength with the best held-out AUC."""
    z = table.z
    rows = dense_rows(z, task.nodes, unit)
    if not unit:
        shift, scale = table.moments
        rows = (rows - shift) / scale
    weights, strengths = _problems(task)
    w, b = fit_logistic(rows, task.y, weights, strengths)
    raw_w, raw_b = (w, b) if unit else (w / scale[:, None], b - (shift / scale) @ w)
    c = len(task.strengths)
    quality = [float("nan")] * c
    if task.fold is not None:
        held_out = _held_out(rows, w, b, task.fold, c)
        judged = task.fold >= 0
        quality = [fold_auc(task.y[judged], held_out[judged, i], task.fold[judged]) for i in range(c)]
    elif len(task.held):
        lengths = table.inverse[task.held] if unit else None
        values = _decision(z[task.held], raw_w[:, :c], raw_b[:c], lengths)
        quality = [auc(task.held_y, values[:, i]) for i in range(c)]
    wide = z.shape[1] > len(task.nodes)
    best = (_steady if task.cautious and wide else _first_best)(quality, task)

    def head(column: int) -> Head:
        coefficient, intercept = raw_w[:, column].astype(np.float32), float(raw_b[column])
        return Head(hops, unit, coefficient, intercept, float(task.strengths[best]))

    return FittedHead(
        head(best),
        float(quality[best]),
        _mean_loss(rows @ w[:, best] + b[best], task.y, weights[:, best]),
        tuple(head(best + c * (f + 1)) for f in range(task.n_folds)),
    )


def score_heads(heads: Sequence[Head], table: FeatureTable) -> FloatArray:
    """(N, M) scores of heads on the same features, in one product."""
    coefficients = fitting_columns(np.stack([head.coefficient for head in heads], axis=1), table.z)
    intercepts = np.array([head.intercept for head in heads])
    found = np.empty((table.z.shape[0], len(heads)), dtype=np.float32)
    blocks = row_blocks(len(found))
    fill(found, _decision_rows, blocks, table.z, coefficients, intercepts, heads[0].unit)
    return found


def _decision_rows(
    block: slice, z: Features, coefficients: npt.NDArray[Any], intercepts: Array, unit: bool
) -> Array:
    rows = part_of(z, block)
    return _decision(rows, coefficients, intercepts, inverse_norms(rows) if unit else None)


def dense_rows(z: Features, nodes: IntArray, unit: bool) -> Array:
    """These rows as a dense float64 array, of unit length when asked."""
    rows = dense(z[nodes], np.float64)
    return rows * inverse_norms(rows)[:, None] if unit else rows


def fitting_columns(coefficients: FloatArray, z: Features) -> FloatArray:
    """(D, M) coefficients for the columns of ``z``; without attributes (X = I) later nodes count 0."""
    trained, present = len(coefficients), z.shape[1]
    if z.shape[0] == present > trained:
        return np.pad(coefficients, ((0, present - trained), (0, 0)))
    check_columns(trained, present)
    return coefficients


def _decision(z: Features, coefficients: npt.NDArray[Any], intercepts: Array, inverse: Array | None) -> Array:
    """(rows, M) decision values, of rows scaled by ``inverse`` if there is one."""
    f = np.asarray(z @ coefficients)
    return np.asarray((f if inverse is None else f * inverse[:, None]) + intercepts)


def _problems(task: HeadTask) -> tuple[Array, Array]:
    """Row weights (n, M) and strengths (M,): the whole label set first, then each fold left out."""
    weights = fold_weights(task.y, task.weight, task.fold)
    return np.repeat(weights, len(task.strengths), axis=1), np.tile(task.strengths, weights.shape[1])


def _held_out(rows: Array, w: Array, b: Array, fold: IntArray, c: int) -> Array:
    """(n, c) decision values of each label from the models of its own fold; nan for rows of fold −1."""
    out = np.full((len(rows), c), np.nan)
    for f in range(int(fold.max()) + 1):
        mine = fold == f
        columns = slice(c * (f + 1), c * (f + 2))
        out[mine] = rows[mine] @ w[:, columns] + b[columns]
    return out


def _first_best(quality: Sequence[float], task: HeadTask) -> int:
    """Highest AUC; ties go to the strength nearest to the fallback."""
    distance = np.abs(np.log10(task.strengths / FALLBACK))
    rank = [(-1.0 if np.isnan(q) else q, -d) for q, d in zip(quality, distance)]
    return max(range(len(rank)), key=rank.__getitem__)


def _steady(quality: Sequence[float], task: HeadTask) -> int:
    """The strength nearest to STEADY of those whose AUC is not clearly below the best.

    With more attributes than labels every strength separates the labels. Verdicts on cases that a ranking
    chose then favour a strong fit to their details, which ranks the rest of the graph badly: after 150 such
    verdicts on Computers Â²X reached 0.944 out of fold and 0.83 on other nodes with C = 1000, 0.932 and 0.99
    with C = 10.
    """
    known = np.nan_to_num(np.array(quality), nan=-1.0)
    if task.fold is None or known.max() < 0:
        return _first_best(quality, task)
    judged = task.y[task.fold >= 0]
    anomalous = float(judged.sum())
    slack = SLACK * auc_error(float(known.max()), anomalous, len(judged) - anomalous)
    distance = np.abs(np.log10(task.strengths / STEADY))
    return int(np.argmin(np.where(known >= known.max() - slack, distance, np.inf)))


def _mean_loss(f: Array, y: npt.NDArray[np.int8], weight: Array) -> float:
    margin = np.where(y == 1, f, -f)
    return float(np.average(np.logaddexp(0.0, -margin), weights=weight))
