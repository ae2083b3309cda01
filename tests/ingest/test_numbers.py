"""Numbers as people write them, read by column."""

from __future__ import annotations

import math

import pandas as pd
import pyarrow as pa
import pytest

from gadcore.ingest.numbers import NumberColumn, numbers_of, read_numbers


def column(*cells: str | None, decimal: str | None = None) -> NumberColumn:
    return read_numbers(pa.array(cells, pa.large_string()), decimal)


@pytest.mark.parametrize(
    ("written", "value", "unit"),
    [
        ("1.234,50 €", 1234.5, "EUR"),
        ("€ 2,944.37", 2944.37, "EUR"),
        ("1 234,56", 1234.56, ""),
        ("1\u202f234,56", 1234.56, ""),
        ("1\u00a0234,56", 1234.56, ""),
        ("1\u2009234.5", 1234.5, ""),
        ("1'234.50", 1234.5, ""),
        ("1\u2019234.50", 1234.5, ""),
        ("CHF 1'000.\u2013", 1000, "CHF"),
        ("1.000,- €", 1000, "EUR"),
        ("1,23,456.78", 123456.78, ""),
        ("Rs. 1,23,456.00", 123456, "INR"),
        ("(1,234.00)", -1234, ""),
        ("-€5.00", -5, "EUR"),
        ("€-5.00", -5, "EUR"),
        ("5.00-", -5, ""),
        ("\u22125,0", -5, ""),
        ("+12.5", 12.5, ""),
        ("12 %", 12, "%"),
        ("3.4k", 3400, ""),
        ("1,5 Mio. €", 1_500_000, "EUR"),
        ("R$ 1.234,56", 1234.56, "BRL"),
        ("HK$ 3.50", 3.5, "HKD"),
        ("$1,000.00 USD", 1000, "USD"),
        ("1e5", 100_000, ""),
        ("007", 7, ""),
    ],
)
def test_a_number_is_read_with_its_unit(written: str, value: float, unit: str) -> None:
    found = column(written)
    assert found.values.tolist() == [value]
    assert (found.unit, len(found.unread)) == (unit, 0)


@pytest.mark.parametrize("written", ["-", "", "n/a", "NULL", "?", None])
def test_a_cell_without_a_value_is_missing_not_unread(written: str | None) -> None:
    found = column(written, "5")
    assert math.isnan(found.values[0])
    assert found.values[1] == 5
    assert len(found.unread) == 0


@pytest.mark.parametrize("written", ["abc", "12:30", "1;2", "1,2,3", "0x10", "1_000", "12 apples"])
def test_what_is_no_number_is_unread(written: str) -> None:
    found = column(written, "5", "6")
    assert found.unread.tolist() == [0]
    assert found.share == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("cells", "values", "decimal"),
    [
        (["1.234", "1.234.567"], [1234, 1234567], ","),
        (["1.234", "1.2"], [1.234, 1.2], "."),
        (["1.234", "0.5"], [1.234, 0.5], "."),
        (["1,234", "0,5"], [1.234, 0.5], ","),
        (["1,234", "5.5"], [1234, 5.5], "."),
        (["1.234", "7,5"], [1234, 7.5], ","),
    ],
)
def test_the_whole_column_decides_what_a_mark_means(cells: list, values: list, decimal: str) -> None:
    found = column(*cells)
    assert found.values.tolist() == values
    assert (found.decimal, found.doubt) == (decimal, "")


def test_a_mark_that_nothing_decides_is_said() -> None:
    for cells, read, value in ((["1.234", "5"], "decimals", 1.234), (["1,234", "5"], "thousands", 1234)):
        found = column(*cells)
        assert found.values[0] == value
        assert f"{cells[0]!r} could be decimals or thousands; read as {read}." in found.doubt


def test_money_with_three_digits_behind_the_dot_has_thousands() -> None:
    found = column("1.234 €", "5 €")
    assert found.values.tolist() == [1234, 5]
    assert "read as thousands" in found.doubt


def test_many_numbers_with_three_digits_behind_the_dot_are_thousands() -> None:
    found = column(*(f"{k}.123" for k in range(1, 60)), "17")
    assert (found.values[0], found.values[-1]) == (1123, 17)
    assert "read as thousands" in found.doubt


def test_two_notations_in_equal_number_are_said_and_nothing_is_guessed() -> None:
    found = column("1,234.5", "1.234,5")
    assert found.unread.tolist() == [1]
    assert "As many are written with a decimal point as with a decimal comma" in found.doubt


def test_several_currencies_are_said_and_kept_by_cell() -> None:
    found = column("5 EUR", "$6", "7")
    assert found.values.tolist() == [5, 6, 7]
    assert found.unit == ""
    assert "2 currencies ($, EUR)" in found.doubt
    assert found.currency is not None
    assert found.currency.to_pylist() == ["EUR", "$", None]


def test_percentages_beside_plain_numbers_are_said() -> None:
    found = column("12.5 %", "0.3")
    assert found.unit == ""
    assert "Some values are percentages and some are not" in found.doubt


def test_the_notation_is_told_in_words() -> None:
    assert column("1.234,50 €").written == "decimal comma, dot between thousands, EUR"
    assert column("1'234.50").written == "decimal point, ' between thousands"


def test_later_cells_are_read_as_the_earlier_ones_were() -> None:
    assert column("1.234", decimal=",").values.tolist() == [1234]
    assert column("1.234", decimal=".").values.tolist() == [1.234]


def test_typed_numbers_are_taken_as_they_are() -> None:
    for dtype in ("float64", "int64", "Int64", "float32"):
        assert numbers_of(pd.Series([1, 2], dtype=dtype)).values.tolist() == [1, 2]
    assert math.isnan(numbers_of(pd.Series([1, None], dtype="Int64")).values[1])
    assert numbers_of(pd.Series(["1,5", "2"], dtype="str")).values.tolist() == [1.5, 2]
