"""Rankings before there are both kinds of verdict: by what is unusual, or unlike the nodes called normal.

attributes      ||z_v − z̄||²            z: standardised columns of dense X, unit rows of sparse X
residual        ||z_v − z̄_N(v)||²       against the mean of the neighbours (isolated nodes: the median)
neighbourhood   ||e_v − ē||²             e: leading whitened directions of Â²X (reduced.py)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.baselines.linear import column_moments, inverse_norms, row_squares
from gadcore.detectors.plus.members import Judge, Member
from gadcore.errors import ModelError
from gadcore.graph import Features, FloatArray, Graph

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """How raw attributes become z: fixed at fit, so that nodes that arrive later are measured alike."""

    unit: bool
    shift: FloatArray  # (D,); for unit rows the mean z̄, else the column means
    spread: FloatArray  # (D,); ones for unit rows

    @classmethod
    def of(cls, graph: Graph) -> Scale:
        if not sp.issparse(graph.x):
            mean, deviation = column_moments(graph.x)
            return cls(False, mean.astype(np.float32), deviation.astype(np.float32))
        middle = np.asarray(_unit(graph.x).mean(axis=0), dtype=np.float32).ravel()
        return cls(True, middle, np.ones(graph.n_features, dtype=np.float32))

    def rows(self, graph: Graph) -> Features:
        """z of every node; the mean of unit rows is subtracted only where distances are taken."""
        if graph.n_features != len(self.shift):
            raise ModelError(
                f"The model was trained on {len(self.shift)} attributes; this graph has {graph.n_features}. "
                "Label some nodes and retrain."
            )
        if self.unit:
            return _unit(sp.csr_array(graph.x))
        x = graph.x.toarray() if sp.issparse(graph.x) else graph.x
        return (x - self.shift) / self.spread


def attribute_distance(scale: Scale, graph: Graph) -> FloatArray:
    """(N,) squared distance of z to its mean."""
    z = scale.rows(graph)
    if not scale.unit:
        return np.asarray(np.einsum("nd,nd->n", z, z), dtype=np.float32)
    product = np.asarray(z @ scale.shift).ravel()
    return np.asarray(row_squares(z) - 2 * product + float(scale.shift @ scale.shift), dtype=np.float32)


def neighbour_residual(scale: Scale, graph: Graph) -> FloatArray:
    """(N,) squared distance of z to the weighted mean of the neighbours."""
    z = scale.rows(graph)
    degree = graph.degree.astype(np.float64)
    inverse = np.where(degree > 0, 1.0 / np.where(degree > 0, degree, 1.0), 0.0).astype(np.float32)
    around = sp.diags_array(inverse) @ (graph.adjacency @ z)
    if sp.issparse(z):
        cross = np.asarray(z.multiply(around).sum(axis=1), dtype=np.float64).ravel()
        distance = row_squares(z) - 2 * cross + row_squares(around)
    else:
        distance = np.square(z - around).sum(axis=1, dtype=np.float64)
    linked = degree > 0
    if linked.any():
        distance = np.where(linked, distance, np.median(distance[linked]))
    return np.asarray(distance, dtype=np.float32)


def unusual_members(
    unusual: Mapping[str, FloatArray], embedding: FloatArray, centre: FloatArray, judge: Judge
) -> list[Member]:
    """The three rankings as members; no label is used, so any label may judge them."""
    away = np.square(embedding - centre).sum(axis=1).astype(np.float32)
    found = {**unusual, "neighbourhood": away}
    return [Member(name, name, scores, judge.ranks(scores, ())) for name, scores in found.items()]


def _unit(x: Any) -> Any:
    return sp.csr_array(sp.diags_array(inverse_norms(x).astype(np.float32)) @ x)
