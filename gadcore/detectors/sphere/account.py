"""Accounts of the hypersphere a(v) = ||h_v − c||² for encoders without bias (gcn, mlp, with or without skip).

The encoder is positively homogeneous in X, so that integrated gradients from X = 0 are exactly

    x ⊙ ∇ₓ [(h − 2c).detach() · h]          summing to a(v) − ||c||²

One backward pass over the receptive field, in numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.detectors.accounts import Account, Accountable, Share, dense_row
from gadcore.detectors.arrays import Arrays, SavedModel, share_scale
from gadcore.detectors.surroundings import Array, Variants
from gadcore.graph import Graph, IntArray

Nested = tuple[list[IntArray], list[Any]]  # see ``Variants.nested``
ACCOUNTABLE = ("gcn", "mlp")  # encoders that are piecewise linear in X


@dataclass(frozen=True)
class SphereAccount(Accountable):
    """One sphere: layers (D, H), …, (H, K), the centre and, maybe, the skip weight."""

    layers: list[npt.NDArray[np.float32]]
    centre: npt.NDArray[np.float32]
    skip: npt.NDArray[np.float32] | None
    on_graph: bool

    @classmethod
    def of(cls, spec: dict[str, Any], arrays: Arrays, prefix: str) -> Self:
        """That of a spec (fitted_spheres.py) whose encoder is accountable."""
        layers = [arrays[f"{prefix}layer{i}.weight"] for i in range(spec["depth"])]
        skip = arrays.get(f"{prefix}skip.weight") if spec["skip"] else None
        return cls(layers, arrays[f"{prefix}centre"], skip, spec["encoder"] == "gcn")

    def raw(self, variants: Variants) -> Array:
        field = self._field(variants)
        start = self._start(variants.view.graph, field)
        found = np.empty(variants.count)
        for variant in range(variants.count):
            h = self._forward(variants, field, start, variant)[-1]
            found[variant] = float(np.square(h[0] + self._own(variants) - self.centre).sum())
        return found

    def account(self, variants: Variants) -> Account:
        graph, node = variants.view.graph, variants.node
        field = self._field(variants)
        start = self._start(graph, field)
        steps, (sets, blocks) = self._forward(variants, field, start, 0), field
        g = steps[-1][0] + self._own(variants) - 2 * self.centre
        back = g[None, :]
        for layer in range(len(self.layers) - 1, 0, -1):
            back = (blocks[layer].T @ (back @ self.layers[layer].T)) * (steps[layer - 1] > 0)
        back = np.asarray(blocks[0].T @ back)  # (S0, H)
        nodes = np.zeros(graph.n_nodes)
        nodes[sets[0]] = np.einsum("nh,nh->n", start, back)
        x = dense_row(graph.x, node)
        first = x * self._scale(graph, np.array([node]))
        own = first * (self.layers[0] @ back[np.searchsorted(sets[0], node)])
        if self.skip is not None:
            own += x * (self.skip @ g)
        nodes[node] = 0.0
        return Account(np.asarray(own, dtype=np.float64), nodes, float(self.centre @ self.centre))

    def _start(self, graph: Graph, field: Nested) -> npt.NDArray[Any]:
        """(S0, H) what the first layer makes of the attributes."""
        nodes = field[0][0]
        return np.asarray(graph.x[nodes] @ self.layers[0]) * self._scale(graph, nodes)[:, None]

    def _scale(self, graph: Graph, nodes: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Of the rows of X: the encoder without edges takes sparse ones with a sum of 1."""
        if self.on_graph or not sp.issparse(graph.x):
            return np.ones(len(nodes), dtype=np.float32)
        return share_scale(graph.x[nodes])

    def _own(self, variants: Variants) -> npt.NDArray[Any]:
        """X W_s of the node, or zero."""
        if self.skip is None:
            return np.zeros_like(self.centre)
        return np.asarray(dense_row(variants.view.graph.x, variants.node) @ self.skip)

    def _forward(
        self, variants: Variants, field: Nested, start: npt.NDArray[Any], variant: int
    ) -> list[npt.NDArray[Any]]:
        """Outputs of every layer before its ReLU, on the shrinking node sets."""
        h = self._aggregate(variants, field, 0, start, variant)
        steps = [h]
        for layer in range(1, len(self.layers)):
            inner = self._aggregate(variants, field, layer, np.maximum(h, 0), variant)
            h = inner @ self.layers[layer]
            steps.append(h)
        return steps

    def _aggregate(
        self, variants: Variants, field: Nested, level: int, h: npt.NDArray[Any], variant: int
    ) -> npt.NDArray[Any]:
        """Block ``level`` times h, in the graph without the variant's edge."""
        nodes, block = field[0], field[1][level]
        if variant == 0 or not self.on_graph:
            return np.asarray(block @ h)
        other = int(variants.removed[variant - 1])
        entry, own_scale, other_scale = (values[variant - 1] for values in variants.edge)
        inner = {node: _place(nodes[level], node) for node in (variants.node, other)}
        outer = {node: _place(nodes[level + 1], node) for node in (variants.node, other)}
        scale = {variants.node: own_scale, other: other_scale}
        h = h.copy()
        for node, place in inner.items():
            if place is not None:
                h[place] *= scale[node]
        out = np.asarray(block @ h)
        for node, source in ((variants.node, other), (other, variants.node)):
            row, column = outer[node], inner[source]
            if row is not None and column is not None:
                out[row] -= entry * h[column]
            if row is not None:
                out[row] *= scale[node]
        return out

    def _field(self, variants: Variants) -> Nested:
        """The node sets that the layers need, and the blocks of Â between them."""
        if self.on_graph:
            return variants.nested(len(self.layers))
        node = np.array([variants.node])
        return [node] * (1 + len(self.layers)), [np.eye(1, dtype=np.float32)] * len(self.layers)


def shares(saved: SavedModel) -> list[Share]:
    """The score of a saved ``an`` or ``n`` is the squared distance of its one sphere."""
    spec = saved.state["specs"][0]
    known = spec["encoder"] in ACCOUNTABLE
    own = SphereAccount.of(spec, saved.arrays, "m0.") if known else None
    return [Share(own, 1.0, saved.arrays["scores"])]


def _place(nodes: IntArray, node: int) -> int | None:
    place = int(np.searchsorted(nodes, node))
    return place if place < len(nodes) and nodes[place] == node else None
