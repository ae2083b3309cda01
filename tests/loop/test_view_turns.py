"""Turns of the views in the default queue: each is tried until it hits or has missed often enough."""

from __future__ import annotations

import numpy as np
import pytest

from gadcore.derive.views import BURST, DENSE, FAN_IN, NAMES, STAR, Views
from gadcore.graph.labels import Labels
from gadcore.loop.pool import Pool
from gadcore.loop.strategies import queue_order
from gadcore.loop.strategies.view_turns import TRIES, every, view_turns

N = 200


def views(**loud: list[int]) -> Views:
    rarity = np.zeros((len(NAMES), N), dtype=np.float32)
    for name, nodes in loud.items():
        rarity[NAMES.index(name), nodes] = np.log(N) + 5 - 0.1 * np.arange(len(nodes))
    return Views(rarity)


def pool(seen: Views | None, normal=(), anomalous=(), **given) -> Pool:
    labels = Labels(np.array(normal, dtype=np.int64), np.array(anomalous, dtype=np.int64))
    return Pool(np.linspace(1, 0, N), labels, views=seen, **given)


def test_views_take_turns_and_one_with_a_hit_needs_none() -> None:
    seen = views(**{DENSE: [100, 101, 102, 103], FAN_IN: [150, 151]})
    assert view_turns(pool(seen)).tolist() == [100, 150, 101, 151, 102]
    assert view_turns(pool(seen, anomalous=[102])).tolist() == [150, 151]


def test_a_view_is_given_up_after_some_misses() -> None:
    seen = views(**{BURST: list(range(50, 60))})
    assert view_turns(pool(seen, normal=[50, 51])).tolist() == [52]
    assert view_turns(pool(seen, normal=list(range(50, 50 + TRIES)))).tolist() == []


def test_stars_have_no_turn() -> None:
    assert view_turns(pool(views(**{STAR: [7, 8], DENSE: [9]}))).tolist() == [9]


def test_without_views_there_are_no_turns() -> None:
    assert not len(view_turns(pool(None)))
    assert not len(view_turns(pool(Views(np.zeros((len(NAMES), N), dtype=np.float32)))))


@pytest.mark.parametrize("cold", [True, False])
def test_the_default_queue_shows_every_loud_view_among_its_first_cases(cold: bool) -> None:
    seen = views(**{DENSE: [120, 121], FAN_IN: [150], BURST: [199]})
    some = {} if cold else {"normal": [30], "anomalous": [31]}
    found = queue_order(pool(seen, cold=cold, **some), n=20, audit_share=0.0)
    first = [query.node for query in found]
    assert {120, 150, 199} <= set(first)
    assert len(set(first)) == 20
    turn = next(query for query in found if query.node == 150)
    assert "no hit yet" in turn.reason


def test_a_queue_without_loud_views_is_as_it_was() -> None:
    quiet = Views(np.zeros((len(NAMES), N), dtype=np.float32))
    for cold in (True, False):
        assert queue_order(pool(quiet, cold=cold), audit_share=0.0) == queue_order(
            pool(None, cold=cold), audit_share=0.0
        )


def test_two_rows_are_merged_without_doubles() -> None:
    assert every(3, np.array([1, 2]), [10, 2, 11, 12, 13]) == [1, 10, 11, 2, 12, 13]
