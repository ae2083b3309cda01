"""Runs as the labelling screen asks for them and is told of them."""

from __future__ import annotations

import pytest
from board_tab import Tab
from page_project import make_project

from pages.label.tab_queue import ROWS


@pytest.fixture
def tab(home) -> Tab:
    return Tab(make_project(labels=False))


@pytest.fixture
def idle_worker(monkeypatch) -> None:
    """Runs are queued and wait: no training process is started."""
    monkeypatch.setattr("gadcore.jobs.workers.start", lambda *_: None)


@pytest.mark.usefixtures("idle_worker")
def test_retrain_queues_one_run_and_cancel_ends_it(tab) -> None:
    tab.say(tab.event("retrain"), tab.event("retrain"))
    run = tab.payload["strip"]["active"]
    assert run["status"] == "queued"
    assert len(tab.workspace.runs.all()) == 1
    tab.say(tab.event("cancel", run=run["id"]))
    assert tab.workspace.runs.get(run["id"]).status == "cancelled"
    assert tab.payload["strip"]["active"] is None
    assert "Cancelled" in tab.texts[-1]


@pytest.mark.usefixtures("idle_worker")
def test_a_retrain_starts_by_itself_after_so_many_labels(tab) -> None:
    tab.say(tab.event("prefer", key="auto_retrain", value=2))
    tab.say(tab.event("verdict", node="n001", verdict="normal"))
    assert tab.payload["strip"]["active"] is None
    tab.say(tab.event("verdict", node="n002", verdict="anomalous"))
    assert tab.payload["strip"]["active"]["status"] == "queued"


def test_a_finished_run_brings_a_new_order_and_is_announced(tab) -> None:
    key = tab.payload["queue"]["key"]
    assert tab.workspace.runs.train("isolation-forest").status == "done"
    tab.say(queue=key, rows=ROWS)
    assert tab.payload["queue"]["key"] != key
    assert tab.payload["queue"]["rows"][0]["rank"] > 0
    assert "next case" in tab.texts[-1]
    assert tab.payload["strip"]["run"]["number"] == 1
    told = len(tab.texts)
    tab.say()
    assert len(tab.texts) == told


@pytest.mark.usefixtures("idle_worker")
def test_a_failed_run_is_told_with_its_reason(tab) -> None:
    tab.say(tab.event("retrain"))
    run = tab.workspace.runs.active()
    tab.workspace._project.store.jobs.finish(run.id, "failed", message="The device ran out of memory.")
    tab.say()
    assert "ran out of memory" in tab.texts[-1]
    assert tab.payload["notices"][-1]["level"] == "error"
