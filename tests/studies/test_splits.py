from __future__ import annotations

import numpy as np
import pytest

from gadcore.errors import LabelError
from gadcore.graph import Truth
from gadcore.studies.splits import few_label_split, random_split


@pytest.fixture(scope="module")
def truth(planted):
    y = planted[1].copy()
    y[-10:] = -1
    return Truth(y)


@pytest.mark.parametrize("stratified", [False, True])
def test_parts_are_disjoint_and_cover_the_known_nodes(planted, truth, stratified):
    split = random_split(planted[0], truth, 0.05, seed=3, stratified=stratified)
    parts = [split.train.indices, split.validation.indices, split.test]
    joined = np.concatenate(parts)
    assert len(np.unique(joined)) == len(joined)
    assert set(joined) == set(np.flatnonzero(truth.known))


@pytest.mark.parametrize("seed", range(8))
def test_both_classes_are_in_training_and_validation(planted, truth, seed):
    split = random_split(planted[0], truth, 0.02, seed=seed)
    for part in (split.train, split.validation):
        assert len(part.normal)
        assert len(part.anomalous)


def test_sizes_follow_the_rates(planted, truth):
    split = random_split(planted[0], truth, 0.1, seed=0)
    assert len(split.train) == 29
    assert len(split.validation) == 29


def test_labels_agree_with_the_truth(planted, truth):
    split = random_split(planted[0], truth, 0.1, seed=1)
    assert (truth.y[split.train.anomalous] == 1).all()
    assert (truth.y[split.train.normal] == 0).all()


def test_same_seed_same_split_and_other_seed_another(planted, truth):
    first, again, other = (random_split(planted[0], truth, 0.1, seed=s) for s in (5, 5, 6))
    assert np.array_equal(first.train.indices, again.train.indices)
    assert not np.array_equal(first.train.indices, other.train.indices)


def test_stratified_keeps_the_share_of_anomalies(planted, truth):
    for seed in range(5):
        split = random_split(planted[0], truth, 0.2, seed=seed, stratified=True)
        assert len(split.train.anomalous) == round(0.2 * (truth.y == 1).sum())


def test_few_labels_have_the_numbers_asked_for(planted, truth):
    split = few_label_split(planted[0], truth, seed=0, anomalous=10, normal=40)
    assert (len(split.train.anomalous), len(split.train.normal)) == (10, 40)
    assert split.validation is None
    assert not set(split.test) & set(split.train.indices)
    assert (truth.y[split.test] >= 0).all()


def test_few_labels_can_hold_validation_back(planted, truth):
    split = few_label_split(planted[0], truth, seed=0, anomalous=10, normal=40, validation=0.2)
    assert split.validation is not None
    assert not set(split.test) & set(split.validation.indices)


def test_more_labels_than_nodes_is_a_clear_error(planted, truth):
    with pytest.raises(LabelError, match="500 anomalous labels asked for"):
        few_label_split(planted[0], truth, seed=0, anomalous=500)


def test_a_rate_without_test_nodes_is_a_clear_error(planted, truth):
    with pytest.raises(LabelError, match="left to test on"):
        random_split(planted[0], truth, 0.95, seed=0)


def test_a_truth_of_one_class_is_a_clear_error(planted):
    with pytest.raises(LabelError, match="fewer than two nodes"):
        random_split(planted[0], Truth(np.zeros(300, dtype=np.int8)), 0.1, seed=0)
