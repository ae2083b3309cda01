"""Embeddings of Cora by the six methods of the paper's picture, with a t-SNE map of each.

A row has ``x, y`` (the map), ``truth`` (1 anomalous, 0 normal, -1 unknown) and ``part`` (a position in
``parts``, -1 for none) of every node, and of the test nodes ``auc``, ``separation`` and ``chance``.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import GadError
from gadcore.graph import FloatArray
from gadcore.studies.rows import known_graph, ranked, versions
from gadcore.studies.splits import Split, random_split

EXPERIMENT = "embeddings"
METHODS = ("an", "doc-an", "slgcn", "n", "doc-n", "deepwalk")  # in the order of the paper's figure
PARTS = ("train", "validation", "test")
NEIGHBOURS = 10


@dataclass(frozen=True)
class EmbeddingCell:
    """One map to draw."""

    method: str
    graph: str = "cora"
    rate: float = 0.1
    seed: int = 0

    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def key_of(row: dict[str, Any]) -> str:
    """The key of the map that a row holds."""
    return EmbeddingCell(row["method"], row["graph"], row["rate"], row["seed"]).key()


def measure(cell: EmbeddingCell) -> dict[str, Any]:
    """Fit as in the tables, then lay the embedding out."""
    from gadcore.detectors import make_detector
    from gadcore.insight.layout import layout

    graph, truth = known_graph(cell.graph)
    split = random_split(graph, truth, cell.rate, seed=cell.seed)
    detector = make_detector(cell.method, seed=cell.seed)
    start = time.process_time()
    detector.fit(graph, split.train, validation=split.validation)
    seconds = time.process_time() - start
    if detector.embedding_ is None:
        raise GadError(f"The model {cell.method!r} has no embedding to draw.")
    plane = layout("tsne", detector.embedding_, seed=cell.seed)
    y = truth.y[split.test] == 1
    return {
        "experiment": EXPERIMENT,
        **asdict(cell),
        **ranked(y, detector.scores_[split.test]),
        "separation": purity(detector.embedding_[split.test], y, seed=cell.seed),
        "chance": float(y.mean()),
        "cpu_seconds": round(seconds, 3),
        "parts": list(PARTS),
        "part": part_of(split, graph.n_nodes).tolist(),
        "truth": truth.y.tolist(),
        "x": _rounded(plane[:, 0]),
        "y": _rounded(plane[:, 1]),
        "versions": versions(),
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


def _rounded(values: FloatArray) -> list[float]:
    return [round(float(value), 2) for value in values]
