"""Leading directions of unit-row ÂᵏX: the map and the one-class ranking before there are verdicts.

e_v = (z_v V) / σ,   V (D, r) leading right singular vectors, σ (r,) standard deviations of the columns of ZV
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import inverse_norms
from gadcore.detectors.heads import fitting_columns
from gadcore.graph import Features, FloatArray

DIRECTIONS = 32
OVERSAMPLING, POWER_STEPS = 10, 3
FLOOR = 0.01  # least deviation of a direction, relative to the largest


@dataclass(frozen=True)
class Directions:
    """The map from ÂᵏX to whitened coordinates."""

    hops: int
    components: FloatArray  # (D, r), each column divided by the deviation of its coordinate

    def embed(self, z: Features) -> FloatArray:
        """(N, r), of ÂᵏX."""
        found = np.asarray(z @ fitting_columns(self.components, z)) * inverse_norms(z)[:, None]
        return found.astype(np.float32)


def leading_directions(z: Features, hops: int, seed: int) -> Directions:
    """Randomised SVD (Halko et al. 2011) of the unit rows of ÂᵏX; deterministic for a seed."""
    scale = inverse_norms(z)[:, None]
    rank = max(1, min(DIRECTIONS, min(z.shape) - 1))
    rng = np.random.default_rng(seed)
    sketch: npt.NDArray[Any] = rng.normal(size=(z.shape[1], min(rank + OVERSAMPLING, z.shape[1])))
    for _ in range(POWER_STEPS):
        sketch, _ = np.linalg.qr(_transposed(z, scale * (scale * np.asarray(z @ sketch))))
    small = scale * np.asarray(z @ sketch)  # (N, r + oversampling)
    values, vectors = np.linalg.eigh(small.T @ small)
    basis = sketch @ vectors[:, np.argsort(-values)[:rank]]
    coordinates = scale * np.asarray(z @ basis)
    deviation = coordinates.std(axis=0)
    # One-hot columns of two attributes have equal sums: that direction is rounding noise, not to be whitened.
    kept = deviation > FLOOR * max(float(deviation.max()), 1e-9)
    if not kept.any():
        return Directions(hops, basis[:, :1].astype(np.float32))
    return Directions(hops, (basis[:, kept] / deviation[kept]).astype(np.float32))


def _transposed(z: Features, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(z.T @ values)
