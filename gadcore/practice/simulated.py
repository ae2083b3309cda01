"""Practice on a project whose answers are known: simulated analysts, one per strategy, side by side.

The project's labels and runs are left alone. A practice is told as a document, while it goes on too:

    {"status": "running" | "done" | "failed", "message", "strategies", "labels", "wrong", "seed", "model",
     "anomalies", "askable", "curves": {strategy: {"labels": […], "found": […], "auc": […], "ap": […]}}}
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Row

from gadcore.detectors import REGISTRY
from gadcore.errors import GadError, LabelError, ModelError, RunError
from gadcore.jobs import ask
from gadcore.jobs.lost import end_lost
from gadcore.jobs.runner import carry_out
from gadcore.store import LIVE, Store, open_store
from gadcore.studies.sessions import LEAST, SESSION_STRATEGIES, Step
from gadcore.workspace import Workspace

Document = dict[str, Any]
OnProgress = Callable[[str, Step], None]

LABELS = 100
KIND = "practice"


def practise(
    workspace: Workspace, strategies: Sequence[str], *, on_progress: OnProgress | None = None, **settings: Any
) -> Document:
    """Simulate one session per strategy in this process; settings are those of ``start``."""
    payload, store, job_id = _checked(workspace, strategies, **settings), _store(workspace), uuid.uuid4().hex
    begin = partial(store.jobs.add, KIND, payload, workspace.id, alone=True, job_id=job_id)
    carry_out(store, workspace.settings, job_id, begin=begin, listen=on_progress)
    row = store.jobs.get(job_id)
    if row.status != "done":
        raise RunError(row.message)
    return _document(row)


def start(workspace: Workspace, strategies: Sequence[str], **settings: Any) -> None:
    """Have it simulated in the background: ``labels``, ``wrong`` (share of verdicts), ``seed``, ``model``."""
    workspace.check("practice")
    payload = _checked(workspace, strategies, **settings)
    ask.ask(workspace.settings, KIND, payload, workspace.id, alone=True)


def state(workspace: Workspace) -> Document | None:
    """The last practice as far as it has come; None if there was none.

    One that ended before its first batch is told with the practice before it.
    """
    rows = _store(workspace).jobs.of_project(workspace.id, KIND)
    if rows:
        rows[0] = ask.look(workspace.settings, rows[0].id)
    known = [*map(_document, rows), *_kept_earlier(workspace)]
    if not known or known[0]["status"] != "failed" or _has_batch(known[0]):
        return known[0] if known else None
    before = next(filter(_has_batch, known), None)
    if before is None:
        return known[0]
    return before | {"status": "failed", "message": f"{known[0]['message']} Shown is the practice before it."}


def stop(workspace: Workspace) -> None:
    """End a practice that runs; what it found so far stays."""
    workspace.check("practice")
    for row in _store(workspace).jobs.of_project(workspace.id, KIND):
        if row.status in LIVE:
            ask.stop(workspace.settings, row.id)


def _document(row: Row[Any]) -> Document:
    status = "running" if row.status in LIVE else "done" if row.status == "done" else "failed"
    found = {"anomalies": None, "askable": None, "curves": dict[str, Any]()} | (row.result or row.progress)
    return {"status": status, "message": row.message, **row.payload, **found}


def _has_batch(document: Document) -> bool:
    batches = any(max(curve["labels"], default=0) > 0 for curve in document["curves"].values())
    return batches or document["status"] == "done"


def _kept_earlier(workspace: Workspace) -> list[Document]:
    """The practice that an earlier version kept in a file, as far as it came."""
    path = _store(workspace).folders.project(workspace.id) / "practice.json"
    try:
        document: Document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    ended = {"status": "failed", "message": "The practice was stopped or ended early."}
    return [document | ended if document["status"] == "running" else document]


def _checked(
    workspace: Workspace,
    strategies: Sequence[str],
    *,
    labels: int = LABELS,
    wrong: float = 0.0,
    seed: int = 0,
    model: str = "an+",
) -> dict[str, Any]:
    """What is asked of a job; GadError for what cannot be practised."""
    chosen = list(dict.fromkeys(strategies))
    unknown = [name for name in chosen if name not in SESSION_STRATEGIES]
    if unknown or not chosen:
        raise GadError(
            f"Strategies to practise with: {', '.join(unknown) or 'none given'}. Expected some of: "
            f"{', '.join(SESSION_STRATEGIES)}."
        )
    if labels < 1:
        raise GadError(f"A practice of {labels} labels. Expected: at least 1.")
    if not 0 <= wrong < 1:
        raise GadError(f"A share of wrong verdicts of {wrong:g}. Expected: from 0 to below 1.")
    if seed < 0:
        raise GadError(f"The seed {seed}. Expected: 0 or more.")
    if model not in REGISTRY:
        raise ModelError(f"There is no model {model!r}. Expected one of: {', '.join(REGISTRY)}.")
    _check_truth(workspace)
    end_lost(_store(workspace), workspace.id)  # one whose process is gone is not in the way
    return {"strategies": chosen, "labels": labels, "wrong": wrong, "seed": seed, "model": model}


def _check_truth(workspace: Workspace) -> None:
    """LabelError when the known answers leave nothing to find or nothing to score."""
    truth = workspace.data.truth()
    for value, word in ((0, "normal"), (1, "anomalous")):
        count = int((truth.y == value).sum())
        if count < LEAST:
            raise LabelError(
                f"The known answers have {count} {word} node{'s' * (count != 1)}. Practice needs at least "
                f"{LEAST}: one to find, and one that is never asked about and measures the model."
            )


def _store(workspace: Workspace) -> Store:
    return open_store(workspace.settings)
