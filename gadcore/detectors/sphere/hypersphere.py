"""The paper's model: ``AN`` learns from both labels, ``N`` from normal ones only.

A graph encoder pulls the embeddings of normal nodes to a centre c and, in AN, pushes anomalous ones out by a
differentiable AUC (equations in objective.py). c is the mean embedding of the labelled-normal nodes after the
first forward pass and stays where it is. Two graph convolutions are used on every graph ("three-layer" read
as input, hidden, output); ``depth=3`` is the other reading. Adam 1e-3, at most 500 epochs (``epochs=1000``
for the paper's Photo and Computers), λ from {1, 10, …, 10⁴}, early stopping. ``validation`` selects λ and
the epoch; without it label folds do, trained in the same pass.

A saved model: detector.json has ``specs`` (one: encoder, depth, skip, lambda_, seed), ``columns`` (names of
the rows of the first weight) and ``basis``; model.safetensors, which is read without torch, has

    m0.layer0.weight (D, H), m0.layer1.weight (H, K), …   layers of gcn, mlp and appnp; ReLU between, no bias
    m0.skip.weight (D, K)                                 only with skip: X W added to the embedding
    m0.conv{ℓ}.<name>                                     layers of sage and gat, names of torch_geometric
    m0.centre (K,)                                        c
    m0.fold{f}.…                                          models that did not see fold f, for warm starts
    scores (N,), out_of_fold (N,)                         as fitted; the latter only with folds
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gadcore.detectors.arrays import SavedModel
from gadcore.detectors.base import BOTH, NORMAL_ONLY, Detector, Given
from gadcore.detectors.nn.devices import pick_device, thread_count
from gadcore.detectors.sphere.fit_spheres import fit_spheres
from gadcore.detectors.sphere.fitted_spheres import FittedSpheres, SphereOptions, SphereSpec, restore_spheres
from gadcore.errors import ModelError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import Labels
from gadcore.metrics import auc

LAMBDAS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
FALLBACK_LAMBDA = 10.0  # when labels do not suffice to select one


@dataclass(eq=False, repr=False)
class Hypersphere(Detector):
    """What AN and N share: one selected member, its scores, files and inductive scoring."""

    seed: int = 0
    encoder: str = "gcn"
    width: int = 32
    k: int = 32
    depth: int = 2
    skip: bool = False
    epochs: int = 500
    lr: float = 1e-3
    patience: int | None = 100
    folds: int = 5
    warm_epochs: int = 50
    device: str = "auto"
    threads: int | None = None
    spheres_: FittedSpheres = field(init=False)  # the selected member with its folds

    def score_new(self, graph: Graph) -> FloatArray:
        """Scores of every node of a grown graph with the weights as they are."""
        with thread_count(self.threads):
            scores: FloatArray = self.spheres_.score_new(graph)[0]
            return scores

    def _spec(self, lambda_: float) -> SphereSpec:
        return SphereSpec(lambda_, self.seed, self.encoder, self.skip, self.depth)

    def _options(self) -> SphereOptions:
        return SphereOptions.of(self.get_params(), one_class=isinstance(self, N))

    def _adopt(self, spheres: FittedSpheres) -> None:
        """Set the fitted attributes from the selected member."""
        self.spheres_ = spheres
        self.scores_ = spheres.scores[0]
        self.embedding_, self.centre_ = spheres.embedding(0), spheres.centre(0)
        self.out_of_fold_ = None if spheres.out_of_fold is None else spheres.out_of_fold[0]
        self.auc_ = None if np.isnan(spheres.auc[0]) else float(spheres.auc[0])
        self.history_ = spheres.history

    def _write(self, saved: SavedModel) -> None:
        saved.arrays.update(self.spheres_.arrays())
        saved.state.update(self.spheres_.state())

    def _read(self, saved: SavedModel) -> None:
        device = pick_device(self.device)
        self.spheres_ = restore_spheres(saved.arrays, saved.state, self._options(), device)
        self.auc_ = saved.state["auc"][0]


@dataclass(eq=False, repr=False)
class AN(Hypersphere):
    """Ours-AN: L = L_nor − λ R_AUC, with ``lambda_`` given or selected from {1, 10, …, 10⁴}."""

    name: ClassVar[str] = "an"
    needs: ClassVar[str] = BOTH

    lambda_: float | str = "auto"

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.basis_ = self.check_labels(labels)
        earlier = given.warm_start.spheres_ if isinstance(given.warm_start, AN) else None
        with thread_count(self.threads):
            specs, start = self._specs(earlier), (given.validation, earlier, given.on_epoch)
            spheres = fit_spheres(graph, labels, specs, self._options(), *start)
            self._adopt(spheres.select(self._best(spheres)))

    @property
    def selected_lambda_(self) -> float:
        return self.spheres_.specs[0].lambda_

    def _specs(self, earlier: FittedSpheres | None) -> list[SphereSpec]:
        if earlier is not None and earlier.specs[0] in self._grid():
            return list(earlier.specs)
        return self._grid()

    def _grid(self) -> list[SphereSpec]:
        if self.lambda_ == "auto":
            return [self._spec(value) for value in LAMBDAS]
        if isinstance(self.lambda_, str) or self.lambda_ < 0:
            raise ModelError(f"lambda_={self.lambda_!r}. Expected: 'auto' or a number of 0 or more.")
        return [self._spec(float(self.lambda_))]

    def _best(self, spheres: FittedSpheres) -> int:
        if not np.isnan(spheres.auc).all():
            return int(np.nanargmax(spheres.auc))
        grid = [spec.lambda_ for spec in spheres.specs]
        return grid.index(FALLBACK_LAMBDA) if FALLBACK_LAMBDA in grid else 0


@dataclass(eq=False, repr=False)
class N(Hypersphere):
    """Ours-N: λ = 0. No bias, ReLU, c kept away from 0 and graph-AE weights prevent a collapsed sphere."""

    name: ClassVar[str] = "n"
    needs: ClassVar[str] = NORMAL_ONLY

    def _fit(self, graph: Graph, labels: Labels, given: Given) -> None:
        self.check_labels(labels)
        self.basis_ = NORMAL_ONLY
        earlier = given.warm_start.spheres_ if isinstance(given.warm_start, N) else None
        only = Labels(labels.normal, labels.anomalous[:0], inclusion=labels.inclusion, weight=labels.weight)
        with thread_count(self.threads):
            specs, start = [self._spec(0.0)], (given.validation, earlier, given.on_epoch)
            self._adopt(fit_spheres(graph, only, specs, self._options(), *start))
        self.auc_ = self._unseen_auc(labels, given.validation)

    def _unseen_auc(self, labels: Labels, validation: Labels | None) -> float | None:
        """AUC on labels that training did not see: it sees no anomalous one, and normal ones by fold."""
        scores, judged = self.scores_, labels if validation is None else validation
        if validation is None:
            if self.out_of_fold_ is None:
                return None
            scores = self.out_of_fold_ = self.out_of_fold_.copy()
            scores[labels.anomalous] = self.scores_[labels.anomalous]
        both = len(judged.normal) and len(judged.anomalous)
        return auc(judged.targets, scores[judged.indices]) if both else None
