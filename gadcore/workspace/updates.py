"""Versions of a project's graph: an update is looked at, then stored; an earlier one is built when asked for.

On disk are the first version, the present one and the one before it. Of every update the files are kept
compressed, and which nodes it touched: any other version is made of these again, proved by its fingerprint.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from gadcore.errors import InputError, StoreError
from gadcore.graph import Graph, Truth
from gadcore.graph.changes import GraphChange, write_touched
from gadcore.ingest import Mapping, Reading
from gadcore.ingest.updated import APPEND, read_update
from gadcore.insight.graph_changes import told_changes
from gadcore.records import as_json
from gadcore.records.versions import Changes, VersionInfo
from gadcore.store import FileLock
from gadcore.store.given import keep_given, laid_out
from gadcore.workspace.project import Project


@dataclass(frozen=True)
class Update:
    """An update that was read and is not stored."""

    reading: Reading
    changes: Changes
    parent: int  # the version that it was read for
    way: str
    path: Path
    edges: Path | None
    mapping: Mapping | None = None
    as_of: str = ""


def read_for(
    project: Project,
    path: str | Path,
    edges: str | Path | None = None,
    *,
    way: str = APPEND,
    mapping: Mapping | None = None,
    as_of: str = "",
) -> Update:
    """Read files as the next version of a project's graph; nothing is stored."""
    day = checked_day(as_of)
    graph, known = project.graph, truth_of(project, project.version)
    reading = read_update(graph, known, path, edges, way=way, mapping=mapping, settings=project.settings)
    report = project.store.folders.report(project.id, project.version)
    labelled = project.view().current
    changes = told_changes(graph, reading.graph, labelled, (report, reading.report))
    edge_path = None if edges is None else Path(edges)
    return Update(reading, changes, project.version, way, Path(path), edge_path, mapping, day)


def checked_day(as_of: str) -> str:
    """A day as it is kept, "" for none; InputError for anything else."""
    try:
        return as_of and date.fromisoformat(as_of).isoformat()
    except ValueError:
        raise InputError(f"data as of {as_of!r}", "a day such as 2025-06-02") from None


def store_update(
    project: Project, update: Update, *, force: bool = False, arrival: tuple[str, str] | None = None
) -> VersionInfo:
    """Store an update as the present version; InputError where something would be lost, unless forced.

    ``arrival`` is the hash and the name of a file that must be taken once: both are kept, or neither.
    """
    if update.changes.stops and not force:
        lost = "; ".join(update.changes.stops)
        raise InputError(lost, "an update that only adds", "check the file, or insist with --force")
    if update.changes.nothing:
        raise InputError("files that change nothing", "new or changed nodes or links")
    store, by = project.store, project.analyst(None)
    with _alone(project):
        if store.projects.get(project.id).version != update.parent:
            raise StoreError("The graph was updated meanwhile. Look at the changes again, then store them.")
        number = store.versions.next_number(project.id)
        given = keep_given(store.folders.given(project.id), update.path, update.edges)
        mapping = update.mapping.as_json() if update.mapping else None
        _write(project, number, update.reading, GraphChange(project.graph, update.reading.graph))
        values = {
            "parent": update.parent,
            "way": update.way,
            "as_of": update.as_of,
            "given": {"files": given, "mapping": mapping},
            "changes": update.changes.as_json(),
            **_sizes(update.reading),
        }
        with store.database.writing():
            store.versions.add(project.id, number, values, by=by)
            if arrival is not None:
                store.arrivals.add(project.id, *arrival, number)
        _prune(project, {1, update.parent, number})
    project.follow()
    return store.versions.get(project.id, number)


def build(project: Project, number: int) -> None:
    """Make sure that the files of a version are there."""
    folders, store = project.store.folders, project.store
    if folders.graph(project.id, number).exists():
        return
    line = store.versions.line(project.id, number)
    start = max(i for i, v in enumerate(line) if folders.graph(project.id, v.number).exists())
    graph = Graph.load(folders.graph(project.id, line[start].number))
    truth = truth_of(project, line[start].number)
    for version in line[start + 1 :]:
        reading = _again(project, graph, truth, version)
        graph, truth = reading.graph, reading.truth
    if reading.graph.fingerprint != line[-1].fingerprint:
        raise StoreError(
            f"Version {number} cannot be built again: what its files give now is something else. Files below "
            f"{folders.given(project.id)} were changed, or this program reads them otherwise."
        )
    with _alone(project):
        _write(project, number, reading, None)


def look_back(project: Project, number: int) -> None:
    """Turn to an earlier version; it is built again where it is not there."""
    version = project.store.versions.get(project.id, number)
    build(project, number)
    project.look_back(version)


def use_version(project: Project, number: int) -> VersionInfo:
    """Go to another version, with the scores of the newest run that saw it."""
    version = project.store.versions.get(project.id, number)
    build(project, number)
    done = project.store.runs.done_ids(project.id, version.fingerprint)
    by = project.analyst(None)
    project.store.versions.use(project.id, version, done[-1] if done else None, by=by)
    project.follow()
    return project.store.versions.get(project.id, number)


def truth_of(project: Project, version: int) -> Truth | None:
    """Known answers of a version; None without."""
    path = project.store.folders.truth(project.id, version)
    return Truth(np.load(path, allow_pickle=False)) if path.exists() else None


def _again(project: Project, graph: Graph, truth: Truth | None, version: VersionInfo) -> Reading:
    """A version made again of the one before it and of its files."""
    mapping = version.given["mapping"]
    with laid_out(project.store.folders.given(project.id), version.given["files"]) as (path, edges):
        return read_update(
            graph,
            truth,
            path,
            edges,
            way=version.way,
            mapping=Mapping.from_json(mapping) if mapping else None,
            settings=project.settings,
        )


def _sizes(reading: Reading) -> dict[str, Any]:
    graph = reading.graph
    names = ("n_nodes", "n_edges", "n_features", "fingerprint")
    return {name: getattr(graph, name) for name in names} | {"has_truth": reading.truth is not None}


def _write(project: Project, number: int, reading: Reading, change: GraphChange | None) -> None:
    """Write the files of a version, whole or not at all; what was touched stays when it is built again."""
    folder = project.store.folders.version(project.id, number)
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # left behind by a process that was killed
    try:
        reading.graph.save(part / "graph")
        if reading.truth is not None:
            np.save(part / "truth.npy", reading.truth.y)
        (part / "report.json").write_text(json.dumps(as_json(reading.report)), encoding="utf-8")
        if change is not None:
            result = project.result()
            write_touched(part / "touched.arrow", change, result.rank if result else None)
            shutil.rmtree(folder, ignore_errors=True)  # of an update that came to nothing
        elif folder.exists():
            shutil.copy2(folder / "touched.arrow", part / "touched.arrow")
            shutil.rmtree(folder)
        part.rename(folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StoreError(
            f"The version cannot be written to {folder} ({error}). Free some disk space and try again."
        ) from error


def _prune(project: Project, kept: set[int]) -> None:
    """Remove the graphs of versions that can be built again; what they touched stays."""
    for version in project.store.versions.of(project.id):
        folder = project.store.folders.version(project.id, version.number)
        if version.number in kept or not folder.exists():
            continue
        for path in folder.iterdir():
            if path.name != "touched.arrow":
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def _alone(project: Project) -> Iterator[None]:
    """While no other process changes the versions of this project."""
    with FileLock(project.store.folders.lock(f"update-{project.id}")) as lock:
        if not lock.acquire():
            raise StoreError(f"The graph of {project.name!r} is being updated. Try again in a moment.")
        yield
