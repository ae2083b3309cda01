"""A watched folder: complete files are taken, once each; the others wait or are put aside."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gadcore.errors import InputError
from gadcore.ingest import read
from gadcore.settings import Settings
from gadcore.workspace import Workspace
from gadcore.workspace.folder_watch import FolderWatch
from tests.bank_files import payments, table_file, write_bank

DATABASES = ("sqlite",)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return write_bank(tmp_path)


@pytest.fixture
def bank(files: dict[str, Path], settings: Settings) -> Workspace:
    return Workspace.create("bank", read(files["accounts"], edges=files["payments"]), settings=settings)


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def test_files_are_taken_when_they_are_complete_nodes_before_links(
    bank: Workspace, inbox: Path, files: dict[str, Path]
) -> None:
    watch = FolderWatch(bank, inbox)
    shutil.copy(files["payments_2"], inbox / "a_payments_2025-03-31.csv")
    shutil.copy(files["accounts_2"], inbox / "b_accounts.csv")
    (inbox / "c.csv.part").write_text("half of a table", encoding="utf-8")
    assert list(watch.look()) == []  # they may still grow
    taken = list(watch.look())
    assert [(found.name, found.version) for found in taken] == [
        ("b_accounts.csv", 2),
        ("a_payments_2025-03-31.csv", 3),
    ]
    assert bank.graph.n_nodes == 90
    assert bank.data.versions()[-1].as_of == "2025-03-31"
    assert list(watch.look()) == []


def test_a_file_that_is_still_written_waits(bank: Workspace, inbox: Path) -> None:
    watch, path = FolderWatch(bank, inbox), inbox / "payments.csv"
    for rows in (1, 2, 3):
        table_file(path, payments()[:rows].assign(amount="5"))
        assert list(watch.look()) == []
    assert len(list(watch.look())) == 1


def test_a_file_is_taken_once_also_after_a_restart_and_under_another_name(
    bank: Workspace, inbox: Path
) -> None:
    table_file(inbox / "payments.csv", payments()[:4].assign(amount="5"))
    for _ in range(2):
        watch = FolderWatch(bank, inbox)
        found = [*watch.look(), *watch.look()]
        shutil.copy(inbox / "payments.csv", inbox / "the_same.csv")
    assert found == []
    assert [version.number for version in bank.data.versions()] == [1, 2]


def test_what_cannot_be_taken_is_put_aside_with_the_reason(bank: Workspace, inbox: Path) -> None:
    (inbox / "bad.csv").write_text("source,target\nA001,nobody\nA002,no one\n", encoding="utf-8")
    table_file(inbox / "payments.csv", payments()[:4].assign(amount="5"))
    watch = FolderWatch(bank, inbox)
    found = {taken.name: taken.version for taken in [*watch.look(), *watch.look()]}
    assert found == {"bad.csv": None, "payments.csv": 2}
    assert not (inbox / "bad.csv").exists()
    assert "node ids look like" in (inbox / "aside" / "bad.csv.reason.txt").read_text(encoding="utf-8")


def test_there_must_be_a_folder(bank: Workspace, inbox: Path) -> None:
    with pytest.raises(InputError, match="no folder"):
        FolderWatch(bank, inbox / "elsewhere")


def test_what_is_put_aside_never_takes_the_place_of_another(bank: Workspace, inbox: Path) -> None:
    watch = FolderWatch(bank, inbox)
    for text in ("neither", "nor"):
        (inbox / "odd.csv").write_text(text, encoding="utf-8")
        list(watch.look())
        assert [found.version for found in watch.look()] == [None]
    aside = inbox / "aside"
    assert [(aside / name).read_text(encoding="utf-8") for name in ("odd.csv", "odd-2.csv")] == [
        "neither",
        "nor",
    ]
    assert (aside / "odd-2.csv.reason.txt").exists()


def test_a_file_that_goes_away_meanwhile_is_left_alone(
    bank: Workspace, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, path = FolderWatch(bank, inbox), table_file(inbox / "payments.csv", payments()[:2])
    list(watch.look())
    monkeypatch.setattr("gadcore.workspace.folder_watch._has_links", lambda path, source: path.unlink())
    assert list(watch.look()) == []
    assert not (inbox / "aside").exists()
    assert not path.exists()


def test_what_only_looks_like_a_day_is_none(bank: Workspace, inbox: Path) -> None:
    watch = FolderWatch(bank, inbox)
    table_file(inbox / "payments_2025-13-45.csv", payments()[:2].assign(amount="5"))
    list(watch.look())
    assert [found.version for found in watch.look()] == [2]
    assert bank.data.versions()[-1].as_of == ""
