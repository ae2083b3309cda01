"""Models compared on a project's own labels."""

from __future__ import annotations

import pytest
from sample_workspace import sample_run

from gadcore.insight.comparison import advice, auc_text, estimates, same_labels, wilson


def runs(**aucs: float | None):
    return [sample_run(id=m, model=m, auc=a, normal=40, anomalous=15) for m, a in aucs.items()]


def test_the_best_comes_first_and_runs_without_a_figure_last() -> None:
    found = estimates(runs(bare=None, good=0.95, poor=0.6))
    assert [e.run.model for e in found] == ["good", "poor", "bare"]
    assert (found[2].auc, found[2].low, found[2].high) == (None, None, None)


def test_only_finished_runs_are_judged() -> None:
    assert estimates([sample_run(status="failed"), sample_run(status="running")]) == []


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("trials", [1, 5, 100])
def test_an_interval_holds_its_figure_and_stays_within_bounds(share, trials) -> None:
    low, high = wilson(share, trials)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


def test_a_perfect_figure_from_few_labels_is_not_certain() -> None:
    assert wilson(1.0, 15)[0] == pytest.approx(0.847, abs=0.001)
    assert wilson(1.0, 1500)[0] > 0.99


def test_a_figure_is_told_with_its_interval() -> None:
    assert auc_text(sample_run(auc=1.0, normal=24, anomalous=3)) == "1.000 (0.53 to 1.00)"
    assert auc_text(sample_run(auc=None)) == ""


def test_an_interval_narrows_with_labels() -> None:
    widths = [high - low for low, high in (wilson(0.8, n) for n in (5, 20, 80))]
    assert widths == sorted(widths, reverse=True)


def test_a_clear_lead_is_said() -> None:
    assert advice(estimates(runs(good=0.95, poor=0.55)), "an+") == "good is clearly ahead on your labels."


def test_a_lead_within_the_noise_keeps_the_default() -> None:
    found = estimates([*runs(other=0.96), sample_run(model="an+", auc=0.94, normal=40, anomalous=15)])
    assert "an+ remains the safe choice" in advice(found, "an+")


def test_what_cannot_be_told_from_the_best_is_named() -> None:
    found = estimates(runs(a=0.96, b=0.95, c=0.94, d=0.5))
    assert "b and c are within the noise" in advice(found, "an+")
    assert "b is within the noise" in advice(estimates(runs(a=0.96, b=0.95)), "a")


def test_too_few_labels_claim_nothing() -> None:
    few = [sample_run(auc=1.0, normal=9, anomalous=2)]
    assert "Too few labels" in advice(estimates(few), "an+")
    assert "do not give an estimate" in advice([], "an+")


def test_runs_on_different_labels_are_recognised() -> None:
    assert same_labels(estimates(runs(a=0.9, b=0.8)))
    assert not same_labels(estimates([sample_run(label_hash="x"), sample_run(label_hash="y")]))
