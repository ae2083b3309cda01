"""Dates and times as people write them, read by column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gadcore.ingest.dates import TimeColumn, read_clock, read_dates, read_time_numbers
from gadcore.ingest.link_times import link_times, read_times


def column(*cells: str | None, order: str | None = None) -> TimeColumn:
    return read_dates(pa.array(cells, pa.large_string()), order)


def shown(found: TimeColumn) -> list[str]:
    return [str(np.datetime64(round(s * 1000), "ms")) for s in found.seconds]


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2025-01-31", "2025-01-31T00:00:00.000"),
        ("2025-01-31T10:15:00.250Z", "2025-01-31T10:15:00.250"),
        ("2025-01-31 10:15", "2025-01-31T10:15:00.000"),
        ("2025/1/3", "2025-01-03T00:00:00.000"),
        ("31.01.2025", "2025-01-31T00:00:00.000"),
        ("31.1.2025, 10:15 Uhr", "2025-01-31T10:15:00.000"),
        ("1/31/2025 10:15 PM", "2025-01-31T22:15:00.000"),
        ("1/31/25 9:05", "2025-01-31T09:05:00.000"),
        ("31 Jan 2025", "2025-01-31T00:00:00.000"),
        ("31-JAN-25", "2025-01-31T00:00:00.000"),
        ("January 31st, 2025", "2025-01-31T00:00:00.000"),
        ("3. März 2025", "2025-03-03T00:00:00.000"),
        ("1er janvier 2025", "2025-01-01T00:00:00.000"),
        ("15 août 2025", "2025-08-15T00:00:00.000"),
        ("3 de mayo de 2025", "2025-05-03T00:00:00.000"),
        ("4 ottobre 2025", "2025-10-04T00:00:00.000"),
        ("5 de janeiro de 2025", "2025-01-05T00:00:00.000"),
        ("7 mei 2025", "2025-05-07T00:00:00.000"),
        ("Mon, 3 Feb 2025 10:00:00 GMT", "2025-02-03T10:00:00.000"),
        ("Thu Nov 18 06:59:40 UTC 2026", "2026-11-18T06:59:40.000"),
        ("20250131", "2025-01-31T00:00:00.000"),
        ("20250131T101500", "2025-01-31T10:15:00.000"),
        ("2025-01", "2025-01-01T00:00:00.000"),
        ("9999-12-31", "9999-12-31T00:00:00.000"),
    ],
)
def test_a_date_is_read(written: str, time: str) -> None:
    found = column(written)
    assert shown(found) == [time]
    assert found.doubt == ""


@pytest.mark.parametrize(
    "written", ["yesterday", "2025-02-30", "0000-00-00", "31.13.2025", "25:61", "1.2.3.4"]
)
def test_what_is_no_date_is_unread(written: str) -> None:
    found = column(written, "2025-01-01")
    assert found.unread.tolist() == [0]
    assert found.share == 0.5


@pytest.mark.parametrize(
    ("cells", "order", "first"),
    [
        (["01/02/2025", "13/02/2025"], "day first", "2025-02-01"),
        (["01/02/2025", "02/13/2025"], "month first", "2025-01-02"),
        (["01.02.2025"], "day first", "2025-02-01"),
    ],
)
def test_the_whole_column_decides_which_number_is_the_day(cells: list, order: str, first: str) -> None:
    found = column(*cells)
    assert (found.order, found.doubt) == (order, "")
    assert shown(found)[0].startswith(first)


def test_an_order_that_nothing_decides_is_said() -> None:
    assert column("01/02/2025").doubt == "Dates are read as day/month/year; the values allow both orders."
    american = column("01/02/2025 10:15 PM")
    assert american.doubt == "Dates are read as month/day/year; the values allow both orders."
    assert shown(american)[0].startswith("2025-01-02T22")


def test_dates_that_fit_the_other_order_only_are_said() -> None:
    found = column("13/01/2025", "14/01/2025", "01/13/2025")
    assert (found.order, found.unread.tolist()) == ("day first", [2])
    assert found.doubt == "Some dates fit the other order only."


def test_later_dates_are_read_as_the_earlier_ones_were() -> None:
    assert shown(column("01/02/2025", order="month first"))[0].startswith("2025-01-02")


def test_zones_are_told_beside_the_wall_clock() -> None:
    found = column(
        "2025-01-31T10:00:00+05:30", "2025-01-31T10:00:00-05", "2025-01-31 10:00 CET", "2025-01-31"
    )
    assert found.zone[:3].tolist() == [19800, -18000, 3600]
    assert np.isnan(found.zone[3])
    assert found.utc[0] == found.seconds[0] - 19800


def test_an_unknown_zone_is_not_taken_for_none() -> None:
    assert column("2025-01-31 10:15:00 XYZ", "2025-01-31").unread.tolist() == [0]


@pytest.mark.parametrize(
    ("value", "form"),
    [(1.7e9, "seconds"), (1.7e12, "milliseconds"), (1.7e15, "microseconds"), (1.7e18, "nanoseconds")],
)
def test_numbers_since_1970_are_told_by_their_size(value: float, form: str) -> None:
    found = read_time_numbers(np.array([value]))
    assert (found.form, found.seconds.tolist(), found.zone.tolist()) == (form, [1.7e9], [0])


def test_other_numbers_are_years_dates_or_steps() -> None:
    assert read_time_numbers(np.array([2019.0, 2020])).form == "years"
    assert shown(read_time_numbers(np.array([20250131.0])))[0].startswith("2025-01-31")
    assert shown(read_time_numbers(np.array([20250131101500.0])))[0].startswith("2025-01-31T10:15")
    steps = read_time_numbers(np.array([0.0, 1, 7]))
    assert (steps.form, (steps.seconds / 86_400).tolist()) == ("steps", [0, 1, 7])
    assert read_time_numbers(np.array([2019.0]), steps=True).form == "steps"


def test_a_zero_among_times_since_1970_is_no_time() -> None:
    found = read_time_numbers(np.array([1.7e9] * 19 + [0.0]))
    assert (found.form, found.unread.tolist()) == ("seconds", [19])
    assert np.isnan(found.seconds[19])


def test_numbers_that_are_no_time_at_all_are_unread() -> None:
    assert read_time_numbers(np.array([1.0, np.inf, 1e300, np.nan])).unread.tolist() == [1, 2]


def test_a_column_of_clock_times_is_told_from_others() -> None:
    found = read_clock(pa.array(["10:15", "22:05:30", None], pa.large_string()))
    assert found is not None
    assert found[:2].tolist() == [36_900, 79_530]
    assert read_clock(pa.array(["10:15", "later"], pa.large_string())) is None
    assert read_clock(pa.array(["1015"], pa.large_string())) is None


def told(*cells: object, dtype: str = "str") -> tuple:
    found = link_times(pd.Series(cells, dtype=dtype), "when", lambda row: f"line {row + 2}")
    return found.precision, found.zone, found.told, found.notes


def test_times_say_how_exact_they_are() -> None:
    assert told("2025-01-31", "2025-02-01") == ("dates", "", "dates", [])
    assert told("31.01.2025 10:15")[::2] == ("clock", "dates and times, day first")
    assert told(1, 2, dtype="int64")[0] == "steps"


def test_several_zones_are_brought_to_one_and_said() -> None:
    precision, zone, _, notes = told(
        "2025-01-31T10:00:00+01:00", "2025-01-31T10:00:00Z", "2025-01-31T10:00:00"
    )
    assert (precision, zone) == ("clock", "UTC")
    assert "Times of 2 zones (UTC, +01:00) were brought to UTC" in notes[0]
    assert "1 time without a zone is taken as UTC" in notes[0]


def test_one_zone_keeps_the_wall_clock() -> None:
    assert told("2025-01-31T10:00:00+01:00", "2025-02-01T11:00:00+01:00")[1] == "+01:00"


def test_times_that_cannot_be_read_are_named_with_their_line() -> None:
    notes = told("2025-01-31", "soon", "2025-02-01", "2025-02-02", "2025-02-03")[3]
    assert "'soon'" in notes[0]
    assert "line 3" in notes[0]
    assert told("soon", "later")[3] == ["Column 'when': none of its values can be read as a time."]


def test_typed_times_are_read_in_their_zone() -> None:
    stamps = pd.Series(pd.to_datetime(["2025-01-31T10:00"]).tz_localize("Europe/Berlin"))
    found = read_times(stamps, "when")
    assert (shown(found)[0], found.zone.tolist()) == ("2025-01-31T10:00:00.000", [3600])
