"""Training of hyperspheres in one pass.

Specs of one architecture (encoder, skip, depth) share every product: the first weight is (D, M·H), later
layers are batched. Without ``validation`` each spec also trains one member per label fold, which selects the
epoch (and λ, by ``FittedSpheres.auc``) and gives honest scores of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gadcore.detectors.base import OnEpoch, Progress
from gadcore.detectors.held_out import assign_folds, fold_count, folds_of
from gadcore.detectors.nn.devices import pick_device, where_it_fits
from gadcore.detectors.nn.pretraining import pretrain
from gadcore.detectors.nn.receptive_field import Domain, Field, attribute_columns
from gadcore.detectors.nn.training import Schedule, Values, train
from gadcore.detectors.sphere.fitted_spheres import (
    FittedSpheres,
    Group,
    SphereOptions,
    SphereSpec,
    encoder_of,
)
from gadcore.detectors.sphere.objective import (
    SphereBatch,
    SphereJudge,
    SphereTask,
    first_centres,
    fold_judge,
    label_weights,
    validation_judge,
)
from gadcore.graph import Graph, IntArray
from gadcore.graph.labels import Labels
from gadcore.metrics import auc_error

_USUAL = 0.85  # AUC whose standard error the tolerance is taken from


def fit_spheres(
    graph: Graph,
    labels: Labels,
    specs: Sequence[SphereSpec],
    options: SphereOptions,
    validation: Labels | None = None,
    warm_start: FittedSpheres | None = None,
    on_epoch: OnEpoch | None = None,
) -> FittedSpheres:
    """Train all specs: architectures one after the other, the members of each in one pass.

    ``warm_start`` continues from earlier members for ``options.warm_epochs``; it is ignored (a cold fit) when
    it lacks one of the specs, or has other attributes, sizes or folds.
    """
    given = (graph, labels, specs, options, validation, warm_start, on_epoch)
    return where_it_fits(pick_device(options.device), lambda device: _fit_on(device, *given))


def _fit_on(
    device: torch.device,
    graph: Graph,
    labels: Labels,
    specs: Sequence[SphereSpec],
    options: SphereOptions,
    validation: Labels | None,
    warm_start: FittedSpheres | None,
    on_epoch: OnEpoch | None,
) -> FittedSpheres:
    earlier = warm_start if warm_start and _continues(warm_start, graph, specs, options) else None
    assigned: dict[str, int] = {}
    if validation is None:
        previous = earlier.fold_of if earlier else None
        assigned = assign_folds(
            graph, labels, options.folds, seed=specs[0].seed, one_class=options.one_class, previous=previous
        )
    if earlier and validation is None and fold_count(assigned) != fold_count(earlier.fold_of):
        return _fit_on(device, graph, labels, specs, options, None, None, on_epoch)
    job = _Job(_domain(graph, device, earlier), labels, options, assigned, validation, earlier, on_epoch)
    groups: list[Group] = []
    auc, history = np.full(len(specs), np.nan), list[Progress]()
    for rows in _architectures(specs):
        group, values, steps = job.run(rows, [specs[row] for row in rows])
        groups.append(group)
        auc[rows] = values
        history += steps
    return FittedSpheres(specs, groups, attribute_columns(graph), assigned, options, auc, history, job.domain)


@dataclass(frozen=True)
class _Job:
    """What all architectures of one fit share."""

    domain: Domain
    labels: Labels
    options: SphereOptions
    assigned: dict[str, int]  # node id -> fold
    validation: Labels | None
    earlier: FittedSpheres | None
    on_epoch: OnEpoch | None

    @property
    def folds(self) -> int:
        return fold_count(self.assigned)

    @property
    def fold(self) -> IntArray:
        """Of each label."""
        return folds_of(self.domain.graph, self.labels, self.assigned)

    def run(self, rows: list[int], specs: list[SphereSpec]) -> tuple[Group, Values, list[Progress]]:
        """Train the specs of one architecture and their folds."""
        owner = np.r_[np.arange(len(specs)), np.repeat(np.arange(len(specs)), self.folds)]
        encoder = encoder_of(specs[0], self.options)
        field = self.domain.field(self.labels.indices, encoder.hops)
        held_out = label_weights(self.labels, self._held_out(len(specs)))
        normal, anomalous = (self._tensor(part) for part in held_out)
        sphere, before = self._start(specs, owner, field, normal)
        lambdas = self._tensor(np.array([specs[i].lambda_ for i in owner], dtype=np.float32))
        judge = self._judge(sphere, len(specs))
        task = SphereTask(sphere, field, lambdas, normal, anomalous, judge, not self.options.one_class)
        trained = train(task, self._schedule(), on_epoch=self.on_epoch)
        measured = judge is not None and task.measures_auc
        values = trained.best[: len(specs)] if measured else np.full(len(specs), np.nan)
        return Group(rows, sphere, self.folds), values, before + trained.history

    def _start(
        self, specs: list[SphereSpec], owner: IntArray, field: Field, normal: Tensor
    ) -> tuple[SphereBatch, list[Progress]]:
        """First weights and centres: an earlier fit's, or drawn (and pre-trained for the N-variant)."""
        if self.earlier:
            return self.earlier.sphere_of(specs, folds=self.folds > 0).on(self.domain.device), []
        encoder = encoder_of(specs[0], self.options)
        weights = encoder.initialise(self.domain, [spec.seed for spec in specs])
        history: list[Progress] = []
        if self.options.one_class and self.options.pretrain_epochs:
            schedule = Schedule(self.options.pretrain_epochs, lr=self.options.lr, patience=None)
            history = pretrain(
                self.domain, encoder, weights, schedule, seed=specs[0].seed, on_epoch=self.on_epoch
            )
        weights = weights.select(owner)
        centres = first_centres(encoder, weights, field, normal, push=self.options.one_class)
        return SphereBatch(encoder, weights, centres), history

    def _held_out(self, specs: int) -> npt.NDArray[np.bool_]:
        """(M, n): which labels each member must not see."""
        hidden = np.zeros((specs * (1 + self.folds), len(self.labels)), dtype=bool)
        if self.folds:
            hidden[specs:] = np.tile(np.arange(self.folds)[:, None] == self.fold, (specs, 1))
        return hidden

    def _judge(self, sphere: SphereBatch, specs: int) -> SphereJudge | None:
        one_class = self.options.one_class
        if self.validation is not None:
            return validation_judge(self.domain, sphere.encoder, self.validation, one_class=one_class)
        return fold_judge(self.labels, self.fold, specs, one_class=one_class) if self.folds else None

    def _schedule(self) -> Schedule:
        own = self.options
        epochs = own.warm_epochs if self.earlier else own.epochs
        tolerance = self._tolerance() if self.folds and not self.earlier else 0.0
        return Schedule(epochs, own.lr, own.weight_decay, patience=own.patience, tolerance=tolerance)

    def _tolerance(self) -> float:
        """Half a standard error of the AUC: held-out labels are few, and longer training is the safer pick.

        On ten Cora splits at 2.5 % (some 4 anomalous labels) test AUC was 87.3 without and 89.1 with it, by
        two splits that had stopped too early.
        """
        if self.options.one_class:
            return 0.0
        return 0.5 * auc_error(_USUAL, len(self.labels.anomalous), len(self.labels.normal))

    def _tensor(self, array: npt.NDArray[np.float32]) -> Tensor:
        return torch.tensor(array, device=self.domain.device)


def _architectures(specs: Sequence[SphereSpec]) -> list[list[int]]:
    """Positions of the specs that can share their products, in order of appearance."""
    found: dict[tuple[str, bool, int], list[int]] = {}
    for row, spec in enumerate(specs):
        found.setdefault((spec.encoder, spec.skip, spec.depth), []).append(row)
    return list(found.values())


def _continues(
    earlier: FittedSpheres, graph: Graph, specs: Sequence[SphereSpec], options: SphereOptions
) -> bool:
    same = ("width", "k", "one_class")
    return (
        set(specs) <= set(earlier.specs)
        and all(getattr(earlier.options, name) == getattr(options, name) for name in same)
        and earlier.columns == attribute_columns(graph)
    )


def _domain(graph: Graph, device: torch.device, earlier: FittedSpheres | None) -> Domain:
    """Keep the earlier fit's arrays when it was on the same graph object."""
    if earlier and earlier.domain and earlier.domain.graph is graph and earlier.domain.device == device:
        return earlier.domain
    return Domain(graph, device)
