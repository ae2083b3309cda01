"""The studies of the audit and of the probabilities: records, and a page drawn from them alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gadcore.cli import main as command_line
from gadcore.graph import Truth
from gadcore.studies import audit_sessions, calibration, harness
from gadcore.studies.audit_tables import LEFT, PRECISION, RECALL, looks, render, report_at
from gadcore.studies.harness import load_rows, result_path


@pytest.fixture
def study(tmp_path, monkeypatch, planted):
    """Both studies in a folder of their own, on the planted graph."""
    graph, y = planted
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(harness, "DOCS", tmp_path)
    for module in (audit_sessions, calibration):
        monkeypatch.setattr(module, "known_graph", lambda name: (graph, Truth(y)))
    return tmp_path


def record(**more: Any) -> dict[str, Any]:
    """50 verdicts, 30 of them on random checks of the rest, among 2,000 nodes with 20 anomalies."""
    verdicts = "1" * 10 + "0" * 40
    base = {"graph": "g", "method": "sgc-lr/64", "seed": 0, "labels": 50, "checks": 0, "still": None}
    tops = {"50": "a" * 10 + "n" * 50 + "A" * 5 + "N" * 35}
    draws = {str(0.5 / 1500): list(range(20, 50))}
    return {
        **base,
        "nodes": 2000,
        "anomalies": 20,
        "verdicts": verdicts,
        "draws": draws,
        "batches": [0, 10, 20, 30, 40],
        "tops": tops,
        **more,
    }


def test_a_record_tells_what_the_app_shows() -> None:
    report = report_at(record(), 50, 100)
    assert (report.labelled, report.found, report.draws, report.since_hit) == (50, 10, 30, 40)
    shown, advice = looks(record())
    by_figure = {look.figure: look for look in shown}
    assert by_figure[PRECISION].truth == 0.15
    assert by_figure[PRECISION].interval == pytest.approx((0.1, 0.5))
    assert by_figure[LEFT].truth == 10
    assert by_figure[LEFT].covers
    assert by_figure[RECALL].interval is None  # 30 checks are too few
    assert (advice[0].stop, advice[0].quiet, advice[0].recall) == (False, True, 0.5)


def test_the_page_counts_intervals_that_held() -> None:
    page = render([record(), record(seed=1, anomalies=1900)], [])
    assert "| sgc-lr/64 | g | 2 | anomalies left | 2 of 2 | 1 | 50.0% |" in page
    assert "| sgc-lr/64 | g | 2 | recall so far | 0 of 2 | – | – | – |" in page
    assert "| sgc-lr/64 | g | 2 | 2 | 0 | – | – |" in page


def test_sessions_are_recorded_once_and_drawn(study) -> None:
    arguments = ["--graphs", "planted", "--model", "sgc-lr", "--labels", "50", "--checks", "20"]
    assert command_line(["experiments", "audit", *arguments, "--seeds", "1"]) == 0
    first = load_rows(result_path("audit"))
    assert [(row["still"], len(row["verdicts"])) for row in first] == [(None, 70), (50, 70)]
    assert sum(map(len, first[0]["draws"].values())) >= 20
    assert [len(top) for top in first[0]["tops"].values()] == [100]
    done = audit_sessions.STUDY.carry_out([*arguments, "--seeds", "1"])
    assert done["measured"] == {str(result_path("audit")): 0}
    assert load_rows(result_path("audit")) == first
    page = (study / "audit.md").read_text(encoding="utf-8")
    assert "| sgc-lr | planted | 1 | precision of the top 100 |" in page
    assert "| sgc-lr | planted, not retrained | 1 | precision of the top 100 |" in page


def test_calibration_is_measured_on_nodes_without_a_label(study) -> None:
    arguments = [
        "--graphs",
        "planted",
        "--model",
        "sgc-lr",
        "--seeds",
        "1",
        "--labels",
        "60",
        "--rates",
        "0.1",
    ]
    assert command_line(["experiments", "calibration", *arguments]) == 0
    rows = {row["kind"]: row for row in load_rows(result_path("calibration"))}
    assert set(rows) == {"split", "session"}
    shown = [row for row in rows.values() if row["ece"]["weighted"] is not None]
    assert shown
    assert all(0 <= row["ece"][by] <= 1 for row in shown for by in ("weighted", "unweighted", "none"))
    assert all(row["reason"] for row in rows.values() if row["ece"]["weighted"] is None)
    assert "| session | sgc-lr | planted | 60 | 1 |" in (study / "audit.md").read_text(encoding="utf-8")


def test_the_own_output_of_a_model_is_read_as_a_probability() -> None:
    inside, outside = np.array([0.0, 0.4, 1.0]), np.array([-2.0, 0.0, 2.0])
    assert list(calibration._own(inside)) == list(inside)
    assert calibration._own(outside) == pytest.approx([0.1192, 0.5, 0.8808], abs=1e-4)
