"""What ``an+`` computes from a graph alone: every fit on the same graph shares it.

    Â, P                adjacency as the paper normalises it, and a step of a random walk
    X, ÂX, Â²X, Â³X     what heads are fitted on; after them the diffused attributes, where these are sparse
    [X, …, ÂʰX]         what trees read

Each part is made when it is first asked for. ``products_of`` keeps those of the last graph, so that a
retrain, a cold one too, does not make them again.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.detectors.arrays import normalised_adjacency, propagate
from gadcore.detectors.baselines.linear import inverse_norms
from gadcore.detectors.plus.members import (
    HOPS,
    Stack,
    diffused_attributes,
    random_walk,
    rarity,
    suits_diffusion,
)
from gadcore.detectors.plus.unlabelled import Scale, attribute_distance, neighbour_residual
from gadcore.graph import Features, FloatArray, Graph

Array = npt.NDArray[np.float64]


class Products:
    """Of one graph; see above."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.moments: dict[int, tuple[Array, Array]] = {}  # of columns, by place among the features
        self._stacks: dict[tuple[int, bool], Stack] = {}

    @cached_property
    def adjacency(self) -> Any:
        """Â."""
        return normalised_adjacency(self.graph)

    @cached_property
    def walk(self) -> Any:
        """P."""
        return random_walk(self.adjacency, self.graph)

    @cached_property
    def powers(self) -> list[Features]:
        """[X, ÂX, Â²X, Â³X]."""
        return propagate(self.graph, HOPS)

    @cached_property
    def inverse(self) -> list[Array]:
        """1 / length of the rows of each of ``powers``."""
        return [inverse_norms(z) for z in self.powers]

    @cached_property
    def rare(self) -> FloatArray | None:
        """(D,) weights of the columns that are diffused; None where attributes do not suit that."""
        return rarity(self.graph) if suits_diffusion(self.graph) else None

    @cached_property
    def wide(self) -> list[FloatArray]:
        """Diffused attributes, in the order of their places after ``powers``."""
        if self.rare is None:
            return []
        return diffused_attributes(self.graph, self.adjacency, self.walk, self.rare)

    @cached_property
    def wide_inverse(self) -> list[Array]:
        """1 / length of the rows of each of ``wide``."""
        return [inverse_norms(z) for z in self.wide]

    @cached_property
    def scale(self) -> Scale:
        """How attributes are measured where nothing is known to be anomalous."""
        return Scale.of(self.graph)

    @cached_property
    def unusual(self) -> dict[str, FloatArray]:
        """What is unusual by its attributes, or unlike its neighbours."""
        return {
            "attributes": attribute_distance(self.scale, self.graph),
            "residual": neighbour_residual(self.scale, self.graph),
        }

    def stack(self, hops: int, wide: bool) -> Stack:
        """[X, …, ÂʰX], sparse when ``wide``."""
        from gadcore.detectors.baselines.trees import stacked

        if (hops, wide) not in self._stacks:
            everyone = np.arange(self.graph.n_nodes)
            self._stacks[hops, wide] = Stack(stacked(self.powers[: hops + 1], everyone, wide))
        return self._stacks[hops, wide]


_last: Products | None = None


def products_of(graph: Graph) -> Products:
    """The products of this graph; those of the last graph when it is equal."""
    global _last
    if _last is None or not (_last.graph is graph or _last.graph.fingerprint == graph.fingerprint):
        _last = Products(graph)
    return _last
