"""Fitted hyperspheres that differ in λ, seed, label fold or architecture.

spheres = fit_spheres(graph, labels, specs, options, validation=None, warm_start=None, on_epoch=None)

specs               sequence of SphereSpec(lambda_, seed, encoder, skip, depth); M of them
options             SphereOptions(width, k, epochs, lr, weight_decay, patience, folds, …)
spheres.scores      (M, N) float32, of all nodes
spheres.out_of_fold (M, N) float32: of each labelled node the score by a model that did not see its label,
                    on the scale of ``scores``; nan elsewhere; None without folds
spheres.auc         (M,) validation AUC with ``validation``, else mean AUC over held-out folds, else nan
spheres.embedding(i), spheres.centre(i), spheres.select(i), spheres.score_new(graph) -> (M, N)
spheres.arrays(), spheres.state(), restore_spheres(arrays, state, options)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch

from gadcore.detectors.base import Progress
from gadcore.detectors.held_out import on_own_scale
from gadcore.detectors.nn.devices import where_it_fits
from gadcore.detectors.nn.encoders import Encoder, make_encoder
from gadcore.detectors.nn.receptive_field import Domain
from gadcore.detectors.sphere.objective import SphereBatch
from gadcore.graph import FloatArray, Graph

CELLS = 2**25  # floats of one layer that scoring holds at a time (128 MiB)


@dataclass(frozen=True)
class SphereSpec:
    """One model: its λ, the seed of its first weights, and its architecture."""

    lambda_: float = 1.0
    seed: int = 0
    encoder: str = "gcn"
    skip: bool = False
    depth: int = 2


@dataclass(frozen=True)
class SphereOptions:
    """What all members share. ``one_class`` trains the N-variant: λ = 0, pre-training, c kept away from 0."""

    width: int = 32
    k: int = 32
    epochs: int = 500
    lr: float = 1e-3
    weight_decay: float = 0.0
    patience: int | None = 100
    folds: int = 5
    warm_epochs: int = 50
    pretrain_epochs: int = 100
    device: str = "auto"
    one_class: bool = False

    @classmethod
    def of(cls, params: Mapping[str, Any], *, one_class: bool = False) -> Self:
        """Those among the parameters of a detector."""
        known = {each.name: params[each.name] for each in fields(cls) if each.name in params}
        return cls(**known, one_class=one_class)


@dataclass(frozen=True)
class Group:
    """Spheres of one architecture: the full ones first, then the folds of each, spec by spec."""

    rows: list[int]  # positions of its specs
    sphere: SphereBatch
    folds: int

    def fold_members(self, place: int) -> list[int]:
        start = len(self.rows) + place * self.folds
        return list(range(start, start + self.folds))


@dataclass(eq=False, repr=False)
class FittedSpheres:
    """What ``fit_spheres`` gives."""

    specs: Sequence[SphereSpec]
    groups: list[Group]
    columns: tuple[str, ...]
    fold_of: dict[str, int]  # node id -> fold
    options: SphereOptions
    auc: npt.NDArray[np.float64]
    history: list[Progress]
    domain: Domain | None = None

    @cached_property
    def scores(self) -> FloatArray:
        """(M, N) a(v) = ‖h_v − c‖² of every node of the training graph."""
        return self._scores(self._trained_on())

    @cached_property
    def out_of_fold(self) -> FloatArray | None:
        """(M, N), nan where unlabelled; each value has the rank that the fold's model gave the node."""
        if not self.fold_of:
            return None
        domain = self._trained_on()
        found = np.empty(self.scores.shape, dtype=np.float32)
        nodes = domain.graph.indices_of(self.fold_of)
        folds = np.array(list(self.fold_of.values()))
        for group in self.groups:
            for place, row in enumerate(group.rows):
                held = _score_all(group.sphere, group.fold_members(place), domain)
                found[row] = on_own_scale(self.scores[row], held, nodes, folds)
        return found

    def embedding(self, row: int) -> FloatArray:
        """(N, K) of one member."""
        group, place = self._find(row)
        with torch.no_grad():
            sphere = group.sphere.select([place])
            return sphere.embed(self._trained_on().whole(sphere.encoder.hops))[0].cpu().numpy()

    def centre(self, row: int) -> FloatArray:
        """(K,) of one member."""
        group, place = self._find(row)
        return group.sphere.centres[place].cpu().numpy()

    def sphere_of(self, specs: Sequence[SphereSpec], *, folds: bool) -> SphereBatch:
        """Copies of the members of these specs, all of one architecture, followed by their folds."""
        found = [self._find(self.specs.index(spec)) for spec in specs]
        group = found[0][0]
        places = [place for _, place in found]
        held = [m for place in places for m in group.fold_members(place)] if folds else []
        return group.sphere.select([*places, *held])

    def select(self, row: int) -> FittedSpheres:
        """One spec with its folds."""
        group, _ = self._find(row)
        chosen = self.sphere_of([self.specs[row]], folds=True)
        one = slice(row, row + 1)
        groups = [Group([0], chosen, group.folds)]
        only = replace(self, specs=self.specs[one], groups=groups, auc=self.auc[one])
        if "scores" in self.__dict__:
            only.__dict__["scores"] = self.scores[one]
        return only

    def score_new(self, graph: Graph) -> FloatArray:
        """(M, N') for a graph that has grown since training."""
        device = self.groups[0].sphere.centres.device
        return self._scores(Domain(graph, device, self.columns))

    def on(self, graph: Graph) -> FittedSpheres:
        """The same spheres with another graph to embed."""
        return replace(self, domain=Domain(graph, self.groups[0].sphere.centres.device, self.columns))

    def arrays(self, *, folds: bool = True) -> dict[str, npt.NDArray[Any]]:
        """m{i}.<weight>, m{i}.centre and, for warm starts, m{i}.fold{f}.<weight>, m{i}.fold{f}.centre."""
        found: dict[str, npt.NDArray[Any]] = {}
        for group in self.groups:
            for place, row in enumerate(group.rows):
                keep = group.fold_members(place) if folds else []
                names = [f"m{row}.", *(f"m{row}.fold{f}." for f in range(len(keep)))]
                for name, member in zip(names, [place, *keep]):
                    found |= {name + key: value for key, value in group.sphere.member(member).items()}
        return found

    def state(self, *, folds: bool = True) -> dict[str, Any]:
        """JSON-able rest of ``arrays``."""
        return {
            "specs": [asdict(spec) for spec in self.specs],
            "columns": list(self.columns),
            "fold_of": self.fold_of if folds else {},
            "folds": [group.folds if folds else 0 for group in self.groups],
            "groups": [group.rows for group in self.groups],
            "auc": [None if np.isnan(value) else float(value) for value in self.auc],
        }

    def _trained_on(self) -> Domain:
        if self.domain is None:
            raise AttributeError("spheres read from a file have no graph: call score_new(graph)")
        return self.domain

    def _scores(self, domain: Domain) -> FloatArray:
        found = np.empty((len(self.specs), domain.graph.n_nodes), dtype=np.float32)
        for group in self.groups:
            found[group.rows] = _score_all(group.sphere, list(range(len(group.rows))), domain)
        return found

    def _find(self, row: int) -> tuple[Group, int]:
        group = next(g for g in self.groups if row in g.rows)
        return group, group.rows.index(row)


def restore_spheres(
    arrays: dict[str, npt.NDArray[Any]], state: dict[str, Any], options: SphereOptions, device: torch.device
) -> FittedSpheres:
    """Spheres from what ``arrays`` and ``state`` gave: for ``score_new`` and warm starts."""
    specs = [SphereSpec(**spec) for spec in state["specs"]]
    groups = []
    for rows, folds in zip(state["groups"], state["folds"]):
        full = [_with_prefix(arrays, f"m{row}.") for row in rows]
        held = [_with_prefix(arrays, f"m{row}.fold{f}.") for row in rows for f in range(folds)]
        encoder = encoder_of(specs[rows[0]], options)
        groups.append(Group(rows, SphereBatch.from_members(encoder, full + held, device), folds))
    auc = np.array([np.nan if value is None else value for value in state["auc"]])
    return FittedSpheres(specs, groups, tuple(state["columns"]), state["fold_of"], options, auc, [])


def encoder_of(spec: SphereSpec, options: SphereOptions) -> Encoder:
    """The architecture of a spec."""
    return make_encoder(spec.encoder, depth=spec.depth, width=options.width, k=options.k, skip=spec.skip)


def _with_prefix(arrays: dict[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    own = {key.removeprefix(prefix): value for key, value in arrays.items() if key.startswith(prefix)}
    return {key: value for key, value in own.items() if not key.startswith("fold")}


def _score_all(sphere: SphereBatch, members: list[int], domain: Domain) -> FloatArray:
    """(m, N) scores of all nodes, on the device of the domain or, where it is too small, on the processor."""

    def work(device: torch.device) -> FloatArray:
        there = domain if device == domain.device else Domain(domain.graph, device, domain.columns)
        return _score_there(sphere.on(device), members, there)

    return where_it_fits(domain.device, work)


def _score_there(sphere: SphereBatch, members: list[int], domain: Domain) -> FloatArray:
    """Layer by layer over the whole graph, as many members at a time as memory allows."""
    wide = max(sphere.encoder.width, sphere.encoder.k)
    step = max(1, CELLS // max(1, domain.graph.n_nodes * wide))
    field = domain.whole(sphere.encoder.hops)
    with torch.no_grad():
        parts = [
            sphere.select(members[i : i + step]).scores(field).cpu().numpy()
            for i in range(0, len(members), step)
        ]
    return np.concatenate(parts)
