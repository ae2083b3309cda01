"""How members of an+ are weighted: percentiles, priors, softness, greedy selection, unseen ranks."""

from __future__ import annotations

import numpy as np

from gadcore.detectors.accounts import LEVELS, Share
from gadcore.detectors.base import BOTH
from gadcore.detectors.heads import Head
from gadcore.detectors.plus.combine import (
    greedy_selection,
    member_weights,
    percentile_among,
    percentile_between,
    unseen_ranks,
)
from gadcore.detectors.plus.members.diffused import EVENLY, Diffused
from gadcore.metrics import auc, percentile_ranks


def test_percentile_among_counts_ties_half():
    assert percentile_among(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 2.0, 5.0])).tolist() == [0, 0.5, 1]


def test_percentiles_of_a_large_graph_rest_on_a_part_of_the_scores():
    scores = np.random.default_rng(0).normal(size=3 * LEVELS).astype(np.float32)
    share = Share(None, 1.0, scores, ranked=True)
    assert len(share.levels[0]) == LEVELS
    assert np.abs(share.percentile(scores) - percentile_ranks(scores)).max() < 1e-4


def test_percentile_between_agrees_with_the_ranks_and_forgives_rounding():
    scores = np.array([3.0, 1.0, 2.0, 2.0, 9.0])
    assert np.allclose(percentile_between(scores, scores), percentile_ranks(scores))
    assert np.allclose(percentile_between(scores, scores + 1e-9), percentile_ranks(scores), atol=1e-8)
    assert percentile_between(scores, np.array([-5.0, 50.0])).tolist() == [0.1, 0.9]


def test_weights_stay_near_the_prior_with_few_labels_and_leave_it_with_many():
    rng = np.random.default_rng(0)

    def weight_of_the_worse(n):
        y = np.r_[np.ones(n), np.zeros(4 * n)]
        members = ([y + rng.normal(0, sd, 5 * n) for sd in (0.7, 1.5)] for _ in range(20))
        return np.mean([member_weights(each, [1.0, 1.0], y)[0][1] for each in members])

    assert weight_of_the_worse(3) > weight_of_the_worse(300) + 0.05


def test_a_ring_of_light_labels_does_not_decide_which_member_counts():
    rng = np.random.default_rng(3)
    y = np.r_[np.ones(40), np.zeros(100)]
    ring = np.arange(140) < 30  # thirty of the anomalous nodes came with one verdict
    knows_ring = np.where(ring, 1.0, 0.0) + rng.normal(0, 0.3, 140)
    knows_rest = np.where(y == 1, np.where(ring, 0.2, 1.0), 0.0) + rng.normal(0, 0.3, 140)
    light = np.where(ring, 1 / 30, 1.0)
    full, _ = member_weights([knows_ring, knows_rest], [1.0, 1.0], y)
    fair, quality = member_weights([knows_ring, knows_rest], [1.0, 1.0], y, light)
    assert full[0] > 0.5 > fair[0]
    assert quality[1] > quality[0]


def test_diffused_members_wait_for_labels_unless_validation_judges_them():
    one = np.zeros(1, dtype=np.float32)
    wide = Diffused(
        name="diffused evenly", scores=one, head=Head(EVENLY, True, one, 0.0, 1.0), usual=one, rare=one
    )
    few, many = (wide.prior(labels, BOTH) for labels in (20, 500))
    assert few < 0.5 < 1.5 < many < wide.prior(20, BOTH, validated=True)


def test_without_a_judge_the_prior_decides():
    weights, quality = member_weights([None, None], [1.0, 3.0], np.zeros(0))
    assert weights.tolist() == [0.25, 0.75]
    assert np.isnan(quality).all()


def test_greedy_selection_prefers_members_that_complement():
    rng = np.random.default_rng(1)
    y = np.r_[np.ones(60), np.zeros(240)]
    first, second = (y + rng.normal(0, 1, 300) for _ in range(2))
    noise = rng.normal(0, 1, 300)
    shares = greedy_selection(np.stack([first, second, noise]), y)
    assert shares[0] > 0.2
    assert shares[1] > 0.2
    assert shares[2] < 0.2


def test_unseen_ranks_do_not_learn_from_the_label_they_rank():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 40)
    fold = np.arange(40) % 5
    noise = [rng.random(40) for _ in range(30)]  # members that know nothing
    weights, _ = member_weights(noise, [1.0] * 30, y, validated=False)
    flattered = auc(y, weights @ np.stack(noise))
    fair = auc(y, unseen_ranks(noise, [1.0] * 30, y, fold))
    assert flattered > 0.7 > fair


def test_unseen_ranks_keep_what_members_know():
    rng = np.random.default_rng(3)
    y = (np.arange(60) < 20).astype(int)
    members = [y + rng.normal(0, 0.5, 60), rng.normal(0, 1, 60)]
    assert auc(y, unseen_ranks(members, [1.0, 1.0], y, np.arange(60) % 5)) > 0.85


def test_out_of_fold_weights_ask_no_more_of_verdicts_than_their_auc():
    rng = np.random.default_rng(1)
    y = np.r_[np.ones(60), np.zeros(240)]
    alike = [y + rng.normal(0, 1, 300) for _ in range(6)]
    spread = {
        validated: float(np.std(member_weights(alike, [1.0] * 6, y, validated=validated)[0]))
        for validated in (True, False)
    }
    assert spread[False] < 0.7 * spread[True]
