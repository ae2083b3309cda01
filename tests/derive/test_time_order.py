"""What depends on the order of times: cycles, passing on, and counterparties within a week."""

from __future__ import annotations

import numpy as np
import pytest

from gadcore.derive import GROUPS, structure
from gadcore.derive.pairs import Pairs
from gadcore.derive.triangles import triangles
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import CLOCK, DAY
from tests.derive.plain import link_list, on_cycles

HOUR = DAY / 24
Row = tuple[int, int, float, float]  # source, target, hours, amount


def transfers(*rows: Row, n: int = 5) -> Links:
    source, target, hours, amount = map(np.array, zip(*rows))
    meaning = LinkMeaning("transfer", "t", "a", precision=CLOCK)
    return Links.make(n, source, target, time=hours * HOUR, amount=amount.astype(float), meaning=meaning)


def column(links: Links, group: str, key: str) -> list[float]:
    return [float(v) for v in dict(GROUPS[group].values(links))[key]]


def test_a_cycle_counts_only_in_time_order() -> None:
    forward = transfers((0, 1, 1, 9), (1, 2, 2, 9), (2, 0, 3, 9))
    backward = transfers((0, 1, 3, 9), (1, 2, 2, 9), (2, 0, 1, 9))
    assert column(forward, "structure", "cycles_3") == [1, 1, 1, 0, 0]
    assert column(backward, "structure", "cycles_3") == [0, 0, 0, 0, 0]


def test_a_cycle_of_four_counts_only_in_time_order() -> None:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    forward = transfers(*((a, b, i, 9) for i, (a, b) in enumerate(ring)))
    backward = transfers(*((a, b, -i, 9) for i, (a, b) in enumerate(ring)))
    assert column(forward, "structure", "cycles_4") == [1, 1, 1, 1, 0]
    assert column(backward, "structure", "cycles_4") == [0, 0, 0, 0, 0]


def test_there_and_back_over_the_same_node_is_no_cycle_of_four() -> None:
    links = transfers((0, 1, 1, 9), (1, 2, 2, 9), (2, 1, 3, 9), (1, 0, 4, 9))
    assert column(links, "structure", "cycles_4") == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_cycles_of_four_are_those_that_a_plain_search_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [(*rng.integers(0, 6, 2), rng.integers(0, 30), 1.0) for _ in range(35)]
    links = transfers(*rows, n=6)
    assert column(links, "structure", "cycles_4") == on_cycles(link_list(links), 6, 4, timed=True)


def test_hubs_are_left_out_first_when_there_are_too_many_ways() -> None:
    spokes = [(i, 0, i, 1.0) for i in range(1, 8)] + [(0, i, 9, 1.0) for i in range(1, 8)]
    pairs = Pairs.of(transfers(*spokes, (1, 2, 0, 1.0), n=8))
    assert structure.followed(pairs, most=1000).all()
    assert structure.followed(pairs, most=20).tolist() == [False] + [True] * 7
    assert not structure.followed(pairs, most=0).any()


def test_triangles_of_a_hub_are_found_from_its_small_neighbours() -> None:
    spokes = [(0, i, 0, 1.0) for i in range(1, 200)]
    rim = [(i, i + 1, 0, 1.0) for i in range(1, 199)]
    pairs = Pairs.of(transfers(*spokes, *rim, n=200))
    found, _ = triangles(*pairs.linked(), pairs.out.times, pairs.begin, pairs.time, 3)
    assert found.sum() == 3 * 198
    assert found[0] == 198


def test_a_triangle_beyond_reach_is_left_out() -> None:
    clique = [(i, j, 0, 1.0) for i in range(6) for j in range(i)]
    pairs = Pairs.of(transfers(*clique, n=6))
    given = (*pairs.linked(), pairs.out.times, pairs.begin, pairs.time)
    whole, cut = (triangles(*given, reach)[0].sum() for reach in (64, 2))
    assert (whole, cut) == (3 * 20, 3 * 4)


def test_links_of_unknown_time_make_counterparties_but_no_cycle() -> None:
    links = transfers((0, 1, 1, 9), (1, 2, np.nan, 9), (2, 0, 3, 9))
    assert column(links, "structure", "triangles") == [1, 1, 1, 0, 0]
    assert column(links, "structure", "cycles_3") == [0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        ([(1, 0, 0, 100), (0, 2, 23, 60)], 60),
        ([(1, 0, 0, 100), (0, 2, 25, 60)], 0),
        ([(0, 2, 0, 60), (1, 0, 1, 100)], 0),
        ([(1, 0, 5, 100), (0, 2, 5, 100)], 100),
        ([(1, 0, h, 10) for h in range(10)] + [(0, 2, 12, 30)], 30),
        ([(1, 0, 0, 1000), (1, 0, 100, 10), (0, 2, 101, 10)], 100 * 10 / 1010),
        ([(1, 0, 0, 50), (0, 2, 1, 500), (1, 0, 2, 50)], 50),
    ],
    ids=["in time", "too late", "before", "at once", "one for many", "older money stays", "more than came"],
)
def test_share_that_is_passed_on_within_a_day(
    rows: list[tuple[int, int, float, float]], share: float
) -> None:
    assert column(transfers(*rows), "passing", "passed_on")[0] == pytest.approx(share)


def test_a_node_that_sends_ten_thousand_times_is_followed_link_by_link() -> None:
    hours = np.arange(10_000) / 10
    rows = [(1, 0, h, 2.0) for h in hours] + [(0, 2, h + 0.05, 1.0) for h in hours]
    assert column(transfers(*rows), "passing", "passed_on")[0] == pytest.approx(50, abs=0.1)


def test_counterparties_of_a_week_slide_with_it() -> None:
    rows = [(0, 1, 0, 1), (0, 2, 6 * 24, 1), (0, 3, 7 * 24, 1), (0, 1, 8 * 24, 1), (0, 4, 30 * 24, 1)]
    assert column(transfers(*rows), "times", "week_partners_out")[0] == 3


def test_pairs_beyond_32_bits_are_numbered_in_64(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lower limit the same columns come from wide numbers."""
    rng = np.random.default_rng(0)
    links = transfers(*((*rng.integers(0, 6, 2), rng.integers(0, 30), 1.0) for _ in range(35)), n=6)
    narrow = {key: own.tolist() for key, own in structure.values(links)}
    monkeypatch.setattr("gadcore.derive.pairs.SMALL", 4)
    pairs = Pairs.of(links)
    assert {part.dtype for part in (pairs.out.ends, pairs.into.ends, pairs.linked().ends)} == {np.dtype("i8")}
    assert {key: own.tolist() for key, own in structure.values(links)} == narrow
