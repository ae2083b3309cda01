"""A small graph, and row blocks so small that it has several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gadcore.engine import blocks, kept_arrays
from gadcore.graph import Graph, make_graph


def random_graph(n: int = 300, sparse: bool = False) -> Graph:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6)).astype(np.float32)
    rows = sp.csr_array(np.where(x > 0.5, x, 0)) if sparse else x
    return make_graph([f"n{i}" for i in range(n)], rng.integers(0, n, (2, 4 * n)), rows)


def in_small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 rows."""
    monkeypatch.setattr(blocks.row_blocks, "__defaults__", (64,))


def stored_graph(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """A graph that was opened from a folder, in small blocks, with everything kept that is made of it."""
    monkeypatch.setattr(kept_arrays, "LEAST", 0)
    in_small_blocks(monkeypatch)
    random_graph().save(folder)
    return Graph.load(folder)
