"""The commands of the trail and of copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_detector import reading
from sqlalchemy import delete

from gadcore.cli import main
from gadcore.store import open_store
from gadcore.store.schema import trail
from gadcore.workspace import Workspace


@pytest.fixture
def workspace(settings, planted) -> Workspace:
    made = Workspace.create("net", reading(*planted), settings=settings)
    made.verdicts.record("n001", "normal", analyst="bo")
    return made


def test_trail_lists_and_writes_entries(workspace, tmp_path: Path, capsys) -> None:
    assert main(["trail", "--who", "bo"]) == 0
    told = capsys.readouterr().out
    assert "verdict" in told
    assert "project added" not in told
    assert main(["trail", "--out", str(tmp_path / "trail.csv")]) == 0
    assert len((tmp_path / "trail.csv").read_text().splitlines()) == 3


def test_verify_ends_with_1_when_something_is_wrong(workspace, settings, capsys) -> None:
    assert main(["verify"]) == 0
    assert "Nothing was changed" in capsys.readouterr().out
    with open_store(settings).database.writing() as connection:
        connection.execute(delete(trail).where(trail.c.number == 1))
    assert main(["verify"]) == 1
    assert "Entries 1 to 1 are missing" in capsys.readouterr().out


def test_copies_go_to_another_workspace_and_back(workspace, tmp_path: Path, monkeypatch, capsys) -> None:
    backup, project = str(tmp_path / "all.zip"), str(tmp_path / "net.zip")
    assert main(["backup", backup]) == 0
    assert main(["save-project", "-p", "net", project]) == 0
    monkeypatch.setenv("GAD_HOME", str(tmp_path / "second"))
    assert main(["load-project", project]) == 0
    assert main(["restore", backup]) == 1
    assert "is not empty" in capsys.readouterr().err
    monkeypatch.setenv("GAD_HOME", str(tmp_path / "third"))
    assert main(["restore", backup]) == 0
    assert main(["verify"]) == 0
    assert set(Workspace.open("net").verdicts.current()) == {"n001"}
