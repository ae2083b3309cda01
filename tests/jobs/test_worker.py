"""The training process: started on demand, cancelled, killed, ended. Waits end with an event."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from probe_detector import reading, register, unregister

from gadcore.errors import RunError
from gadcore.jobs import runner, workers
from gadcore.settings import ROOT, Settings
from gadcore.store import FileLock, is_held, open_store
from gadcore.workspace import Workspace

PATIENCE = 90  # seconds until a test gives up on a slow machine


@pytest.fixture
def project(home: Path, tmp_path: Path, planted, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """A project whose worker knows the model ``probe``."""
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
        "if sys.argv[:1] == ['-m']:\n    import probe_detector\n    probe_detector.register()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(hook))
    monkeypatch.setenv("GAD_THREADS", "1")
    register()
    yield Workspace.create("planted", reading(*planted), settings=Settings.from_env())
    unregister()


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; fail after a long time."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the condition never came true"
        time.sleep(0.01)


def ended(project: Workspace, run_id: str):
    until(lambda: not project.runs.get(run_id).live)
    return project.runs.get(run_id)


def test_the_worker_trains_cancels_scores_and_ends(project: Workspace, tmp_path: Path) -> None:
    assert project.runs.worker_state()["alive"] is False
    started = project.runs.start("probe")
    assert ended(project, started.id).status == "done"
    state = project.runs.worker_state()
    assert state["alive"]
    assert project.runs.ensure_ranked() is None

    endless = project.runs.start("probe", params={"mode": "forever"})
    until(lambda: project.runs.get(endless.id).epoch > 0)
    assert project.runs.active().id == endless.id
    assert project.runs.history(endless.id)
    behind = project.runs.start("probe")
    assert project.runs.get(behind.id).status == "queued"
    project.runs.cancel(endless.id)
    assert ended(project, endless.id).status == "cancelled"
    assert ended(project, behind.id).status == "done"
    assert project.runs.worker_state()["pid"] == state["pid"]
    assert project.runs.result().details["warm_start"] == started.id

    with pytest.raises(RunError, match=r"new\.csv"):  # what the worker says is told here
        project.cases.score_new(tmp_path / "new.csv")

    workers.stop(project.settings)
    assert project.runs.worker_state()["alive"] is False


def test_maps_are_drawn_by_a_worker_of_their_own(project: Workspace) -> None:
    project.runs.train("probe")
    project.runs.request_layout("tsne")
    until(lambda: project.runs.layout_state("tsne")[0] == "done")
    assert project.runs.layout("tsne").shape == (project.graph.n_nodes, 2)
    assert project.runs.worker_state()["alive"] is False  # training was not disturbed
    project.runs.train("probe", params={"plain": True})
    project.runs.request_layout("tsne")
    until(lambda: project.runs.layout_state("tsne")[0] == "failed")
    assert "no embedding" in project.runs.layout_state("tsne")[1]


def test_a_killed_worker_fails_its_run_and_the_next_run_starts_another(project: Workspace) -> None:
    project.verdicts.record("n001", "anomalous")
    run = project.runs.start("probe", params={"mode": "forever"})
    until(lambda: project.runs.get(run.id).epoch > 0)
    pid = project.runs.worker_state()["pid"]
    os.kill(pid, signal.SIGKILL)
    lost = ended(project, run.id)
    assert lost.status == "failed"
    assert str(pid) in lost.message
    assert project.verdicts.counts()["anomalous"] == 1

    again = project.runs.start("probe")
    assert ended(project, again.id).status == "done"
    assert project.runs.worker_state()["pid"] != pid


def test_a_defect_ends_the_worker_and_the_waiting_run_gets_a_new_one(project: Workspace) -> None:
    broken = project.runs.start("probe", params={"mode": "defect"})
    waiting = project.runs.start("probe")
    until(lambda: project.runs.active() is None)  # looking is what starts the next worker
    assert "KeyError" in project.runs.get(broken.id).message
    assert project.runs.get(waiting.id).status == "done"
    assert "KeyError" in (project.settings.home / "worker.log").read_text()


class Clock:
    """Time that passes only in sleep; ``at`` is done when its moment has come."""

    def __init__(self, at: float, do: Callable[[], object]) -> None:
        self.now, self.sleeps, self._at, self._do = 0.0, 0, at, do

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now, self.sleeps = self.now + seconds, self.sleeps + 1
        if self.now >= self._at:
            self._at = float("inf")
            self._do()


@pytest.mark.parametrize("idle", [0.0, 1.0, 600.0])
def test_an_idle_worker_looks_seldom_and_hears_a_call_at_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, idle: float
) -> None:
    lock = FileLock(workers.worker_lock(settings, "layout"))
    worker = runner.Worker(settings, open_store(settings), "layout", lock)
    called = idle + 0.55
    clock = Clock(called, lambda: workers.wake(settings, "layout"))
    clock.now = idle
    monkeypatch.setattr(runner, "time", clock)
    worker._wait(worker._stamp(), 0.0)
    assert called <= clock.now <= called + 0.11
    assert clock.sleeps <= (60 if idle < 0.5 else 28 if idle < 5 else 6)


def test_a_second_worker_of_a_folder_steps_aside(home: Path) -> None:
    settings = Settings.from_env()
    lock = FileLock(workers.worker_lock(settings, "layout"))
    with lock:
        assert lock.acquire(lane="layout")
        command = [sys.executable, "-m", "gadcore.jobs", "layout"]
        assert subprocess.run(command, cwd=ROOT, check=False, timeout=PATIENCE).returncode == 0
        assert is_held(lock.path)


def test_an_unknown_lane_is_refused(home: Path) -> None:
    command = [sys.executable, "-m", "gadcore.jobs", "cook"]
    seen = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert seen.returncode == 1
    assert "train, layout or apart" in seen.stderr
