"""Incoming files are looked at and read here: a bad one costs this process its time and memory, no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gadcore.ingest import Mapping, Reading, peek, read
from gadcore.jobs.kind import Job, Kind
from gadcore.records import as_json
from gadcore.store.artefacts import aside


class LookKind(Kind):
    """A first look at ``payload["source"]``; the result is the Peek as JSON."""

    name = "look"
    work = "first look at the file"
    lane = "apart"
    cpu_seconds = 60
    lighter = "Use a smaller file, or a machine with more memory."

    def do(self, job: Job) -> Any:
        return peek(job.payload["source"]).as_json()


class ReadingKind(Kind):
    """The graph of ``payload["source"]``, left in a subfolder of ``["folder"]``; the result is its report."""

    name = "reading"
    work = "reading"
    lane = "apart"
    lighter = "Read a smaller file, ignore columns that are not needed, or use a machine with more memory."

    def do(self, job: Job) -> Any:
        folder = Path(job.payload["folder"]) / job.id
        job.pulse.tell(stage="reading")
        mapping = job.payload["mapping"]
        found = read(job.payload["source"], mapping=Mapping.from_json(mapping) if mapping else None)
        leave(job, found, folder)
        return as_json(found.report)


def leave(job: Job, found: Reading, folder: Path) -> None:
    """Leave a graph that was read in a folder, for whoever stores it."""
    job.stop_if_asked()
    job.pulse.tell(stage="storing")
    part = aside(folder, job.id)
    found.graph.save(part / "graph")
    if found.truth is not None:
        np.save(part / "truth.npy", found.truth.y)
    part.rename(folder)
