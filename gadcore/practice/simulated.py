"""Practice on a project whose answers are known: simulated analysts, one per strategy, side by side.

The project's labels and runs are left alone. What a practice has found so far is kept in practice.json of the
project, written after every batch, so that a page can draw it while it goes on in a process of its own. Until
its first batch it stands in a file beside it, and the practice before is kept:

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

from gadcore.detectors import REGISTRY
from gadcore.errors import GadError, LabelError, ModelError, RunError
from gadcore.graph import Truth
from gadcore.settings import child_environment
from gadcore.store import FileLock, Folders, is_held, read_holder
from gadcore.studies.sessions import LEAST, SESSION_STRATEGIES, Step, simulate
from gadcore.workspace import Workspace

Document = dict[str, Any]
OnProgress = Callable[[str, Step], None]

LABELS = 100
FILE, BEGUN, LOG = "practice.json", "practice.begun.json", "practice.log"

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
    truth = _checked_truth(workspace)
    with FileLock(_lock(workspace)) as lock:
        if not lock.acquire():
            raise RunError(f"A practice on {workspace.name!r} is running. Wait for its end, or stop it.")
        _remove_foreign_log(workspace)
        _write(workspace, document)
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
    workspace: Workspace, truth: Truth, strategy: str, document: Document, on_progress: OnProgress | None
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
    _checked_truth(workspace)
    with _GUARD:
        if _alive(workspace):
            raise RunError(f"A practice on {workspace.name!r} is running. Wait for its end, or stop it.")
        _write(workspace, document)
        options = [f"--labels={labels}", f"--wrong={wrong}", f"--seed={seed}", f"--model={model}"]
        command = ["practice", "--json", "--project", workspace.id, *options, "--strategy", *strategies]
        with (_folder(workspace) / LOG).open("wb") as log:
            _STARTED[_key(workspace)] = subprocess.Popen(
                [sys.executable, "-m", "gadcore", *command],
                env=child_environment(workspace.settings),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )


def state(workspace: Workspace) -> Document | None:
    """The last practice as far as it has come; None if there was none."""
    alive = _alive(workspace)  # asked first: what ends meanwhile has written its end
    begun, kept = _read(workspace, BEGUN), _read(workspace, FILE)
    latest = begun or kept
    if latest is not None and latest["status"] == "running" and not alive:
        latest = latest | {"status": "failed", "message": _ended_early(workspace)}
    if begun is None or kept is None or latest is None or latest["status"] == "running":
        return latest
    return kept | {"status": "failed", "message": f"{latest['message']} Shown is the practice before it."}


def _ended_early(workspace: Workspace) -> str:
    log = _folder(workspace) / LOG
    said = f" What it said is in {log}." if log.exists() and log.stat().st_size else ""
    return f"The practice was stopped or ended early.{said}"


def stop(workspace: Workspace) -> None:
    """End a practice that runs; what it found so far stays."""
    with _GUARD:
        own = _STARTED.pop(_key(workspace), None)
    if own is not None:
        own.terminate()
        own.wait()
        document = _read(workspace, BEGUN) or _read(workspace, FILE)
        if document is not None and document["status"] == "running":
            _write(workspace, document | {"status": "failed", "message": "Stopped before its end."})
    elif is_held(_lock(workspace)) and (pid := read_holder(_lock(workspace)).get("pid")):
        os.kill(int(pid), 15)


def _fresh(strategies: Sequence[str], **settings: Any) -> Document:
    """The document of a practice that begins; GadError for what cannot be practised.

    All is checked here, as what is refused must not replace the practice before it.
    """
    chosen = list(dict.fromkeys(strategies))
    _check(**settings)
    unknown = [name for name in chosen if name not in SESSION_STRATEGIES]
    if unknown or not chosen:
        raise GadError(
            f"Strategies to practise with: {', '.join(unknown) or 'none given'}. Expected some of: "
            f"{', '.join(SESSION_STRATEGIES)}."
        )
    counts = {"anomalies": None, "askable": None}
    return {"status": "running", "message": "", "strategies": chosen, **settings, **counts, "curves": {}}


def _check(*, labels: int, wrong: float, seed: int, model: str) -> None:
    if labels < 1:
        raise GadError(f"A practice of {labels} labels. Expected: at least 1.")
    if not 0 <= wrong < 1:
        raise GadError(f"A share of wrong verdicts of {wrong:g}. Expected: from 0 to below 1.")
    if seed < 0:
        raise GadError(f"The seed {seed}. Expected: 0 or more.")
    if model not in REGISTRY:
        raise ModelError(f"There is no model {model!r}. Expected one of: {', '.join(REGISTRY)}.")


def _checked_truth(workspace: Workspace) -> Truth:
    """The known answers; LabelError when they leave nothing to find or nothing to score."""
    truth = workspace.data.truth()
    for value, word in ((0, "normal"), (1, "anomalous")):
        count = int((truth.y == value).sum())
        if count < LEAST:
            raise LabelError(
                f"The known answers have {count} {word} node{'s' * (count != 1)}. Practice needs at least "
                f"{LEAST}: one to find, and one that is never asked about and measures the model."
            )
    return truth


def _write(workspace: Workspace, document: Document) -> None:
    """Keep a practice; one without a batch yet does not replace the one before it."""
    batches = any(max(curve["labels"], default=0) > 0 for curve in document["curves"].values())
    name = FILE if batches or document["status"] == "done" else BEGUN
    path = _folder(workspace) / name
    part = path.with_name(f"{name}.{os.getpid()}.part")
    part.write_text(json.dumps(document), encoding="utf-8")
    os.replace(part, path)  # in one step: a reader never sees half of it
    if name == FILE:
        path.with_name(BEGUN).unlink(missing_ok=True)


def _read(workspace: Workspace, name: str) -> Document | None:
    try:
        document: Document = json.loads((_folder(workspace) / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document


def _remove_foreign_log(workspace: Workspace) -> None:
    """Remove what an earlier practice said, unless it is this process that writes there."""
    log = _folder(workspace) / LOG
    if log.exists() and not os.path.samestat(os.fstat(2), log.stat()):
        log.unlink()


def _alive(workspace: Workspace) -> bool:
    own = _STARTED.get(_key(workspace))
    return (own is not None and own.poll() is None) or is_held(_lock(workspace))


def _key(workspace: Workspace) -> tuple[Path, str]:
    return workspace.settings.home, workspace.id


def _folder(workspace: Workspace) -> Path:
    return Folders(workspace.settings.home).project(workspace.id)


def _lock(workspace: Workspace) -> Path:
    return Folders(workspace.settings.home).lock(f"practice-{workspace.id}")
