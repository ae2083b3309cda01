"""``an+``: an ensemble that ranks with any labels or none, combined by rank (combine.py, members.py).

    both labels        linear, standard, background, smoothed and propagation members, diffused ones where
                       attributes are sparse, boosted trees where attributes are few and dense or anomalous
                       labels many, and the paper's hypersphere for three λ (hypersphere.py)
    normal labels      as without labels, and linear heads that tell normal nodes from unlabelled ones
    anomalous labels   linear heads that tell the anomalous nodes from unlabelled ones
    no labels          unusual attributes, unlike its neighbours, unusual neighbourhood (unlabelled.py)

Members are judged on ``validation``, else out of fold, else they keep their prior weight. ``embedding_`` is
that of the sphere with the highest weight; without one it is the leading directions of Â²X (reduced.py), with
the mean of the normal nodes (of all, when none is labelled) as ``centre_``. Files: see files.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gadcore.detectors.base import ANOMALOUS_ONLY, BOTH, NO_LABELS, NORMAL_ONLY, Detector, OnEpoch, Progress
from gadcore.detectors.baselines.linear import Task, spread_out, usable
from gadcore.detectors.folds import assign_folds, folds_of
from gadcore.detectors.logistic import balanced
from gadcore.detectors.plus.build import Bench, build, member_steps, prior
from gadcore.detectors.plus.combine import (
    Array,
    member_weights,
    percentile_among,
    unseen_ranks,
    weighted_mean,
    weighted_spread,
)
from gadcore.detectors.plus.files import read_model, write_model
from gadcore.detectors.plus.members import (
    Judge,
    Member,
)
from gadcore.detectors.plus.products import Products, products_of
from gadcore.detectors.plus.reduced import leading_directions
from gadcore.detectors.plus.scoring import Memory, score_grown
from gadcore.detectors.progress import Reporter
from gadcore.graph import FloatArray, Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc, percentile_ranks

if TYPE_CHECKING:
    from gadcore.detectors.sphere.sphere_members import Members

LAMBDAS = (1.0, 10.0, 100.0)


class AnPlus(Detector):
    """The product default: mixed members, weighted by what they get right on labels they did not see."""

    name = "an+"
    needs = NO_LABELS
    revision = 2

    spheres_: Members | None = None  # hypersphere members, for warm starts and new nodes
    strengths_: dict[str, float]  # C of each head, by member

    def __init__(
        self,
        seed: int = 0,
        lambdas: Sequence[float] | None = None,
        width: int = 32,
        k: int = 32,
        epochs: int = 300,
        warm_epochs: int = 20,
        patience: int = 60,
        folds: int = 5,
        strengths: Sequence[float] | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.seed = seed
        self.lambdas = lambdas
        self.width = width
        self.k = k
        self.epochs = epochs
        self.warm_epochs = warm_epochs
        self.patience = patience
        self.folds = folds
        self.strengths = strengths
        self.device = device
        self.threads = threads

    def fit(
        self,
        graph: Graph,
        labels: Labels,
        *,
        validation: Labels | None = None,
        on_epoch: OnEpoch | None = None,
        warm_start: Detector | None = None,
    ) -> Self:
        earlier = warm_start if isinstance(warm_start, AnPlus) else None
        self.basis_ = basis_of(labels)
        products = products_of(graph)
        task = self._task(products, labels, validation, earlier)
        bench = self._bench(products, task, labels, earlier)
        sphere_epochs = self._sphere_epochs(earlier)
        steps = len(member_steps(self.basis_, graph, len(labels.anomalous))) + bench.unusual
        report = Reporter(on_epoch, steps + sphere_epochs)
        members = build(bench, self.basis_, report)
        self.spheres_ = None
        if sphere_epochs:
            members += self._fit_spheres(graph, labels, validation, earlier, bench.judge, report)
        self.strengths_ = {m.name: m.head.strength for m in members if m.head is not None}
        self._combine(members, bench.judge, float(labels.weights.sum()), graph.n_nodes)
        self._place(bench)
        self._memory = self._remember(graph, labels, bench, products)
        self.history_ = report.history
        return self

    def score_new(self, graph: Graph) -> FloatArray:
        return score_grown(graph, self.members_, self.weights_, self._memory)

    def account(self) -> list[dict[str, Any]]:
        """Members with their weight and AUC, heaviest first."""
        rows = [
            {"name": member.name, "kind": member.kind, "weight": float(weight), "auc": quality}
            for member, weight, quality in zip(self.members_, self.weights_, self.member_aucs_)
        ]
        return sorted(rows, key=lambda row: -row["weight"])

    def _task(
        self, products: Products, labels: Labels, validation: Labels | None, earlier: AnPlus | None
    ) -> Task:
        fold: IntArray | None = None
        if self.basis_ == BOTH and not usable(validation):
            before = (
                earlier.spheres_.fold_of if earlier is not None and earlier.spheres_ is not None else None
            )
            assigned = assign_folds(products.graph, labels, self.folds, seed=self.seed, previous=before)
            fold = folds_of(products.graph, labels, assigned) if assigned else None
        powers, inverse = products.powers, products.inverse
        if self.basis_ == BOTH:
            powers, inverse = [*powers, *products.wide], [*inverse, *products.wide_inverse]
        task = Task.make(powers, labels, validation, fold, self.strengths, inverse)
        # Caution costs where no ranking chose the labels: Photo, 20 + 80 random ones, three seeds: average
        # precision 77.1 without and 70.9 with it.
        return replace(task, cautious=labels.chosen, moments=products.moments)

    def _bench(self, products: Products, task: Task, labels: Labels, earlier: AnPlus | None) -> Bench:
        powers = products.powers
        bench = Bench(products, task, Judge(task, products.graph.n_nodes, self.seed), self.seed)
        if self.basis_ == BOTH:
            known = earlier is not None and earlier.basis_ == BOTH and earlier.auc_ is not None
            return replace(bench, chosen=earlier.strengths_) if earlier is not None and known else bench
        directions = leading_directions(powers, 2, self.seed)
        embedding = directions.embed(powers)
        centre = _normal_mean(embedding, labels) if len(labels.normal) else embedding.mean(axis=0)
        unusual = self.basis_ != ANOMALOUS_ONLY
        return replace(bench, directions=directions, embedding=embedding, centre=centre, unusual=unusual)

    def _sphere_epochs(self, earlier: AnPlus | None) -> int:
        if self.basis_ != BOTH or not self._grid():
            return 0
        return self.warm_epochs if earlier is not None and earlier.spheres_ is not None else self.epochs

    def _grid(self) -> list[float]:
        """λ of the sphere members; an empty list of ``lambdas`` leaves them out."""
        return [float(value) for value in (LAMBDAS if self.lambdas is None else self.lambdas)]

    def _fit_spheres(
        self,
        graph: Graph,
        labels: Labels,
        validation: Labels | None,
        earlier: AnPlus | None,
        judge: Judge,
        report: Reporter,
    ) -> list[Member]:
        """The paper's model for each λ, trained in one pass."""
        from gadcore.detectors.nn.devices import thread_count
        from gadcore.detectors.sphere.fitting import fit_members
        from gadcore.detectors.sphere.sphere_members import MemberSpec

        before = len(report.history)

        def listen(progress: Progress) -> bool:
            report.epochs = before + progress.epochs  # a warm start that does not fit is a cold one
            report.listen(
                replace(progress, epoch=before + progress.epoch, epochs=report.epochs, stage="hypersphere")
            )
            return False

        specs = [MemberSpec(value, self.seed) for value in self._grid()]
        with thread_count(self.threads):
            found = fit_members(
                graph,
                labels,
                specs,
                self.sphere_options(),
                validation=validation if usable(validation) else None,
                warm_start=None if earlier is None else earlier.spheres_,
                on_epoch=listen,
            )
            self.spheres_ = found
            scores, held = found.scores, found.out_of_fold
        members = []
        for row, spec in enumerate(specs):
            own = scores[row]
            ranks: Array | None = None
            if judge and judge.fold is None:
                ranks = percentile_ranks(own)[judge.nodes]
            elif judge and held is not None:
                ranks = percentile_among(own, held[row][judge.nodes])
            members.append(Member(f"sphere λ={spec.lambda_:g}", "sphere", own, ranks, row=row))
        return members

    def sphere_options(self) -> Any:
        """Options of the hypersphere members."""
        from gadcore.detectors.sphere.sphere_members import Options

        return Options(
            width=self.width,
            k=self.k,
            epochs=self.epochs,
            warm_epochs=self.warm_epochs,
            patience=self.patience,
            folds=self.folds,
            device=self.device,
        )

    def _combine(self, members: list[Member], judge: Judge, labels: float, n: int) -> None:
        """Weights, scores, spread and the honest ranks; members without weight are forgotten."""
        validated = bool(judge) and judge.fold is None
        priors = [prior(member, labels, self.basis_, validated=validated) for member in members]
        ranked = [member.ranks for member in members]
        weights, quality = member_weights(ranked, priors, judge.y, judge.counts, validated=validated)
        kept = np.flatnonzero(weights > 0)
        self.members_ = [replace(members[i], fold_scores=()) for i in kept]
        self.weights_ = weights[kept]
        self.member_aucs_ = [None if np.isnan(quality[i]) else float(quality[i]) for i in kept]
        ranks = np.stack([percentile_ranks(member.scores) for member in self.members_])
        self.scores_ = weighted_mean(self.weights_, ranks).astype(np.float32)
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

    def _place(self, bench: Bench) -> None:
        """embedding_ and centre_: the heaviest sphere's, or the leading directions."""
        self.embedding_, self.centre_ = bench.embedding, bench.centre
        if self.spheres_ is None:
            return
        rows = [
            (weight, member.row) for weight, member in zip(self.weights_, self.members_) if member.row >= 0
        ]
        row = max(rows)[1] if rows else int(np.argmax(np.nan_to_num(self.spheres_.auc, nan=0.0)))
        self.embedding_, self.centre_ = self.spheres_.embedding(row), self.spheres_.centre(row)

    def _remember(self, graph: Graph, labels: Labels, bench: Bench, products: Products) -> Memory:
        y = labels.targets
        signed = np.where(y == 1, 1.0, -1.0) * balanced(y, labels.weights)
        ids = tuple(str(graph.node_ids[node]) for node in labels.indices)
        rare = products.rare if any(member.kind == "diffused" for member in self.members_) else None
        scale = products.scale if bench.unusual else None
        return Memory(ids, signed, bench.directions, bench.centre, scale, rare, self.spheres_)

    def _write(self, folder: Path) -> dict[str, Any]:
        return write_model(self, self._memory, folder)

    def _read(self, folder: Path, state: dict[str, Any]) -> None:
        self._memory = read_model(self, folder, state)
        self.spheres_ = self._memory.spheres
        self.strengths_ = {m.name: m.head.strength for m in self.members_ if m.head is not None}
        self.history_ = []


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
