"""What single verdicts do to the places of nodes, by the linear head of provisional.py.

    w = A⁻¹ZᵀΩt,  A = ZᵀΩZ + λI    over all labels; of a label on u that is

    new         w − w₋ᵤ = A⁻¹z_u ω(t_u − z_u·w) / (1 − ω h_u),   h_u = z_uᵀA⁻¹z_u   (Sherman, Morrison 1950)
    changed     w − w' = A⁻¹z_u ω(t_u − t'_u)
    taken back  w − w₊ᵤ = −A⁻¹z_u ω(t'_u − z_u·w) / (1 + ω h_u)

Without the change node v would score z_v · (w − …) less. Taken off Φ⁻¹ of its percentile in the run this
gives the place that it would have. Exact for the head; the run itself is not trained again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from gadcore.graph import FloatArray, IntArray
from gadcore.labels import Labels
from gadcore.metrics import percentile_ranks
from gadcore.provisional import SHRINKAGE

Array = npt.NDArray[np.float64]


class Influence:
    """What changed labels do, in one run."""

    def __init__(
        self, scores: FloatArray, space: FloatArray, labels: Labels, weight: dict[int, float]
    ) -> None:
        """``space`` is ``coordinates`` of the graph's basis, ``labels`` what the run has learnt from."""
        self._start = ndtri(percentile_ranks(scores))
        self._space, self._weight = space, weight
        z = np.asarray(space[labels.indices], dtype=np.float64)
        weighed = z.T * self._weights(labels.indices)
        self._inverse = np.linalg.inv(weighed @ z + SHRINKAGE * np.eye(space.shape[1]))
        self._head = self._inverse @ (weighed @ (2.0 * labels.targets - 1.0))

    def bends(self, nodes: IntArray, now: npt.NDArray[np.int8], before: npt.NDArray[np.int8]) -> Array:
        """(C, r + 1) what each change did to the head; a verdict is 1 or −1, or 0 where there is none."""
        z = np.asarray(self._space[nodes], dtype=np.float64)
        solved, weight = z @ self._inverse, self._weights(nodes)
        lever = weight * np.einsum("cr,cr->c", solved, z)
        told = z @ self._head
        size = np.where(now == 0, (told - before) / (1 + lever), now - before)
        size = np.where((before == 0) & (now != 0), (now - told) / np.maximum(1 - lever, 1e-9), size)
        return np.asarray(solved * (weight * size)[:, None])

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

    def _weights(self, nodes: IntArray) -> Array:
        return np.array([self._weight.get(int(node), 1.0) for node in nodes])
