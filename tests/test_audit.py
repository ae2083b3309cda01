"""Audit: honest estimates from random draws, empty while there are too few."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from gadcore.audit import audit, audit_draws, clopper_pearson
from gadcore.labels import LabelEvent, Labels, Verdict
from gadcore.queries import STRATEGIES, Pool
from gadcore.queries.sampling import strata, stratum_of, top_size


def event(number: int, anomalous: bool | None, probability: float | None = None) -> LabelEvent:
    verdict = Verdict.UNSURE if anomalous is None else Verdict.ANOMALOUS if anomalous else Verdict.NORMAL
    at = datetime(2025, 1, 1, tzinfo=UTC)
    return LabelEvent(
        number, "label", str(number), f"n{number}", verdict, "ana", at, inclusion_probability=probability
    )


def session(seed: int, n: int = 3000, anomalies: int = 150, rounds: int = 40) -> tuple[list[LabelEvent], int]:
    """A session of 5 cases from the top and one audit draw per round; also the anomalies left at its end."""
    rng = np.random.default_rng(seed)
    y = np.zeros(n, dtype=bool)
    y[rng.choice(n, anomalies, replace=False)] = True
    scores = y * 1.5 + rng.normal(0, 1, n)
    seen: list[int] = []
    events: list[LabelEvent] = []
    for _ in range(rounds):
        pool = Pool(
            scores=scores, labels=Labels(np.array(sorted(seen), dtype=np.int64), np.zeros(0, np.int64))
        )
        draw = STRATEGIES["audit"].select(pool, 1, rng)[0]
        active = [int(v) for v in pool.open[:6] if v != draw.node][:5]
        for node, probability in [*((v, None) for v in active), (draw.node, draw.inclusion_probability)]:
            events.append(event(len(events) + 1, bool(y[node]), probability))
            seen.append(node)
    return events, int(y.sum() - y[seen].sum())


def test_interval_covers_what_is_left():
    covered, errors = [], []
    for seed in range(60):
        events, left = session(seed)
        report = audit(3000, events)
        if report.left_interval is None:
            continue
        low, high = report.left_interval
        covered.append(low <= left <= high)
        errors.append(report.left - left)
    assert len(covered) > 40
    assert np.mean(covered) >= 0.9
    assert abs(np.mean(errors)) < 60  # of 3,000 nodes: unbiased up to the noise of 60 sessions


def test_recall_and_left_agree():
    report = audit(3000, session(1, rounds=60)[0])
    assert report.left is not None
    assert report.recall == pytest.approx(report.found / (report.found + report.left))
    assert report.recall_interval[0] <= report.recall <= report.recall_interval[1]
    assert "left" in report.hint


def test_precision_of_the_top_comes_from_draws_of_the_top_only():
    top = 0.2 / top_size(3000)
    rest = 0.5 / (3000 - 5 * top_size(3000))
    events = [event(i, i % 2 == 0, top) for i in range(1, 11)] + [
        event(i, False, rest) for i in range(11, 31)
    ]
    events += [event(i, True) for i in range(31, 61)]  # chosen actively: must not count
    report = audit(3000, events)
    assert report.precision == 0.5
    assert report.precision_interval == pytest.approx(clopper_pearson(5, 10))
    assert report.found == 35
    assert report.draws == 30


def test_too_few_draws_give_nothing_and_say_why():
    report = audit(1000, [event(1, False, 0.001), event(2, True)])
    assert report.left is None
    assert report.precision is None
    assert "1 of at least" in report.reason
    assert not report.stop
    assert audit(10, []).since_hit == 0


def test_draws_of_one_stratum_only_are_not_enough():
    top = 0.2 / top_size(3000)
    report = audit(3000, [event(i, True, top) for i in range(1, 31)])
    assert report.left is None
    assert "audit verdicts from" in report.reason
    assert report.precision == 1.0


def test_labels_since_the_last_hit_and_stop_hint():
    sizes = [100, 400, 2500]
    chances = [0.2, 0.3, 0.5]
    events = [event(1, True)]
    for i in range(2, 200):
        h = i % 3
        events.append(event(i, False, chances[h] / sizes[h]))
    report = audit(3000, events)
    assert report.since_hit == 198
    assert report.stop
    assert "you can stop" in report.hint


def test_unsure_verdicts_are_no_draws():
    assert audit_draws(1000, [event(1, None, 0.001), event(2, False, 0.001)])[0].open_before == 999


def test_probability_of_a_draw_tells_its_stratum():
    for n in (60, 500, 3000, 50_000):
        ranked = np.arange(n)
        for h, (layer, chance) in enumerate(zip(strata(ranked), (0.2, 0.3, 0.5))):
            assert stratum_of(chance / len(layer), n) == h


@pytest.mark.parametrize(("hits", "draws"), [(0, 10), (10, 10), (3, 12)])
def test_clopper_pearson_is_exact(hits, draws):
    from scipy.stats import binomtest

    expected = binomtest(hits, draws).proportion_ci(method="exact")
    assert clopper_pearson(hits, draws) == pytest.approx((expected.low, expected.high))
