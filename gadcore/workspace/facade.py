"""The Workspace class: thin methods over the modules of this package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadcore import worker
from gadcore.graph import FloatArray, Graph, Truth
from gadcore.records import (
    Explanation,
    Neighbourhood,
    NodeCard,
    ProjectInfo,
    ProposedRing,
    QueueRow,
    RunComparison,
    RunInfo,
)
from gadcore.runs import OnProgress, Result, end_lost_runs
from gadcore.runs.orders import Choice
from gadcore.settings import Settings
from gadcore.workspace import catalogue, maps, node_cards, ordering, training
from gadcore.workspace.insight import Insight
from gadcore.workspace.preferences import checked_preference
from gadcore.workspace.project import Project
from gadcore.workspace.queue_rows import Filter, positive, rows, search_index
from gadcore.workspace.training import Request
from gadcore.workspace.verdicts import Verdicts

if TYPE_CHECKING:
    from gadcore.ingest import Reading

DEFAULT_MODEL = "an+"


class Workspace(Insight, Verdicts):
    """An open project. Cheap to open; safe to share between threads."""

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        self.id, self.name, self.settings = project.id, project.name, project.settings

    # Projects

    @classmethod
    def open(cls, project: str, settings: Settings | None = None) -> Workspace:
        """A project by id or name; NotFound otherwise."""
        return cls(Project(settings or Settings.from_env(), project))

    @classmethod
    def create(
        cls, name: str, reading: Reading, *, owner: str | None = None, settings: Settings | None = None
    ) -> Workspace:
        """Store a graph as a new project; StoreError if the name is in use."""
        settings = settings or Settings.from_env()
        return cls.open(catalogue.create(name, reading, owner, settings), settings)

    @classmethod
    def open_demo(cls, settings: Settings | None = None) -> Workspace:
        """The bundled demo project, imported at first use."""
        settings = settings or Settings.from_env()
        return cls.open(catalogue.demo(settings), settings)

    @staticmethod
    def projects(settings: Settings | None = None) -> list[ProjectInfo]:
        """Every project, newest first."""
        return catalogue.projects(settings or Settings.from_env())

    @staticmethod
    def delete(project: str, settings: Settings | None = None) -> None:
        """Remove a project with its graph, labels and runs."""
        catalogue.delete(project, settings or Settings.from_env())

    def info(self) -> ProjectInfo:
        """The project as a card."""
        return catalogue.project_info(self._project.store, self._project.store.projects.get(self.id))

    @property
    def graph(self) -> Graph:
        return self._project.graph

    @property
    def has_truth(self) -> bool:
        return self._project.has_truth

    def truth(self) -> Truth:
        """Known answers of a benchmark, for experiments and practice only; NotFound without."""
        return catalogue.truth(self._project.store, self.id, self.name)

    def report(self) -> dict[str, Any]:
        """The preflight report of the import, as JSON types; empty if there is none."""
        try:
            found = json.loads(self._project.store.folders.report(self.id).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    # Runs

    def start_run(
        self,
        model: str = DEFAULT_MODEL,
        *,
        params: dict[str, Any] | None = None,
        device: str = "auto",
        seed: int = 0,
        warm: bool = True,
        use: bool = True,
    ) -> RunInfo:
        """Queue a run for the worker process; returns at once. Without ``use`` the run in use stays so."""
        run = training.queue_run(self._project, Request(model, params, device, seed, warm, use))
        worker.start(self.settings)
        worker.wake(self.settings)
        return run

    def train(
        self,
        model: str = DEFAULT_MODEL,
        *,
        params: dict[str, Any] | None = None,
        device: str = "auto",
        seed: int = 0,
        warm: bool = True,
        use: bool = True,
        on_progress: OnProgress | None = None,
    ) -> RunInfo:
        """Carry out a run in this process and wait for its end; a failed run is returned, not raised."""
        request = Request(model, params, device, seed, warm, use)
        return training.run_here(self._project, request, on_progress)

    def ensure_ranked(self) -> RunInfo | None:
        """Start the first run when there is none, so that a ranked queue exists before any label.

        A first run that failed is not tried again by itself.
        """
        if self._project.result() is not None:
            return None
        return self.active_run() or (None if self.runs() else self.start_run())

    def runs(self) -> list[RunInfo]:
        """All runs, newest first."""
        return training.runs(self._project)

    def run(self, run_id: str) -> RunInfo:
        """A run by id or number; NotFound otherwise."""
        end_lost_runs(self._project.store, self.id)
        return self._served(self._project.store.runs.get(self._project.own_run(run_id)))

    def active_run(self) -> RunInfo | None:
        """The run that is under way or waits, or None."""
        run = training.active_run(self._project)
        return self._served(run) if run else None

    def _served(self, run: RunInfo) -> RunInfo:
        """The run; one that waits while its worker is gone gets a new worker."""
        if run.status == "queued":
            worker.start(self.settings)
        return run

    def current_run(self) -> RunInfo | None:
        """The run whose scores are shown."""
        used = self._project.store.projects.run_in_use(self.id)
        return self._project.store.runs.get(used) if used else None

    def cancel_run(self, run_id: str) -> None:
        """Ask a run to stop; it does so within one epoch."""
        self._project.store.runs.cancel(self._project.own_run(run_id))

    def use_run(self, run_id: str) -> RunInfo:
        """Show the scores of another run (roll back)."""
        return training.use_run(self._project, run_id)

    def delete_run(self, run_id: str) -> None:
        """Remove a run that is not under way."""
        training.delete_run(self._project, run_id)

    def history_of(self, run_id: str) -> list[dict[str, Any]]:
        """Reported epochs of a run: epoch, epochs, loss, auc, stage."""
        return training.history_of(self._project, run_id)

    def compare(self, before_id: str, after_id: str, k: int = 100) -> RunComparison:
        """Two runs side by side."""
        return training.compare(self._project, before_id, after_id, positive(k, "k"))

    def result(self, run_id: str | None = None) -> Result | None:
        """Scores and more of a run, else of the run in use; None when there is none yet."""
        return self._project.result(self._project.own_run(run_id) if run_id else None)

    # Cases

    def queue(
        self,
        *,
        strategy: str | None = None,
        n: int = 50,
        where: Filter | None = None,
        analyst: str | None = None,
        provisional: bool | None = None,
        dial: float | None = None,
        audit_share: float | None = None,
        near_duplicates: bool | None = None,
    ) -> list[QueueRow]:
        """The next cases; what is None is as the project prefers.

        ``provisional``: verdicts since the run count. ``dial``: 0 exploits the ranking, 1 explores. Random
        checks are among the first cases only: those further ahead are drawn when their turn is near.
        """
        given = {"dial": dial, "audit_share": audit_share, "near_duplicates": near_duplicates}
        tuning = {key: checked_preference(key, value) for key, value in given.items() if value is not None}
        return ordering.queue(
            self._project, strategy, positive(n, "n"), where, analyst, provisional, **tuning
        )

    def queue_remark(self, waiting: int, *, strategy: str | None = None, where: Filter | None = None) -> str:
        """What there is to say of a queue with so many cases, for instance why it has none; mostly ""."""
        return ordering.remark(self._project, strategy, where, waiting)

    def queue_choice(self) -> Choice:
        """How the project prefers its cases to be chosen."""
        return Choice.preferred(self._project.store, self.id)

    def case(self, node_id: str) -> NodeCard:
        """Everything known of a node."""
        return node_cards.case(self._project, node_id)

    def search(self, text: str, limit: int = 20) -> list[QueueRow]:
        """Nodes by id, name or attribute; ``column=value`` looks into one column."""
        return rows(self._project, search_index(self._project).find(text, positive(limit, "limit")))

    def similar(self, node_id: str, n: int = 8) -> list[QueueRow]:
        """Nodes that look like this one to the model, nearest first."""
        return node_cards.similar(self._project, self._project.node(node_id), positive(n, "n"))

    def neighbourhood(
        self, node_id: str, *, hops: int = 1, cap: int = 60, expanded: Iterable[str] = ()
    ) -> Neighbourhood:
        """The part of the graph around a node, with fixed positions."""
        return maps.neighbourhood(
            self._project, node_id, positive(hops, "hops"), positive(cap, "cap"), tuple(expanded)
        )

    def ring(self, node_id: str) -> ProposedRing:
        """Nodes that belong together with this one, and why: a group to label at once."""
        return maps.ring(self._project, node_id)

    def explain(self, node_id: str) -> Explanation:
        """Why a node stands where it stands; RunError before the first run."""
        return maps.explain(self._project, node_id)

    def score_new(
        self, path: str | Path, edges: str | Path | None = None, *, in_worker: bool = True
    ) -> list[QueueRow]:
        """Nodes that arrived after training, scored by the run in use, highest first; nothing is stored.

        The worker does it, so that this process stays light; ``in_worker=False`` does it here.
        """
        return maps.score_new(self._project, Path(path), Path(edges) if edges else None, in_worker)

    # Maps and the worker

    def layout(self, kind: str = "pca", run_id: str | None = None) -> FloatArray | None:
        """(N, 2) positions on the map of a run (of the one in use), or None while they are not made."""
        result = self.result(run_id)
        return result.layout(kind) if result else None

    def request_layout(self, kind: str, run_id: str | None = None) -> None:
        """Have a map drawn by the layout worker; ask ``layout`` until it is there."""
        maps.request_layout(self._project, kind, run_id)

    def layout_state(self, kind: str, run_id: str | None = None) -> tuple[str, str]:
        """("done" | "queued" | "running" | "failed" | "none", message)."""
        return maps.layout_state(self._project, kind, run_id)

    def start_worker(self) -> None:
        """Have the training process warm up in the background."""
        worker.start(self.settings)

    def worker_state(self) -> dict[str, Any]:
        """alive, ready, busy, device, pid of the training process."""
        return worker.state(self.settings)
