"""Many class-balanced logistic regressions on the same few labelled rows, solved together.

For problem m with strength C_m and row weights ω_im (0 leaves row i out, so folds are problems too):

    min over w, b of  ½ ||w||² + C_m Σ_i ω_im log(1 + exp(−t_i (z_i·w + b))),   t_i = ±1

The rows are few against the attributes (n ≪ D), and w lies in their span, so the work is done in an
orthogonal basis of the rows: B = U S of shape (n, r), r ≤ n. All M problems take their steps together, by
limited-memory BFGS: two products (n, r)(r, M) each. It stops early, which regularises where the rows can be
separated, as they nearly always can when n < D. With few attributes (D ≤ n) Newton's method is faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

MEMORY = 10  # pairs (Δw, Δgradient) kept
TOLERANCE = 3e-3  # largest gradient entry, relative to that at the start; about what scikit-learn stops at
MAX_STEPS = 150
NEWTON_UP_TO = 100  # r: a Newton step costs M r³, so that it pays only for small systems


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


def fold_weights(y: npt.NDArray[Any], weight: Array, fold: npt.NDArray[Any] | None) -> Array:
    """(n, 1 + folds) balanced weights: of all labels first, then without those of each fold."""
    folds = 0 if fold is None else int(fold.max()) + 1
    left = [balanced(y, np.where(fold == f, 0.0, weight)) for f in range(folds)]
    return np.stack([balanced(y, weight), *left], axis=1)


def fit_logistic(
    rows: npt.NDArray[Any], y: npt.NDArray[Any], weights: Array, strengths: Array
) -> tuple[Array, Array]:
    """(D, M) coefficients and (M,) intercepts of M problems; ``weights`` is (n, M), ``strengths`` (M,)."""
    z = np.asarray(rows, dtype=np.float64)
    basis, mix = _row_basis(z)
    t = np.where(np.asarray(y) == 1, 1.0, -1.0)[:, None]
    problem = _Problem(basis, t, weights * strengths[None, :])
    size = basis.shape[1] + 1
    few_attributes = z.shape[1] <= len(z) and size <= NEWTON_UP_TO
    solution = _newton(problem, size) if few_attributes else _lbfgs(problem, size)
    w = solution[:-1] if mix is None else z.T @ (mix @ solution[:-1])
    return w, solution[-1]


def _row_basis(z: Array) -> tuple[Array, Array | None]:
    """(n, r) coordinates of the rows and the (n, r) mix with w = zᵀ mix β; the rows themselves when D ≤ n."""
    n, d = z.shape
    if d <= n:
        return z, None
    values, vectors = np.linalg.eigh(z @ z.T)
    keep = values > max(values[-1], 0.0) * 1e-9
    scale = np.sqrt(values[keep])
    return vectors[:, keep] * scale, vectors[:, keep] / scale


class _Problem:
    """Objective and gradient of all problems for stacked parameters [w; b] of shape (r + 1, M)."""

    def __init__(self, basis: Array, t: Array, weights: Array) -> None:
        self.basis, self.t, self.weights = basis, t, weights

    @property
    def count(self) -> int:
        return int(self.weights.shape[1])

    def only(self, columns: npt.NDArray[np.bool_]) -> _Problem:
        """Some of the problems."""
        return _Problem(self.basis, self.t, self.weights[:, columns])

    def __call__(self, p: Array) -> tuple[Array, Array]:
        margin = self.t * (self.basis @ p[:-1] + p[-1])
        # log(1 + e^−m) without overflow; σ(−m) likewise.
        tail = np.exp(-np.abs(margin))
        loss = np.log1p(tail) + np.maximum(-margin, 0.0)
        slope = np.where(margin >= 0, tail, 1.0) / (1.0 + tail)
        pull = -self.t * self.weights * slope
        value = 0.5 * _dot(p[:-1], p[:-1]) + _dot(self.weights, loss)
        gradient = np.vstack([self.basis.T @ pull + p[:-1], pull.sum(axis=0)])
        return value, gradient

    def curvature(self, p: Array) -> Array:
        """(M, r + 1, r + 1) Hessians."""
        tail = np.exp(-np.abs(self.basis @ p[:-1] + p[-1]))
        bend = self.weights * tail / np.square(1.0 + tail)  # (n, M)
        wide = np.hstack([self.basis, np.ones((len(self.basis), 1))])
        hessian = np.matmul(wide.T[None], bend.T[:, :, None] * wide[None])
        steps = np.arange(wide.shape[1])
        hessian[:, steps[:-1], steps[:-1]] += 1.0
        hessian[:, steps, steps] += 1e-9
        return np.asarray(hessian)


def _newton(problem: _Problem, size: int) -> Array:
    """Damped Newton steps; only problems that have not converged take part."""
    p = np.zeros((size, problem.count))
    value, gradient = problem(p)
    target = TOLERANCE * np.abs(gradient).max(axis=0)
    for _ in range(MAX_STEPS):
        active = np.abs(gradient).max(axis=0) > target
        if not active.any():
            break
        part = problem.only(active)
        down = np.linalg.solve(part.curvature(p[:, active]), gradient[:, active].T[:, :, None])
        step = -np.asarray(down, dtype=np.float64)[:, :, 0].T
        slope = _dot(step, gradient[:, active])
        start = (p[:, active], value[active], gradient[:, active])
        p[:, active], value[active], gradient[:, active] = _backtrack(part, start, step, slope)
    return p


def _lbfgs(problem: _Problem, size: int) -> Array:
    """Minimise all columns at once; a column that has converged stays where it is."""
    p = np.zeros((size, problem.count))
    value, gradient = problem(p)
    target = TOLERANCE * np.abs(gradient).max(axis=0)
    moves: list[Array] = []
    bends: list[Array] = []
    active = np.abs(gradient).max(axis=0) > 0
    for _ in range(MAX_STEPS):
        step = _direction(gradient, moves, bends)
        uphill = _dot(step, gradient) >= 0
        step[:, uphill] = -gradient[:, uphill]
        step[:, ~active] = 0.0
        if not moves:
            step = np.asarray(step / np.maximum(1.0, np.sqrt(_dot(gradient, gradient))), dtype=np.float64)
        before = (p, value, gradient)
        p, value, gradient = _backtrack(problem, before, step, _dot(step, gradient))
        moves.append(p - before[0])
        bends.append(gradient - before[2])
        del moves[:-MEMORY], bends[:-MEMORY]
        active &= np.abs(gradient).max(axis=0) > target
        if not active.any():
            break
    return p


def _backtrack(
    problem: _Problem, start: tuple[Array, Array, Array], step: Array, slope: Array
) -> tuple[Array, Array, Array]:
    """Halve the steps of the columns that do not descend enough (Armijo); after 12 halvings they stay."""
    p, value, _ = start
    trial = p + step
    new_value, new_gradient = problem(trial)
    scale = 1.0
    for halvings in range(13):
        bad = new_value > value + 1e-4 * scale * slope + 1e-12 * np.abs(value)
        if not bad.any():
            break
        scale = 0.5 * scale if halvings < 12 else 0.0
        trial[:, bad] = p[:, bad] + scale * step[:, bad]
        new_value[bad], new_gradient[:, bad] = problem.only(bad)(trial[:, bad])
    return trial, new_value, new_gradient


def _direction(gradient: Array, moves: list[Array], bends: list[Array]) -> Array:
    """−H·gradient by the two-loop recursion, column by column; columns without curvature use the gradient."""
    q = gradient.copy()
    kept: list[tuple[Array, Array, Array, Array]] = []
    for s, y in zip(reversed(moves), reversed(bends)):
        curvature = _dot(s, y)
        rho = np.where(curvature > 1e-14, 1.0 / np.where(curvature > 1e-14, curvature, 1.0), 0.0)
        alpha = rho * _dot(s, q)
        q -= alpha * y
        kept.append((s, y, rho, alpha))
    if kept:
        s, y, rho, _ = kept[0]
        bent = _dot(y, y)
        q *= np.where(rho > 0, 1.0 / np.where(rho > 0, rho * bent, 1.0), 1.0)
    for s, y, rho, alpha in reversed(kept):
        q += s * (alpha - rho * _dot(y, q))
    return -q


def _dot(a: Array, b: Array) -> Array:
    """Column by column."""
    return np.asarray(np.einsum("rm,rm->m", a, b))
