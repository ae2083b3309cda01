"""A job of every kind: stopped on request, failed by a killed worker, done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from probe_detector import reading, register, unregister

from gadcore.ingest import read
from gadcore.jobs import ask, workers
from gadcore.jobs.lost import end_lost
from gadcore.jobs.registry import KINDS
from gadcore.jobs.runner import Worker
from gadcore.jobs.sweeping import sweep
from gadcore.settings import ROOT, Settings
from gadcore.store import FileLock, Folders, is_held, open_store
from gadcore.workspace import Workspace

RUN = {
    "model": "probe", "params": {}, "seed": 0, "device": "cpu", "graph_fingerprint": "f",
    "label_hash": "h", "normal": 0, "anomalous": 0, "unsure": 0,
}  # fmt: skip
PATIENCE = 120  # seconds until a test gives up on a slow machine
HOOK = """
import sys
sys.path.insert(0, {tests!r})
if sys.argv[:1] == ["-m"]:
    import time
    from pathlib import Path
    import probe_detector
    from gadcore.jobs.registry import KINDS
    probe_detector.register()
    def stalling(do):
        def stalled(self, job):
            while Path({stall!r}).exists() and not job.pulse.stopping:
                time.sleep(0.01)
            return do(self, job)
        return stalled
    for kind in KINDS.values():
        type(kind).do = stalling(type(kind).do)
"""


@pytest.fixture
def stall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """While this file exists, jobs do not go on; worker processes know the model ``probe``."""
    file, hook = tmp_path / "stall", tmp_path / "hook"
    file.touch()
    hook.mkdir()
    text = HOOK.format(tests=str(Path(__file__).parent.parent), stall=str(file))
    (hook / "sitecustomize.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(hook))
    monkeypatch.setenv("GAD_THREADS", "1")
    register()
    yield file
    unregister()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "payments"
    folder.mkdir()
    nodes = "".join(f"a{i},{20 + i % 40},{i % 10 == 0:d}\n" for i in range(60))
    (folder / "nodes.csv").write_text(f"id,age,is_fraud\n{nodes}", encoding="utf-8")
    edges = "".join(f"a{i},a{(7 * i + 3) % 60}\n" for i in range(60))
    (folder / "edges.csv").write_text(f"source,target\n{edges}", encoding="utf-8")
    return folder


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; fail after a long time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the condition never came true"
        time.sleep(0.01)


def payload(kind: str, project: Workspace, files: Path, turn: int) -> dict[str, Any]:
    run = project.runs.in_use().id
    new = files.parent / "new.csv"
    new.write_text("id,age\nz1,33\n", encoding="utf-8")
    practice = {"strategies": ["top"], "labels": 10, "wrong": 0.0, "model": "probe"}
    asked: dict[str, dict[str, Any]] = {
        "layout": {"kind": "tsne", "run": run},
        "score": {"path": str(new), "edges": None, "run": run},
        "reading": {"folder": str(files), "source": str(files), "mapping": None},
        "updating": {"folder": str(files), "source": str(new), "way": "append"},
        "look": {"source": str(files)},
        "practice": {**practice, "seed": turn},
    }
    return asked[kind]


# Not of deliver, which goes on in another process however often it is killed: test_deliver.py.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "deliver"])
def test_a_job_is_stopped_and_failed_and_done(home: Path, stall: Path, files: Path, kind: str) -> None:
    settings = Settings.from_env()
    project = Workspace.create("payments", read(files), settings=settings)
    project.runs.train("probe")
    lane = KINDS[kind].lane

    def ask_for(turn: int) -> str:
        if kind == "train":
            return project.runs.start("probe", seed=turn).id
        if kind == "carry":
            used = project.runs.in_use()
            values = {name: getattr(used, name) for name in (*RUN, "version")}
            run = open_store(settings).runs.add(project.id, values, carried=used.id)
            workers.call(settings, lane)
            return run.id
        owner = None if kind in ("look", "reading") else project.id
        return ask.ask(settings, kind, payload(kind, project, files, turn), owner)

    def status(job: str) -> str:
        return str(ask.look(settings, job).status)

    stopped = ask_for(1)
    until(lambda: status(stopped) == "running")
    ask.stop(settings, stopped)
    until(lambda: status(stopped) == "cancelled")
    assert "Stopped" in ask.look(settings, stopped).message

    failed = ask_for(2)
    for attempt in range(1, KINDS[kind].attempts + 1):
        until(lambda n=attempt: (status(failed), ask.look(settings, failed).attempts) == ("running", n))
        os.kill(workers.state(settings, lane)["pid"], signal.SIGKILL)
    until(lambda: status(failed) == "failed")
    assert "ended without a word" in ask.look(settings, failed).message

    stall.unlink()
    done = ask_for(3)
    until(lambda: status(done) not in ("queued", "running"))
    row = ask.look(settings, done)
    assert (row.status, row.message, row.attempts) == ("done", "", 1)
    assert {
        "train": lambda: project.runs.get(done).in_use,
        "carry": lambda: project.runs.get(done).in_use,
        "updating": lambda: row.result["changes"]["nodes_added"] == 1 and (files / done / "graph").is_dir(),
        "layout": lambda: project.runs.layout("tsne") is not None,
        "score": lambda: [one["node_id"] for one in row.result] == ["z1"],
        "look": lambda: row.result["guess"]["id"] == "id",
        "reading": lambda: row.result["n_nodes"] == 60 and (files / done / "graph").is_dir(),
        "practice": lambda: row.result["curves"]["top"]["labels"] == [0, 10],
    }[kind]()
    assert not list(home.rglob("*.part")) + list(files.rglob("*.part"))


SERVER = """
import sys, time
from gadcore.jobs import workers
from gadcore.settings import Settings
settings = Settings.from_env()
workers.call(settings, "apart")
child = workers._STARTED[settings.home, "apart"]
while child.poll() is None and workers.state(settings, "apart")["pid"] != child.pid:
    time.sleep(0.01)
print(child.poll() is None, flush=True)
sys.stdin.read()
"""


def test_two_servers_of_one_workspace_have_one_worker_and_a_third_can_stop_it(home: Path) -> None:
    settings, command = Settings.from_env(), [sys.executable, "-c", SERVER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen(command, cwd=ROOT, **pipes) as one,
        subprocess.Popen(command, cwd=ROOT, **pipes) as two,
    ):
        owns = [server.stdout.readline().strip() for server in (one, two)]
        assert sorted(owns) == ["False", "True"]
        assert Folders(home).log.read_text().count("apart worker started") == 1
        workers.stop(settings)  # not this process's child: it is asked by a file
        until(lambda: not workers.state(settings, "apart")["alive"])
        for server in (one, two):
            server.communicate()


def test_a_process_waits_for_the_next_reading_and_ends_with_its_worker(
    settings: Settings, stall: Path, files: Path
) -> None:
    stall.unlink()
    store, lock = open_store(settings), FileLock(workers.worker_lock(settings, "apart"))
    worker = Worker(settings, store, "apart", lock)
    assert not worker._work()
    waiting = worker._spare
    job = store.jobs.add("reading", {"folder": str(files), "source": str(files), "mapping": None})
    assert worker._work()
    assert worker._spare is None  # it has been given the job
    worker._apart[job].join(PATIENCE)
    assert (waiting.returncode, store.jobs.get(job).status) == (0, "done")
    assert not worker._work()
    with worker._spare as unused:
        unused.stdin.close()  # as the system does when the worker ends
        assert unused.wait(PATIENCE) == 0


def test_a_process_that_got_the_pid_of_a_dead_worker_is_left_alone(home: Path, planted) -> None:
    settings = Settings.from_env()
    store = open_store(settings)
    job = store.jobs.add("reading", {})
    store.jobs.claim(job)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as innocent:
        locks = [Folders(home).lock(name) for name in ("worker-train", "worker-apart", f"job-{job}")]
        for lock in locks:
            lock.parent.mkdir(parents=True, exist_ok=True)
            lock.write_text(f'{{"pid": {innocent.pid}}}', encoding="utf-8")
        workers.stop(settings)
        assert end_lost(store, None) == [job]
        assert str(innocent.pid) in store.jobs.get(job).message
        with FileLock(locks[0]) as held:  # a worker that does not answer
            assert held.acquire()
            held.describe(pid=innocent.pid)
            workers.stop(settings)
        assert innocent.poll() is None
        innocent.communicate(b"\n")
    assert innocent.returncode == 0


def test_what_a_killed_job_left_is_swept_and_what_a_living_one_writes_is_not(settings: Settings) -> None:
    home = settings.home
    folders = Folders(home)
    left = [
        folders.run("p", "dead.dead.part") / "scores.npy",
        folders.run("p", "r") / "layout_umap.npy.dead.part",
        folders.run("p", "r") / "layout_umap.npy.1234.part.npy",  # of an earlier version
        folders.project("p") / "basis.npy.dead.part",
        home / "incoming" / "t" / "j.dead.part" / "truth.npy",
    ]
    kept = [
        folders.run("p", "live.live.part") / "scores.npy",
        folders.run("p", "r") / "scores.npy",
        home / "incoming" / "t" / "files" / "a.part.csv",
    ]
    for path in (*left, *kept):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with FileLock(folders.lock("job-live")) as lock:
        assert lock.acquire()
        folders.lock("job-dead").touch()
        sweep(open_store(settings))
        assert is_held(lock.path)
    assert not folders.lock("job-dead").exists()
    assert [path for path in left if path.exists()] == []
    assert [path for path in kept if not path.exists()] == []


def test_folders_of_killed_runs_and_projects_are_swept_and_no_others(settings: Settings, planted) -> None:
    workspace = Workspace.create("net", reading(planted[0]), settings=settings)
    store, home = open_store(settings), settings.home
    done, failed, live = (store.runs.add(workspace.id, RUN) for _ in range(3))
    for run in (done, failed):
        store.jobs.claim(run.id)
    store.runs.finish(done.id)
    store.jobs.finish(failed.id, "failed")
    runs = store.folders.runs(workspace.id)
    gone = [runs / failed.id, runs / "deleted", home / "projects" / "half.part", home / "projects" / "unborn"]
    kept = [runs / done.id, runs / live.id, home / "projects" / "of-another-database"]
    kept += [runs / "now", home / "projects" / "being-made"]
    for folder in (*gone, *kept):
        folder.mkdir(parents=True)
    for name in ("unborn", "being-made"):
        store.folders.unsettled(name).touch()
    locks = [FileLock(store.folders.lock(name)) for name in ("job-now", "project-being-made")]
    with locks[0], locks[1]:
        assert [lock.acquire() for lock in locks] == [True, True]
        sweep(store)
    assert [folder for folder in gone if folder.exists()] == []
    assert [folder for folder in kept if not folder.exists()] == []
    assert Workspace.open("net", settings).graph.n_nodes == 300
