"""``sgc-lr``: class-balanced logistic regression on ÂᵏX, k and C chosen on validation or out of fold.

    f(v) = Σ_d w_d z_vd + b,    z_v = x⁽ᵏ⁾_v / ||x⁽ᵏ⁾_v||₂ (unit rows)  or  x⁽ᵏ⁾_v,    X⁽ᵏ⁾ = ÂᵏX

The score is a sum over attributes, and through Âᵏ a sum over neighbours, so that an explanation is exact.

Saved: detector.json holds {"hops": k, "unit": bool, "intercept": b, "strength": C}; model.safetensors holds
    coefficient   (D,) float32   w
    scores        (N,) float32   f of every node of the training graph
    out_of_fold   (N,) float32   on the scale of scores, nan where unlabelled; absent when labels were too few
                                 or validation was given
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeGuard

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.arrays import load_arrays, propagate, save_arrays
from gadcore.detectors.base import BOTH, Detector, OnEpoch
from gadcore.detectors.held_out import fold_auc, label_folds, on_own_scale
from gadcore.detectors.logistic import balanced, fit_logistic
from gadcore.detectors.progress import Reporter
from gadcore.errors import ModelError
from gadcore.graph import Features, FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, auc_error

Array = npt.NDArray[np.float64]

STRENGTHS = (1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4)
FALLBACK = 1.0  # C where the labels allow no choice
STEADY, SLACK = 10.0, 4.0  # C that a cautious task prefers, and by how many standard errors of the AUC


@dataclass(frozen=True)
class Head:
    """One linear score f on Âᵏ X; standardised columns are folded into w and b."""

    hops: int  # k; more generally the place among the features that it was fitted on
    unit: bool  # rows divided by their Euclidean length
    coefficient: FloatArray  # (D,)
    intercept: float
    strength: float

    def scores(self, powers: Sequence[Features]) -> FloatArray:
        """f of every row of ``powers[hops]``."""
        return score_heads([self], powers)[:, 0]


@dataclass(frozen=True)
class Fitted:
    """A head with what is known of it: AUC on labels it did not see, and its scores there."""

    head: Head
    auc: float  # nan when unknown
    loss: float  # mean balanced logistic loss on the training labels
    held_out: Array | None  # (n,) decision values out of fold, in the order of Labels.indices
    folds: tuple[Head, ...] = ()  # the same head fitted without each fold


class SgcLr(Detector):
    """Logistic regression on smoothed attributes."""

    name = "sgc-lr"
    needs = BOTH

    def __init__(
        self, seed: int = 0, max_hops: int = 3, strengths: Sequence[float] | None = None, folds: int = 5
    ) -> None:
        self.seed = seed
        self.max_hops = max_hops
        self.strengths = strengths
        self.folds = folds

    def fit(
        self,
        graph: Graph,
        labels: Labels,
        *,
        validation: Labels | None = None,
        on_epoch: OnEpoch | None = None,
        warm_start: Detector | None = None,
    ) -> Self:
        self.basis_ = self.check_labels(labels)
        powers = propagate(graph, self.max_hops)
        report = Reporter(on_epoch, len(powers))
        fold = label_folds(labels.targets, self.folds, self.seed)
        task = Task.make(powers, labels, validation, fold, self.strengths)
        found: list[Fitted] = []
        for hops in range(len(powers)):
            found.append(fit_head(task, hops))
            report.step(found[-1].loss, _known(found[-1].auc))
        best = choose(found)
        self.head_ = best.head
        self.auc_ = _known(best.auc)
        self.scores_ = best.head.scores(powers)
        self.out_of_fold_ = None
        if task.fold is not None:
            of_folds = score_heads(best.folds, powers).T
            self.out_of_fold_ = on_own_scale(self.scores_, of_folds, labels.indices, task.fold)
        self.history_ = report.history
        return self

    def score_new(self, graph: Graph) -> FloatArray:
        return self.head_.scores(propagate(graph, self.head_.hops))

    def _write(self, folder: Path) -> dict[str, Any]:
        arrays = {"coefficient": self.head_.coefficient, "scores": self.scores_}
        if self.out_of_fold_ is not None:
            arrays["out_of_fold"] = self.out_of_fold_
        save_arrays(folder, arrays)
        return {
            "hops": self.head_.hops,
            "unit": self.head_.unit,
            "intercept": self.head_.intercept,
            "strength": self.head_.strength,
            "auc": self.auc_,
            "basis": self.basis_,
        }

    def _read(self, folder: Path, state: dict[str, Any]) -> None:
        arrays = load_arrays(folder)
        self.head_ = Head(
            state["hops"], state["unit"], arrays["coefficient"], state["intercept"], state["strength"]
        )
        self.scores_, self.out_of_fold_ = arrays["scores"], arrays.get("out_of_fold")
        self.auc_, self.basis_, self.history_ = state["auc"], state["basis"], []


@dataclass(frozen=True)
class Task:
    """What all heads of one fit share. Rows of fold −1 are never held out, and judge nothing."""

    powers: Sequence[Features]
    nodes: IntArray
    y: npt.NDArray[np.int8]
    weight: Array
    held: IntArray  # validation nodes, may be empty
    held_y: npt.NDArray[np.int8]
    fold: IntArray | None
    strengths: Array
    inverse: Sequence[Array] = ()  # 1 / length of the rows of each of ``powers``, where they are kept
    moments: dict[int, tuple[Array, Array]] = field(default_factory=dict)  # of columns, as they are needed
    cautious: bool = False  # judged out of fold, choose a C that is not clearly worse and extrapolates less

    @property
    def n_folds(self) -> int:
        return 0 if self.fold is None else int(self.fold.max()) + 1

    def moments_of(self, hops: int) -> tuple[Array, Array]:
        """``column_moments`` of these features."""
        if hops not in self.moments:
            self.moments[hops] = column_moments(self.powers[hops])
        return self.moments[hops]

    @classmethod
    def make(
        cls,
        powers: Sequence[Features],
        labels: Labels,
        validation: Labels | None,
        fold: IntArray | None,
        strengths: Sequence[float] | None = None,
        inverse: Sequence[Array] = (),
    ) -> Task:
        """A task with these values of C to choose from, or with the usual ones."""
        held = validation if usable(validation) else Labels.none()
        return cls(
            powers,
            labels.indices,
            labels.targets,
            labels.weights,
            held.indices,
            held.targets,
            None if len(held) else fold,
            np.asarray(STRENGTHS if strengths is None else strengths, dtype=np.float64),
            inverse,
        )


def usable(validation: Labels | None) -> TypeGuard[Labels]:
    """Whether validation labels can select anything: both classes are there."""
    return validation is not None and len(validation.normal) > 0 and len(validation.anomalous) > 0


def fit_head(task: Task, hops: int, *, unit: bool = True) -> Fitted:
    """Fit all strengths (and folds) at once on ÂᵏX and keep the strength with the best held-out AUC."""
    z = task.powers[hops]
    rows = dense_rows(z, task.nodes, unit)
    if not unit:
        shift, scale = task.moments_of(hops)
        rows = (rows - shift) / scale
    weights, strengths = _problems(task)
    w, b = fit_logistic(rows, task.y, weights, strengths)
    raw_w, raw_b = (w, b) if unit else (w / scale[:, None], b - (shift / scale) @ w)
    c = len(task.strengths)
    held_out: Array | None = None
    quality = [float("nan")] * c
    if task.fold is not None:
        held_out = _held_out(rows, w, b, task.fold, c)
        judged = task.fold >= 0
        quality = [fold_auc(task.y[judged], held_out[judged, i], task.fold[judged]) for i in range(c)]
    elif len(task.held):
        lengths = _inverse(z, task.held, task.inverse[hops] if task.inverse else None) if unit else None
        values = _decision(z[task.held], raw_w[:, :c], raw_b[:c], lengths)
        quality = [auc(task.held_y, values[:, i]) for i in range(c)]
    wide = z.shape[1] > len(task.nodes)
    best = (_steady if task.cautious and wide else _first_best)(quality, task)

    def head(column: int) -> Head:
        coefficient, intercept = raw_w[:, column].astype(np.float32), float(raw_b[column])
        return Head(hops, unit, coefficient, intercept, float(task.strengths[best]))

    return Fitted(
        head(best),
        float(quality[best]),
        _mean_loss(rows @ w[:, best] + b[best], task.y, weights[:, best]),
        None if held_out is None else held_out[:, best],
        tuple(head(best + c * (f + 1)) for f in range(task.n_folds)),
    )


def choose(found: Sequence[Fitted]) -> Fitted:
    """The head with the highest held-out AUC; without one, two hops."""
    quality = [f.auc for f in found]
    if all(np.isnan(q) for q in quality):
        return found[min(2, len(found) - 1)]
    return found[int(np.nanargmax(quality))]


def score_heads(
    heads: Sequence[Head], powers: Sequence[Features], inverse: Sequence[Array] = ()
) -> FloatArray:
    """(N, M) scores of heads on the same ÂᵏX, in one product; ``inverse`` as in Task."""
    hops = heads[0].hops
    z = powers[hops]
    coefficients = fitting_columns(np.stack([head.coefficient for head in heads], axis=1), z)
    intercepts = np.array([head.intercept for head in heads])
    lengths = (inverse[hops] if inverse else inverse_norms(z)) if heads[0].unit else None
    return _decision(z, coefficients, intercepts, lengths).astype(np.float32)


def column_moments(z: Features) -> tuple[Array, Array]:
    """Mean and standard deviation of each column; constant columns get 1."""
    if sp.issparse(z):
        n, d = z.shape
        mean = np.bincount(z.indices, z.data, minlength=d) / n
        square = np.bincount(z.indices, np.square(z.data), minlength=d) / n
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    else:
        mean, deviation = z.mean(axis=0, dtype=np.float64), z.std(axis=0, dtype=np.float64)
    return mean, np.where(deviation > 1e-6, deviation, 1.0)


def inverse_norms(z: Features) -> Array:
    """1 / ||z_v||₂ per row, 0 for empty rows."""
    norm = np.sqrt(row_squares(z))
    return np.where(norm > 0, 1.0 / np.where(norm > 0, norm, 1.0), 0.0)


def row_squares(z: Features) -> Array:
    """||z_v||² per row."""
    if not sp.issparse(z):
        return np.asarray(np.einsum("nd,nd->n", z, z), dtype=np.float64)
    squares = sp.csr_array((np.square(z.data), z.indices, z.indptr), shape=z.shape)
    return np.asarray(squares @ np.ones(z.shape[1], dtype=z.dtype), dtype=np.float64)


def dense_rows(z: Features, nodes: IntArray, unit: bool) -> Array:
    """These rows as a dense float64 array, of unit length when asked."""
    rows = z[nodes]
    rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
    return rows * inverse_norms(rows)[:, None] if unit else rows


def fitting_columns(coefficients: FloatArray, z: Features) -> FloatArray:
    """(D, M) coefficients for the columns of ``z``; without attributes (X = I) later nodes count 0."""
    trained, present = len(coefficients), z.shape[1]
    if trained == present:
        return coefficients
    if z.shape[0] == present > trained:
        return np.pad(coefficients, ((0, present - trained), (0, 0)))
    raise ModelError(
        f"The model was trained on {trained} attributes; this graph has {present}. "
        "Read the new nodes with the columns of the first graph, or retrain."
    )


def spread_out(n: int, nodes: IntArray, values: npt.NDArray[Any] | None) -> FloatArray | None:
    """(n,) with ``values`` at ``nodes`` and nan elsewhere."""
    if values is None:
        return None
    out = np.full(n, np.nan, dtype=np.float32)
    out[nodes] = values
    return out


def _inverse(z: Features, nodes: IntArray, kept: Array | None) -> Array:
    """1 / length of these rows."""
    return inverse_norms(z[nodes]) if kept is None else kept[nodes]


def _decision(z: Features, coefficients: npt.NDArray[Any], intercepts: Array, inverse: Array | None) -> Array:
    """(rows, M) decision values, of rows scaled by ``inverse`` if there is one."""
    f = np.asarray(z @ coefficients)
    return np.asarray((f if inverse is None else f * inverse[:, None]) + intercepts)


def _problems(task: Task) -> tuple[Array, Array]:
    """Row weights (n, M) and strengths (M,): the whole label set first, then each fold left out."""
    columns = [balanced(task.y, task.weight)]
    for f in range(task.n_folds):
        columns.append(balanced(task.y, np.where(task.fold == f, 0.0, task.weight)))
    c = len(task.strengths)
    return np.repeat(np.stack(columns, axis=1), c, axis=1), np.tile(task.strengths, task.n_folds + 1)


def _held_out(rows: Array, w: Array, b: Array, fold: IntArray, c: int) -> Array:
    """(n, c) decision values of each label from the models of its own fold; nan for rows of fold −1."""
    out = np.full((len(rows), c), np.nan)
    for f in range(int(fold.max()) + 1):
        mine = fold == f
        columns = slice(c * (f + 1), c * (f + 2))
        out[mine] = rows[mine] @ w[:, columns] + b[columns]
    return out


def _first_best(quality: Sequence[float], task: Task) -> int:
    """Highest AUC; ties go to the strength nearest to the fallback."""
    distance = np.abs(np.log10(task.strengths / FALLBACK))
    rank = [(-1.0 if np.isnan(q) else q, -d) for q, d in zip(quality, distance)]
    return max(range(len(rank)), key=rank.__getitem__)


def _steady(quality: Sequence[float], task: Task) -> int:
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


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
