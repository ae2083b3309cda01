"""The data base: schema versions, projects, preferences, runs, jobs, locks."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.schema import CreateTable

from gadcore.errors import NotFound, StoreError
from gadcore.records import RunInfo
from gadcore.settings import ROOT, Settings
from gadcore.store import FileLock, Store, close_stores, is_held, migrations, open_store, read_holder, schema
from gadcore.store.migrations import version_of

RUN = {
    "model": "sgc-lr", "params": {"k": 2}, "seed": 3, "device": "cpu", "warm": True, "graph_fingerprint": "f",
    "label_hash": "h", "normal": 1, "anomalous": 2, "unsure": 0,
}  # fmt: skip


@pytest.fixture
def store(settings: Settings, planted) -> Store:
    store = open_store(settings)
    store.projects.add("Payments", "ana", planted[0], has_truth=True, project_id="payments-1")
    return store


def test_a_new_data_base_has_the_present_schema_and_opens_again(settings: Settings) -> None:
    with open_store(settings).database.reading() as connection:
        assert version_of(connection) == schema.VERSION
    close_stores()
    with open_store(settings).database.reading() as connection:
        assert version_of(connection) == schema.VERSION


def test_an_older_data_base_is_migrated_step_by_step(settings: Settings, store: Store, monkeypatch) -> None:
    close_stores()
    steps = {
        schema.VERSION + 1: lambda c: c.execute(text("ALTER TABLE projects ADD COLUMN colour TEXT")),
        schema.VERSION + 2: lambda c: c.execute(text("UPDATE projects SET colour = 'blue'")),
    }
    monkeypatch.setattr(migrations, "STEPS", {**migrations.STEPS, **steps})
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 2)
    with open_store(settings).database.reading() as connection:
        assert connection.execute(text("SELECT colour FROM projects")).scalar_one() == "blue"
        assert version_of(connection) == schema.VERSION


def test_a_data_base_of_the_first_version_opens_with_its_labels_and_runs(settings: Settings, store: Store):
    store.events("payments-1").append([{"node_id": "n1", "verdict": "anomalous"}], analyst="ana")
    run = store.runs.add("payments-1", RUN)
    with store.database.writing() as connection:
        connection.execute(text("ALTER TABLE runs DROP COLUMN for_use"))
        connection.execute(text("ALTER TABLE label_events DROP COLUMN drawn_after"))
        connection.execute(update(schema.schema_version).values(version=1))
    close_stores()
    opened = open_store(settings)
    assert [event.weight for event in opened.events("payments-1").view().current.values()] == [1.0]
    assert opened.runs.get(run.id).for_use is True
    with opened.database.reading() as connection:
        assert version_of(connection) == schema.VERSION


def test_a_failed_migration_leaves_the_data_base_as_it_was(settings: Settings, store: Store, monkeypatch):
    close_stores()
    bad = {schema.VERSION + 1: lambda c: c.execute(text("UPDATE nowhere SET x = 1"))}
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", bad)
        patch.setattr(schema, "VERSION", schema.VERSION + 1)
        with pytest.raises(StoreError):
            open_store(settings)
    assert open_store(settings).projects.get("Payments").id == "payments-1"


def test_a_data_base_from_the_future_is_refused(settings: Settings, store: Store) -> None:
    with store.database.writing() as connection:
        connection.execute(update(schema.schema_version).values(version=99))
    close_stores()
    with pytest.raises(StoreError, match=r"version 99.*update the program"):
        open_store(settings)


@pytest.mark.parametrize("url", ["nonsense", "nosuchdb://host/x", "postgresql+psycopg2://u:secret@nohost/x"])
def test_an_unusable_url_is_named_without_its_password(settings: Settings, url: str) -> None:
    with pytest.raises(StoreError) as caught:
        open_store(replace(settings, store_url=url))
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_data_base_is_an_error_with_its_name(settings: Settings) -> None:
    settings.home.mkdir(parents=True)
    (settings.home / "ringfence.sqlite").write_bytes(b"not a data base at all " * 100)
    with pytest.raises(StoreError, match=r"ringfence\.sqlite"):
        open_store(settings)


def test_sqlite_works_in_wal_mode(settings: Settings, store: Store) -> None:
    with store.database.reading() as connection:
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"


def test_several_processes_create_one_data_base(home: Path) -> None:
    code = (
        "from gadcore.store import open_store; from gadcore.settings import Settings\n"
        "open_store(Settings.from_env())"
    )
    running = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]


def test_projects_are_found_by_id_and_by_name(store: Store) -> None:
    assert store.projects.get("Payments").id == store.projects.get("payments-1").id
    with pytest.raises(NotFound, match="'Payments'"):
        store.projects.get("payments")


def test_a_name_is_used_once(store: Store, planted) -> None:
    with pytest.raises(StoreError, match="exists already"):
        store.projects.add("Payments", "bo", planted[0], has_truth=False, project_id="payments-2")


def test_preferences_keep_json_values(store: Store) -> None:
    assert store.projects.preference("payments-1", "auto_retrain", 10) == 10
    for value in (None, 5, {"a": [1, "b"]}):
        store.projects.set_preference("payments-1", "auto_retrain", value)
        assert store.projects.preference("payments-1", "auto_retrain", 10) == value


def test_removing_a_project_removes_what_belongs_to_it(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    store.runs.claim(run.id, "cpu")
    store.runs.beat(run.id, [{"epoch": 1, "epochs": 2, "loss": 0.5, "auc": None, "stage": "training"}])
    store.events("payments-1").append([{"node_id": "n001", "verdict": "normal"}], analyst="ana")
    store.projects.remove("payments-1")
    with store.database.reading() as connection:
        left = {t.name: len(connection.execute(t.select()).all()) for t in schema.metadata.sorted_tables}
    assert {name for name, count in left.items() if count} == {"schema_version"}


def test_a_queued_run_has_all_fields_and_the_next_number(store: Store) -> None:
    first, second = store.runs.add("payments-1", RUN), store.runs.add("payments-1", RUN)
    assert isinstance(first, RunInfo)
    assert (first.number, second.number) == (1, 2)
    assert (first.status, first.params, first.seed, first.live, first.in_use) == (
        "queued", {"k": 2}, 3, True, False,
    )  # fmt: skip
    assert [run.number for run in store.runs.of_project("payments-1")] == [2, 1]
    assert [run.number for run in store.runs.queued()] == [1, 2]


def test_a_run_is_claimed_once_also_by_many_at_a_time(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda _: store.runs.claim(run.id, "cpu"), range(6)))
    assert sum(won) == 1
    assert store.runs.row(run.id).pid == os.getpid()


def test_progress_and_heartbeat_of_a_running_run(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    store.runs.claim(run.id, "cpu")
    steps = [{"epoch": i, "epochs": 9, "loss": 1 / i, "auc": None, "stage": "training"} for i in (1, 2)]
    assert store.runs.beat(run.id, steps) is False
    assert store.runs.beat(run.id, [{**steps[0], "epoch": 3, "auc": 0.75}]) is False
    info = store.runs.get(run.id)
    assert (info.epoch, info.epochs, info.auc) == (3, 9, 0.75)
    assert [row["epoch"] for row in store.runs.progress_of(run.id)] == [1, 2, 3]
    assert store.runs.heartbeat_age(run.id) < timedelta(minutes=5)


def test_cancel_stops_a_queued_run_at_once_and_asks_a_running_one(store: Store) -> None:
    waiting, running = store.runs.add("payments-1", RUN), store.runs.add("payments-1", RUN)
    store.runs.claim(running.id, "cpu")
    store.runs.cancel(waiting.id)
    store.runs.cancel(running.id)
    assert store.runs.get(waiting.id).status == "cancelled"
    assert store.runs.claim(waiting.id, "cpu") is False
    assert store.runs.get(running.id).status == "running"
    assert store.runs.beat(running.id) is True


def test_an_outcome_is_written_once(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    store.runs.claim(run.id, "cpu")
    assert store.runs.finish(run.id, "failed", message="out of memory")
    assert not store.runs.finish(run.id, "done", use_for="payments-1")
    info = store.runs.get(run.id)
    assert (info.status, info.message, info.in_use) == ("failed", "out of memory", False)
    assert info.seconds is not None
    assert info.seconds >= 0


def test_a_done_run_is_in_use_until_another_is(store: Store) -> None:
    runs = [store.runs.add("payments-1", RUN) for _ in range(2)]
    for run in runs:
        store.runs.claim(run.id, "cpu")
        store.runs.finish(run.id, "done", use_for="payments-1")
    assert [run.in_use for run in store.runs.of_project("payments-1")] == [True, False]
    store.projects.use_run("payments-1", runs[0].id)
    assert [run.in_use for run in store.runs.of_project("payments-1")] == [False, True]


def test_a_run_that_is_not_for_use_takes_only_an_empty_place(store: Store) -> None:
    runs = [store.runs.add("payments-1", {**RUN, "for_use": False}) for _ in range(2)]
    for run in runs:
        store.runs.claim(run.id, "cpu")
        store.runs.finish(run.id, "done", use_for="payments-1")
    assert [run.in_use for run in store.runs.of_project("payments-1")] == [False, True]


def test_an_equal_job_is_queued_once_until_it_ends(store: Store) -> None:
    wanted = {"kind": "umap", "run": "r"}
    first = store.jobs.add("payments-1", "layout", wanted)
    assert store.jobs.add("payments-1", "layout", wanted) == first
    assert store.jobs.claim(first)
    assert not store.jobs.claim(first)
    store.jobs.finish(first, "failed", message="no embedding")
    assert store.jobs.get(first).message == "no embedding"
    assert store.jobs.add("payments-1", "layout", wanted) != first


def test_a_lock_is_held_by_one_and_freed_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x.lock"
    assert not is_held(path)
    with FileLock(path) as lock:
        assert lock.acquire(role="train")
        assert is_held(path)
        assert not FileLock(path).acquire()
        assert read_holder(path) == {"pid": os.getpid(), "role": "train"}
    assert not is_held(path)
    assert FileLock(path).acquire()


def test_a_lock_of_a_dead_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    code = (
        "import os, sys; from pathlib import Path; from gadcore.store import FileLock\n"
        "lock = FileLock(Path(sys.argv[1])); assert lock.acquire(); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert path.exists()
    assert not is_held(path)


def test_the_store_lies_where_the_setting_says(home: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GAD_STORE", f"sqlite:///{tmp_path}/elsewhere/labels.db")
    open_store(Settings.from_env())
    assert (tmp_path / "elsewhere" / "labels.db").exists()
    assert not home.exists()


@pytest.mark.parametrize("dialect", [postgresql.dialect(), mysql.dialect(), sqlite.dialect()])
def test_the_tables_can_be_made_on_other_data_bases(dialect) -> None:
    for table in schema.metadata.sorted_tables:
        assert table.name in str(CreateTable(table).compile(dialect=dialect))
