"""Columns of every kind: recognised, encoded into [0, 1], named after their column, repeatable from JSON."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gadcore.errors import InputError
from gadcore.ingest import attribute_encoders as encoders
from gadcore.ingest.column_kinds import Parsed, understand


def dense(block: object) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else np.asarray(block)


def place(row: int) -> str:
    return f"n.csv, line {row + 2}"


def understood(values: list[object]) -> Parsed:
    return understand(pd.Series(values), "c", place)


def encoded(values: list[object], robust: bool = False) -> tuple[dict[str, object], np.ndarray]:
    parsed = understood(values)
    state = encoders.learn("c", parsed, robust)
    assert json.loads(json.dumps(state)) == state
    return state, dense(encoders.apply(state, parsed.values))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "-3e2"], "number"),
        (["1", "", "n/a", "7"], "number"),
        (["1,5", "2,25", "3"], "number"),
        ([1, 2, 3], "number"),
        (["00123", "04711", "99999"] * 8, "category"),
        (["true", "false", "TRUE"], "boolean"),
        (["yes", "no", ""], "boolean"),
        (["0", "1", "1"], "boolean"),
        ([True, False, None], "boolean"),
        (["2024-01-31", "2023-12-01"], "date"),
        (["2024-01-31T12:30:00Z", "2023-12-01T00:00:00+02:00"], "date"),
        (["31/01/2024", "01/02/2024"], "date"),
        (["12/31/2024", "01/02/2024"], "date"),
        (["31.01.2024 10:15", ""], "date"),
        (["FR", "DE", "FR", "NA"], "category"),
        (["a|b", "b|c", "a|c"], "tags"),
        (["['x', 'y']", "['y']"], "tags"),
        ([["x"], ["x", "y"], []], "tags"),
        ([f"user{i}@example.org" for i in range(40)], "identifier"),
        ([f"the customer number {i} called about a refund" for i in range(40)], "text"),
        (["same", "same"], "constant"),
        (["", ""], "empty"),
        ([None, None], "empty"),
    ],
)
def test_kinds(values: list[object], kind: str) -> None:
    assert understood(values).kind == kind


def test_numbers_are_scaled_and_holes_marked() -> None:
    state, block = encoded(["0", "10", "", "5"])
    assert state["features"] == ["c", "c is missing"]
    np.testing.assert_allclose(block, [[0, 0], [1, 0], [0.5, 1], [0.5, 0]])


def test_robust_scaling_keeps_an_outlier_from_squeezing_the_rest() -> None:
    values = [*map(str, range(1000)), "1000000"]
    _, plain = encoded(values)
    _, robust = encoded(values, robust=True)
    assert plain[:1000].max() < 0.01
    assert robust[500, 0] == pytest.approx(0.5, abs=0.02)
    assert robust.max() == 1.0


def test_infinite_numbers_are_refused_with_their_place() -> None:
    with pytest.raises(InputError, match=r"n\.csv, line 3: column 'c' holds an infinite number"):
        understood(["1", "inf", "2"])


def test_a_few_words_among_numbers_count_as_missing_and_are_told() -> None:
    parsed = understood([*map(str, range(100)), "unknown"])
    assert parsed.kind == "number"
    assert np.isnan(parsed.values[-1])
    assert "line 102" in parsed.notes[0]


def test_extreme_numbers_do_not_overflow() -> None:
    _, block = encoded([-1.7e308, 1.7e308, 0.0])
    np.testing.assert_allclose(block[:, 0], [0, 1, 0.5], atol=1e-6)


def test_rare_categories_are_merged() -> None:
    state, block = encoded(["FR"] * 30 + ["DE"] * 20 + ["AX", "TV"])
    assert state["features"] == ["c=FR", "c=DE", "c=(rare)"]
    assert block.sum(axis=0).tolist() == [30, 20, 2]
    assert (block.sum(axis=1) == 1).all()


def test_many_categories_are_cut_to_the_commonest() -> None:
    state, _ = encoded([f"v{i % 300}" for i in range(1200)])
    assert len(state["features"]) == encoders.MAX_CATEGORIES + 1


def test_dates_give_time_and_hour() -> None:
    state, block = encoded(["2024-01-01T00:00:00", "2024-01-02T12:00:00", ""])
    assert state["features"] == ["c", "c hour (sin)", "c hour (cos)", "c is missing"]
    np.testing.assert_allclose(block[:2, 0], [0, 1])
    np.testing.assert_allclose(block[:2, 2], [1, 0], atol=1e-6)
    days, _ = encoded(["2024-01-01", "2024-03-01"])
    assert days["features"] == ["c"]


def test_ambiguous_dates_are_told() -> None:
    assert "day/month" in understood(["01/02/2024", "03/04/2024"]).notes[0]
    assert understood(["31/01/2024", "03/04/2024"]).notes == []


def test_text_is_hashed_tf_idf_named_by_words() -> None:
    texts = [f"refund request number {i} for a broken toaster" for i in range(30)]
    texts += [f"invoice paid in full by customer {i}" for i in range(30)]
    state, block = encoded(texts)
    assert state["kind"] == "text"
    assert "c~toaster" in state["features"]
    np.testing.assert_allclose(np.linalg.norm(block, axis=1), 1, rtol=1e-5)
    column = state["features"].index("c~toaster")
    assert (block[:30, column] > 0).all()


def test_tags_are_multi_hot() -> None:
    state, block = encoded(["red|blue", "blue", "", "red|blue|red"])
    assert state["features"] == ["c=blue", "c=red", "c is missing"]
    np.testing.assert_array_equal(block, [[1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    "values",
    [
        ["1,5", "2,5", "", "7"],
        ["yes", "no", "", "no"],
        ["01/02/2024", "31/12/2024", "", "05/06/2024"],
        ["FR", "DE", "", "FR"],
        ["a|b", "b|c", "", "a|c"],
        [2, 5, None, 7],
        ["2024-01-01 10:00", "2024-01-02 11:00", "", "2024-01-05 00:00"],
    ],
)
def test_state_encodes_later_values_the_same_way(values: list[object]) -> None:
    state, block = encoded(values)
    again = json.loads(json.dumps(state))
    later = encoders.apply(again, encoders.parse_as(again, pd.Series(values)))
    np.testing.assert_allclose(dense(later), block)


def test_unseen_values_stay_within_the_features() -> None:
    state, _ = encoded(["FR"] * 30 + ["AX", "TV"])
    unseen = dense(encoders.apply(state, encoders.parse_as(state, pd.Series(["XX", "FR", None]))))
    np.testing.assert_array_equal(unseen, [[0, 1], [1, 0], [0, 0]])
    number, _ = encoded(["0", "10"])
    beyond = dense(encoders.apply(number, encoders.parse_as(number, pd.Series(["-5", "99"]))))
    np.testing.assert_array_equal(beyond.ravel(), [0, 1])


def test_matrices_keep_their_zeros_or_become_dense() -> None:
    sparse = sp.csr_array(np.eye(10) * 4)
    state = encoders.learn_matrix(sparse)
    scaled = encoders.apply_matrix(state, sparse)
    assert sp.issparse(scaled)
    np.testing.assert_allclose(scaled.toarray(), np.eye(10))
    dense = np.arange(12.0).reshape(4, 3)
    state = encoders.learn_matrix(sp.csr_array(dense))
    np.testing.assert_allclose(encoders.apply_matrix(state, sp.csr_array(dense))[:, 0], [0, 1 / 3, 2 / 3, 1])
