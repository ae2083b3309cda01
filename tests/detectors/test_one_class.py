"""DOC-N and DSAD: their first weights, their grid, and what η does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from gadcore.detectors import make_detector
from gadcore.detectors.baselines.deep_one_class import ETAS
from gadcore.detectors.nn.encoders import make_encoder
from gadcore.detectors.nn.pretraining import AttributeTask, pretrain
from gadcore.detectors.nn.receptive_field import Domain
from gadcore.detectors.nn.training import Schedule
from gadcore.errors import ModelError
from gadcore.graph.labels import Labels
from gadcore.metrics import auc


def test_dsad_keeps_the_best_eta_of_its_grid(planted, planted_labels) -> None:
    graph, y = planted
    rest = np.setdiff1d(np.arange(graph.n_nodes), planted_labels.indices)
    held = Labels.from_indices(graph, normal=rest[y[rest] == 0][:40], anomalous=rest[y[rest] == 1][:10])
    chosen = make_detector("dsad", epochs=60, patience=None).fit(graph, planted_labels, validation=held)
    single = [
        make_detector("dsad", epochs=60, patience=None, eta=eta).fit(graph, planted_labels, validation=held)
        for eta in ETAS
    ]
    figures = [detector.auc_ for detector in single]
    assert chosen.auc_ == pytest.approx(max(figures), abs=1e-6)
    best = single[int(np.argmax(figures))]
    assert np.allclose(chosen.scores_, best.scores_, rtol=1e-3, atol=1e-4)
    assert chosen.auc_ == pytest.approx(auc(held.targets, chosen.scores_[held.indices]))


def test_dsad_selects_on_label_folds_without_validation(planted, planted_labels) -> None:
    graph, _ = planted
    detector = make_detector("dsad", epochs=40).fit(graph, planted_labels)
    assert detector.auc_ is not None
    assert np.isfinite(detector.out_of_fold_[planted_labels.indices]).all()
    assert detector.weights_.count == 1


def test_dsad_refuses_a_negative_eta(planted, planted_labels) -> None:
    graph, _ = planted
    with pytest.raises(ModelError, match="eta=-1"):
        make_detector("dsad", eta=-1.0).fit(graph, planted_labels)


def test_attribute_auto_encoder_learns_to_give_attributes_back(planted) -> None:
    graph, _ = planted
    domain = Domain(graph, torch.device("cpu"))
    encoder = make_encoder("mlp", depth=2, width=16, k=8)
    weights = encoder.initialise(domain, [0])
    task = AttributeTask(encoder, weights, domain.field(np.arange(graph.n_nodes), 0), 0)
    before = float(task.loss().detach())
    history = pretrain(domain, encoder, weights, Schedule(200, 1e-2, patience=None), seed=0)
    assert {step.stage for step in history} == {"pre-training"}
    assert history[-1].loss < 0.5 * before


def test_doc_n_starts_from_the_auto_encoder_and_sees_no_edge(planted, planted_labels) -> None:
    graph, _ = planted
    detector = make_detector("doc-n", epochs=20).fit(graph, planted_labels)
    assert {"pre-training", "training"} <= {step.stage for step in detector.history_}
    alone = replace(graph, adjacency=graph.adjacency * 0)
    alone.adjacency.eliminate_zeros()
    assert np.allclose(make_detector("doc-n", epochs=20).fit(alone, planted_labels).scores_, detector.scores_)
