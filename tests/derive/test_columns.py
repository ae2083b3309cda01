"""Derived columns against plain Python on random links of every sort, and what is special about some."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gadcore.derive import GROUPS, derive, offered
from gadcore.graph import LinkMeaning, Links
from gadcore.graph.links import CLOCK, DATES, DAY, STEPS
from tests.derive.plain import plain

Random = np.random.Generator
KINDS = tuple(f"kind {i}" for i in range(11))


def clock(rng: Random, n: int) -> np.ndarray:
    return np.floor(rng.random(n) * 20 * DAY) + 1e9


def steps(rng: Random, n: int) -> np.ndarray:
    return rng.integers(0, 9, n) * DAY


def sparse_clock(rng: Random, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.2, np.nan, clock(rng, n))


def money(rng: Random, n: int) -> np.ndarray:
    return np.round(rng.lognormal(4, 1, n), 2)


def ratings(rng: Random, n: int) -> np.ndarray:
    return rng.integers(-10, 11, n).astype(float)


def round_or_unknown(rng: Random, n: int) -> np.ndarray:
    return rng.choice([50.0, 1200.0, 45_000.0, 1250.0, 10.5, 7.0, np.nan], n)


CASES: dict[str, tuple[str, Callable[[Random, int], np.ndarray], Callable[[Random, int], np.ndarray]]] = {
    "clock and money": (CLOCK, clock, money),
    "steps and ratings": (STEPS, steps, ratings),
    "holes everywhere": (CLOCK, sparse_clock, round_or_unknown),
    "one moment": (DATES, lambda rng, n: np.full(n, 5 * DAY), money),
    "one amount": (DATES, steps, lambda rng, n: np.full(n, 20.0)),
    "nothing known": (CLOCK, lambda rng, n: np.full(n, np.nan), lambda rng, n: np.full(n, np.nan)),
}


def random_links(seed: int, case: str, n_nodes: int = 7, n: int = 40) -> Links:
    rng = np.random.default_rng(seed)
    precision, times, amounts = CASES[case]
    return Links.make(
        n_nodes,
        rng.integers(0, n_nodes, n),
        rng.integers(0, n_nodes, n),
        time=times(rng, n),
        amount=amounts(rng, n),
        kind=rng.integers(-1, len(KINDS), n),
        meaning=LinkMeaning("transfer", "when", "paid", "channel", "EUR", precision, kinds=KINDS),
    )


def vectorised(links: Links) -> dict[str, np.ndarray]:
    return {key: value for group in GROUPS.values() for key, value in group.values(links)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("n_nodes", "n"), [(7, 40), (5, 60), (12, 30), (1, 6), (4, 0), (2, 1)])
@pytest.mark.parametrize("seed", range(3))
def test_every_column_is_what_plain_python_finds(case: str, n_nodes: int, n: int, seed: int) -> None:
    links = random_links(seed, case, n_nodes, n)
    expected, found = plain(links), vectorised(links)
    for column in offered(links.meaning):
        np.testing.assert_allclose(
            found[column.key], expected[column.key], rtol=1e-9, atol=1e-7, err_msg=column.key
        )


def test_links_without_time_amount_and_kind_still_give_counts_and_structure() -> None:
    rng = np.random.default_rng(4)
    links = Links.make(6, rng.integers(0, 6, 30), rng.integers(0, 6, 30))
    expected, found = plain(links), {d.column.key: d.values for d in derive(links)}
    assert {"links_in", "partners_out", "pair_most_in", "triangles", "cycles_3"} <= set(found)
    assert not {"total_in", "active_days", "passed_on", "kind_0"} & set(found)
    for key, values in found.items():
        np.testing.assert_allclose(values, expected[key], err_msg=key)


def test_what_is_offered_is_what_is_computed() -> None:
    links = random_links(0, "clock and money")
    assert {c.key for c in offered(links.meaning)} <= set(vectorised(links))
    assert [d.column for d in derive(links)] == [
        c for c in offered(links.meaning) if c.key in {d.column.key for d in derive(links)}
    ]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("word", ["transfer", "link", "rating"])
def test_columns_have_a_name_of_their_own_and_say_what_they_are(case: str, word: str) -> None:
    meaning = LinkMeaning(word, "when", "rating", "type", "EUR", CASES[case][0], kinds=KINDS)
    columns = offered(meaning)
    assert len({c.name for c in columns}) == len({c.key for c in columns}) == len(columns)
    for column in columns:
        assert column.help.endswith(".")
        assert column.told.count("{value}") == 1
        assert column.group in GROUPS


def test_kinds_that_are_called_alike_get_a_number() -> None:
    meaning = LinkMeaning(kind="type", kinds=("a", "b", "other kinds", *"cdefghij"))
    names = [c.name for c in offered(meaning)]
    assert {"share of other kinds", "share of other kinds (2)"} <= set(names)


def test_amounts_are_called_as_in_the_file_where_that_is_a_word() -> None:
    def names(amount: str) -> list[str]:
        return [c.name for c in offered(LinkMeaning("rating", amount=amount))]

    assert "largest rating in" in names("Rating")
    assert "largest amount in" in names("value_eur")


def test_steps_are_not_called_days() -> None:
    columns = offered(LinkMeaning("transfer", "step", "amount", precision=STEPS))
    assert "passed on within a step" in [c.name for c in columns]
    assert not [c for c in columns if "day" in c.name + c.help + c.unit + c.told]
    assert not [c for c in columns if c.key.startswith("night")]


def test_columns_are_switched_off_by_name_or_key() -> None:
    links = random_links(1, "clock and money")
    found = {d.column.key for d in derive(links, ["transfers in", "partners_out"])}
    assert "links_in" not in found
    assert "partners_out" not in found
    assert {"links_out", "partners_in"} <= found


def test_a_group_that_is_switched_off_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    links = random_links(1, "clock and money")
    group = GROUPS["structure"]
    monkeypatch.setitem(GROUPS, "structure", type(group)(group.offered, lambda _: pytest.fail("computed")))
    keys = [c.key for c in offered(links.meaning) if c.group == "structure"]
    assert not [d for d in derive(links, keys) if d.column.group == "structure"]


def test_columns_that_are_equal_for_all_are_left_out() -> None:
    ring = np.arange(4)
    links = Links.make(
        4, ring, (ring + 1) % 4, amount=np.array([5.0, 5, 5, 6]), meaning=LinkMeaning(amount="x")
    )
    found = {d.column.key for d in derive(links)}
    assert "links_in" not in found
    assert "total_in" in found


def test_no_links_give_no_columns() -> None:
    assert derive(random_links(0, "clock and money", 3, 0)) == []


def test_values_of_memory_mapped_links_are_the_same(tmp_path: Path) -> None:
    links = random_links(2, "holes everywhere")
    links.save(tmp_path / "links")
    stored = Links.load(tmp_path / "links")
    assert stored is not None
    for a, b in zip(derive(links), derive(stored), strict=True):
        np.testing.assert_array_equal(a.values, b.values)
