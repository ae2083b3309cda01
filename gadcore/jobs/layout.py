"""Maps of a run's embedding that keep still from run to run."""

from __future__ import annotations

from gadcore.errors import RunError
from gadcore.graph import FloatArray
from gadcore.jobs.kind import Job, Kind
from gadcore.records import RunInfo
from gadcore.store import Result, Store
from gadcore.store.artefacts import write_array


class LayoutKind(Kind):
    """A map of ``payload["kind"]`` of the run ``payload["run"]``, kept with the run."""

    name = "layout"
    work = "layout"
    lane = "layout"
    attempts = 2

    def do(self, job: Job) -> None:
        kind, result = str(job.payload["kind"]), job.result_of(job.payload["run"])
        run = result.info
        if result.embedding is None:
            raise RunError(
                f"The model {run.model!r} of run {run.number} has no embedding, so there is no map."
            )
        if result.layout(kind) is None:
            drawn = draw(job.store, run, kind, result.embedding)
            job.stop_if_asked()
            write_array(result.folder / f"layout_{kind}.npy", drawn, job.id)


def draw(store: Store, run: RunInfo, kind: str, embedding: FloatArray) -> FloatArray:
    """Map of a run's embedding, close to the one of the run before."""
    from gadcore.insight.layout import layout

    return layout(kind, embedding, previous=_previous(store, run, kind), seed=run.seed)


def _previous(store: Store, run: RunInfo, kind: str) -> FloatArray | None:
    """The same kind of map of the latest earlier run that has one."""
    for earlier in store.runs.of_project(run.project, "done"):
        if earlier.number < run.number and earlier.graph_fingerprint == run.graph_fingerprint:
            found = Result(earlier, store.folders.run(run.project, earlier.id)).layout(kind)
            if found is not None:
                return found
    return None
