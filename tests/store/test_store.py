"""The database: schema versions, projects, preferences, runs, jobs, locks."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sample_rows import RUN
from sqlalchemy import text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from gadcore.errors import NotFound, RunError, StoreError
from gadcore.jobs import lost
from gadcore.records import RunInfo
from gadcore.settings import ROOT, Settings
from gadcore.store import (
    FileLock,
    Store,
    close_stores,
    is_held,
    jobs,
    migrations,
    open_store,
    read_holder,
    schema,
)
from gadcore.store.migrations import version_of


@pytest.fixture
def store(settings: Settings, planted) -> Store:
    store = open_store(settings)
    store.projects.add("Payments", "ana", planted[0], has_truth=True, project_id="payments-1")
    return store


def test_a_new_database_has_the_present_schema_and_opens_again(settings: Settings) -> None:
    with open_store(settings).database.reading() as connection:
        assert version_of(connection) == schema.VERSION
    close_stores()
    with open_store(settings).database.reading() as connection:
        assert version_of(connection) == schema.VERSION


def test_an_older_database_is_migrated_step_by_step(settings: Settings, store: Store, monkeypatch) -> None:
    close_stores()
    steps = {
        schema.VERSION + 1: lambda c, _: c.execute(text("ALTER TABLE projects ADD COLUMN colour TEXT")),
        schema.VERSION + 2: lambda c, _: c.execute(text("UPDATE projects SET colour = 'blue'")),
    }
    monkeypatch.setattr(migrations, "STEPS", {**migrations.STEPS, **steps})
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 2)
    with open_store(settings).database.reading() as connection:
        assert connection.execute(text("SELECT colour FROM projects")).scalar_one() == "blue"
        assert version_of(connection) == schema.VERSION
    copy = settings.home / f"before-version-{schema.VERSION}.sqlite"  # as it was before
    with closing(sqlite3.connect(copy)) as before:
        assert before.execute("SELECT version FROM schema_version").fetchone() == (schema.VERSION - 2,)
        assert before.execute("SELECT id, has_truth FROM projects").fetchall() == [("payments-1", 1)]
        assert before.execute("SELECT count(*) FROM trail").fetchone() == (1,)


def test_a_failed_migration_leaves_the_database_as_it_was(settings: Settings, store: Store, monkeypatch):
    close_stores()
    bad = {schema.VERSION + 1: lambda c, _: c.execute(text("UPDATE nowhere SET x = 1"))}
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", bad)
        patch.setattr(schema, "VERSION", schema.VERSION + 1)
        with pytest.raises(StoreError):
            open_store(settings)
    assert open_store(settings).projects.get("Payments").id == "payments-1"


def test_a_database_from_the_future_is_refused(settings: Settings, store: Store) -> None:
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


def test_several_processes_create_one_database(home: Path) -> None:
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
    store.jobs.claim(run.id)
    epoch = {"epoch": 1, "epochs": 2, "loss": 0.5, "auc": None, "stage": "training"}
    store.jobs.beat(run.id, epoch, [epoch])
    store.events("payments-1").append([{"node_id": "n001", "verdict": "normal"}], analyst="ana")
    store.projects.remove("payments-1")
    with store.database.reading() as connection:
        left = {t.name: len(connection.execute(t.select()).all()) for t in schema.metadata.sorted_tables}
    assert {name for name, count in left.items() if count} == {"schema_version", "trail"}


def test_a_queued_run_has_all_fields_and_the_next_number(store: Store) -> None:
    first, second = store.runs.add("payments-1", RUN), store.runs.add("payments-1", RUN)
    assert isinstance(first, RunInfo)
    assert (first.number, second.number) == (1, 2)
    assert (first.status, first.params, first.seed, first.live, first.in_use) == (
        "queued", {"k": 2}, 3, True, False,
    )  # fmt: skip
    assert [run.number for run in store.runs.of_project("payments-1")] == [2, 1]
    assert [row.id for row in store.jobs.queued(["train"])] == [first.id, second.id]


def test_a_run_is_claimed_once_also_by_many_at_a_time(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda _: store.jobs.claim(run.id), range(6)))
    assert sum(won) == 1
    assert store.jobs.get(run.id).attempts == 1


def test_progress_and_heartbeat_of_a_running_run(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    store.jobs.claim(run.id)
    steps = [{"epoch": i, "epochs": 9, "loss": 1 / i, "auc": None, "stage": "training"} for i in (1, 2)]
    assert store.jobs.beat(run.id, steps[-1], steps) is False
    last = {**steps[0], "epoch": 3, "auc": 0.75}
    assert store.jobs.beat(run.id, last, [last]) is False
    assert store.jobs.beat(run.id) is False
    info = store.runs.get(run.id)
    assert (info.epoch, info.epochs, info.auc) == (3, 9, 0.75)
    assert [row["epoch"] for row in store.runs.progress_of(run.id)] == [1, 2, 3]
    assert schema.now() - store.jobs.get(run.id).heartbeat_at < timedelta(minutes=5)


def test_cancel_stops_a_queued_run_at_once_and_asks_a_running_one(store: Store) -> None:
    waiting, running = store.runs.add("payments-1", RUN), store.runs.add("payments-1", RUN)
    store.jobs.claim(running.id)
    store.jobs.cancel(waiting.id)
    store.jobs.cancel(running.id)
    assert store.runs.get(waiting.id).status == "cancelled"
    assert store.jobs.claim(waiting.id) is False
    assert store.runs.get(running.id).status == "running"
    assert store.jobs.beat(running.id) is True


def test_an_outcome_is_written_once(store: Store) -> None:
    run = store.runs.add("payments-1", RUN)
    store.jobs.claim(run.id)
    assert store.jobs.finish(run.id, "failed", message="out of memory")
    assert not store.runs.finish(run.id)
    info = store.runs.get(run.id)
    assert (info.status, info.message, info.in_use) == ("failed", "out of memory", False)
    assert info.seconds is not None
    assert info.seconds >= 0


def test_a_done_run_is_in_use_until_another_is(store: Store) -> None:
    runs = [store.runs.add("payments-1", RUN) for _ in range(2)]
    for run in runs:
        store.jobs.claim(run.id)
        store.runs.finish(run.id)
    assert [run.in_use for run in store.runs.of_project("payments-1")] == [True, False]
    store.projects.use_run("payments-1", runs[0].id)
    assert [run.in_use for run in store.runs.of_project("payments-1")] == [False, True]


def test_a_run_that_is_not_for_use_takes_only_an_empty_place(store: Store) -> None:
    runs = [store.runs.add("payments-1", {**RUN, "for_use": False}) for _ in range(2)]
    for run in runs:
        store.jobs.claim(run.id)
        store.runs.finish(run.id)
    assert [run.in_use for run in store.runs.of_project("payments-1")] == [False, True]


def test_an_equal_job_is_queued_once_until_it_ends(store: Store) -> None:
    wanted = {"kind": "umap", "run": "r"}
    first = store.jobs.add("layout", wanted, "payments-1")
    assert store.jobs.add("layout", wanted, "payments-1") == first
    assert store.jobs.claim(first)
    assert not store.jobs.claim(first)
    store.jobs.finish(first, "failed", message="no embedding")
    assert store.jobs.get(first).message == "no embedding"
    assert store.jobs.add("layout", wanted, "payments-1") != first


def test_a_job_of_a_kind_may_ask_to_be_alone_in_its_project(store: Store) -> None:
    first = store.jobs.add("practice", {"seed": 0}, "payments-1", alone=True)
    with pytest.raises(RunError, match="is running"):
        store.jobs.add("practice", {"seed": 1}, "payments-1", alone=True)
    store.jobs.cancel(first)
    assert store.jobs.add("practice", {"seed": 1}, "payments-1", alone=True) != first


def test_a_job_needs_no_project(store: Store) -> None:
    job = store.jobs.add("reading", {"source": "cora"})
    assert store.jobs.claim(job)
    assert [row.id for row in store.jobs.running(None)] == [job]
    assert store.jobs.running("payments-1") == []


def test_a_lock_is_held_by_one_and_freed_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x.lock"
    assert not is_held(path)
    with FileLock(path) as lock:
        assert lock.acquire(lane="train")
        assert is_held(path)
        assert not FileLock(path).acquire()
        assert read_holder(path) == {"pid": os.getpid(), "lane": "train"}
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


@pytest.mark.parametrize("dialect", [postgresql.dialect(), sqlite.dialect()])
def test_the_tables_can_be_made_on_other_databases(dialect) -> None:
    for table in schema.metadata.sorted_tables:
        assert table.name in str(CreateTable(table).compile(dialect=dialect))


def test_jobs_are_taken_up_in_the_order_of_asking_though_the_clock_is_set_back(store: Store, monkeypatch):
    first = store.jobs.add("layout", {"kind": "umap", "run": "r"}, "payments-1")
    monkeypatch.setattr(jobs, "now", lambda: schema.now() - timedelta(days=1))
    second = store.jobs.add("layout", {"kind": "tsne", "run": "r"}, "payments-1")
    assert [row.id for row in store.jobs.queued(["layout"])] == [first, second]
    assert [row.id for row in store.jobs.of_project("payments-1", "layout")] == [second, first]


def test_a_job_whose_lock_is_held_here_lives_though_the_clock_jumps(store: Store, monkeypatch) -> None:
    job = store.jobs.add("layout", {"kind": "umap"}, "payments-1")
    with FileLock(store.folders.lock(f"job-{job}")) as lock:
        assert lock.acquire()
        store.jobs.claim(job)
        monkeypatch.setattr(lost, "now", lambda: schema.now() + timedelta(days=1))
        assert lost.end_lost(store, "payments-1") == []
