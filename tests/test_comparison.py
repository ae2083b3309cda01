"""Models compared on a project's own labels."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sample_workspace import sample_run

from gadcore.comparison import advice, estimates
from gadcore.labels import Labels
from gadcore.metrics import auc


class Judged:
    """A workspace with three runs: a good one, a random one, and one without held-out scores."""

    def __init__(self, graph, y, labels: Labels) -> None:
        rng = np.random.default_rng(1)
        good, noise = y + rng.normal(0, 0.4, len(y)), rng.random(len(y))
        good[labels.normal[0]] = np.nan  # one label was never held out: nobody is judged on it
        held = {"good": good, "noise": noise, "bare": None}
        self._runs = {
            name: SimpleNamespace(info=sample_run(id=name, model=name, auc=0.7), out_of_fold=scores)
            for name, scores in held.items()
        }
        self.graph, self._labels = graph, labels

    def result(self, run_id):
        return self._runs.get(run_id)

    def labels(self) -> Labels:
        return self._labels


@pytest.fixture
def judged(planted, planted_labels) -> Judged:
    graph, y = planted
    return Judged(graph, y, planted_labels)


def test_the_better_model_comes_first_with_an_interval_around_its_auc(judged) -> None:
    first, second = estimates(judged, ["noise", "good"])
    assert (first.run.model, second.run.model) == ("good", "noise")
    assert first.low <= first.auc <= first.high
    assert first.chance > 0.9
    assert first.chance + second.chance == pytest.approx(1)


def test_all_are_judged_on_the_same_labels(judged) -> None:
    found = estimates(judged, ["good", "noise"])
    assert {(e.normal, e.anomalous) for e in found} == {(29, 8)}
    labels = judged.labels()
    nodes, y = labels.indices[1:], labels.targets[1:]
    noise = next(e for e in found if e.run.model == "noise")
    assert noise.auc == pytest.approx(auc(y, judged.result("noise").out_of_fold[nodes]))


def test_a_run_without_held_out_scores_keeps_its_own_figure(judged) -> None:
    bare = next(e for e in estimates(judged, ["bare", "good"]) if e.run.model == "bare")
    assert (bare.auc, bare.low, bare.chance) == (0.7, None, None)


def test_runs_that_are_gone_are_left_out(judged) -> None:
    assert [e.run.model for e in estimates(judged, ["good", "deleted"])] == ["good"]
    assert estimates(judged, []) == []


def test_the_same_labels_give_the_same_figures(judged) -> None:
    assert estimates(judged, ["good", "noise"]) == estimates(judged, ["good", "noise"])


def test_advice_follows_the_evidence(judged, planted) -> None:
    found = estimates(judged, ["good", "noise"])
    assert "good is clearly ahead" in advice(found, "noise")
    assert "no estimate" in advice([], "an+") or "do not give an estimate" in advice([], "an+")
    few = Judged(planted[0], planted[1], Labels.from_indices(planted[0], normal=[0, 1], anomalous=[2]))
    few._labels = Labels.from_indices(planted[0], normal=[1], anomalous=[2])
    assert "Too few labels" in advice(estimates(few, ["noise"]), "an+")


def test_a_lead_within_the_noise_keeps_the_default(judged) -> None:
    from dataclasses import replace

    found = estimates(judged, ["good", "noise"])
    close = [replace(found[0], chance=0.6), replace(found[1], run=sample_run(model="an+"), chance=0.4)]
    assert "an+ remains the safe choice" in advice(close, "an+")
