"""How well the demo's fraud is found from attributes alone, from structure alone and by the graph models.

    python -m data.measure_demo [--splits 5] [--share 0.05]

AUC on the accounts without a label, mean and standard deviation over purely random splits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace

import networkx as nx
import numpy as np
import numpy.typing as npt

from gadcore.detectors import make_detector
from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.ingest import read
from gadcore.metrics import auc
from gadcore.settings import DEMO_FOLDER

Score = Callable[[Labels], npt.NDArray[np.float32]]


def structure(graph: Graph) -> npt.NDArray[np.float64]:
    """(N, 8) links, weight, triangles, clustering, core number, PageRank, degree of neighbours, reach."""
    network = nx.from_scipy_sparse_array(graph.adjacency)
    linked = (graph.adjacency > 0).astype(np.float64)
    columns = [
        np.diff(graph.adjacency.indptr),
        graph.degree,
        *(
            [values[node] for node in range(graph.n_nodes)]
            for values in (
                nx.triangles(network),
                nx.clustering(network),
                nx.core_number(network),
                nx.pagerank(network),
                nx.average_neighbor_degree(network),
            )
        ),
        np.asarray(((linked @ linked) > 0).sum(axis=1)).ravel(),
    ]
    table = np.array(columns, dtype=np.float64).T
    return (table - table.min(axis=0)) / np.ptp(table, axis=0)


def methods(graph: Graph) -> dict[str, Score]:
    """Name -> scores of all nodes for a label set."""
    alone = replace(graph, adjacency=graph.adjacency * 0)
    shape = make_graph(graph.node_ids, np.zeros((2, 0)), structure(graph))

    def fit(name: str, on: Graph, **params: object) -> Score:
        return lambda labels: make_detector(name, **params).fit(on, labels).scores_

    return {
        "attributes: isolation forest, no labels": fit("isolation-forest", graph),
        "attributes: boosted trees": fit("xgb-graph", alone, hops=0),
        "attributes: logistic regression": fit("sgc-lr", graph, max_hops=0),
        "structure: boosted trees on 8 measures": fit("xgb-graph", shape, hops=0),
        "structure: label propagation": fit("label-propagation", graph),
        "graph: logistic regression on ÂᵏX": fit("sgc-lr", graph),
        "graph: an (paper)": fit("an", graph),
        "graph: an+ (default)": fit("an+", graph),
    }


def measure(splits: int, share: float) -> dict[str, list[float]]:
    """AUCs of every method over the splits."""
    reading = read(DEMO_FOLDER)
    graph, y = reading.graph, reading.truth.y
    found: dict[str, list[float]] = {}
    for seed in range(splits):
        chosen = np.random.default_rng(seed).choice(
            graph.n_nodes, round(share * graph.n_nodes), replace=False
        )
        labels = Labels.from_indices(graph, normal=chosen[y[chosen] == 0], anomalous=chosen[y[chosen] == 1])
        rest = np.setdiff1d(np.arange(graph.n_nodes), chosen)
        for name, score in methods(graph).items():
            found.setdefault(name, []).append(auc(y[rest], score(labels)[rest]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--share", type=float, default=0.05, help="of the accounts that are labelled")
    given = parser.parse_args()
    for name, values in measure(given.splits, given.share).items():
        sys.stdout.write(f"{name:42} {np.mean(values):.3f} ± {np.std(values):.3f}\n")


if __name__ == "__main__":
    main()
