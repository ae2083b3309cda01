"""ImVerde (Wu et al., 2018): embeddings from vertex-diminished random walks, then a joint classifier.

Walks. A batch has ``BATCH`` start nodes: all labelled anomalies, as many labelled normal nodes, the rest
random. From a labelled node a walk jumps with probability ``JUMP`` to a random node of the same label, else
it steps in proportion to edge weights. After a move to v all weights into v are multiplied by ``DIMINISH``,
shared within the batch: a node that was visited draws fewer walks. Pairs within ``WINDOW`` steps are positive
examples of a skip-gram with uniform negatives and separate tables for both ends.

Classifier. p = softmax(V [softmax(W_x x), softmax(W_e e)]): three cross-entropies, one for each softmax; the
epoch is chosen on validation AUC, else on label folds. Label weights count in the classifier; walks start at
and jump between labelled nodes whatever their weight.

The paper follows the authors' code for the rest and names no number of batches. 400 is one value for all
graphs: validation AUC of seeds 100 to 102, 2.5 % labelled, with 100 and 400 batches was 79.2 and 78.5 on
Cora, 64.5 and 62.3 on Citeseer, 79.7 and 93.6 on Photo.

Saved: the classifier's weights by name, ``embedding`` (N, K), ``scores`` (N,).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import Detector, Given, Reporter
from gadcore.detectors.nn.encoders import Encoder, Mlp, glorot
from gadcore.detectors.nn.receptive_field import Domain, Field
from gadcore.detectors.nn.supervised import Supervised, SupervisedTask
from gadcore.detectors.nn.weights import Weights
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels

BATCH, STEPS, WINDOW, NEGATIVES = 200, 10, 3, 10
JUMP, DIMINISH = 0.2, 0.7
STEP, CHUNK = 0.025, 1024  # learning rate of the skip-gram, pairs per update


@dataclass(eq=False, repr=False)
class ImVerde(Supervised):
    """Vertex-diminished walks and a classifier on attributes and embedding."""

    name: ClassVar[str] = "imverde"
    extras: ClassVar[dict[str, str]] = {"embedding": "table_"}

    lr: float = 1e-2
    batches: int = 400
    table_: FloatArray = field(init=False)

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.check_labels(labels)
        report = Reporter(given.on_epoch, self.batches)
        self.table_ = walk_embedding(graph, labels, self.k, self.batches, self.seed, report)
        super()._fit(graph, labels, given)
        self.embedding_ = self.table_
        self.history_ = report.history + self.history_

    def score_new(self, graph: Graph) -> FloatArray:
        return Detector.score_new(self, graph)

    def encode(self) -> Encoder:
        return Mlp(1, self.width, 2)

    def draw(self, domain: Domain, generator: torch.Generator) -> dict[str, Tensor]:
        return {
            **self.encode().draw(domain, generator),
            "walk.weight": glorot((self.k, 2), generator),
            "joint.weight": glorot((4, 2), generator),
        }

    def outputs(self, weights: Weights, where: Field) -> Tensor:
        joint = self._logits(weights, where)[2]
        return joint[:, :, 1] - joint[:, :, 0]

    def losses(self, task: SupervisedTask) -> Tensor:
        parts = self._logits(task.weights, task.field)
        task.outputs()
        target = task.targets.long().expand(task.seen.shape)
        total = sum(F.cross_entropy(part.transpose(1, 2), target, reduction="none") for part in parts)
        return (task.seen * total).sum(dim=1) / task.seen.sum(dim=1)

    def _logits(self, weights: Weights, where: Field) -> tuple[Tensor, Tensor, Tensor]:
        """Logits (M, n, 2) from attributes, from the embedding and from both."""
        own = torch.tensor(self.table_[where.shells[0]], device=where.domain.device)
        by_x = self.encode().embed(weights, where)
        by_walk = own @ weights["walk.weight"]
        both = torch.cat([by_x.softmax(2), by_walk.softmax(2)], dim=2)
        return by_x, by_walk, torch.bmm(both, weights["joint.weight"])

    def _read(self, saved: SavedModel) -> None:
        super()._read(saved)
        self.embedding_ = self.table_


def walk_embedding(
    graph: Graph, labels: Labels, k: int, batches: int, seed: int, report: Reporter
) -> FloatArray:
    """(N, K) table of the start side, trained by SGD on the pairs of each batch of walks."""
    rng = np.random.default_rng(seed)
    walker = _Walker(graph, labels, rng)
    bound = 0.5 / k
    source = torch.tensor(rng.uniform(-bound, bound, (graph.n_nodes, k)), dtype=torch.float32)
    target = torch.zeros(graph.n_nodes, k)
    for _ in range(batches):
        centre, context = _pairs(walker.walks())
        report.step(_step(source, target, centre, context, rng), stage="walking")
    return source.numpy()


class _Walker:
    """Batches of diminished walks on one graph."""

    def __init__(self, graph: Graph, labels: Labels, rng: np.random.Generator) -> None:
        self.indptr, self.indices = graph.adjacency.indptr, graph.adjacency.indices
        self.weights = np.asarray(graph.adjacency.data, dtype=np.float64)
        self.n, self.rng, self.labels = graph.n_nodes, rng, labels
        self.label = labels.as_array(graph.n_nodes)

    def walks(self) -> npt.NDArray[np.int64]:
        """(BATCH, STEPS + 1) node numbers."""
        here = self._starts()
        factor = np.ones(self.n)  # product of diminutions of each node within the batch
        path = [here]
        for _ in range(STEPS):
            here = self._move(here, factor)
            np.multiply.at(factor, here, DIMINISH)
            path.append(here)
        return np.stack(path, axis=1)

    def _starts(self) -> IntArray:
        anomalous = self.labels.anomalous[: BATCH // 2]
        normal = self.rng.permutation(self.labels.normal)[: len(anomalous)]
        rest = self.rng.integers(0, self.n, BATCH - len(anomalous) - len(normal))
        return np.concatenate([anomalous, normal, rest])

    def _move(self, here: IntArray, factor: npt.NDArray[np.float64]) -> IntArray:
        """All walks take one step together; a node without neighbours stays."""
        low, count = self.indptr[here], np.diff(self.indptr)[here]
        walk = np.repeat(np.arange(len(here)), count)
        start = np.cumsum(count) - count
        edge = np.arange(len(walk)) - np.repeat(start, count) + np.repeat(low, count)
        ahead = self.indices[edge]
        total = np.concatenate([[0.0], np.cumsum(self.weights[edge] * factor[ahead])])
        first, last = total[start], total[start + count]
        draw = first + self.rng.random(len(here)) * (last - first)
        place = np.clip(
            np.searchsorted(total, draw, "right") - 1, start, np.maximum(start + count - 1, start)
        )
        step = ahead[np.minimum(place, max(len(ahead) - 1, 0))] if len(ahead) else here
        there = np.where(count > 0, step, here).astype(np.int64)
        for value, same in enumerate((self.labels.normal, self.labels.anomalous)):
            jumps = np.flatnonzero((self.label[here] == value) & (self.rng.random(len(here)) < JUMP))
            there[jumps] = same[self.rng.integers(0, max(1, len(same)), len(jumps))]
        return there


def _pairs(walks: npt.NDArray[np.int64]) -> tuple[IntArray, IntArray]:
    """Node pairs within WINDOW steps of each other, both ways."""
    ends = [(walks[:, :-gap].ravel(), walks[:, gap:].ravel()) for gap in range(1, WINDOW + 1)]
    left, right = ([pair[way] for pair in ends for way in order] for order in ((0, 1), (1, 0)))
    return np.concatenate(left), np.concatenate(right)


def _step(
    source: Tensor, target: Tensor, centre: IntArray, context: IntArray, rng: np.random.Generator
) -> float:
    """One pass of skip-gram with negative sampling over the pairs, in place; returns the mean loss."""
    negative = rng.integers(0, len(source), (len(centre), NEGATIVES))
    rows, columns = torch.from_numpy(centre), torch.from_numpy(np.column_stack([context, negative]))
    loss = 0.0
    for own, other in zip(torch.split(rows, CHUNK), torch.split(columns, CHUNK)):
        h, t = source[own], target[other]  # (b, K), (b, 1 + NEGATIVES, K)
        logit = torch.einsum("bk,bjk->bj", h, t)
        gap = logit.sigmoid()
        gap[:, 0] -= 1.0
        loss += float(F.softplus(logit).sum() - logit[:, 0].sum())
        source.index_add_(0, own, torch.einsum("bj,bjk->bk", gap, t), alpha=-STEP)
        pull = (gap[:, :, None] * h[:, None, :]).flatten(0, 1)
        target.index_add_(0, other.flatten(), pull, alpha=-STEP)
    return loss / max(1, len(centre))
