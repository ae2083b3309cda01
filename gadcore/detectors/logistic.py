"""Many class-balanced logistic regressions on the same few labelled rows, solved together.

For problem m with strength C_m and row weights ω_im (0 leaves row i out, so folds are problems too):

    min over w, b of  ½ ||w||² + C_m Σ_i ω_im log(1 + exp(−t_i (z_i·w + b))),   t_i = ±1

The rows are few against the attributes (n ≪ D), and w lies in their span, so the work is done in an
orthogonal basis of the rows: B = U S of shape (n, r), r ≤ n. One limited-memory BFGS serves all problems at
once: a step is two products (n, r)(r, M) instead of M times two matrix-vector products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MEMORY = 10  # pairs (Δw, Δgradient) kept
TOLERANCE = 1e-4  # largest gradient entry, relative to that at the start
MAX_STEPS = 150


def balanced(y: npt.NDArray[Any], weight: Array | None = None) -> Array:
    """ω_i = n / (2 n_class) times the label's own weight; entries of ``weight`` at 0 do not count."""
    own = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    out = np.zeros(len(y))
    for value in (0, 1):
        rows = y == value
        total = own[rows].sum()
        if total > 0:
            out[rows] = own[rows] * own.sum() / (2 * total)
    return out


def fit_logistic(
    rows: npt.NDArray[Any], y: npt.NDArray[Any], weights: Array, strengths: Array
) -> tuple[Array, Array]:
    """(D, M) coefficients and (M,) intercepts of M problems; ``weights`` is (n, M), ``strengths`` (M,)."""
    z = np.asarray(rows, dtype=np.float64)
    basis, back = _row_basis(z)
    t = np.where(np.asarray(y) == 1, 1.0, -1.0)[:, None]
    solution = _lbfgs(_Problem(basis, t, weights * strengths[None, :]), basis.shape[1] + 1, len(strengths))
    return back @ solution[:-1], solution[-1]


def _row_basis(z: Array) -> tuple[Array, Array]:
    """(n, r) coordinates of the rows and the (D, r) map back; the rows themselves when D ≤ n."""
    n, d = z.shape
    if d <= n:
        return z, np.eye(d)
    values, vectors = np.linalg.eigh(z @ z.T)
    keep = values > max(values[-1], 0.0) * 1e-9
    scale = np.sqrt(values[keep])
    return vectors[:, keep] * scale, z.T @ (vectors[:, keep] / scale)


class _Problem:
    """Objective and gradient of all problems for stacked parameters [w; b] of shape (r + 1, M)."""

    def __init__(self, basis: Array, t: Array, weights: Array) -> None:
        self.basis, self.t, self.weights = basis, t, weights

    def __call__(self, p: Array) -> tuple[Array, Array]:
        margin = self.t * (self.basis @ p[:-1] + p[-1])
        # log(1 + e^−m) without overflow; σ(−m) likewise.
        tail = np.exp(-np.abs(margin))
        loss = np.log1p(tail) + np.maximum(-margin, 0.0)
        slope = np.where(margin >= 0, tail, 1.0) / (1.0 + tail)
        pull = -self.t * self.weights * slope
        value = 0.5 * np.einsum("rm,rm->m", p[:-1], p[:-1]) + np.einsum("nm,nm->m", self.weights, loss)
        gradient = np.vstack([self.basis.T @ pull + p[:-1], pull.sum(axis=0)])
        return value, gradient


def _lbfgs(problem: _Problem, size: int, m: int) -> Array:
    """Minimise all columns at once; a column that has converged stays where it is."""
    p = np.zeros((size, m))
    value, gradient = problem(p)
    target = TOLERANCE * np.abs(gradient).max(axis=0)
    moves: list[Array] = []
    bends: list[Array] = []
    active = np.abs(gradient).max(axis=0) > 0
    for _ in range(MAX_STEPS):
        step = _direction(gradient, moves, bends)
        slope = np.einsum("rm,rm->m", step, gradient)
        uphill = slope >= 0
        step[:, uphill] = -gradient[:, uphill]
        slope = np.where(uphill, -np.einsum("rm,rm->m", gradient, gradient), slope)
        scale = np.where(active, 1.0, 0.0)
        if not moves:
            scale /= np.maximum(1.0, np.sqrt(np.einsum("rm,rm->m", gradient, gradient)))
        trial, new_value, new_gradient = _backtrack(problem, p, value, gradient, step, slope, scale)
        moves.append(trial - p)
        bends.append(new_gradient - gradient)
        del moves[:-MEMORY], bends[:-MEMORY]
        p, value, gradient = trial, new_value, new_gradient
        active &= np.abs(gradient).max(axis=0) > target
        if not active.any():
            break
    return p


def _backtrack(
    problem: _Problem, p: Array, value: Array, gradient: Array, step: Array, slope: Array, scale: Array
) -> tuple[Array, Array, Array]:
    """Halve the steps of the columns that do not descend enough (Armijo); after 12 halvings they stay."""
    scale = scale.copy()
    for _ in range(12):
        trial = p + step * scale
        new_value, new_gradient = problem(trial)
        bad = new_value > value + 1e-4 * scale * slope + 1e-12 * np.abs(value)
        if not bad.any():
            return trial, new_value, new_gradient
        scale[bad] *= 0.5
    stay = p + step * np.where(bad, 0.0, scale)
    return (stay, *problem(stay))


def _direction(gradient: Array, moves: list[Array], bends: list[Array]) -> Array:
    """−H·gradient by the two-loop recursion, column by column; columns without curvature use the gradient."""
    q = gradient.copy()
    kept: list[tuple[Array, Array, Array, Array]] = []
    for s, y in zip(reversed(moves), reversed(bends)):
        curvature = np.einsum("rm,rm->m", s, y)
        rho = np.where(curvature > 1e-14, 1.0 / np.where(curvature > 1e-14, curvature, 1.0), 0.0)
        alpha = rho * np.einsum("rm,rm->m", s, q)
        q -= alpha * y
        kept.append((s, y, rho, alpha))
    if kept:
        s, y, rho, _ = kept[0]
        bent = np.einsum("rm,rm->m", y, y)
        q *= np.where(rho > 0, 1.0 / np.where(rho > 0, rho * bent, 1.0), 1.0)
    for s, y, rho, alpha in reversed(kept):
        q += s * (alpha - rho * np.einsum("rm,rm->m", y, q))
    return -q
