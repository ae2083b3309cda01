"""Sphere members of ``an+``: the paper's hypersphere for each λ, trained in one pass (sphere/).

Saved: row ``row`` i; of the model the state ``sphere`` and arrays sphere.m{i}.… (hypersphere.py). These are
kept for warm starts where no sphere has a weight. Only fitting and scoring import torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gadcore.detectors.accounts import Accountable
from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import Progress
from gadcore.detectors.held_out import usable
from gadcore.detectors.plus.bench import Bench, Judge
from gadcore.detectors.plus.combine import Array, percentile_among
from gadcore.detectors.plus.graph_cache import GraphCache
from gadcore.detectors.plus.members.base import Member, PlannedFit, Slot
from gadcore.detectors.sphere.account import SphereAccount
from gadcore.graph import FloatArray
from gadcore.metrics import percentile_ranks

if TYPE_CHECKING:
    from gadcore.detectors.sphere.fitted_spheres import FittedSpheres

LAMBDAS = (1.0, 10.0, 100.0)
PREFIX = "sphere."


@dataclass(frozen=True, kw_only=True)
class Sphere(Member):
    """Squared distance to the centre of one hypersphere."""

    kind: ClassVar[str] = "sphere"
    embeds: ClassVar[bool] = True

    spheres: Callable[[], FittedSpheres]  # all that were trained with it
    row: int  # its place there
    own: SphereAccount

    @classmethod
    def plan(cls, bench: Bench) -> list[PlannedFit]:
        model, earlier = bench.model, bench.earlier
        if not _grid(model.lambdas):
            return []
        warm = earlier is not None and earlier.spheres_ is not None
        return [PlannedFit(cls._fit, model.warm_epochs if warm else model.epochs)]

    @classmethod
    def _fit(cls, bench: Bench, done: Sequence[Member]) -> list[Member]:
        from gadcore.detectors.nn.devices import thread_count
        from gadcore.detectors.sphere.fit_spheres import fit_spheres
        from gadcore.detectors.sphere.fitted_spheres import SphereOptions, SphereSpec

        model, report = bench.model, bench.report
        before = len(report.history)

        def listen(progress: Progress) -> bool:
            report.epochs = before + progress.epochs  # a warm start that does not fit is a cold one
            report.listen(
                replace(progress, epoch=before + progress.epoch, epochs=report.epochs, stage="hypersphere")
            )
            return False

        with thread_count(model.threads):
            found = fit_spheres(
                bench.cache.graph,
                bench.labels,
                [SphereSpec(value, model.seed) for value in _grid(model.lambdas)],
                SphereOptions.of(model.get_params()),
                validation=bench.validation if usable(bench.validation) else None,
                warm_start=None if bench.earlier is None else bench.earlier.spheres_,
                on_epoch=listen,
            )
            return cls._members(found, bench.judge)

    @classmethod
    def _members(cls, found: FittedSpheres, judge: Judge) -> list[Member]:
        arrays = found.arrays(folds=False)
        return [
            cls(
                name=f"sphere λ={spec.lambda_:g}",
                scores=found.scores[row],
                ranks=_ranks(found, row, judge),
                spheres=lambda: found,
                row=row,
                own=SphereAccount.of(asdict(spec), arrays, f"m{row}."),
            )
            for row, spec in enumerate(found.specs)
        ]

    def prior(self, labels: float, basis: str, *, validated: bool = False) -> float:
        return 1 / 3  # three of them, one per λ

    def score_new(self, cache: GraphCache) -> FloatArray:
        scores = cache.kept(PREFIX, lambda: self.spheres().score_new(cache.graph))
        return np.asarray(scores[self.row])

    def write(self, slot: Slot) -> None:
        super().write(slot)
        slot.row["row"] = self.row

    @classmethod
    def fields_from(cls, slot: Slot) -> dict[str, Any]:
        saved, row = slot.saved, slot.row["row"]
        own = SphereAccount.of(saved.state["sphere"]["specs"][row], saved.arrays, f"{PREFIX}m{row}.")
        return {"row": row, "own": own, "spheres": lambda: saved.kept.get(PREFIX, lambda: _restored(saved))}

    @property
    def part(self) -> Accountable:
        return self.own


def read_spheres(saved: SavedModel) -> FittedSpheres | None:
    """The spheres of a saved model, also those without weight; None where there were none."""
    return None if saved.state["sphere"] is None else saved.kept.get(PREFIX, lambda: _restored(saved))


def write_spheres(spheres: FittedSpheres | None, saved: SavedModel) -> None:
    """Put them where ``read_spheres`` finds them."""
    saved.state["sphere"] = None if spheres is None else spheres.state()
    if spheres is not None:
        saved.arrays.update({PREFIX + name: array for name, array in spheres.arrays().items()})


def spheres_of(members: Sequence[Member]) -> FittedSpheres | None:
    """What the sphere members among these were trained with."""
    return next((member.spheres() for member in members if isinstance(member, Sphere)), None)


def heaviest(members: Sequence[Member], weights: Array, spheres: FittedSpheres) -> int:
    """Row of the sphere with the highest weight; without one, of that with the best AUC."""
    rows = [(weight, member.row) for weight, member in zip(weights, members) if isinstance(member, Sphere)]
    return max(rows)[1] if rows else int(np.argmax(np.nan_to_num(spheres.auc, nan=0.0)))


def _restored(saved: SavedModel) -> FittedSpheres:
    from gadcore.detectors.nn.devices import pick_device
    from gadcore.detectors.sphere.fitted_spheres import SphereOptions, restore_spheres

    own = {name.removeprefix(PREFIX): a for name, a in saved.arrays.items() if name.startswith(PREFIX)}
    options = SphereOptions.of(saved.state["params"])
    return restore_spheres(own, saved.state["sphere"], options, pick_device(options.device))


def _grid(lambdas: Sequence[float] | None) -> list[float]:
    """λ of the members; an empty list leaves them out."""
    return [float(value) for value in (LAMBDAS if lambdas is None else lambdas)]


def _ranks(found: FittedSpheres, row: int, judge: Judge) -> Array | None:
    """Of the judged nodes: those of a fold by the sphere that did not see it."""
    if judge.validated:
        return np.asarray(percentile_ranks(found.scores[row])[judge.nodes])
    if not judge or found.out_of_fold is None:
        return None
    return percentile_among(found.scores[row], found.out_of_fold[row][judge.nodes])
