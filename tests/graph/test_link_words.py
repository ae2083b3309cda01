"""Counts, amounts and times of links in words."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from gadcore.graph import LinkMeaning
from gadcore.graph.link_words import amount_text, count_text, number_text, period_text, time_text
from gadcore.graph.links import CLOCK, DATES, DAY, STEPS

NAN = float("nan")
EUR, BARE = LinkMeaning(word="transfer", unit="EUR"), LinkMeaning(word="rating")
DAYS, HOURS, STEPPED = (LinkMeaning(precision=p) for p in (DATES, CLOCK, STEPS))


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()


def test_one_link_is_told_apart_from_many() -> None:
    assert [count_text(n, EUR) for n in (0, 1, 1200)] == ["0 transfers", "1 transfer", "1,200 transfers"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3410.0, "3,410 EUR"), (3409.9999999, "3,410 EUR"), (12.5, "12.50 EUR"), (2944.37, "2,944.37 EUR"),
        (-12.5, "−12.50 EUR"), (0.0, "0 EUR"), (-0.0, "0 EUR"), (0.0004, "0.0004 EUR"), (2e18, "2e+18 EUR"),
        (NAN, ""),
    ],
)  # fmt: skip
def test_amounts_have_thousands_cents_and_their_unit(value: float, text: str) -> None:
    assert amount_text(value, EUR) == text


def test_amounts_without_a_unit_are_plain_numbers() -> None:
    assert [amount_text(v, BARE) for v in (-10, 3.5, 1234567, NAN)] == ["−10", "3.5", "1,234,567", ""]
    assert [number_text(v) for v in (float("inf"), -float("inf"))] == ["∞", "−∞"]


def test_a_time_is_as_exact_as_its_file() -> None:
    noon = at(2025, 3, 3, 14, 5)
    assert time_text(noon, DAYS) == "3 March 2025"
    assert time_text(noon, HOURS) == "3 March 2025, 14:05"
    assert time_text(noon + 9, HOURS) == "3 March 2025, 14:05:09"
    assert time_text(12 * DAY, STEPPED) == "step 12"
    assert time_text(at(1969, 12, 31), DAYS) == "31 December 1969"
    assert time_text(NAN, DAYS) == ""


def test_a_period_says_what_its_ends_share_once() -> None:
    assert period_text(at(2025, 3, 3), at(2025, 3, 19), DAYS) == "3–19 March 2025"
    assert period_text(at(2025, 3, 3), at(2025, 4, 1), DAYS) == "3 March – 1 April 2025"
    assert period_text(at(2024, 12, 30), at(2025, 1, 2), DAYS) == "30 December 2024 – 2 January 2025"
    assert period_text(at(2025, 3, 3), at(2025, 3, 3), DAYS) == "3 March 2025"


def test_a_period_within_a_day_names_the_hours() -> None:
    a, b = at(2025, 3, 3, 14, 5), at(2025, 3, 3, 15)
    assert period_text(a, b, HOURS) == "3 March 2025, 14:05–15:00"
    assert period_text(a, a, HOURS) == "3 March 2025, 14:05"
    assert period_text(a, b + DAY, HOURS) == "3–4 March 2025"


def test_a_period_of_steps_counts_them() -> None:
    assert period_text(3 * DAY, 19 * DAY, STEPPED) == "steps 3–19"
    assert period_text(3 * DAY, 3 * DAY, STEPPED) == "step 3"


def test_an_end_that_is_unknown_is_left_out() -> None:
    assert period_text(NAN, at(2025, 3, 3), DAYS) == "3 March 2025"
    assert period_text(NAN, NAN, DAYS) == ""


def test_years_beyond_the_calendar_are_still_told() -> None:
    far = float(np.datetime64("20000-01-05", "s").astype(np.int64))
    assert time_text(far, DAYS) == "20000-01-05"
    assert period_text(far, far + 40 * DAY, DAYS) == "20000-01-05 – 20000-02-14"
