"""Practice: simulated analysts, one per strategy, on a project whose answers are known."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from gadcore.graph import Graph, Truth
from gadcore.jobs.kind import Job, Kind
from gadcore.studies.sessions import Step, simulate


class PracticeKind(Kind):
    """One session per strategy of the payload, one after the other; labels and runs are left alone.

    Progress after every batch, and the result at the end:

        {"anomalies", "askable", "curves": {strategy: {"labels": […], "found": […], "auc": […], "ap": […]}}}
    """

    name = "practice"
    work = "practice"
    lane = "apart"

    def do(self, job: Job) -> Any:
        version = job.store.projects.get(job.project).version
        truth = Truth(np.load(job.store.folders.truth(job.project, version), allow_pickle=False))
        graph, curves = Graph.load(job.graph_folder(version)), dict[str, dict[str, list[Any]]]()
        settings = {name: job.payload[name] for name in ("labels", "wrong", "seed", "model")}
        found: dict[str, Any] = {"anomalies": None, "askable": None, "curves": curves}
        for strategy in job.payload["strategies"]:
            curve = curves[strategy] = {"labels": [], "found": [], "auc": [], "ap": []}

            def keep(step: Step, strategy: str = strategy, curve: dict[str, list[Any]] = curve) -> None:
                for name, values in curve.items():
                    values.append(getattr(step, name))
                job.pulse.tell(**deepcopy(found))
                job.listen(strategy, step)
                job.stop_if_asked()

            session = simulate(graph, truth, strategy, on_step=keep, **settings)
            found["anomalies"] = session.anomalies
            found["askable"] = int(truth.known.sum()) - len(session.held_out)
        return found
