"""OSVM: the one-class support vector machine on the attributes of labelled normal nodes (no graph).

    f(x) = Σ_i α_i exp(−γ ‖x − s_i‖²) − ρ,   score = −f(x)

γ comes from {1e-3, …, 1e3} by the smallest mean score of validation normals, the paper's rule for methods
that learn from normal labels alone; without a validation set from a fifth of the normal labels. A label's
weight scales the bound of its α_i: a node that was labelled with a group pulls less at the boundary.
Saved: ``support`` (S, D), ``dual`` (S,), ``offset`` (1,), ``gamma`` (1,), ``scores`` (N,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gadcore.detectors.arrays import dense
from gadcore.detectors.base import NORMAL_ONLY, Detector, Given, Reporter
from gadcore.graph import Features, FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels

GAMMAS = tuple(10.0**e for e in range(-3, 4))
CHUNK = 4096  # rows scored at once: the kernel block is CHUNK × S


@dataclass(eq=False, repr=False)
class Osvm(Detector):
    """One-class SVM with an RBF kernel; ``nu`` bounds the share of normal labels left outside."""

    name: ClassVar[str] = "osvm"
    needs: ClassVar[str] = NORMAL_ONLY
    fitted: ClassVar[tuple[str, ...]] = ("_support", "_dual", "_offset", "_gamma")

    seed: int = 0
    nu: float = 0.5

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.check_labels(labels)
        self.basis_ = NORMAL_ONLY
        report = Reporter(given.on_epoch, len(GAMMAS) + 1)
        train, held = _hold_out(labels.normal, given.validation, self.seed)
        losses = []
        for gamma in GAMMAS:
            self._learn(graph.x, train, labels, gamma)
            losses.append(float(self._score(graph.x[held]).mean()))
            report.step(losses[-1], stage="choosing γ")
        self._learn(graph.x, labels.normal, labels, GAMMAS[int(np.argmin(losses))])
        self.scores_ = self._score(graph.x)
        report.step(min(losses))
        self.history_ = report.history

    def score_new(self, graph: Graph) -> FloatArray:
        return self._score(graph.x)

    def _learn(self, x: Features, rows: IntArray, labels: Labels, gamma: float) -> None:
        from sklearn.svm import OneClassSVM

        own = [labels.weight.get(node, 1.0) for node in rows.tolist()]
        machine = OneClassSVM(kernel="rbf", gamma=gamma, nu=self.nu).fit(dense(x[rows]), sample_weight=own)
        self._support = np.asarray(machine.support_vectors_, dtype=np.float32)
        self._dual = np.asarray(machine.dual_coef_, dtype=np.float32).ravel()
        self._offset, self._gamma = float(machine.offset_[0]), gamma

    def _score(self, x: Features) -> FloatArray:
        """−f(x) in chunks of rows."""
        length = (self._support**2).sum(axis=1)
        parts = []
        for start in range(0, x.shape[0], CHUNK):
            block = x[start : start + CHUNK]
            own = np.asarray((block * block).sum(axis=1)).ravel()
            distance = own[:, None] + length[None, :] - 2 * np.asarray(block @ self._support.T)
            parts.append(self._offset - np.exp(-self._gamma * np.maximum(distance, 0)) @ self._dual)
        return np.concatenate(parts).astype(np.float32)


def _hold_out(normal: IntArray, validation: Labels | None, seed: int) -> tuple[IntArray, IntArray]:
    """Normal nodes to learn from and normal nodes to choose γ by."""
    if validation is not None and len(validation.normal):
        return normal, validation.normal
    if len(normal) < 5:
        return normal, normal
    order = np.random.default_rng(seed).permutation(normal)
    held = max(1, len(normal) // 5)
    return order[held:], order[:held]
