"""What verdicts, one by one or together, do to the places of nodes, by the linear head of provisional.py.

    w = A⁻¹b,  A = ZᵀΩZ + λI,  b = ZᵀΩt    over all labels. Without a change on u, which counted ω' with the
    verdict t' before and counts ω with t now (0 where there is none), they would be, with δ = ω' − ω and
    β = ω't' − ωt,

    A + δ z_u z_uᵀ  and  b + β z_u,  so that  w − w₋ᵤ = A⁻¹z_u (δ z_u·w − β) / (1 + δ h_u),  h_u = z_uᵀA⁻¹z_u

(Sherman, Morrison 1950). Without several changes at once the terms add up in A and b, which gives w₀, and

    w − w₀ = Σ_u A⁻¹z_u (δ_u z_u·w₀ − β_u)

shares out among them what they did together, also where each alone could stand in for the others.

Without the change node v would score z_v · (w − …) less. Taken off Φ⁻¹ of its percentile in the run this
gives the place that it would have. Exact for the head; the run itself is not trained again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from gadcore.graph import FloatArray, IntArray
from gadcore.graph.labels import Labels
from gadcore.loop.rerank import SHRINKAGE
from gadcore.metrics import percentile_ranks

Array = npt.NDArray[np.float64]


class Influence:
    """What changed labels do, in one run.

    A label is given as ωt: its weight, below 0 for normal, 0 where there is none.
    """

    def __init__(self, scores: FloatArray, space: FloatArray, labels: Labels) -> None:
        """``space`` is ``coordinates`` of the graph's basis, ``labels`` what the run has learnt from."""
        self._start = ndtri(percentile_ranks(scores))
        self._space = space
        z = np.asarray(space[labels.indices], dtype=np.float64)
        weighed = z.T * labels.weights
        self._system = weighed @ z + SHRINKAGE * np.eye(space.shape[1])
        self._right = weighed @ (2.0 * labels.targets - 1.0)
        self._inverse = np.linalg.inv(self._system)
        self._head = self._inverse @ self._right

    def bends(self, nodes: IntArray, now: Array, before: Array) -> Array:
        """(C, r + 1) by how much the head would differ without each change alone."""
        z = np.asarray(self._space[nodes], dtype=np.float64)
        delta, beta = np.abs(before) - np.abs(now), before - now
        solved = z @ self._inverse
        lever = np.maximum(1 + delta * np.einsum("cr,cr->c", solved, z), 1e-9)
        return np.asarray(solved * ((delta * (z @ self._head) - beta) / lever)[:, None])

    def parts(self, nodes: IntArray, now: Array, before: Array) -> Array:
        """(C, r + 1) what each change did to the head; their sum is what all of them did together."""
        z = np.asarray(self._space[nodes], dtype=np.float64)
        delta, beta = np.abs(before) - np.abs(now), before - now
        head = np.linalg.solve(self._system + (z.T * delta) @ z, self._right + beta @ z)
        return np.asarray((z @ self._inverse) * (delta * (z @ head) - beta)[:, None])

    def shifts(self, nodes: IntArray, bends: Array) -> Array:
        """(M, C) what each change did to the score of each node."""
        return np.asarray(np.asarray(self._space[nodes], dtype=np.float64) @ bends.T)

    def places(self, pairs: Sequence[tuple[int, int]], bends: Array) -> list[int]:
        """For each pair (node, change): how many places lower the node would stand without the change."""
        used = sorted({change for _, change in pairs})
        moved = self._start[:, None] - self._space @ bends[used].T.astype(np.float32)
        column = {change: i for i, change in enumerate(used)}
        return [
            int((moved[:, column[change]] > moved[node, column[change]]).sum())
            - int((self._start > self._start[node]).sum())
            for node, change in pairs
        ]
