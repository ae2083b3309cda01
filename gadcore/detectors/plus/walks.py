"""Damped random walks: how scores and attributes of the wider neighbourhood reach a node.

Π = (1 − α) Σ_{s<S} α^s P^s + α^S P^S,   P = D̃⁻¹(A + I)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gadcore.graph import Graph

DAMPING, LONG, SHORT = 0.9, 20, 10  # α, and S for scores and for attributes, which cost a product with X each
BLOCK = 128  # columns walked at a time: they stay in the processor's cache


def random_walk(adjacency: Any, graph: Graph) -> Any:
    """P, from Â."""
    root = np.sqrt(graph.degree + 1.0).astype(np.float32)
    return sp.csr_array(sp.diags_array(1.0 / root) @ adjacency @ sp.diags_array(root))


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
