"""What only SQLite has: its file, its pragmas, and workspaces that were written before PostgreSQL came."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import inspect, text, update

from gadcore.errors import StoreError, Unavailable
from gadcore.jobs.lost import end_lost
from gadcore.settings import Settings
from gadcore.store import Store, database, open_store, schema
from gadcore.store.migrations import version_of
from gadcore.store.verify import verify

DATABASES = ("sqlite",)


def older(settings: Settings, *changes: str) -> Store:
    """The store of a workspace that was written with version 3, with some changes to its tables."""
    settings.home.mkdir(parents=True)
    written = (Path(__file__).parent / "version_3.sql").read_text()
    with closing(sqlite3.connect(settings.home / "ringfence.sqlite")) as database:
        database.executescript(written)
        for change in changes:
            database.execute(change)
        database.commit()
    return open_store(settings)


FIRST = (
    "ALTER TABLE runs DROP COLUMN for_use",
    "ALTER TABLE label_events DROP COLUMN drawn_after",
    "UPDATE schema_version SET version = 1",
)


@pytest.mark.parametrize("changes", [(), FIRST])
def test_an_older_workspace_opens_with_its_labels_runs_and_jobs(settings: Settings, changes) -> None:
    opened = older(settings, *changes)
    with opened.database.reading() as connection:
        assert version_of(connection) == schema.VERSION
    project = opened.projects.get("payments").id
    events = opened.events(project).view().current.values()
    assert [(event.node_id, event.weight) for event in events] == [("a1", 1.0), ("a10", 1.0)]
    waiting, running, failed, done = opened.runs.of_project(project)
    assert [run.status for run in (waiting, running, failed, done)] == ["queued", "running", "failed", "done"]
    assert (done.in_use, done.for_use, done.epoch, done.stage) == (True, True, 4, "done")
    assert done.seconds == pytest.approx(0.331695)
    assert done.started_at == datetime(2024, 11, 18, 1, 38, 2, 296269, tzinfo=UTC)
    assert "no parameter nonsense" in failed.message
    assert (running.epoch, running.epochs, running.auc) == (1, 9, 0.6)
    assert [row["epoch"] for row in opened.runs.progress_of(running.id)] == [1]
    assert opened.jobs.get(waiting.id).payload == {"warm": False}
    assert [row.message for row in opened.jobs.of_project(project, "layout")] == ["", "no embedding"]
    assert end_lost(opened, project) == [running.id]  # its host is silent


def test_an_older_workspace_has_the_tables_of_a_new_one(settings: Settings, tmp_path: Path) -> None:
    def tables(store: Store) -> dict[str, set[str]]:
        with store.database.reading() as connection:
            found = inspect(connection)
            return {name: {c["name"] for c in found.get_columns(name)} for name in found.get_table_names()}

    new = open_store(replace(settings, store_url=f"sqlite:///{tmp_path}/new.sqlite"))
    assert tables(older(settings)) == tables(new)


def test_a_file_that_is_no_database_is_an_error_with_its_name(settings: Settings) -> None:
    settings.home.mkdir(parents=True)
    (settings.home / "ringfence.sqlite").write_bytes(b"not a database at all " * 100)
    with pytest.raises(StoreError, match=r"ringfence\.sqlite"):
        open_store(settings)


def test_every_connection_writes_ahead_and_waits_for_the_disk(settings: Settings) -> None:
    """A verdict is on the disk before the screen says that it is stored."""
    database = open_store(settings).database
    with database.reading() as reader, database.writing() as writer:
        for connection in (reader, writer):
            assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
            assert connection.execute(text("PRAGMA synchronous")).scalar_one() == 2  # FULL


def test_the_store_lies_where_the_setting_says(home: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GAD_STORE", f"sqlite:///{tmp_path}/elsewhere/labels.db")
    open_store(Settings.from_env())
    assert (tmp_path / "elsewhere" / "labels.db").exists()
    assert not home.exists()


def test_a_store_that_is_full_changes_nothing_and_says_so(settings: Settings, planted) -> None:
    store = open_store(settings)
    store.projects.add("p", "ana", planted[0], has_truth=False, project_id="p")
    with store.database.reading() as connection:
        pages = connection.execute(text("PRAGMA page_count")).scalar_one()
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(Unavailable, match="full"):
        store.events("p").append([{"node_id": "n001", "note": "x" * 100_000}], analyst="ana", kind="note")
    assert store.events("p").view().notes == {}


def test_a_store_that_is_locked_for_long_changes_nothing_and_says_so(
    settings: Settings, planted, monkeypatch
) -> None:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    store = open_store(settings)
    store.projects.add("p", "ana", planted[0], has_truth=False, project_id="p")
    with closing(sqlite3.connect(settings.home / "ringfence.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            store.events("p").append([{"node_id": "n001", "verdict": "normal"}], analyst="ana")
    assert store.events("p").view().current == {}


def test_an_older_workspace_begins_its_trail_with_the_labels_it_has(settings: Settings) -> None:
    store = older(settings)
    assert [entry.action for entry in store.trail.newest(9)] == ["trail begun"]
    assert verify(store).problems == []
    with store.database.writing() as connection:
        connection.execute(update(schema.label_events).values(verdict="unsure"))
    assert "not as entry 1 tells" in " ".join(verify(store).problems)
