"""Practice on a project whose answers are known: simulated analysts, one per strategy, side by side.

The project's labels and runs are left alone. What a practice has found so far is kept in practice.json of the
project, written after every batch, so that a page can draw it while it goes on in a process of its own:

    {"status": "running" | "done" | "failed", "message", "strategies", "labels", "wrong", "seed", "model",
     "anomalies", "askable", "curves": {strategy: {"labels": […], "found": […], "auc": […], "ap": […]}}}
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gadcore.errors import GadError, RunError
from gadcore.experiments.sessions import SESSION_STRATEGIES, Step, simulate
from gadcore.settings import ROOT
from gadcore.store import FileLock, Folders, is_held, read_holder
from gadcore.worker import environment
from gadcore.workspace import Workspace

Document = dict[str, Any]
OnProgress = Callable[[str, Step], None]

LABELS = 100
FILE, LOG = "practice.json", "practice.log"

_GUARD = threading.Lock()
_STARTED: dict[tuple[Path, str], subprocess.Popen[bytes]] = {}


def practise(
    workspace: Workspace,
    strategies: Sequence[str],
    *,
    labels: int = LABELS,
    wrong: float = 0.0,
    seed: int = 0,
    model: str = "an+",
    on_progress: OnProgress | None = None,
) -> Document:
    """Simulate one session per strategy, one after the other, in this process."""
    document = _fresh(strategies, labels=labels, wrong=wrong, seed=seed, model=model)
    truth = workspace.truth()
    with FileLock(_lock(workspace)) as lock:
        if not lock.acquire():
            raise RunError(f"A practice on {workspace.name!r} is running. Wait for its end, or stop it.")
        try:
            for strategy in document["strategies"]:
                _one(workspace, truth, strategy, document, on_progress)
        except GadError as error:
            _write(workspace, document | {"status": "failed", "message": str(error)})
            raise
        document["status"] = "done"
        _write(workspace, document)
    return document


def _one(
    workspace: Workspace, truth: Any, strategy: str, document: Document, on_progress: OnProgress | None
) -> None:
    curve: dict[str, list[float | None]] = {"labels": [], "found": [], "auc": [], "ap": []}
    document["curves"][strategy] = curve

    def keep(step: Step) -> None:
        for name, values in curve.items():
            values.append(getattr(step, name))
        _write(workspace, document)
        if on_progress is not None:
            on_progress(strategy, step)

    settings = {name: document[name] for name in ("labels", "wrong", "seed", "model")}
    session = simulate(workspace.graph, truth, strategy, on_step=keep, **settings)
    document["anomalies"] = session.anomalies
    document["askable"] = int(truth.known.sum()) - len(session.held_out)


def start(
    workspace: Workspace,
    strategies: Sequence[str],
    *,
    labels: int = LABELS,
    wrong: float = 0.0,
    seed: int = 0,
    model: str = "an+",
) -> None:
    """Practise in a process of its own; returns at once, ``state`` tells how it goes."""
    document = _fresh(strategies, labels=labels, wrong=wrong, seed=seed, model=model)
    workspace.truth()
    with _GUARD:
        if _alive(workspace):
            raise RunError(f"A practice on {workspace.name!r} is running. Wait for its end, or stop it.")
        _write(workspace, document)
        options = [f"--labels={labels}", f"--wrong={wrong}", f"--seed={seed}", f"--model={model}"]
        command = ["practice", "--json", "--project", workspace.id, *options, "--strategy", *strategies]
        with (_folder(workspace) / LOG).open("wb") as log:
            _STARTED[_key(workspace)] = subprocess.Popen(
                [sys.executable, "-m", "gadcore", *command],
                cwd=ROOT,
                env=environment(workspace.settings),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )


def state(workspace: Workspace) -> Document | None:
    """The last practice as far as it has come; None if there was none."""
    alive = _alive(workspace)  # asked first: what ends meanwhile has written its end
    try:
        document: Document = json.loads((_folder(workspace) / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if document["status"] == "running" and not alive:
        reason = f"The practice was stopped or ended early. What it said is in {_folder(workspace) / LOG}."
        return document | {"status": "failed", "message": reason}
    return document


def stop(workspace: Workspace) -> None:
    """End a practice that runs; what it found so far stays."""
    with _GUARD:
        own = _STARTED.pop(_key(workspace), None)
    if own is not None:
        own.terminate()
        own.wait()
        document = state(workspace)
        if document is not None and document["status"] == "failed":
            _write(workspace, document | {"message": "Stopped before its end."})
    elif is_held(_lock(workspace)) and (pid := read_holder(_lock(workspace)).get("pid")):
        os.kill(int(pid), 15)


def _fresh(strategies: Sequence[str], **settings: Any) -> Document:
    chosen = list(dict.fromkeys(strategies))
    unknown = [name for name in chosen if name not in SESSION_STRATEGIES]
    if unknown or not chosen:
        raise GadError(
            f"Strategies to practise with: {', '.join(unknown) or 'none given'}. Expected some of: "
            f"{', '.join(SESSION_STRATEGIES)}."
        )
    counts = {"anomalies": None, "askable": None}
    return {"status": "running", "message": "", "strategies": chosen, **settings, **counts, "curves": {}}


def _write(workspace: Workspace, document: Document) -> None:
    """Replace practice.json in one step: a reader never sees half of it."""
    path = _folder(workspace) / FILE
    part = path.with_name(f"{FILE}.{os.getpid()}.part")
    part.write_text(json.dumps(document), encoding="utf-8")
    os.replace(part, path)


def _alive(workspace: Workspace) -> bool:
    own = _STARTED.get(_key(workspace))
    return (own is not None and own.poll() is None) or is_held(_lock(workspace))


def _key(workspace: Workspace) -> tuple[Path, str]:
    return workspace.settings.home, workspace.id


def _folder(workspace: Workspace) -> Path:
    return Folders(workspace.settings.home).project(workspace.id)


def _lock(workspace: Workspace) -> Path:
    return Folders(workspace.settings.home).lock(f"practice-{workspace.id}")
