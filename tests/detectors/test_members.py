"""FittedSpheres trained together, and the folds that judge them."""

from __future__ import annotations

import numpy as np

from gadcore.detectors.held_out import assign_folds, fold_count
from gadcore.detectors.sphere.fit_spheres import fit_spheres
from gadcore.detectors.sphere.fitted_spheres import SphereOptions, SphereSpec
from gadcore.graph.labels import Labels


def test_members_of_several_architectures_and_their_order(planted, planted_labels) -> None:
    graph, _ = planted
    specs = [SphereSpec(1.0), SphereSpec(10.0, skip=True), SphereSpec(10.0), SphereSpec(1.0, seed=7)]
    options = SphereOptions(epochs=20, device="cpu", folds=2)
    members = fit_spheres(graph, planted_labels, specs, options)
    assert members.scores.shape == members.out_of_fold.shape == (4, graph.n_nodes)
    for row in range(4):
        alone = fit_spheres(graph, planted_labels, [specs[row]], options)
        if specs[row].seed == specs[0].seed:  # folds are dealt by the first seed
            np.testing.assert_allclose(members.scores[row], alone.scores[0], rtol=2e-3, atol=1e-5)
        distance = np.square(members.embedding(row) - members.centre(row)).sum(axis=1)
        np.testing.assert_allclose(members.scores[row], distance, rtol=1e-4, atol=1e-5)


def test_folds_spread_classes_and_keep_their_labels(planted) -> None:
    graph, _ = planted
    labels = Labels.from_indices(graph, normal=range(20), anomalous=range(20, 26))
    folds = assign_folds(graph, labels, 5, seed=0)
    assert fold_count(folds) == 5
    for part in (labels.normal, labels.anomalous):
        counts = np.bincount([folds[graph.node_ids[node]] for node in part], minlength=5)
        assert counts.max() - counts.min() <= 1
    more = Labels.from_indices(graph, normal=range(20), anomalous=range(20, 30))
    assert assign_folds(graph, more, 5, seed=0, previous=folds).items() >= folds.items()


def test_folds_are_dealt_anew_when_labels_allow_twice_as_many(planted) -> None:
    graph, _ = planted
    few = Labels.from_indices(graph, normal=range(20), anomalous=[20, 21])
    many = Labels.from_indices(graph, normal=range(20), anomalous=range(20, 30))
    two = assign_folds(graph, few, 5, seed=0)
    assert fold_count(two) == 2
    assert fold_count(assign_folds(graph, many, 5, seed=0, previous=two)) == 5
    assert assign_folds(graph, Labels.from_indices(graph, normal=range(5), anomalous=[9]), 5, seed=0) == {}
