"""An open project: its graph, label set and results, each read once per process and shared."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gadcore.access import LOCAL, Who
from gadcore.derive.views import Views
from gadcore.errors import NotFound, RunError
from gadcore.graph import FloatArray, Graph
from gadcore.graph.labels import LabelEvent, Labels
from gadcore.ingest.seen import seen_with
from gadcore.jobs.lost import end_lost
from gadcore.loop.order import Choice
from gadcore.records import RunInfo
from gadcore.records.versions import VersionInfo
from gadcore.settings import Settings
from gadcore.shelf import Shelf
from gadcore.store import LabelView, Result, Store, open_store
from gadcore.workspace.label_state import LabelState, LatestLabels

GRAPHS, RESULTS, DERIVED = Shelf(4), Shelf(48), Shelf(64)


class Project:
    """One project of a store, and the person who works on it."""

    def __init__(self, settings: Settings, project: str, who: Who = LOCAL) -> None:
        self.settings, self.who = settings, who
        self.store: Store = open_store(settings)
        self.id: str = self.store.projects.get(project).id
        self.past = False  # an earlier version, to be looked at only
        self.follow()

    def follow(self) -> None:
        """Turn to the version of the graph that is the present one now."""
        row = self.store.projects.get(self.id)
        self.name: str = row.name
        self._at(row.version, row.fingerprint, row.has_truth)

    def look_back(self, version: VersionInfo) -> None:
        """Turn to an earlier version, which nobody can change."""
        self.past = True
        self._at(version.number, version.fingerprint, version.has_truth)

    def _at(self, version: int, fingerprint: str, has_truth: bool) -> None:
        self.version, self.fingerprint, self.has_truth = version, fingerprint, has_truth

    @property
    def version_key(self) -> str:
        """What tells this version from every other, also from those of other workspaces."""
        return str(self.store.folders.graph(self.id, self.version))

    @property
    def graph(self) -> Graph:
        """The graph, opened once per process."""
        folder = self.store.folders.graph(self.id, self.version)
        return GRAPHS.get((self.id, self.fingerprint), lambda: Graph.load(folder))

    def graph_seen_by(self, result: Result) -> Graph:
        """The graph as the model of a run sees it: with other scales where it learnt on another version."""
        if result.seen is None:
            return self.graph
        key, encoding = ("seen", result.info.id), result.seen
        found: Graph = DERIVED.get(key, lambda: seen_with(self.graph, encoding))
        return found

    def basis(self) -> FloatArray | None:
        """(N, r) directions of the graph for diverse queries; None before the first run."""
        return self._kept(self.store.folders.basis(self.id, self.version))

    def views(self) -> Views | None:
        """Views of the graph; None before the first run."""
        found = self._kept(self.store.folders.views(self.id, self.version))
        return None if found is None or found.shape[1] != self.graph.n_nodes else Views(found)

    def _kept(self, path: Path) -> FloatArray | None:
        if not path.exists():
            return None
        key = ("kept", str(path))
        # As a plain array: what is worked out of it is kept by the array that it is.
        load = partial(np.load, path, mmap_mode="r", allow_pickle=False)
        found: FloatArray = DERIVED.get(key, lambda: np.asarray(load()))
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
        found = [_first_as_now(view.first[node], event) for node, event in view.current.items()]
        return sorted(found, key=attrgetter("id"))

    def labels(self) -> Labels:
        """Current label set as node indices."""
        return self.label_state().labels

    def verdicts(self) -> npt.NDArray[np.int8]:
        """(N,) as in ``Labels.as_array``; for reading only."""
        return self.label_state().verdicts

    def label_state(self) -> LabelState:
        """The label set with what was worked out of it, shared with all who work on the project."""
        latest = DERIVED.get(("labels", self.id, self.fingerprint), LatestLabels)
        return latest.at(self.store.events(self.id), self.graph)

    def result(self, run_id: str | None = None) -> Result | None:
        """Result of a run, else of the run in use; None when there is none yet."""
        used = self.run_in_use()
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

    def run_in_use(self) -> str | None:
        """Id of the run whose scores are shown; of another version than the present one, its newest."""
        used = self.store.projects.run_in_use(self.id)
        if not self.past and (used is None or self._opened(used).info.version == self.version):
            return used
        done = self.store.runs.done_ids(self.id, self.fingerprint)
        return done[-1] if done else None

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
        """The name of the login; without one the given analyst, else the one of the settings."""
        return self.who.name or (name or "").strip() or self.settings.analyst

    def own_run(self, run_id: str) -> str:
        """The id of a run of this project, given by id or by number; NotFound otherwise."""
        for run in self.store.runs.of_project(self.id):
            if run_id in (run.id, str(run.number)):
                return run.id
        raise NotFound(f"There is no run {run_id!r} in project {self.name!r}. List them with: runs.")


def _first_as_now(first: LabelEvent, now: LabelEvent) -> LabelEvent:
    """The first event of a node, with the verdict that holds now."""
    return first if first.verdict is now.verdict else replace(first, verdict=now.verdict)
