"""An open project: its graph, label set and results, each read once per process and shared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.errors import NotFound, RunError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import LabelEvent, Labels
from gadcore.jobs.lost import end_lost
from gadcore.loop.order import Choice
from gadcore.records import RunInfo
from gadcore.settings import Settings
from gadcore.shelf import Shelf
from gadcore.store import LabelView, Result, Store, open_store

GRAPHS, RESULTS, DERIVED = Shelf(4), Shelf(48), Shelf(64)


class Project:
    """One project of a store."""

    def __init__(self, settings: Settings, project: str) -> None:
        self.settings = settings
        self.store: Store = open_store(settings)
        row = self.store.projects.get(project)
        self.id: str = row.id
        self.name: str = row.name
        self.fingerprint: str = row.fingerprint
        self.has_truth: bool = row.has_truth
        self._labels: tuple[int, Labels, npt.NDArray[np.int8]] | None = None

    @property
    def graph(self) -> Graph:
        """The graph, opened once per process."""
        folder = self.store.folders.graph(self.id)
        return GRAPHS.get((self.id, self.fingerprint), lambda: Graph.load(folder))

    def basis(self) -> FloatArray | None:
        """(N, r) directions of the graph for diverse queries; None before the first run."""
        path = self.store.folders.basis(self.id)
        if not path.exists():
            return None
        found: FloatArray = DERIVED.get(("basis", str(path)), lambda: np.load(path, allow_pickle=False))
        return found

    def view(self) -> LabelView:
        """Current label events and notes."""
        return self.store.events(self.id).view()

    def standing(self, node_id: str | None = None) -> list[LabelEvent]:
        """Every label event (of a node) that is not taken back, oldest first: verdicts of all analysts."""
        return self.store.events(self.id).standing(node_id)

    def verdicts_in_order(self) -> list[LabelEvent]:
        """One event per labelled node: its first one, which tells how the case was drawn, in that order.

        The verdict is the one that holds now. One that is changed or settled later must not take its node
        out of the random sample.
        """
        view = self.view()
        found = [replace(view.first[node], verdict=event.verdict) for node, event in view.current.items()]
        return sorted(found, key=lambda event: event.id)

    def labels(self) -> Labels:
        """Current label set as node indices."""
        return self._label_state()[1]

    def verdicts(self) -> npt.NDArray[np.int8]:
        """(N,) as in ``Labels.as_array``; for reading only."""
        return self._label_state()[2]

    def _label_state(self) -> tuple[int, Labels, npt.NDArray[np.int8]]:
        view = self.view()
        known = self._labels
        if known is None or known[0] != view.last_id:
            labels = view.labels(self.graph)
            known = (view.last_id, labels, labels.as_array(self.graph.n_nodes))
            self._labels = known
        return known

    def result(self, run_id: str | None = None) -> Result | None:
        """Result of a run, else of the run in use; None when there is none yet."""
        used = self.store.projects.run_in_use(self.id)
        wanted = run_id or used
        if wanted is None:
            return None
        found = self._opened(wanted)
        if found.info.status != "done":  # a run that was looked at before it ended
            found.info = self.store.runs.get(wanted)
        if found.info.status != "done":
            return None
        if found.info.in_use != (wanted == used):
            found.info = replace(found.info, in_use=wanted == used)
        return found

    def result_in_use(self) -> Result:
        """The result in use; RunError when there is none."""
        result = self.result()
        if result is None:
            raise RunError(
                f"The project {self.name!r} has no scores yet. "
                "Train first: press Retrain, or run: ringfence train --project NAME."
            )
        return result

    def active_run(self) -> RunInfo | None:
        """The run that is under way, else the one that waits, else None."""
        end_lost(self.store, self.id)
        live = self.store.runs.of_project(self.id, "queued", "running")
        return next((run for run in live if run.status == "running"), live[-1] if live else None)

    def unranked(self) -> str:
        """What is said of a node while there is no finished run."""
        return "not ranked yet: " + ("the first run is under way" if self.active_run() else "train first")

    def results(self) -> list[Result]:
        """Results of all done runs on the present graph, oldest first."""
        return [self._opened(run_id) for run_id in self.store.runs.done_ids(self.id, self.fingerprint)]

    def _opened(self, run_id: str) -> Result:
        folder = self.store.folders.run(self.id, run_id)
        return RESULTS.get(str(folder), lambda: Result(self.store.runs.get(run_id), folder))

    def result_before(self, result: Result) -> Result | None:
        """Result of the run before a given one; of the same model if there is one"""
        earlier = [other for other in self.results() if other.info.number < result.info.number]
        alike = (other for other in reversed(earlier) if other.info.model == result.info.model)
        return next(alike, earlier[-1] if earlier else None)

    def results_like(self, result: Result) -> list[Result]:
        """Results of the model of a given one, oldest first."""
        return [other for other in self.results() if other.info.model == result.info.model]

    def choice(self, **given: Any) -> Choice:
        """How the project prefers its cases to be chosen; what is ``given`` and not None counts instead."""
        return self.store.projects.choice(self.id, **given)

    def node(self, node_id: str) -> int:
        """Row of a node; NotFound otherwise."""
        return self.graph.index_of(node_id)

    def analyst(self, name: str | None) -> str:
        """The given analyst, else the one of the settings."""
        return (name or "").strip() or self.settings.analyst

    def own_run(self, run_id: str) -> str:
        """The id of a run of this project, given by id or by number; NotFound otherwise."""
        for run in self.store.runs.of_project(self.id):
            if run_id in (run.id, str(run.number)):
                return run.id
        raise NotFound(f"There is no run {run_id!r} in project {self.name!r}. List them with: runs.")
