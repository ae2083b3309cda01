"""The graph of about 20,000 nodes that answers within a moment are measured on."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gadcore.graph import Truth, make_graph
from gadcore.ingest import Reading, read
from gadcore.ingest.report import Report
from gadcore.settings import Settings

NODES, EDGES, ATTRIBUTES, PER_NODE = 20_000, 50_000, 500, 50  # of the random graph


def pubmed_or_random() -> Reading:
    """Pubmed where the benchmark graphs are, or a random graph of its size."""
    if (Settings.from_env().datasets / "pubmed.npz").is_file():
        return read("pubmed")
    rng = np.random.default_rng(0)
    x = sp.random_array((NODES, ATTRIBUTES), density=PER_NODE / ATTRIBUTES, format="csr", rng=rng)
    graph = make_graph(
        [f"n{i}" for i in range(NODES)],
        rng.integers(0, NODES, (2, EDGES)),
        x.astype(np.float32),
        name="random",
    )
    report = Report("random", "benchmark", graph.n_nodes, graph.n_edges, graph.n_features)
    return Reading(graph, report, Truth((rng.random(NODES) < 0.05).astype(np.int8)))
