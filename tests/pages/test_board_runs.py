"""Runs as the labelling screen asks for them and is told of them."""

from __future__ import annotations

import pytest
from board_tab import Tab
from page_project import make_project
from probe_detector import register, unregister

from gadcore.jobs.runner import carry_out
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


@pytest.fixture
def doubtful(tab):
    """A tab of a project with twenty verdicts, and a model that says how well it ranks them."""
    register()
    tab.workspace.runs.train("isolation-forest")
    ids = [str(node) for node in tab.workspace.graph.node_ids[:20]]
    tab.workspace.verdicts.record_group(ids[:10], "normal")
    tab.workspace.verdicts.record_group(ids[10:], "anomalous")
    yield tab
    unregister()


@pytest.mark.usefixtures("idle_worker")
def test_a_run_in_trouble_is_told_and_named_beside_the_run_in_use(doubtful) -> None:
    doubtful.workspace.runs.start("probe", params={"auc": 0.2})
    doubtful.say()
    store, settings = doubtful.workspace._project.store, doubtful.workspace.settings
    carry_out(store, settings, doubtful.payload["strip"]["active"]["id"])
    doubtful.say()
    assert "no better than chance" in doubtful.texts[-1]
    assert doubtful.payload["notices"][-1]["level"] == "error"
    strip = doubtful.payload["strip"]
    assert (strip["run"]["number"], strip["doubted"]["number"], strip["doubted"]["in_use"]) == (1, 2, False)


@pytest.mark.usefixtures("idle_worker")
def test_a_run_kept_aside_does_not_start_the_next_with_every_verdict(doubtful) -> None:
    assert not doubtful.workspace.runs.train("probe", params={"auc": 0.2}).in_use
    doubtful.say(doubtful.event("prefer", key="auto_retrain", value=5))
    doubtful.say(doubtful.event("verdict", node="n100", verdict="normal"))
    assert doubtful.payload["strip"]["counts"]["fresh"] > 5
    assert doubtful.payload["strip"]["active"] is None
