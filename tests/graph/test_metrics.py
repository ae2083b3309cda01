"""Ranking metrics against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from gadcore.metrics import auc, auc_error, average_precision, midranks, percentile_ranks, precision_at

CASES = st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=40)


@settings(deadline=None)  # a busy machine is no mistake
@given(CASES, st.randoms(use_true_random=False))
def test_weighted_auc_equals_scikit_learn_with_ties(rows: list[tuple[bool, int]], draw) -> None:
    y = np.array([r[0] for r in rows])
    s = np.array([r[1] for r in rows], dtype=float)
    weight = np.array([draw.uniform(0.1, 3.0) for _ in rows])
    if y.any() and not y.all():
        assert auc(y, s, weight) == pytest.approx(roc_auc_score(y, s, sample_weight=weight))


@settings(deadline=None)  # a busy machine is no mistake
@given(CASES)
def test_auc_and_average_precision_equal_scikit_learn_with_ties(rows: list[tuple[bool, int]]) -> None:
    y = np.array([r[0] for r in rows])
    s = np.array([r[1] for r in rows], dtype=float)
    if y.any() and not y.all():
        assert auc(y, s) == pytest.approx(roc_auc_score(y, s))
    if y.any():
        assert average_precision(y, s) == pytest.approx(average_precision_score(y, s))


def test_without_a_class_there_is_no_figure() -> None:
    assert np.isnan(auc([0, 0], np.array([1.0, 2.0])))
    assert np.isnan(average_precision([0, 0], np.array([1.0, 2.0])))


def test_ranks_share_ties_and_percentiles_stay_inside() -> None:
    np.testing.assert_array_equal(midranks(np.array([3.0, 1.0, 3.0])), [2.5, 1, 2.5])
    np.testing.assert_allclose(percentile_ranks(np.array([3.0, 1.0, 2.0, 0.0])), [0.875, 0.375, 0.625, 0.125])


def test_precision_at_k_counts_the_top() -> None:
    assert precision_at([1, 0, 1, 0], np.array([4.0, 3, 2, 1]), 3) == pytest.approx(2 / 3)


def test_auc_error_shrinks_with_labels_and_is_that_of_many_draws():
    assert auc_error(0.8, 5, 20) > auc_error(0.8, 20, 80) > auc_error(0.8, 200, 800) > 0
    rng = np.random.default_rng(0)
    y = np.r_[np.ones(20), np.zeros(80)]
    drawn = [auc(y, y + rng.normal(0, 0.84, 100)) for _ in range(500)]  # a true AUC of about 0.8
    assert auc_error(0.8, 20, 80) == pytest.approx(np.std(drawn), rel=0.15)
