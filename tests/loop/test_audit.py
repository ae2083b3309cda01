"""Audit: honest estimates from random draws, empty while there are too few."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from gadcore.errors import InputError
from gadcore.graph.labels import LabelEvent, Labels, Verdict
from gadcore.loop.audit import (
    ABOVE,
    BELOW,
    LEAST_DRAWS,
    LEAST_RECALL_DRAWS,
    MEASURED,
    Draw,
    audit,
    audit_draws,
    clopper_pearson,
    estimate_left,
    falling,
    precision_of,
)
from gadcore.loop.strategies import STRATEGIES, Pool
from gadcore.loop.strategies.sampling import (
    CHANCES,
    chances,
    sizes_downward,
    strata,
    stratum_of,
    stratum_sizes,
    top_size,
)
from gadcore.studies.audit_sessions import FAST
from gadcore.studies.audit_tables import looks
from gadcore.studies.harness import DOCS, RESULTS, load_rows


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
        low, high = report.left_interval
        covered.append(low <= left <= high)
        errors.append(report.left - left)
    assert np.mean(covered) >= 0.9
    assert abs(np.mean(errors)) < 60  # of 3,000 nodes: unbiased up to the noise of 60 sessions


def test_interval_covers_the_precision_of_the_list():
    rng = np.random.default_rng(0)
    held = []
    for _ in range(200):
        y = rng.random(1000) < np.linspace(0.8, 0.0, 1000)  # best score first
        draws = [Draw(bool(y[rng.integers(50)]), 0, 0, 1000) for _ in range(12)]
        known = [Verdict.ANOMALOUS if y[i] else Verdict.NORMAL for i in range(20)]
        (_, (low, high)), _ = precision_of([*known, *[None] * 20], draws, 1000)
        held.append(low <= y[:40].mean() <= high)
    assert np.mean(held) >= 0.93


def test_recall_and_left_agree():
    report = audit(3000, session(1, rounds=60)[0])
    assert report.left is not None
    assert report.recall == pytest.approx(report.found / (report.found + report.left))
    assert report.recall_interval[0] <= report.recall <= report.recall_interval[1]
    assert "left" in report.hint


def draws_of(tally: dict[int, tuple[int, int]], found: int = 0, still_open: int = 3000) -> list[Draw]:
    """Draws from stratum: (hits, draws)."""
    return [Draw(i < x, h, found, still_open) for h, (x, m) in tally.items() for i in range(m)]


def test_what_is_left_by_hand():
    """Strata of 100, 400 and 2,500 nodes: 40 % of 100 and 1 of 10 in the rest, which is pooled with next."""
    draws = draws_of({0: (2, 5), 1: (0, 6), 2: (1, 10)}, found=20)
    left, (low, high) = estimate_left(draws, found=30, open_now=2950)
    assert left == pytest.approx(20 - 30 + 100 * 2 / 5 + 2900 * 1 / 16)
    assert low == pytest.approx(
        max(0, -10 + 100 * clopper_pearson(2, 5)[0] + 2500 * clopper_pearson(1, 10)[0])
    )
    middle = -10 + 100 * 2 / 5 + 2900 / 16
    above = np.hypot(100 * (clopper_pearson(2, 5)[1] - 0.4), 2900 * (clopper_pearson(1, 16)[1] - 1 / 16))
    assert high == pytest.approx(middle + above)


def test_without_draws_of_next_nothing_is_assumed_of_it():
    _, (_, high) = estimate_left(draws_of({0: (0, 5), 2: (0, 10)}), found=0, open_now=3000)
    _, (_, pooled) = estimate_left(draws_of({0: (0, 5), 1: (0, 4), 2: (0, 10)}), found=0, open_now=3000)
    alone = 2500 * clopper_pearson(0, 10)[1]
    assert high == pytest.approx(np.sqrt((100 * clopper_pearson(0, 5)[1]) ** 2 + 400**2 + alone**2))
    assert pooled < high


@pytest.mark.parametrize(
    ("hits", "counts", "shares"),
    [
        ([2, 1, 0], [4, 4, 4], [0.5, 0.25, 0.0]),
        ([0, 2, 1], [4, 4, 10], [0.25, 0.25, 0.1]),
        ([0, 0, 3], [2, 4, 6], [0.25, 0.25, 0.25]),
        ([0, 0, 0], [0, 0, 0], [0.0, 0.0, 0.0]),
        ([1, 0, 1], [2, 0, 8], [0.5, 0.5, 0.125]),
    ],
)
def test_shares_fall_from_the_top(hits, counts, shares):
    assert falling(hits, counts) == pytest.approx(shares)


def test_verdicts_in_the_list_are_counted_and_the_rest_is_bounded():
    known = [Verdict.ANOMALOUS] * 60 + [Verdict.NORMAL] * 20
    (share, interval), reason = precision_of([*known, *[None] * 20], [], 3000)
    assert reason == ""
    assert interval == pytest.approx((0.6, 0.8))  # no random check: all or none of the open ones
    assert interval[0] <= share <= interval[1]
    misses = draws_of({0: (0, 20)})
    (_, (low, high)), _ = precision_of([*known, *[None] * 20], misses, 3000)
    assert low == pytest.approx(0.6)
    assert high == pytest.approx(0.6 + clopper_pearson(0, 20)[1])  # of the 100 of the top
    settled, _ = precision_of(known, [], 3000)
    assert settled == (0.75, (0.75, 0.75))


def test_an_open_list_without_checks_says_what_is_needed():
    found, reason = precision_of([Verdict.NORMAL, *[None] * 99], draws_of({0: (1, 3)}), 3000)
    assert found is None
    assert "1 of these 100 cases have a verdict, and 3 random checks" in reason
    assert "verdicts on half of the list, or 5 such checks" in reason


def test_active_choices_do_not_count_as_draws():
    top = 0.2 / top_size(3000)
    events = [event(i, i % 2 == 0, top) for i in range(1, 11)]
    report = audit(3000, [*events, *[event(i, True) for i in range(31, 61)]])
    assert report.precision == 0.5
    assert (report.found, report.draws, report.hits) == (35, 10, 5)


def test_too_few_draws_give_nothing_and_say_why():
    report = audit(1000, [event(1, False, 0.001), event(2, True)])
    assert report.left is None
    assert report.precision is None
    assert f"1 of the {LEAST_DRAWS} random checks" in report.reason
    assert f"1 of the {LEAST_RECALL_DRAWS} random checks" in report.recall_reason
    assert not report.stop
    assert audit(10, []).since_hit == 0
    assert audit(10, []).recall_reason == "no anomaly has been found"


def quiet_session(hits: int, checks: int) -> list[LabelEvent]:
    """Hits that were chosen, then random checks of every stratum without one."""
    sizes, chances = [100, 400, 2500], [0.2, 0.3, 0.5]
    found = [event(i, True) for i in range(hits)]
    return found + [event(hits + i, False, chances[i % 3] / sizes[i % 3]) for i in range(checks)]


def test_stop_only_when_most_are_found_for_sure():
    enough = audit(3000, quiet_session(hits=100, checks=200))
    assert enough.since_hit == 200
    assert enough.stop
    assert "you can stop" in enough.hint
    assert enough.recall_interval[0] >= 0.5
    early = audit(3000, quiet_session(hits=10, checks=60))
    assert not early.stop
    assert f"{early.checks_needed:,} more random checks" in early.hint
    assert early.checks_needed > 100


def checks_without_a_hit(first: int, count: int) -> list[LabelEvent]:
    """Random checks of the strata by their chances, as the queue would record them."""
    found = []
    for i in range(count):
        due = [chance * (i + 1) for chance in CHANCES]
        given = [sum(h == stratum for _, h in found) for stratum in range(3)]
        h = int(np.argmax(np.subtract(due, given)))
        n_open = 3000 - first - i
        found.append((event(first + i, False, CHANCES[h] / stratum_sizes(n_open)[h]), h))
    return [each for each, _ in found]


@pytest.mark.parametrize(("hits", "recall"), [(60, 0.5), (40, 0.5), (60, 0.8), (150, 0.9)])
def test_the_checks_asked_for_are_enough_and_no_more_than_needed(hits, recall):
    before = [event(i, True) for i in range(hits)]
    before += [event(hits + i, i == 3, CHANCES[i % 3] / stratum_sizes(2900)[i % 3]) for i in range(60)]
    early = audit(3000, before, least_recall=recall)
    found, needed = early.found, early.checks_needed
    assert needed > 1
    assert f"{needed:,} more random checks" in early.hint
    later = audit(3000, before + checks_without_a_hit(len(before), needed), least_recall=recall)
    assert found / (found + later.left_interval[1]) >= recall
    assert later.stop
    short = audit(3000, before + checks_without_a_hit(len(before), needed - 1), least_recall=recall)
    assert found / (found + short.left_interval[1]) < recall


def test_a_promise_that_nothing_can_keep_is_not_made():
    report = audit(3000, quiet_session(hits=0, checks=60))
    assert report.checks_needed == 0
    assert "more random checks" not in report.hint


@pytest.mark.parametrize("recall", [0, 1, -0.5, 1.5, True, "0.5", float("nan")])
def test_a_recall_that_makes_no_sense_is_refused(recall):
    with pytest.raises(InputError, match="above 0 and below 1"):
        audit(3000, [], least_recall=recall)


def test_more_recall_asks_for_more():
    events = quiet_session(hits=100, checks=200)
    assert audit(3000, events, least_recall=0.5).stop
    strict = audit(3000, events, least_recall=0.9)
    assert not strict.stop
    assert "90% of all" in strict.hint


def test_the_measured_coverage_is_what_is_said_of_it():
    """Sessions of the study, by the present estimators."""
    rows = load_rows(RESULTS / "audit.jsonl")
    words = r"in (\d+) simulated sessions on (\w+) graphs, with a fast linear model, more than (\d+) %"
    said = re.search(words, MEASURED)
    assert (int(said[1]), said[2]) == (len(rows), "three")
    assert len({row["graph"] for row in rows}) == 3
    assert {row["method"] for row in rows} == {FAST}
    sample = rows[::20]  # every twentieth: all of them take half a minute
    shown = [look for row in sample for look in looks(row)[0] if look.interval is not None]
    assert np.mean([look.covers for look in shown]) > int(said[3]) / 100
    line = r"^\| sgc-lr/64 \| [\w ,]+ \| \d+ \| [^|]+ \| (\d+) of \d+ \| (\d+) \|"
    table = re.findall(line, (DOCS / "audit.md").read_text(encoding="utf-8"), re.M)
    shown_in_all, held = np.sum([[int(a), int(b)] for a, b in table], axis=0)
    assert held / shown_in_all > int(said[3]) / 100


def test_unsure_draws_widen_the_interval_and_leave_the_estimate_alone():
    decided = [event(i, i % 20 == 0, 0.5 / 750) for i in range(60)]
    unsure = [event(100 + i, None, 0.5 / 750) for i in range(10)]
    plain, wide = audit(1000, decided), audit(1000, decided + unsure)
    assert (wide.draws, wide.hits) == (plain.draws, plain.hits) == (60, 3)
    assert wide.left_interval[0] < plain.left_interval[0] + 1
    assert wide.left_interval[1] > 1.3 * plain.left_interval[1]


def test_a_draw_is_weighed_by_the_moment_it_was_drawn():
    """Fifty hits between draw and verdict are found, and were in the stratum that the draw stood for."""
    hits = [event(i, True) for i in range(1, 51)]
    late = [replace(event(60 + i, False, 0.5 / 750), drawn_after=0) for i in range(3)]
    draws = audit_draws(1000, [*hits, *late])
    assert [(draw.found_before, draw.open_before) for draw in draws] == [(0, 1000)] * 3
    unknown = audit_draws(1000, [*hits, *(replace(one, drawn_after=None) for one in late)])
    assert [(draw.found_before, draw.open_before) for draw in unknown] == [(50, 950), (50, 949), (50, 948)]


@pytest.mark.parametrize("found", [0, 4])
def test_when_every_node_has_a_verdict_there_is_nothing_left(found):
    report = audit(30, [event(i, i < found) for i in range(30)])
    assert (report.left, report.left_interval, report.stop) == (0, (0, 0), True)
    assert "Every node" in report.hint


def test_without_a_find_the_hint_says_how_many_there_can_be():
    report = audit(1000, [event(i, False, 0.5 / 750) for i in range(60)])
    assert not report.stop
    assert "at most" in report.hint


def test_sizes_of_strata_downward_are_those_one_by_one():
    assert sizes_downward(2500).tolist() == [list(stratum_sizes(n)) for n in range(2500, 0, -1)]


@pytest.mark.parametrize("n", [3, 9, 14, 25, 43, 100, 999, 5000])
def test_the_stratum_of_a_draw_is_known_from_its_probability(n):
    assert [stratum_of(p, n) for p in chances(n) if p] == [h for h, p in enumerate(chances(n)) if p]


def test_probability_of_a_draw_tells_its_stratum():
    for n in (60, 500, 3000, 50_000):
        ranked = np.arange(n)
        for h, (layer, chance) in enumerate(zip(strata(ranked), (0.2, 0.3, 0.5))):
            assert stratum_of(chance / len(layer), n) == h


@pytest.mark.parametrize(("hits", "draws"), [(0, 10), (10, 10), (3, 12)])
def test_clopper_pearson_is_exact(hits, draws):
    from scipy.stats import binom

    low, high = clopper_pearson(hits, draws)
    assert low == 0 or binom.sf(hits - 1, draws, low) == pytest.approx(BELOW)
    assert high == 1 or binom.cdf(hits, draws, high) == pytest.approx(ABOVE)
    assert (low == 0, high == 1) == (hits == 0, hits == draws)


def test_answers_of_unsure_give_no_precision_and_are_told_apart():
    """Forty random checks of the top, none decided."""
    events = [event(i, None, chances(2000 - i)[0]) for i in range(40)]
    report = audit(2000, events, [None] * 100)
    assert (report.precision, report.draws) == (None, 0)
    assert "0 random checks of the top were decided" in report.precision_reason
    assert "have a verdict (40 answered unsure). The queue mixes them in" in report.reason
    decided = [event(i, False, chances(2000 - i)[0]) for i in range(5)]
    assert audit(2000, decided, [None] * 100).precision is not None
    assert "switched off in the queue (Tune)" in audit(2000, events, [None] * 100, mixed_in=False).hint
