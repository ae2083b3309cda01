"""Findings of the paper study from made-up rows."""

from __future__ import annotations

import pytest

from gadcore.studies.findings import lead, mean_of, reversals, section, significantly_ahead
from gadcore.studies.published import GRAPHS, METHODS, PUBLISHED, RATES
from gadcore.studies.significance import Results


def as_published(shift: float = 0.0, splits: int = 10) -> Results:
    """The paper's means with a little spread, so that a paired t-test has something to work on."""
    return {
        (rate, graph, method): {
            seed: PUBLISHED[rate, graph, method][0] + shift + (seed % 2 - 0.5) / 10 for seed in range(splits)
        }
        for rate in RATES
        for graph in GRAPHS
        for method in METHODS
    }


def test_the_papers_own_figures_reproduce_the_paper() -> None:
    page = section(as_published())
    assert "15 of 15 complete cells are within 1 point or better." in page
    assert "Reversed" not in page
    assert "No cell is complete yet: nothing is judged." in page  # of an+, which the paper does not have
    assert "| 2.5% | incomplete (0 of 5 graphs) | 88.84 | incomplete (0 of 5 graphs) | 91.0 | 88.9 |" in page
    assert "| an | 15 | +0.0 | +0.0 | +0.0 | 15 |" in page


def test_cells_further_below_are_listed() -> None:
    results = as_published()
    results[0.025, "pubmed", "an"] = dict.fromkeys(range(10), 93.0)  # the paper has 95.6
    page = section(results)
    assert "14 of 15 complete cells are within 1 point or better; further below: pubmed 2.5% -2.6 (" in page
    assert "p = 0.00)" in page  # the paper's std there is 0.3


def test_a_rival_with_few_splits_is_compared_on_those() -> None:
    results = as_published()
    own = {seed: 90.0 + seed for seed in range(10)}
    results[0.025, "cora", "an+"] = own
    results[0.025, "cora", "imverde"] = {seed: own[seed] + 1 for seed in range(3)}
    assert lead(results, (0.025, "cora"), "imverde", "an+") == 1.0
    assert significantly_ahead(results, 0.025, "cora") == ["imverde"]
    results[0.025, "cora", "imverde"] = {0: 99.0, 1: 99.0}
    assert lead(results, (0.025, "cora"), "imverde", "an+") is None


def test_an_incomplete_cell_is_not_judged() -> None:
    results = as_published()
    results[0.1, "photo", "an"] = dict.fromkeys(range(9), 10.0)
    assert mean_of(results, 0.1, "photo", "an") is None
    page = section(results)
    assert "14 of 14 complete cells" in page
    assert "Incomplete and not judged: photo 10.0%." in page


def test_a_reversed_order_is_counted_and_named() -> None:
    results = as_published()
    before, judged = reversals(results)
    assert before == []
    assert all(known == clear > 0 for known, clear in judged.values())
    swapped = results | {
        (0.025, "cora", "an"): results[0.025, "cora", "osvm"],
        (0.025, "cora", "osvm"): results[0.025, "cora", "an"],
    }
    found, _ = reversals(swapped)
    pair = next(each for each in found if (each.ahead, each.behind) == ("an", "osvm"))
    assert pair.paper == pytest.approx(38.8)
    assert pair.ours == pytest.approx(-38.8)
    assert pair.told_apart
    assert "osvm > an 38.8" in section(swapped)


def test_order_that_the_paper_does_not_tell_apart_is_left_alone() -> None:
    results = as_published()
    results[0.025, "cora", "an"] = dict.fromkeys(
        range(10), 85.0
    )  # imverde has 85.9 (6.1), the paper's an 88.8
    found, _ = reversals(results)
    assert ("an", "imverde") not in {(each.ahead, each.behind) for each in found}


def test_the_product_is_held_against_both_bests() -> None:
    results = as_published()
    for rate in RATES:
        for graph in GRAPHS:
            results[rate, graph, "an+"] = {seed: 99.5 + (seed % 2) / 10 for seed in range(10)}
    results[0.1, "cora", "sgc-lr"] = {seed: 99.8 + (seed % 2) / 10 for seed in range(10)}
    assert significantly_ahead(results, 0.1, "cora") == ["sgc-lr"]
    assert significantly_ahead(results, 0.1, "photo") == []
    page = section(results)
    assert "Ahead of both in 15 of 15 complete cells." in page
    assert "| 10.0% | cora | 99.5 | an 95.4 | +4.1 | an 95.4 | +4.1 | yes | sgc-lr |" in page


def test_no_rows_no_section() -> None:
    assert section({}) == ""
