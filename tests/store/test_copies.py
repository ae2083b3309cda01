"""Backup, restore and project files: everything comes back, on either database, with the same hashes."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from probe_detector import reading, register, unregister

from gadcore.errors import InputError, StoreError
from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.verify import verify
from gadcore.workspace import Workspace, keeping


@pytest.fixture
def workspace(settings: Settings, planted) -> Workspace:
    """Labels, an undo, answered offers, a run that is done and one that failed; after another project."""
    Workspace.create("other", reading(*planted), settings=settings).verdicts.record("n009", "normal")
    made = Workspace.create("net", reading(*planted), settings=settings)
    register()
    made.verdicts.record_group(["n001", "n002"], "anomalous", note="Łódź")
    made.verdicts.give_reason("n001", "mule account")
    made.runs.train("probe")
    for row in made.cases.queue(n=12)[:10]:
        made.verdicts.record(row.node_id, "normal", offer=row.offer)
    made.verdicts.undo()
    made.runs.train("probe", params={"mode": "error"})
    made.set_preference("dial", 0.25)
    made.cases.assign(["n050", "n040"], "eva", analyst="lea")
    unregister()
    return made


@pytest.fixture
def elsewhere(tmp_path: Path) -> Settings:
    """Another workspace, on SQLite."""
    return Settings.from_env({"GAD_HOME": str(tmp_path / "elsewhere"), "GAD_ANALYST": "bo"})


def told(workspace: Workspace) -> dict[str, object]:
    """What must be the same wherever a project lies."""
    graph, result = workspace.graph, workspace.runs.result()
    events = [event for node in graph.node_ids for event in workspace.verdicts.history(node)]
    return {
        "graph": graph.fingerprint,
        "labels": workspace.verdicts.labels().hash(graph),
        "events": [(e.kind, e.node_id, e.verdict, e.at, e.note, e.reason) for e in events],
        "draws": [e.inclusion_probability for e in workspace.verdicts.in_order()],
        "runs": [(run.id, run.number, run.status, run.label_hash) for run in workspace.runs.all()],
        "scores": result.scores.tolist(),
        "dial": workspace.preference("dial"),
        "assigned": workspace.cases.assigned(),
    }


def test_a_backup_of_a_live_workspace_is_restored_whole(workspace, settings, elsewhere, tmp_path) -> None:
    keeping.backup(tmp_path / "b.zip", settings)
    expected, names = told(workspace), {p.name for p in Workspace.projects(settings)}
    queue = [row.node_id for row in workspace.cases.queue(n=20, provisional=False)]
    workspace.verdicts.record("n100", "anomalous")  # later than the backup
    keeping.restore(tmp_path / "b.zip", elsewhere)
    restored = Workspace.open("net", elsewhere)
    assert told(restored) == expected
    assert [row.node_id for row in restored.cases.queue(n=20, provisional=False)] == queue
    assert {p.name for p in Workspace.projects(elsewhere)} == names
    assert verify(open_store(elsewhere)).problems == []
    assert [entry.action for entry in open_store(elsewhere).trail.newest(1)] == ["restored"]
    assert restored.verdicts.record("n101", "normal").id > 0  # ids go on


def test_a_backup_is_restored_into_the_database_of_the_setting(workspace, settings, elsewhere, tmp_path):
    """From SQLite into the other one, and back, where that is PostgreSQL."""
    expected = told(workspace)
    keeping.backup(tmp_path / "first.zip", settings)
    keeping.restore(tmp_path / "first.zip", elsewhere)
    keeping.backup(tmp_path / "second.zip", elsewhere)
    for project in ("net", "other"):
        Workspace.delete(project, settings)
    with pytest.raises(StoreError, match="not empty"):
        keeping.restore(tmp_path / "second.zip", settings)
    third = replace(elsewhere, home=tmp_path / "third", store_url=f"sqlite:///{tmp_path}/third/rows.sqlite")
    keeping.restore(tmp_path / "second.zip", third)
    assert told(Workspace.open("net", third)) == expected


def test_a_saved_project_is_loaded_with_equal_hashes(workspace, settings, elsewhere, planted, tmp_path):
    mine = Workspace.create("mine", reading(*planted), settings=elsewhere)  # so that numbers differ
    for node in ("n007", "n008", "n010"):
        mine.verdicts.record(node, "normal")
    first = keeping.save("net", tmp_path / "net.zip", settings)
    loaded = Workspace.open(keeping.load(tmp_path / "net.zip", elsewhere), elsewhere)
    assert told(loaded) == told(workspace)
    assert keeping.save("net", tmp_path / "again.zip", elsewhere) == first
    assert verify(open_store(elsewhere)).problems == []
    with pytest.raises(StoreError, match="already"):
        keeping.load(tmp_path / "net.zip", elsewhere)
    assert np.isfinite(loaded.runs.result().scores).all()


def test_an_archive_that_was_changed_is_refused_and_leaves_nothing(workspace, settings, elsewhere, tmp_path):
    keeping.save("net", tmp_path / "net.zip", settings)
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["truth.npy"] = parts["truth.npy"][:-1] + b"\x07"
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match="was changed"):
        keeping.load(tmp_path / "bad.zip", elsewhere)
    assert Workspace.projects(elsewhere) == []
    assert list((elsewhere.home / "projects").glob("*")) == []


@pytest.mark.parametrize("content", [b"", b"PK no zip", None])
def test_a_file_that_is_no_archive_is_named(settings, tmp_path, content) -> None:
    path = tmp_path / "x.zip"
    if content is not None:
        path.write_bytes(content)
    for read in (keeping.load, keeping.restore):
        with pytest.raises(InputError, match=r"x\.zip"):
            read(path, settings)
