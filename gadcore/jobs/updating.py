"""Files that arrived for a project are read here, apart: what they change is told before it is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gadcore.graph import Graph, Truth
from gadcore.ingest.updated import read_update
from gadcore.insight.graph_changes import told_changes
from gadcore.jobs.kind import Job, Kind
from gadcore.jobs.reading import leave
from gadcore.records import as_json


class UpdatingKind(Kind):
    """``payload["source"]`` as the next version of the project's graph, left in a subfolder of ["folder"].

    The result has its report, what it changes, and the version that it was read for.
    """

    name = "updating"
    work = "reading"
    lane = "apart"
    lighter = "Read a smaller file, or use a machine with more memory."

    def do(self, job: Job) -> Any:
        job.pulse.tell(stage="reading")
        row, folders = job.store.projects.get(job.project), job.store.folders
        graph, known = Graph.load(job.graph_folder(row.version)), folders.truth(job.project, row.version)
        truth = Truth(np.load(known, allow_pickle=False)) if known.exists() else None
        found = read_update(
            graph, truth, job.payload["source"], way=job.payload["way"], settings=job.settings
        )
        reports = (folders.report(job.project, row.version), found.report)
        labelled = job.store.events(job.project).view().current
        changes = told_changes(graph, found.graph, labelled, reports)
        leave(job, found, Path(job.payload["folder"]) / job.id)
        return {"report": as_json(found.report), "changes": changes.as_json(), "parent": row.version}
