"""How well the demo's fraud is found from each source of evidence alone, and from all of them by the models.

    python -m data.measure_demo [--draws 5]

AUC and average precision on all other accounts after 20 fraudulent and 80 honest ones, drawn at random, were
labelled: mean and standard deviation over the draws.
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
from gadcore.detectors.arrays import dense
from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, average_precision
from gadcore.studies.fits import DEMO
from gadcore.studies.transactions import ALL, NONE, drawn, linked_graph, with_columns

Score = Callable[[Labels], npt.NDArray[np.float32]]
LINKS = {
    "direction": "counts",
    "amounts": "amounts",
    "times": "times",
    "passing on": "passing",
    "channels": "kinds",
    "circles": "structure",
}  # what the links say: group of derived columns


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


def of_links(graph: Graph, group: str | None = None) -> npt.NDArray[np.float64]:
    """(N, columns) the derived columns of one group, or all of them."""
    own = [
        i
        for i, column in enumerate(graph.feature_columns)
        if column in graph.derived and group in (None, graph.derived[column]["group"])
    ]
    return dense(graph.x[:, own], np.float64)


def methods(graph: Graph) -> dict[str, Score]:
    """Name -> scores of all accounts for a label set."""
    bare = with_columns(graph, NONE)
    alone = replace(bare, adjacency=bare.adjacency * 0)

    def fit(name: str, on: Graph, **params: object) -> Score:
        return lambda labels: make_detector(name, **params).fit(on, labels).scores_

    def trees(columns: npt.NDArray[np.float64]) -> Score:
        return fit("xgb-graph", make_graph(graph.node_ids, np.zeros((2, 0)), columns), hops=0)

    return {
        "attributes: isolation forest, no labels": fit("isolation-forest", alone),
        "attributes: boosted trees": fit("xgb-graph", alone, hops=0),
        "attributes: logistic regression": fit("sgc-lr", alone, max_hops=0),
        "structure: boosted trees on 8 measures": trees(structure(graph)),
        "structure: label propagation": fit("label-propagation", bare),
        **{f"{word}: boosted trees": trees(of_links(graph, group)) for word, group in LINKS.items()},
        "all that links say: boosted trees": trees(of_links(graph)),
        "attributes and structure: an+": fit("an+", bare),
        "all: logistic regression on ÂᵏX": fit("sgc-lr", graph),
        "all: an (paper)": fit("an", graph),
        "all: an+ (default)": fit("an+", with_columns(graph, ALL)),
    }


def measure(draws: int) -> dict[str, list[tuple[float, float]]]:
    """AUC and average precision of every method over the draws."""
    graph, truth = linked_graph(DEMO)
    found: dict[str, list[tuple[float, float]]] = {}
    scored = methods(graph)
    for seed in range(draws):
        labels = Labels.from_indices(graph, *drawn(truth, seed))
        rest = np.setdiff1d(np.arange(graph.n_nodes), labels.indices)
        y = truth.y[rest] == 1
        for name, score in scored.items():
            scores = score(labels)[rest]
            found.setdefault(name, []).append((auc(y, scores), average_precision(y, scores)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=5)
    for name, values in measure(parser.parse_args().draws).items():
        told = " ".join(
            f"{m:6.3f} ± {s:.3f}" for m, s in zip(np.mean(values, axis=0), np.std(values, axis=0))
        )
        sys.stdout.write(f"{name:42} {told}\n")


if __name__ == "__main__":
    main()
