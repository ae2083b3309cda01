"""The study that goes from day to day: nobody knows what has not happened yet."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gadcore.studies import temporal
from gadcore.studies.temporal import AS_IT_WAS, DAYS, RANDOM_SPLIT, RETRAINED, Analyst, Answers, LaterFrauds
from pages.benchmark.calendar import calendar_figure, ways_table

N = 400


@pytest.fixture
def town(tmp_path, monkeypatch):
    """A small town in the form of amlsim_cycle: frauds send one large amount on their day."""
    rng = np.random.default_rng(3)
    day = np.zeros(N, int)
    day[:60] = rng.integers(1, 149, 60)
    day[60:70] = -1
    folder = tmp_path / temporal.AMLSIM
    folder.mkdir()
    nodes = pd.DataFrame(
        {"nodeid": range(N), "isFraud": (day != 0).astype(int), "init_balance": rng.integers(1, 99, N)}
    )
    nodes["fraudStep"] = np.where(day == 0, -1, day)
    nodes.to_csv(folder / "nodes.csv", index=False)
    usual = pd.DataFrame({"sourceNodeId": rng.integers(0, N, 2500), "targetNodeId": rng.integers(0, N, 2500)})
    usual["value"], usual["time"] = rng.integers(1, 100, 2500), rng.integers(1, 150, 2500)
    bad = pd.DataFrame({"sourceNodeId": range(60), "targetNodeId": 399, "value": 9999, "time": day[:60]})
    pd.concat([usual, bad]).to_csv(folder / "transactions.csv", index=False)
    monkeypatch.setenv("GAD_DATASETS", str(tmp_path))
    monkeypatch.setattr(temporal, "BUDGET", 10)
    for kept in (temporal.answers, temporal.graph_of):
        kept.cache_clear()
    yield folder
    for kept in (temporal.answers, temporal.graph_of):
        kept.cache_clear()


def test_a_check_before_the_day_of_a_fraud_finds_nothing() -> None:
    known = Answers(np.array([0, 50, 90, -1, 0]))
    analyst = Analyst(known, [4], [])
    analyst.check(np.array([1.0, 5.0, 4.0, 9.0, 8.0]), day=60, budget=2)
    assert (analyst.found, analyst.delays, analyst.normal) == ([1], [10], [4, 2])  # 3 has no day: never asked
    analyst.check(np.array([1.0, 5.0, 4.0, 9.0, 8.0]), day=100, budget=2)
    assert analyst.found == [1]  # 2 was cleared before it happened


def test_a_day_shows_only_what_was_sent_by_then(town) -> None:
    for day in (DAYS[0], DAYS[-1]):
        links = temporal.graph_of(day).links
        assert links.time.max() / 86_400 <= day
        assert len(links) == (pd.read_csv(town / "transactions.csv")["time"] <= day).sum()


def test_each_way_is_measured_by_the_same_answers_and_drawn(town) -> None:
    cells = [LaterFrauds(temporal.AMLSIM, "sgc-lr", way, 100) for way in (AS_IT_WAS, RETRAINED, RANDOM_SPLIT)]
    rows = [{**cell.columns(), **cell.measure()} for cell in cells]
    for row in rows:
        assert 0 <= row["auc"] <= 1
        assert row["found"] == row["curve"]["found"][-1] <= row["happened"] == 40
        assert row["curve"]["day"] == list(DAYS)
    assert all(
        found <= so_far for found, so_far in zip(rows[0]["curve"]["found"], rows[0]["curve"]["happened"])
    )
    page = temporal.pages(lambda _: rows)["temporal.md"]
    assert all(way in page for way in (AS_IT_WAS, RETRAINED, RANDOM_SPLIT))
    by = {row["way"]: [row] for row in rows}
    assert len(calendar_figure(by).data) == 4
    assert list(ways_table(by)["way"]) == [AS_IT_WAS, RETRAINED, RANDOM_SPLIT]
