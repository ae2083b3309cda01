"""DeepWalk: skip-gram embeddings of random walks, then class-balanced logistic regression (structure alone).

Walks of ``length`` steps start ``walks`` times at every node and step to a neighbour in proportion to the
edge's weight; the skip-gram (window 10, 10 negatives) is gensim's. C comes from {1e-2, …, 1e2} by validation
AUC, or else by the out-of-fold AUC of the labels given.
Saved: ``embedding`` (N, K), ``coefficients`` (K,), ``intercept`` (1,), ``scores`` (N,), ``out_of_fold`` (N,).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gadcore.detectors.base import Detector, Given, Reporter
from gadcore.detectors.held_out import fold_auc, label_folds, on_own_scale
from gadcore.detectors.logistic import fit_logistic, fold_weights
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc
from gadcore.shelf import Shelf

STRENGTHS = np.array([10.0**e for e in range(-2, 3)])
FOLDS = 5
_EMBEDDINGS = Shelf(5)


@dataclass(eq=False, repr=False)
class DeepWalk(Detector):
    """Random walks, skip-gram, logistic regression."""

    name: ClassVar[str] = "deepwalk"
    revision: ClassVar[int] = 2
    fitted: ClassVar[tuple[str, ...]] = ("_coefficients", "_intercept", "embedding_")

    seed: int = 0
    k: int = 32
    length: int = 80
    walks: int = 10
    window: int = 10
    epochs: int = 1

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = self.check_labels(labels)
        report = Reporter(given.on_epoch, self.walks + 2)
        self.embedding_ = self._embed(graph, report)
        self._classify(self.embedding_, labels, given.validation)
        report.step(0.0 if self.auc_ is None else 1 - self.auc_, self.auc_, stage="classifier")
        self.history_ = report.history

    def _embed(self, graph: Graph, report: Reporter) -> FloatArray:
        """Walks and skip-gram; they need no label, so the last few embeddings of this process are kept."""
        key = (graph.fingerprint, self.seed, self.k, self.length, self.walks, self.window, self.epochs)

        def embedded() -> FloatArray:
            rounds = []
            for number in range(self.walks):
                rounds.append(random_walks(graph, self.length, np.random.default_rng((self.seed, number))))
                report.step(0.0, stage="walking")
            return skip_gram(np.concatenate(rounds), graph.n_nodes, self)

        found = _EMBEDDINGS.get(key, embedded)
        report.step(0.0, stage="skip-gram")
        return found.copy()

    def _classify(self, z: FloatArray, labels: Labels, validation: Labels | None) -> None:
        y, rows = labels.targets, labels.indices
        fold = label_folds(y, FOLDS, self.seed)
        weights = [
            np.repeat(w[:, None], len(STRENGTHS), axis=1) for w in fold_weights(y, labels.weights, fold).T
        ]
        (coefficients, intercepts), *heads = (fit_logistic(z[rows], y, w, STRENGTHS) for w in weights)
        if validation is not None:
            chosen = z[validation.indices] @ coefficients + intercepts
            figures = [auc(validation.targets, column) for column in chosen.T]
        elif fold is not None:
            outside = np.stack([z[node] @ heads[f][0] + heads[f][1] for node, f in zip(rows, fold)])
            figures = [fold_auc(y, column, fold) for column in outside.T]
        else:
            figures = [0.0] * len(STRENGTHS)
        best = int(np.nanargmax(figures))
        self._coefficients = coefficients[:, best].astype(np.float32)
        self._intercept = float(intercepts[best])
        self.scores_ = (z @ self._coefficients + self._intercept).astype(np.float32)
        self.auc_ = figures[best] if validation is not None or fold is not None else None
        if fold is not None:
            of_folds = np.stack([z @ w[:, best] + b[best] for w, b in heads])
            self.out_of_fold_ = on_own_scale(self.scores_, of_folds, rows, fold)


def random_walks(graph: Graph, length: int, rng: np.random.Generator) -> npt.NDArray[np.int32]:
    """(N, length) walks, one from each node; a node without neighbours stays where it is."""
    indptr, indices = graph.adjacency.indptr, graph.adjacency.indices
    total = np.r_[0.0, np.cumsum(graph.adjacency.data, dtype=np.float64)]
    walks = np.empty((graph.n_nodes, length), dtype=np.int32)
    walks[:, 0] = rng.permutation(graph.n_nodes)
    for step in range(1, length):
        here = walks[:, step - 1]
        low, high = total[indptr[here]], total[indptr[here + 1]]
        edge = np.searchsorted(total, low + rng.random(len(here)) * (high - low), side="right") - 1
        edge = np.clip(edge, indptr[here], np.maximum(indptr[here + 1] - 1, indptr[here]))
        alone = indptr[here] == indptr[here + 1]
        walks[:, step] = np.where(
            alone, here, indices[np.minimum(edge, len(indices) - 1)] if len(indices) else here
        )
    return walks


def skip_gram(walks: npt.NDArray[np.int32], n: int, settings: DeepWalk) -> FloatArray:
    """(N, K) input vectors of gensim's skip-gram with negative sampling; one thread: the seed decides all."""
    from gensim.models import Word2Vec

    sentences = [list(map(str, row)) for row in walks.tolist()]
    model = Word2Vec(
        sentences,
        vector_size=settings.k,
        window=settings.window,
        min_count=0,
        sg=1,
        hs=0,
        negative=10,
        workers=1,
        seed=settings.seed,
        epochs=settings.epochs,
    )
    return np.stack([model.wv[str(i)] for i in range(n)]).astype(np.float32)
