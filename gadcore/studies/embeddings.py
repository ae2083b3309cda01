"""Embeddings of Cora by the six methods of the paper's picture, with a t-SNE map of each.

A row has ``x, y`` (the map), ``truth`` (1 anomalous, 0 normal, -1 unknown) and ``part`` (a position in
``parts``, -1 for none) of every node, and of the test nodes ``auc``, ``separation`` and ``chance``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gadcore.errors import GadError
from gadcore.graph import FloatArray
from gadcore.studies.fits import known_graph, ranked
from gadcore.studies.harness import Cell, Row
from gadcore.studies.splits import Split, random_split

METHODS = ("an", "doc-an", "slgcn", "n", "doc-n", "deepwalk")  # in the order of the paper's figure
PARTS = ("train", "validation", "test")
NEIGHBOURS = 10


@dataclass(frozen=True)
class EmbeddingMap(Cell):
    """One map to draw."""

    rate: float = 0.1
    seed: int = 0

    def measure(self) -> Row:
        """Fit as in the tables, then lay the embedding out."""
        from gadcore.detectors import make_detector
        from gadcore.insight.layout import layout

        graph, truth = known_graph(self.graph)
        split = random_split(graph, truth, self.rate, seed=self.seed)
        start = time.process_time()
        detector = make_detector(self.method, seed=self.seed)
        detector.fit(graph, split.train, validation=split.validation)
        seconds = time.process_time() - start
        if detector.embedding_ is None:
            raise GadError(f"The model {self.method!r} has no embedding to draw.")
        plane = layout("tsne", detector.embedding_, seed=self.seed)
        y = truth.y[split.test] == 1
        return {
            "experiment": "embeddings",
            **ranked(y, detector.scores_[split.test]),
            "separation": purity(detector.embedding_[split.test], y, seed=self.seed),
            "chance": float(y.mean()),
            "cpu_seconds": round(seconds, 3),
            "parts": list(PARTS),
            "part": part_of(split, graph.n_nodes).tolist(),
            "truth": truth.y.tolist(),
            "x": [round(float(value), 2) for value in plane[:, 0]],
            "y": [round(float(value), 2) for value in plane[:, 1]],
        }


def purity(embedding: FloatArray, anomalous: npt.NDArray[np.bool_], *, seed: int = 0) -> float:
    """Share of anomalies among the ten nearest neighbours of an anomaly, mean over the anomalies.

    Nodes at equal distance are taken in a random order: a collapsed embedding has the share of chance.
    """
    h, mine = np.asarray(embedding, dtype=np.float64), np.flatnonzero(anomalous)
    apart = np.square(h[mine, None, :] - h[None, :, :]).sum(axis=2)
    apart[np.arange(len(mine)), mine] = np.inf
    lots = np.random.default_rng(seed).random(apart.shape)
    nearest = np.lexsort((lots, apart), axis=1)[:, :NEIGHBOURS]
    return float(anomalous[nearest].mean())


def part_of(split: Split, n: int) -> npt.NDArray[np.int8]:
    """Position in ``PARTS`` of every node, -1 for a node of unknown truth."""
    part = np.full(n, -1, dtype=np.int8)
    part[split.test] = PARTS.index("test")
    part[split.train.indices] = PARTS.index("train")
    if split.validation is not None:
        part[split.validation.indices] = PARTS.index("validation")
    return part
