from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.loop.calibrate import MOST, _weights, band, calibration_error, probabilities
from gadcore.loop.strategies import STRATEGIES, Pool


@pytest.fixture(scope="module")
def population():
    """4,000 scores in [0, 1] whose chance to be anomalous rises with the percentile; 5 % are."""
    rng = np.random.default_rng(0)
    scores = rng.random(4000)
    chance = 1 / (1 + np.exp(-(2.0 * np.log(scores / (1 - scores)) - 6.0)))
    truth = (rng.random(4000) < chance).astype(np.int8)
    graph = make_graph(map(str, range(4000)), np.zeros((2, 0), dtype=np.int64), np.ones((4000, 1)))
    return graph, scores.astype(np.float32), truth, chance


def _labels(graph, truth, nodes, inclusion=None):
    base = Labels.from_indices(graph, normal=nodes[truth[nodes] == 0], anomalous=nodes[truth[nodes] == 1])
    return Labels(base.normal, base.anomalous, inclusion=inclusion or {})


def _held(scores, labels):
    held = np.full(len(scores), np.nan, dtype=np.float32)
    held[labels.indices] = scores[labels.indices]
    return held


def test_random_labels_recover_the_true_chances(population):
    graph, scores, truth, chance = population
    nodes = np.random.default_rng(1).choice(4000, 1200, replace=False)
    labels = _labels(graph, truth, nodes)
    found, note = probabilities(scores, _held(scores, labels), labels)
    assert np.abs(found - chance).mean() < 0.03
    assert calibration_error(truth, found) < 0.03
    assert "each judged by a model that had not seen it" in note


def test_probabilities_follow_the_order_of_the_scores(population):
    graph, scores, truth, _ = population
    labels = _labels(graph, truth, np.random.default_rng(2).choice(4000, 400, replace=False))
    found, _ = probabilities(scores, _held(scores, labels), labels)
    order = np.argsort(scores)
    assert (np.diff(found[order]) >= -1e-7).all()
    assert (found > 0).all()
    assert (found < 1).all()


def _session(graph, scores, truth, seed, draws, top=180):
    """Verdicts on the top of the ranking and on audit draws with the probabilities that the queue records."""
    queries = STRATEGIES["audit"].select(Pool(scores=scores), draws, np.random.default_rng(seed))
    inclusion = {query.node: query.inclusion_probability for query in queries}
    nodes = np.union1d(np.argsort(-scores)[:top], list(inclusion))
    return _labels(graph, truth, nodes, inclusion)


def _stratum(scores, node):
    return int(np.searchsorted([100, 500], np.sum(scores > scores[node]), side="right"))


def test_a_draw_stands_for_the_open_nodes_of_its_stratum(population):
    graph, scores, truth, _ = population
    labels = _session(graph, scores, truth, 3, draws=200)
    weights = dict(zip(labels.indices.tolist(), _weights(labels, labels.indices, 4000)))
    chosen = next(weights[node] for node in weights if node not in labels.inclusion)
    by_stratum = [[v for v in labels.inclusion if _stratum(scores, v) == h] for h in range(3)]
    m = [len(part) for part in by_stratum]
    assert max(labels.inclusion.values()) <= 0.002  # one draw, not the whole sample
    for h, stands_for in enumerate((1 + 100 / m[0], MOST, MOST)):
        assert {round(weights[v] / chosen, 6) for v in by_stratum[h]} == {round(stands_for, 6)}
    assert 1 + 100 / m[0] < MOST
    assert np.mean(list(weights.values())) == pytest.approx(1)


def test_where_everything_is_labelled_a_draw_stands_for_itself(population):
    graph, _, truth, _ = population
    labels = _labels(graph, truth, np.arange(4000), {7: 0.2 / 100, 9: 0.5 / 3500})
    assert _weights(labels, labels.indices, 4000) == pytest.approx(np.ones(4000))


def test_weighted_probabilities_add_up_to_weighted_anomalies(population):
    """The likelihood equation of the intercept."""
    graph, scores, truth, _ = population
    truth = truth.copy()
    drawn = list(_session(graph, scores, truth, 3, draws=160).inclusion)
    truth[[v for v in drawn if _stratum(scores, v) == 2][:12]] = 1  # more than the top would say of the rest
    labels = _session(graph, scores, truth, 3, draws=160)
    found, note = probabilities(scores, _held(scores, labels), labels)
    counts = np.array([MOST if v in labels.inclusion else 1.0 for v in labels.indices.tolist()])
    in_top = [v in labels.inclusion and _stratum(scores, v) == 0 for v in labels.indices.tolist()]
    counts[in_top] = 1 + 100 / sum(in_top)
    assert counts @ found[labels.indices] == pytest.approx(counts @ labels.targets, rel=0.05)
    assert "160 of them drawn at random" in note
    open_node = next(v for v in range(len(truth)) if v not in set(labels.indices.tolist()))
    unsure = replace(
        labels, unsure=np.array([open_node]), inclusion={**labels.inclusion, open_node: 0.5 / 3500}
    )
    assert "160 of them drawn at random" in probabilities(scores, _held(scores, labels), unsure)[1]


def test_few_labels_give_none_and_say_how_many(population):
    graph, scores, truth, _ = population
    nodes = np.concatenate([np.flatnonzero(truth == 1)[:3], np.flatnonzero(truth == 0)[:50]])
    labels = _labels(graph, truth, nodes)
    found, reason = probabilities(scores, _held(scores, labels), labels)
    assert found is None
    assert "needs 2 more anomalous verdicts" in reason
    assert "3 anomalous and 50 normal" in reason


def test_without_out_of_fold_scores_there_are_none(population):
    graph, scores, truth, _ = population
    found, reason = probabilities(scores, None, _labels(graph, truth, np.arange(200)))
    assert found is None
    assert "does not tell how it ranks" in reason
    found, reason = probabilities(scores, None, Labels.none())
    assert found is None
    assert "needs 5 more anomalous and 5 more normal verdicts" in reason


def test_scores_that_rank_backwards_give_none(population):
    graph, scores, truth, _ = population
    labels = _labels(graph, truth, np.random.default_rng(4).choice(4000, 1000, replace=False))
    found, reason = probabilities(-scores, _held(-scores, labels), labels)
    assert found is None
    assert "does not put anomalous verdicts above normal ones" in reason


def test_separated_classes_stay_finite(population):
    graph, scores, _, _ = population
    truth = (scores > 0.99).astype(np.int8)
    nodes = np.concatenate([np.argsort(-scores)[:20], np.argsort(scores)[:100]])
    labels = _labels(graph, truth, nodes)
    found, _ = probabilities(scores, _held(scores, labels), labels)
    assert np.isfinite(found).all()
    assert found[np.argmax(scores)] > 0.5 > found[np.argmin(scores)]


def test_few_anomalous_labels_promise_no_certainty(population):
    graph, scores, _, _ = population
    truth = (scores > 0.95).astype(np.int8)
    for count in (6, 60):
        nodes = np.concatenate([np.flatnonzero(truth == 1)[:count], np.flatnonzero(truth == 0)[:100]])
        labels = _labels(graph, truth, nodes)
        found, _ = probabilities(scores, _held(scores, labels), labels)
        assert found.max() == pytest.approx((count + 1) / (count + 2))


def test_a_ring_vouches_by_its_weight(population):
    graph, scores, _, _ = population
    truth = (scores > 0.95).astype(np.int8)
    ring = np.flatnonzero(truth == 1)[:30]
    plain = _labels(graph, truth, np.concatenate([ring, np.flatnonzero(truth == 0)[:100]]))
    labels = Labels(plain.normal, plain.anomalous, weight={int(node): 1 / 6 for node in ring})
    found, basis = probabilities(scores, _held(scores, labels), labels)
    assert found.max() <= 6 / 7 + 1e-6
    assert "From 30 anomalous (some given with a group: they count as 5) and 100 normal" in basis


def test_one_look_at_a_ring_is_not_enough_for_a_probability(population):
    graph, scores, _, _ = population
    truth = (scores > 0.95).astype(np.int8)
    ring = np.flatnonzero(truth == 1)[:6]
    plain = _labels(graph, truth, np.concatenate([ring, np.flatnonzero(truth == 0)[:100]]))
    labels = Labels(plain.normal, plain.anomalous, weight={int(node): 1 / 6 for node in ring})
    found, reason = probabilities(scores, _held(scores, labels), labels)
    assert found is None
    assert "needs 4 more anomalous verdicts" in reason
    assert "6 anomalous (some given with a group: they count as 1) and 100 normal" in reason


def test_any_scale_of_scores_gives_the_same_probabilities(population):
    graph, scores, truth, _ = population
    labels = _labels(graph, truth, np.random.default_rng(5).choice(4000, 600, replace=False))
    first, _ = probabilities(scores, _held(scores, labels), labels)
    other = (np.exp(3 * scores.astype(np.float64)) * 100).astype(np.float32)
    second, _ = probabilities(other, _held(other, labels), labels)
    assert np.allclose(first, second, atol=1e-3)


def test_bands_cover_everything():
    assert [band(p) for p in (0.0, 0.1, 0.3, 0.6, 1.0)] == [
        "under 5 %",
        "5–20 %",
        "20–50 %",
        "50–80 %",
        "over 80 %",
    ]


def test_calibration_error_by_bins_of_equal_size():
    truth = np.array([0, 0, 0, 1])
    assert calibration_error(truth, np.array([0.1, 0.1, 0.5, 0.7]), bins=2) == pytest.approx((0.2 + 0.2) / 4)


def test_calibration_error_of_a_perfect_and_a_useless_forecast():
    truth = np.array([0, 0, 1, 1])
    assert calibration_error(truth, np.array([0.0, 0.0, 1.0, 1.0])) == 0.0
    assert calibration_error(truth, np.array([1.0, 1.0, 0.0, 0.0])) == 1.0
