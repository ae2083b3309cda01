"""What ``an+`` computes from a graph alone: every fit on the same graph shares it.

    Â, P                adjacency as the paper normalises it, and a step of a random walk
    X, ÂX, Â²X, Â³X     what heads are fitted on
    kept                whatever else a member computes from the graph

Damped random walks tell how scores and attributes of the wider neighbourhood reach a node:

    Π = (1 − α) Σ_{s<S} α^s P^s + α^S P^S,   P = D̃⁻¹(A + I)

Leading directions of unit-row ÂᵏX are the map and the one-class ranking before there are verdicts:

    e_v = (z_v V) / σ,   V (D, r) leading right singular vectors, σ (r,) deviations of the columns of ZV

Each part is made when it is first asked for. ``cache_of`` keeps those of the last graph, so that a retrain, a
cold one too, does not make them again.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.arrays import inverse_norms, normalised_adjacency, one_hop, sum_of
from gadcore.detectors.heads import FeatureTable, fitting_columns
from gadcore.engine import each, fill, part_of, row_blocks
from gadcore.graph import Features, FloatArray, Graph
from gadcore.shelf import Shelf

DAMPING, LONG, SHORT = 0.9, 20, 10  # α, and S for scores and for attributes, which cost a product with X each
BLOCK = 128  # columns walked at a time: they stay in the processor's cache
DIRECTIONS = 32
OVERSAMPLING, POWER_STEPS = 10, 3
FLOOR = 0.01  # least deviation of a direction, relative to the largest


class GraphCache:
    """Of one graph; see above."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._tables = [FeatureTable(graph.x)]
        self.kept = Shelf(sys.maxsize).get

    @cached_property
    def adjacency(self) -> Any:
        """Â."""
        return normalised_adjacency(self.graph)

    @cached_property
    def walk(self) -> Any:
        """P, from Â."""
        root = np.sqrt(self.graph.degree + 1.0).astype(np.float32)
        return sp.csr_array(sp.diags_array(1.0 / root) @ self.adjacency @ sp.diags_array(root))

    def table(self, hops: int) -> FeatureTable:
        """ÂᵏX as heads see it."""
        while len(self._tables) <= hops:
            before, own = self._tables[-1].z, len(self._tables)
            self._tables.append(FeatureTable(one_hop(self.graph, self.adjacency, before, own)))
        return self._tables[hops]

    def powers(self, hops: int) -> list[Features]:
        """[X, …, ÂᵏX]."""
        return [self.table(k).z for k in range(hops + 1)]


_LAST = Shelf(1)


def cache_of(graph: Graph) -> GraphCache:
    """The cache of this graph; that of the last graph when it is equal."""
    return _LAST.get(graph.fingerprint, lambda: GraphCache(graph))


def damped(step: Any, values: npt.NDArray[Any], steps: int) -> npt.NDArray[Any]:
    """Π values, by S steps of  m ← α P m + (1 − α) values."""
    out = np.empty(values.shape, dtype=np.float32)
    scaled = step * np.float32(DAMPING)
    for first in range(0, values.shape[1], BLOCK):
        columns = slice(first, first + BLOCK)
        mass = np.ascontiguousarray(values[:, columns], dtype=np.float32)
        start = (1 - DAMPING) * mass
        for _ in range(steps):
            mass = scaled @ mass
            mass += start
        out[:, columns] = mass
    return out


@dataclass(frozen=True)
class Directions:
    """The map from ÂᵏX to whitened coordinates."""

    hops: int
    components: FloatArray  # (D, r), each column divided by the deviation of its coordinate

    def embed(self, z: Features) -> FloatArray:
        """(N, r), of ÂᵏX."""
        components = fitting_columns(self.components, z)
        found = np.empty((z.shape[0], components.shape[1]), dtype=np.float32)
        fill(found, _unit_products, row_blocks(z.shape[0]), z, components)
        return found


def leading_directions(z: Features, hops: int, seed: int) -> Directions:
    """Randomised SVD (Halko et al. 2011) of the unit rows of ÂᵏX; deterministic for a seed."""
    n, blocks = z.shape[0], row_blocks(z.shape[0])
    rank = max(1, min(DIRECTIONS, min(z.shape) - 1))
    rng = np.random.default_rng(seed)
    sketch: npt.NDArray[Any] = rng.normal(size=(z.shape[1], min(rank + OVERSAMPLING, z.shape[1])))
    for _ in range(POWER_STEPS):
        sketch, _ = np.linalg.qr(sum_of(each(_power_step, blocks, z, sketch)))
    values, vectors = np.linalg.eigh(sum_of(each(_gram, blocks, z, sketch)))
    basis = sketch @ vectors[:, np.argsort(-values)[:rank]]
    mean = sum_of(each(_sums, blocks, z, basis)) / n
    deviation = np.sqrt(sum_of(each(_squares, blocks, z, basis, mean)) / n)
    # One-hot columns of two attributes have equal sums: that direction is rounding noise, not to be whitened.
    kept = deviation > FLOOR * max(float(deviation.max()), 1e-9)
    if not kept.any():
        return Directions(hops, basis[:, :1].astype(np.float32))
    return Directions(hops, (basis[:, kept] / deviation[kept]).astype(np.float32))


def _unit_products(block: slice, z: Features, weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Unit rows of a block times the weights."""
    rows = part_of(z, block)
    return np.asarray(np.asarray(rows @ weights) * inverse_norms(rows)[:, None])


def _power_step(block: slice, z: Features, sketch: npt.NDArray[Any]) -> npt.NDArray[Any]:
    rows = part_of(z, block)
    scale = inverse_norms(rows)[:, None]
    return np.asarray(rows.T @ (scale * (scale * np.asarray(rows @ sketch))))


def _gram(block: slice, z: Features, sketch: npt.NDArray[Any]) -> npt.NDArray[Any]:
    small = _unit_products(block, z, sketch)  # (n, r + oversampling)
    return np.asarray(small.T @ small)


def _sums(block: slice, z: Features, basis: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(_unit_products(block, z, basis).sum(axis=0))


def _squares(block: slice, z: Features, basis: npt.NDArray[Any], mean: npt.NDArray[Any]) -> npt.NDArray[Any]:
    away = _unit_products(block, z, basis) - mean
    return np.asarray(np.multiply(away, away, out=away).sum(axis=0))
