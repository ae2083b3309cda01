"""Projects as a whole: list, create, delete, the bundled demo."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gadcore.errors import NotFound, StoreError
from gadcore.graph import Graph, Truth
from gadcore.graph.labels import Verdict
from gadcore.jobs import workers
from gadcore.records import ProjectInfo, RunInfo, as_json
from gadcore.settings import DEMO_FOLDER, Settings
from gadcore.store import FileLock, Store, name_in_use, new_project_id, open_store

if TYPE_CHECKING:
    from gadcore.ingest import Reading

PRACTICE = "practice"  # preference of a practice copy: id and name of the project it was made of
DEMO = "demo"


def projects(settings: Settings) -> list[ProjectInfo]:
    """Every project, newest first."""
    store = open_store(settings)
    return [project_info(store, row) for row in store.projects.all()]


def project_info(store: Store, row: Any) -> ProjectInfo:
    """A project as a card: sizes, labels by verdict, last run."""
    events = store.events(row.id).view().current.values()
    told = {key: value for key, value in row._mapping.items() if key != "run_in_use"}
    told |= {verdict.value: sum(event.verdict is verdict for event in events) for verdict in Verdict}
    return ProjectInfo(
        **told,
        last_run=_telling(store.runs.of_project(row.id)),
        practice_of=store.projects.preference(row.id, PRACTICE, {}).get("name", ""),
    )


def _telling(runs: list[RunInfo]) -> RunInfo | None:
    """Of runs, newest first, the newest; the one in use where that is one that was only tried."""
    tried = bool(runs) and runs[0].status == "done" and not runs[0].in_use
    return next((run for run in runs if run.in_use or not tried), None)


def create(name: str, reading: Reading, owner: str | None, settings: Settings) -> str:
    """Store a graph as a new project and return its id; a half-written project is never visible."""

    def write(part: Path) -> None:
        reading.graph.save(part / "graph")
        if reading.truth is not None:
            np.save(part / "truth.npy", reading.truth.y)
        (part / "report.json").write_text(json.dumps(as_json(reading.report)), encoding="utf-8")

    return _store(name, write, reading.graph, reading.truth is not None, owner, settings)


def practice_copy(source_id: str, name: str, owner: str | None, settings: Settings) -> str:
    """Store the graph and the known answers of a project as a new one without labels; returns its id."""
    store = open_store(settings)
    source = store.projects.get(source_id)
    truth(store, source.id, source.name, source.version)  # NotFound without
    folder = store.folders.version(source.id, source.version)

    def write(part: Path) -> None:
        shutil.copytree(folder / "graph", part / "graph")
        for file in (folder / name for name in ("truth.npy", "report.json")):
            if file.exists():
                shutil.copy2(file, part / file.name)

    made = _store(name, write, Graph.load(folder / "graph"), True, owner, settings)
    store.projects.set_preference(made, PRACTICE, {"of": source.id, "name": source.name})
    return made


def practised_by(project: str, settings: Settings) -> str | None:
    """Who practises on a practice copy; None for any other project."""
    store = open_store(settings)
    row = store.projects.get(project)
    return str(row.owner) if store.projects.preference(row.id, PRACTICE) else None


def practice_copies(source_id: str, settings: Settings) -> list[ProjectInfo]:
    """Practice copies made of a project, newest first."""
    store = open_store(settings)
    marks = store.projects.preferences(PRACTICE)
    rows = (row for row in store.projects.all() if marks.get(row.id, {}).get("of") == source_id)
    return [project_info(store, row) for row in rows]


def _store(
    name: str,
    write: Callable[[Path], None],
    graph: Graph,
    has_truth: bool,
    owner: str | None,
    settings: Settings,
) -> str:
    name, store = name.strip(), open_store(settings)
    if not name or len(name) > 200:
        raise StoreError(f"A project name of {len(name)} characters. Expected: 1 to 200 characters.")
    if store.projects.find(name) is not None:
        raise name_in_use(name)
    project_id = new_project_id(name)
    owner = owner or settings.analyst
    with settled(store, project_id, write):
        store.projects.add(name, owner, graph, has_truth=has_truth, project_id=project_id)
    return project_id


@contextmanager
def settled(store: Store, project_id: str, write: Callable[[Path], None]) -> Iterator[None]:
    """Write the folder of a new project, whose row is added within; without the row it is removed again.

    Its lock and its mark tell a later sweep what it is, should this process be killed.
    """
    folder = store.folders.project(project_id)
    part = folder.with_name(folder.name + ".part")
    with FileLock(store.folders.lock(f"project-{project_id}")) as lock:
        if not lock.acquire():
            raise StoreError(f"The project {project_id!r} is being made by another process. Try again later.")
        try:
            write(part)
            (part / store.folders.unsettled(project_id).name).touch()
            part.rename(folder)
        except OSError as error:
            raise StoreError(
                f"The project cannot be written to {folder} ({error}). "
                "Free some disk space or set GAD_HOME to a writable folder."
            ) from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
        try:
            yield
        finally:
            if store.projects.find(project_id) is None:
                shutil.rmtree(folder, ignore_errors=True)
            store.folders.unsettled(project_id).unlink(missing_ok=True)


def version_of(project: str, settings: Settings) -> int:
    """The version of the graph that a project has now."""
    return int(open_store(settings).projects.get(project).version)


def delete(project: str, settings: Settings, *, by: str) -> None:
    """Remove a project with its graph, labels and runs; a run under way is stopped first."""
    store = open_store(settings)
    row = store.projects.get(project)
    with suppress(OSError):  # a folder that is gone already
        store.folders.unsettled(row.id).touch()
    store.projects.remove(row.id, by=by)  # a job that finds its row gone stops
    for lane in workers.LANES:
        workers.wake(settings, lane)
    store.forget(row.id)
    shutil.rmtree(store.folders.project(row.id), ignore_errors=True)


def demo(settings: Settings) -> str:
    """Id of the bundled demo project, imported at first use."""
    store = open_store(settings)
    row = store.projects.find(DEMO)
    if row is not None:
        return str(row.id)
    from gadcore.ingest import read

    try:
        return create(DEMO, read(DEMO_FOLDER), None, settings)
    except StoreError:  # another process was quicker
        return str(store.projects.get(DEMO).id)


def truth(store: Store, project_id: str, name: str, version: int) -> Truth:
    """Known answers; NotFound for a project without."""
    try:
        return Truth(np.load(store.folders.truth(project_id, version), allow_pickle=False))
    except FileNotFoundError:
        raise NotFound(
            f"The project {name!r} has no truth column. Import the graph again and name one."
        ) from None
