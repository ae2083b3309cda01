"""Raw columns on disk: read by row, of the same types as in memory; peers in order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gadcore.graph import NodeTable, node_table

FRAME = pd.DataFrame(
    {
        "words": ["x", None, "Łódź", "x"],
        "whole": pd.array([1, None, 3, 2], dtype="Int64"),
        "parts": [0.5, np.nan, -1.0, 2.0],
        "flag": [True, False, True, True],
        "when": pd.to_datetime(["2025-01-31", None, "2025-02-01 10:15", "2025-02-02"], format="ISO8601"),
    }
)


@pytest.fixture(params=["memory", "disk", "scratch"])
def table(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NodeTable:
    made = NodeTable.of(FRAME)
    if request.param == "scratch":
        monkeypatch.setattr(node_table, "_LONG", 1)
        return NodeTable(len(FRAME)).with_columns({name: FRAME[name] for name in FRAME})
    return made if request.param == "memory" else NodeTable.load(tmp_path, made.save(tmp_path), len(FRAME))


def test_columns_and_rows_are_those_of_the_frame(table: NodeTable) -> None:
    assert list(table) == list(FRAME)
    assert table.shape == FRAME.shape
    pd.testing.assert_frame_equal(table.frame(), FRAME, check_dtype=False)
    some = table.rows([2, 0], ["words", "parts"])
    assert some["words"].tolist() == ["Łódź", "x"]
    assert some["parts"].tolist() == [-1.0, 0.5]


def test_a_cell_is_what_its_column_holds(table: NodeTable) -> None:
    assert table.cell("words", 2) == "Łódź"
    assert pd.isna(table.cell("words", 1))
    assert table.cell("whole", 2) == 3
    assert table.cell("when", 2) == pd.Timestamp("2025-02-01 10:15")
    assert [column for column in table if table.is_number(column)] == ["whole", "parts"]


def test_known_numbers_stand_in_order(table: NodeTable) -> None:
    assert table.ordered("whole").tolist() == [1.0, 2.0, 3.0]
    assert table.ordered("parts").tolist() == [-1.0, 0.5, 2.0]


def test_many_numbers_are_thinned_with_both_ends_and_the_shares_kept() -> None:
    values = np.arange(1_000_000.0)
    kept = node_table.thinned(values)
    assert (kept[0], kept[-1]) == (0.0, 999_999.0)
    assert len(kept) < 30_000
    assert np.searchsorted(kept, 250_000.0) / len(kept) == pytest.approx(0.25, abs=1e-4)
