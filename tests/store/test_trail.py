"""The trail: every action is told of in its own transaction, and a change of it or of labels is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_detector import reading, register, unregister
from sqlalchemy import delete, select, update

from gadcore.errors import GadError
from gadcore.settings import Settings
from gadcore.store import Store, open_store
from gadcore.store.schema import label_events, preferences, projects, trail
from gadcore.store.verify import verify
from gadcore.workspace import Workspace


@pytest.fixture
def workspace(settings: Settings, planted) -> Workspace:
    """A project with two verdicts, an undo and a setting: five entries."""
    made = Workspace.create("net", reading(*planted), settings=settings)
    made.verdicts.record("n001", "normal", analyst="bo")
    made.verdicts.record_group(["n002", "n003"], "anomalous")
    made.verdicts.undo()
    made.set_preference("dial", 0.25)
    return made


@pytest.fixture
def store(workspace: Workspace, settings: Settings) -> Store:
    return open_store(settings)


def actions(store: Store) -> list[str]:
    return [entry.action for entry, _ in store.trail.walk()]


def test_actions_are_told_with_who_did_them(store: Store, workspace: Workspace) -> None:
    told = [(entry.who, entry.action) for entry, _ in store.trail.walk()]
    assert told == [
        ("ana", "project added"), ("bo", "verdict"), ("ana", "verdict"), ("ana", "undo"), ("ana", "setting"),
    ]  # fmt: skip
    group = store.trail.newest(3)[2].details
    assert (group["node"], group["verdict"], group["count"]) == ("n002", "anomalous", 2)
    assert verify(store).problems == []


def test_runs_exports_and_deletions_are_told_and_stay(store: Store, workspace: Workspace, tmp_path: Path):
    register()
    runs = [workspace.runs.train("probe") for _ in range(2)]
    unregister()
    workspace.runs.use(runs[0].id)
    workspace.runs.delete(runs[1].id)
    workspace.verdicts.export_file(tmp_path / "labels.csv")
    Workspace.delete(workspace.id, workspace.settings)
    once = ["run started", "run done"]
    assert actions(store)[5:] == [*once, *once, "run chosen", "run deleted", "export", "project deleted"]
    assert verify(store).problems == []


def test_an_act_that_fails_leaves_no_entry(store: Store, workspace: Workspace) -> None:
    before = actions(store)

    def perform() -> None:
        workspace.verdicts.record("n010", "normal")
        workspace.verdicts.record("nowhere", "normal")

    with pytest.raises(GadError):
        workspace.messages.once("tab", 1, perform)
    assert actions(store) == before


TAMPERING = {
    "an entry is changed": (update(trail).where(trail.c.number == 2).values(who="mallory"), "Entry 2"),
    "an entry is taken out": (delete(trail).where(trail.c.number == 3), "Entries 3 to 3 are missing"),
    "the beginning is cut off": (delete(trail).where(trail.c.number < 3), "Entries 1 to 2 are missing"),
    "the end is cut off": (delete(trail).where(trail.c.number > 3), "trail tells of 3"),
    "a label is changed": (
        update(label_events).where(label_events.c.node_id == "n001").values(verdict="anomalous"),
        "not as entry 2 tells",
    ),
    "a label is taken out": (delete(label_events).where(label_events.c.node_id == "n003"), "3 label events"),
    "the project is taken out": (delete(projects), "no entry tells who deleted it"),
}


@pytest.mark.parametrize("statement, told", TAMPERING.values(), ids=TAMPERING.keys())
def test_what_is_changed_behind_its_back_is_found(store: Store, statement, told: str) -> None:
    with store.database.writing() as connection:
        connection.execute(statement)
    assert told in " ".join(verify(store).problems)


def test_a_label_that_is_slipped_in_is_found(store: Store, workspace: Workspace) -> None:
    with store.database.writing() as connection:
        row = dict(connection.execute(select(label_events).limit(1)).one()._mapping)
        connection.execute(label_events.insert().values({**row, "id": 99, "node_id": "n050"}))
    assert "has 5 label events; the trail tells of 4" in " ".join(verify(store).problems)


def test_an_anchor_tells_of_a_cut_that_the_chain_alone_does_not(store: Store, workspace: Workspace) -> None:
    """The last entry is about no label: without it the chain is whole."""
    with store.database.writing() as connection:
        kept = connection.execute(select(trail).where(trail.c.number == 5)).one()._mapping
    first = verify(store)
    assert (first.entries, first.head, first.anchors) == (5, kept["hash"], 0)
    with store.database.writing() as connection:
        connection.execute(delete(trail).where(trail.c.number == 5))
        connection.execute(delete(preferences))
    (store.folders.home / "none").touch()
    assert verify(store, anchors=store.folders.home / "none").problems == []
    assert ["Entry 5" in problem for problem in verify(store).problems] == [True]


def test_an_anchor_is_noted_once_and_compared_later(store: Store, workspace: Workspace) -> None:
    verify(store)
    assert verify(store).anchors == 1
    workspace.verdicts.record("n004", "normal")
    assert verify(store).anchors == 1
    assert verify(store).anchors == 2
