"""After an update: the model in use scores the new version, and a run that learns from it may follow."""

from __future__ import annotations

import uuid

from gadcore.jobs import workers
from gadcore.jobs.runner import carry_out
from gadcore.records import RunInfo
from gadcore.workspace.preferences import RETRAIN_AFTER_UPDATE
from gadcore.workspace.project import Project
from gadcore.workspace.runs import Runs

_OF_MODEL = ("model", "params", "seed", "device", "label_hash", "normal", "anomalous", "unsure")


def carry_over(project: Project, used: str | None, *, wait: bool, retrain: bool | None) -> None:
    """Have the model of the run ``used`` score the present version; nothing where there was none."""
    if used is None:
        return
    before = project.store.runs.get(used)
    if wait:
        _carry_here(project, before)
    else:
        _add(project, before, None)
    wanted = project.store.projects.preference(project.id, RETRAIN_AFTER_UPDATE, False)
    if wanted if retrain is None else retrain:
        Runs(project).start(before.model, params=before.params, seed=before.seed, device=before.device)
    if not wait or project.active_run() is not None:
        workers.call(project.settings, "train")


def _carry_here(project: Project, before: RunInfo) -> None:
    run_id = uuid.uuid4().hex
    carry_out(project.store, project.settings, run_id, begin=lambda: _add(project, before, run_id))


def _add(project: Project, before: RunInfo, job_id: str | None) -> RunInfo:
    values = {name: getattr(before, name) for name in _OF_MODEL}
    values |= {"graph_fingerprint": project.fingerprint, "version": project.version, "for_use": True}
    by = project.analyst(None)
    return project.store.runs.add(project.id, values, carried=before.id, job_id=job_id, by=by)
