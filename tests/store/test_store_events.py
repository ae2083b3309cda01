"""The record of labels: append-only, per analyst, safe for threads and other processes."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from gadcore.errors import NotFound
from gadcore.graph.labels import Verdict
from gadcore.settings import ROOT, Settings
from gadcore.store import close_stores, open_store
from gadcore.store.schema import label_events


@pytest.fixture
def events(settings: Settings, planted):
    store = open_store(settings)
    store.projects.add("p", "ana", planted[0], has_truth=False, project_id="p")
    return store.events("p")


def label(events, *nodes: str, verdict: str = "normal", analyst: str = "ana", **more):
    return events.append([{"node_id": n, "verdict": verdict, **more} for n in nodes], analyst=analyst)


def verdicts(events) -> dict[str, str]:
    return {node: event.verdict.value for node, event in events.view().current.items()}


def test_the_latest_verdict_holds_and_the_earlier_one_stays_on_record(events) -> None:
    label(events, "n001", note="first look")
    label(events, "n001", verdict="anomalous", analyst="bo")
    assert verdicts(events) == {"n001": "anomalous"}
    assert [(e.verdict, e.analyst) for e in events.history("n001")] == [
        (Verdict.NORMAL, "ana"), (Verdict.ANOMALOUS, "bo"),
    ]  # fmt: skip


def test_every_field_of_an_event_is_kept(events) -> None:
    event = label(
        events, "n001", verdict="unsure", note="ask Kim", source="ring", strategy="audit",
        inclusion_probability=0.25, weight=0.5,
    )[0]  # fmt: skip
    assert events.view().current["n001"] == event
    assert (event.note, event.source, event.strategy) == ("ask Kim", "ring", "audit")
    assert (event.inclusion_probability, event.weight) == (0.25, 0.5)
    assert event.at.utcoffset() is not None


def test_undo_brings_back_the_verdict_before_and_redo_restores_it(events) -> None:
    label(events, "n001")
    label(events, "n001", verdict="anomalous")
    assert [e.verdict for e in events.toggle("undo", "ana")] == [Verdict.ANOMALOUS]
    assert verdicts(events) == {"n001": "normal"}
    events.toggle("undo", "ana")
    assert verdicts(events) == {}
    events.toggle("redo", "ana")
    events.toggle("redo", "ana")
    assert verdicts(events) == {"n001": "anomalous"}
    assert events.toggle("redo", "ana") == []


def test_a_group_is_taken_back_as_a_whole(events) -> None:
    label(events, "n001", verdict="normal")
    label(events, "n001", "n002", "n003", verdict="anomalous")
    assert {e.node_id for e in events.toggle("undo", "ana")} == {"n001", "n002", "n003"}
    assert verdicts(events) == {"n001": "normal"}


def test_undo_takes_back_only_ones_own_verdicts(events) -> None:
    label(events, "n001", analyst="ana")
    label(events, "n002", analyst="bo")
    events.toggle("undo", "ana")
    assert verdicts(events) == {"n002": "normal"}
    assert events.toggle("undo", "ana") == []
    assert events.can("undo", "bo")
    assert not events.can("undo", "ana")


def test_undo_of_an_older_verdict_leaves_a_colleagues_newer_one(events) -> None:
    label(events, "n001", verdict="normal", analyst="ana")
    label(events, "n001", verdict="anomalous", analyst="bo")
    events.toggle("undo", "ana")
    assert verdicts(events) == {"n001": "anomalous"}
    events.toggle("undo", "bo")
    assert verdicts(events) == {}


def test_a_new_verdict_empties_what_could_be_redone(events) -> None:
    label(events, "n001")
    events.toggle("undo", "ana")
    label(events, "n002")
    assert not events.can("redo", "ana")
    assert events.toggle("redo", "ana") == []


def test_a_colleagues_verdict_does_not_empty_it(events) -> None:
    label(events, "n001", analyst="ana")
    events.toggle("undo", "ana")
    label(events, "n002", analyst="bo")
    assert [e.node_id for e in events.toggle("redo", "ana")] == ["n001"]


def test_undo_and_redo_work_after_a_restart(events, settings: Settings) -> None:
    label(events, "n001")
    label(events, "n002")
    events.toggle("undo", "ana")
    close_stores()
    again = open_store(settings).events("p")
    assert verdicts(again) == {"n001": "normal"}
    assert [e.node_id for e in again.toggle("redo", "ana")] == ["n002"]
    assert [e.node_id for e in again.toggle("undo", "ana")] == ["n002"]
    assert [e.node_id for e in again.toggle("undo", "ana")] == ["n001"]


def test_nothing_is_ever_deleted_or_changed(events, settings: Settings) -> None:
    label(events, "n001")
    with open_store(settings).database.reading() as connection:
        before = connection.execute(select(label_events)).all()
    events.toggle("undo", "ana")
    events.toggle("redo", "ana")
    with open_store(settings).database.reading() as connection:
        after = connection.execute(select(label_events)).all()
    assert after[: len(before)] == before
    assert [row.kind for row in after] == ["label", "undo", "redo"]


def test_a_note_needs_no_verdict_and_changes_none(events) -> None:
    events.append([{"node_id": "n001", "note": "odd"}], analyst="ana", kind="note")
    assert events.view().notes == {"n001": "odd"}
    assert events.view().current == {}
    label(events, "n001")
    assert events.view().notes["n001"] == "odd"
    events.append([{"node_id": "n001", "note": ""}], analyst="ana", kind="note")
    assert not events.view().notes.get("n001")
    assert verdicts(events) == {"n001": "normal"}


def test_a_note_given_with_a_verdict_goes_when_it_is_taken_back(events) -> None:
    label(events, "n001", note="seen before")
    assert events.view().notes["n001"] == "seen before"
    events.toggle("undo", "ana")
    assert "n001" not in events.view().notes


def test_a_view_does_not_change_under_its_reader(events) -> None:
    label(events, "n001")
    view = events.view()
    assert events.view() is view
    label(events, "n002")
    assert set(view.current) == {"n001"}
    assert set(events.view().current) == {"n001", "n002"}


def test_threads_lose_no_verdict(events) -> None:
    def work(k: int) -> None:
        for i in range(10):
            label(events, f"n{k:01d}{i:02d}", analyst=f"analyst {k}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert len(events.view().current) == 40


def test_processes_see_each_others_verdicts(events) -> None:
    label(events, "n001")
    code = (
        "from gadcore.settings import Settings; from gadcore.store import open_store\n"
        "events = open_store(Settings.from_env()).events('p')\n"
        "assert set(events.view().current) == {'n001'}\n"
        "events.append([{'node_id': 'n002', 'verdict': 'anomalous'}], analyst='bo')\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    assert verdicts(events) == {"n001": "normal", "n002": "anomalous"}


def test_a_verdict_on_a_deleted_project_is_refused(events, settings: Settings) -> None:
    open_store(settings).projects.remove("p")
    with pytest.raises(NotFound, match="deleted"):
        label(events, "n001")
