"""Views of a graph: what is loud is what was planted, and chance is not."""

from __future__ import annotations

import numpy as np
import pytest
from linked_graph import MEANING, START, linked

from gadcore.derive.views import (
    DENSE,
    NAMES,
    STAR,
    Views,
    by_chance,
    leaning,
    matched,
    one_off,
    rarity,
    support,
    views_of,
)
from gadcore.graph import make_graph

DAY = 86_400.0


def random_graph(n: int = 1000, edges: int = 4000, seed: int = 0, more=()):
    ends = np.random.default_rng(seed).integers(0, n, (2, edges))
    ends = np.hstack([ends[:, ends[0] != ends[1]], np.array(more, dtype=np.int64).reshape(-1, 2).T])
    return make_graph(range(n), ends, np.ones((n, 1)))


def test_a_near_clique_in_a_random_graph_is_loud_and_nothing_else() -> None:
    inside = np.arange(30)
    pairs = [(a, b) for a in inside for b in inside if a < b and (a + b) % 6]
    views = views_of(random_graph(more=pairs))
    loud = np.flatnonzero(views.loud[NAMES.index(DENSE)])
    assert set(loud) <= set(inside)
    assert len(loud) >= 25
    assert views.at(0)[0] == DENSE


def test_a_star_is_loud_at_its_centre() -> None:
    views = views_of(random_graph(1200, more=[(0, leaf) for leaf in range(1000, 1200)]))
    assert STAR in views.at(0)
    assert views.candidates(STAR)[0] == 0


def test_chance_alone_is_hardly_ever_loud() -> None:
    rng = np.random.default_rng(1)
    counts = [int((rarity(rng.exponential(size=5000)) > np.log(5000)).sum()) for _ in range(20)]
    assert np.mean(counts) == pytest.approx(1, abs=0.8)
    assert not (rarity(np.abs(rng.normal(size=5000))) > np.log(5000)).any()


def test_few_values_and_none_say_nothing() -> None:
    assert not rarity(np.zeros(100)).any()
    assert not (rarity(np.r_[np.zeros(90), np.full(10, 0.2)]) > np.log(100)).any()
    assert not views_of(make_graph("ab", np.zeros((2, 0)), np.ones((2, 1)))).loud.any()


def test_common_neighbours_and_leaning_are_as_counted_by_hand() -> None:
    graph = make_graph(range(5), np.array([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4)]).T, np.ones((5, 1)))
    simple = graph.adjacency
    np.testing.assert_allclose(support(simple), [1, 1, 2 / 3, 0, 0])
    np.testing.assert_allclose(leaning(simple), [1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1.5, 1 / 3 + 1, 1 / 2])


def test_a_burst_is_one_day_unlike_all_others() -> None:
    once = [START] * 10 + [START + 30 * DAY]
    monthly = [START + month * 30 * DAY for month in range(3) for _ in range(10)]
    source = [0] * len(once) + [1] * len(monthly)
    graph = linked(4, source, [2, 3] * 20 + [2], time=np.array([*once, *monthly]))
    found = one_off(graph.links)
    assert found[0] == pytest.approx(9**2 / 11)
    assert found[1] == 0


def test_amounts_passed_on_within_a_day_are_counted() -> None:
    time = np.array([0.0, 0.5, 2.0, 4.0, 6.0, 6.2]) * DAY + START
    amount = np.array([100.0, 98.0, 100.0, 99.0, 50.0, 50.0])
    # 0 → 1 → 2 at once; then 0 → 1 → 2 two days apart; then back to the sender
    graph = linked(3, [0, 1, 0, 1, 0, 1], [1, 2, 1, 2, 1, 0], time=time, amount=amount, meaning=MEANING)
    np.testing.assert_array_equal(matched(graph.links), [0, 1, 0])


def test_hits_are_rare_by_what_most_have() -> None:
    counts, trials = np.zeros(1000), np.full(1000, 10)
    counts[:20] = 1
    counts[0] = 5
    found = by_chance(counts, trials)
    assert found[0] > np.log(1000) > found[1] > found[999] == 0


def test_views_of_a_bank_find_each_kind() -> None:
    from gadcore.studies.planted_groups import KINDS, planted_bank

    bank = planted_bank(100, informative=False)
    views = views_of(bank.graph)
    of_kind = {"clique": DENSE, "fan-in": "fan_in", "fan-out": "fan_out", "burst": "burst",
               "pass-through": "pass_through", "outlying": "outlying"}  # fmt: skip
    for kind in KINDS:
        first = views.candidates(of_kind[kind])[:3]
        assert KINDS.index(kind) in bank.kind[first], kind


def test_rows_of_what_a_graph_does_not_have_are_empty() -> None:
    views = views_of(random_graph())
    assert views.rarity.shape == (len(NAMES), 1000)
    assert not views.rarity[2:].any()
    assert Views(views.rarity).line == pytest.approx(np.log(1000))


def test_nothing_is_said_of_a_graph_of_a_few_nodes() -> None:
    views = views_of(linked(4, [0, 0, 1], [1, 2, 3]))
    assert [views.at(node) for node in range(4)] == [[]] * 4
    assert not any(len(views.candidates(name)) for name in NAMES)
