"""``an+``: an ensemble that ranks with any labels or none, combined by rank (combine.py, members/).

    both labels        linear, standard, background, smoothed and propagation members, diffused ones where
                       attributes are sparse, boosted trees where attributes are few and dense or anomalous
                       labels many, forests where links give attributes, and the paper's hypersphere for
                       three λ
    normal labels      as without labels, and linear heads that tell normal nodes from unlabelled ones
    anomalous labels   linear heads that tell the anomalous nodes from unlabelled ones
    no labels          unusual attributes, unlike its neighbours, unusual neighbourhood, and nodes at which a
                       view of the graph is loud

Members are judged on ``validation``, else out of fold, else they keep their prior weight. ``embedding_`` is
that of the sphere with the highest weight; without one it is the leading directions of Â²X (graph_cache.py),
with the mean of the normal nodes (of all, when none is labelled) as ``centre_``.

Saved, readable without torch; what a member adds is said in its file:

detector.json
    basis, auc
    members     list of {name, kind, weight, auc, …}
    labelled    node ids in the order of signed_weights
    sphere      state of the hyperspheres, or null
model.safetensors
    scores (N,), spread (N,), out_of_fold (N,) where known, embedding (N, K), centre (K,)
    signed_weights (n,)          balanced label weights, negative for normal
    member{j}.scores (N,)        raw scores, which rank both these nodes and later ones

The score of node v is Σ_j weight_j · percentile of member{j}.scores[v] within member{j}.scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from gadcore.detectors.accounts import Share
from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import ANOMALOUS_ONLY, BOTH, NO_LABELS, NORMAL_ONLY, Detector, Given, Reporter
from gadcore.detectors.heads import HeadTask
from gadcore.detectors.held_out import assign_folds, folds_of, spread_out, usable
from gadcore.detectors.plus.bench import Bench, Judge, signed_weights
from gadcore.detectors.plus.combine import (
    Array,
    member_weights,
    percentile_between,
    unseen_ranks,
    weighted_spread,
)
from gadcore.detectors.plus.graph_cache import GraphCache, cache_of, leading_directions
from gadcore.detectors.plus.members import KINDS, Member, Slot, kind_of
from gadcore.detectors.plus.members.sphere import heaviest, read_spheres, spheres_of, write_spheres
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, percentile_ranks

if TYPE_CHECKING:
    from gadcore.detectors.sphere.fitted_spheres import FittedSpheres


@dataclass(eq=False, repr=False)
class AnPlus(Detector):
    """The product default: mixed members, weighted by what they get right on labels they did not see."""

    name: ClassVar[str] = "an+"
    needs: ClassVar[str] = NO_LABELS
    revision: ClassVar[int] = 2

    seed: int = 0
    lambdas: Sequence[float] | None = None
    width: int = 32
    k: int = 32
    epochs: int = 300
    warm_epochs: int = 20
    patience: int = 60
    folds: int = 5
    strengths: Sequence[float] | None = None
    device: str = "auto"
    threads: int | None = None

    members_: Sequence[Member] = field(init=False)  # those with a weight
    weights_: Array = field(init=False)
    member_aucs_: list[float | None] = field(init=False)
    spheres_: FittedSpheres | None = field(init=False)  # hyperspheres, for warm starts
    strengths_: dict[str, float] = field(init=False)  # C of each head, by member
    labelled_: list[str] = field(init=False)  # node ids
    signed_weights_: Array = field(init=False)

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = basis_of(labels)
        report = Reporter(given.on_epoch, 0)
        bench = self._bench(cache_of(graph), labels, given, report)
        fits = [fit for kind in KINDS if self.basis_ in kind.bases for fit in kind.plan(bench)]
        report.epochs = sum(fit.reports for fit in fits)
        members: list[Member] = []
        for fit in fits:
            members += fit.run(bench, members)
        self._remember(members)
        self._combine(members, bench.judge, float(labels.weights.sum()), graph.n_nodes)
        self.embedding_, self.centre_ = bench.embedding, bench.centre
        self.spheres_ = spheres_of(members)
        if self.spheres_ is not None:
            row = heaviest(self.members_, self.weights_, self.spheres_)
            self.embedding_, self.centre_ = self.spheres_.embedding(row), self.spheres_.centre(row)
        self.labelled_ = [str(graph.node_ids[node]) for node in labels.indices]
        self.signed_weights_ = signed_weights(labels)
        self.history_ = report.history

    def score_new(self, graph: Graph) -> FloatArray:
        """Each member as it is, ranked among the nodes it was fitted on."""
        cache, total = GraphCache(graph), np.zeros(graph.n_nodes)
        for member, weight in zip(self.members_, self.weights_):
            total += weight * percentile_between(member.scores, member.score_new(cache))
        return total.astype(np.float32)

    def carried_to(self, graph: Graph) -> Self:
        """Each member as it is, ranked among the nodes that are there now."""
        other, cache = copy(self), GraphCache(graph)
        other.history_, other.out_of_fold_ = [], None
        other.members_ = [member.carried_to(cache) for member in self.members_]
        ranks = np.stack([percentile_ranks(member.scores) for member in other.members_])
        other.scores_ = (self.weights_ @ ranks).astype(np.float32)
        other.spread_ = weighted_spread(self.weights_, ranks).astype(np.float32)
        if self.spheres_ is not None:
            row = heaviest(other.members_, self.weights_, self.spheres_)
            other.embedding_ = self.spheres_.on(graph).embedding(row)
        else:
            z = cache.table(2).z
            other.embedding_ = leading_directions(z, 2, self.seed).embed(z)
            other.centre_ = other.embedding_.mean(axis=0)
        return other

    def member_rows(self) -> list[dict[str, Any]]:
        """Members with their weight and AUC, heaviest first."""
        return sorted(self._rows(), key=lambda row: -row["weight"])

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"name": member.name, "kind": member.kind, "weight": float(weight), "auc": quality}
            for member, weight, quality in zip(self.members_, self.weights_, self.member_aucs_)
        ]

    def _bench(self, cache: GraphCache, labels: Labels, given: Given, report: Reporter) -> Bench:
        validation = given.validation
        earlier = given.warm_start if isinstance(given.warm_start, AnPlus) else None
        task = self._task(cache.graph, labels, validation, earlier)
        judge = Judge(task, cache.graph.n_nodes, self.seed)
        bench = Bench(self, cache, labels, validation, task, judge, report, earlier)
        if self.basis_ == BOTH:
            known = earlier is not None and earlier.basis_ == BOTH and earlier.auc_ is not None
            return replace(bench, chosen=earlier.strengths_) if earlier is not None and known else bench
        z = cache.table(2).z
        directions = leading_directions(z, 2, self.seed)
        embedding = directions.embed(z)
        centre = _normal_mean(embedding, labels) if len(labels.normal) else embedding.mean(axis=0)
        return replace(bench, directions=directions, embedding=embedding, centre=centre)

    def _task(
        self, graph: Graph, labels: Labels, validation: Labels | None, earlier: AnPlus | None
    ) -> HeadTask:
        fold: IntArray | None = None
        if self.basis_ == BOTH and not usable(validation):
            spheres = None if earlier is None else earlier.spheres_
            before = None if spheres is None else spheres.fold_of
            assigned = assign_folds(graph, labels, self.folds, seed=self.seed, previous=before)
            fold = folds_of(graph, labels, assigned) if assigned else None
        # Caution costs where no ranking chose the labels: Photo, 20 + 80 random ones, three seeds: average
        # precision 77.1 without and 70.9 with it.
        return HeadTask.make(labels, validation, fold, self.strengths, cautious=labels.chosen)

    def _remember(self, members: Sequence[Member]) -> None:
        self.strengths_ = {m.name: m.strength for m in members if m.strength is not None}

    def _combine(self, members: list[Member], judge: Judge, labels: float, n: int) -> None:
        """Weights, scores, spread and the honest ranks; members without weight are forgotten."""
        priors = [member.prior(labels, self.basis_, validated=judge.validated) for member in members]
        ranked = [member.ranks for member in members]
        weights, quality = member_weights(ranked, priors, judge.y, judge.counts, validated=judge.validated)
        kept = np.flatnonzero(weights > 0)
        self.members_ = [replace(members[i], fold_scores=()) for i in kept]
        self.weights_ = weights[kept]
        self.member_aucs_ = [None if np.isnan(quality[i]) else float(quality[i]) for i in kept]
        ranks = np.stack([percentile_ranks(member.scores) for member in self.members_])
        self.scores_ = (self.weights_ @ ranks).astype(np.float32)
        self.spread_ = weighted_spread(self.weights_, ranks).astype(np.float32)
        self.auc_, self.out_of_fold_ = None, None
        if all(own is None for own in ranked):
            return
        if judge.fold is None:
            self.auc_ = auc(judge.y, self.scores_[judge.nodes])
            return
        unseen = unseen_ranks(ranked, priors, judge.y, judge.fold, judge.counts)
        self.auc_ = auc(judge.y, unseen, judge.counts)
        self.out_of_fold_ = spread_out(n, judge.nodes, unseen)

    def _write(self, saved: SavedModel) -> None:
        saved.state.update(members=self._rows(), labelled=self.labelled_)
        for j, member in enumerate(self.members_):
            member.write(Slot(saved, j))
        write_spheres(self.spheres_, saved)
        own = {"spread": self.spread_, "embedding": self.embedding_, "centre": self.centre_}
        saved.arrays.update({name: array for name, array in own.items() if array is not None})
        saved.arrays["signed_weights"] = self.signed_weights_

    def _read(self, saved: SavedModel) -> None:
        rows, arrays = saved.state["members"], saved.arrays
        self.members_ = [_member(Slot(saved, j)) for j in range(len(rows))]
        self.weights_ = np.array([row["weight"] for row in rows])
        self.member_aucs_ = [row["auc"] for row in rows]
        self.spheres_ = read_spheres(saved)
        self.labelled_, self.signed_weights_ = saved.state["labelled"], arrays["signed_weights"]
        self.spread_ = arrays.get("spread")
        self.embedding_, self.centre_ = arrays.get("embedding"), arrays.get("centre")
        self._remember(self.members_)


def shares(saved: SavedModel) -> list[Share]:
    """What each member of a saved model adds to its score; one of an unknown kind counts as a whole."""
    found = []
    for j, row in enumerate(saved.state["members"]):
        slot, kind = Slot(saved, j), kind_of(row)
        member, scores = None if kind is None else kind.read(slot), slot.get("scores")
        found.append(Share(member, float(row["weight"]), scores, ranked=True))
    return found


def _member(slot: Slot) -> Member:
    kind = kind_of(slot.row)
    if kind is None:
        raise KeyError(f"the member {slot.row['name']!r} is of another version")
    return kind.read(slot)


def _normal_mean(embedding: FloatArray, labels: Labels) -> FloatArray:
    """(r,) mean of the normal nodes, by the weights of their labels where these differ."""
    own = labels.weights[: len(labels.normal)]
    if len(set(own.tolist())) == 1:
        return np.asarray(embedding[labels.normal].mean(axis=0))
    return np.average(embedding[labels.normal], axis=0, weights=own).astype(np.float32)


def basis_of(labels: Labels) -> str:
    """What a ranking with these labels rests on."""
    if len(labels.normal):
        return BOTH if len(labels.anomalous) else NORMAL_ONLY
    return ANOMALOUS_ONLY if len(labels.anomalous) else NO_LABELS
