"""update, versions, watch and watchlist on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import answer, spoken

from gadcore.cli import main
from tests.bank_files import accounts, payments, table_file, write_bank


@pytest.fixture
def files(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Path]:
    """Files of the bank, whose first part is the project "bank"."""
    files = write_bank(tmp_path)
    spoken(capsys, "import", str(files["accounts"]), "--edges", str(files["payments"]), "-p", "bank")
    return files


def test_update_says_what_changes_and_makes_a_version(files: dict[str, Path], capsys) -> None:
    given = ("update", "bank", str(files["accounts_2"]), "--edges", str(files["payments_2"]))
    told = spoken(capsys, *given, "--dry-run")
    assert "nodes added: 10 (A080, A081, A082, A083, A084 …)" in told
    assert "Nothing was stored" in told
    assert "Stored as version 2" in spoken(capsys, *given, "--as-of", "2025-03-31")
    found = answer(capsys, "versions", "bank")
    assert [(v["number"], v["as_of"], v["present"]) for v in found] == [
        (1, "", False),
        (2, "2025-03-31", True),
    ]
    assert "bank is at version 1" in spoken(capsys, "versions", "bank", "--use", "1")
    assert answer(capsys, "projects")[0]["n_nodes"] == 80
    assert main(["update", "bank", str(files["accounts_2"]), "--as-of", "soon"]) == 1
    assert main(["update", "bank"]) == 2


def test_an_update_that_loses_something_needs_force(files: dict[str, Path], tmp_path: Path, capsys) -> None:
    nodes = str(table_file(tmp_path / "fewer.csv", accounts()[:60]))
    links = str(table_file(tmp_path / "fewer_payments.csv", payments()[:200]))
    given = ["update", "bank", nodes, "--edges", links, "--replace"]
    assert main(given) == 1
    captured = capsys.readouterr()
    assert "STOP: 20 nodes would be gone" in captured.out
    assert "--force" in captured.err
    assert main([*given, "--force"]) == 0


def test_an_earlier_version_is_looked_at_by_every_command(files: dict[str, Path], capsys) -> None:
    spoken(capsys, "update", "bank", str(files["accounts_2"]))
    assert len(answer(capsys, "queue", "-p", "bank", "-n", "200")) == 90
    assert len(answer(capsys, "queue", "-p", "bank", "-n", "200", "--at-version", "1")) == 80
    assert main(["label", "-p", "bank", "--at-version", "1", "A001", "normal"]) == 1
    assert "cannot be changed" in capsys.readouterr().err


def test_watch_takes_what_is_there(files: dict[str, Path], tmp_path: Path, capsys) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    table_file(inbox / "payments.csv", payments()[:4].assign(amount="5"))
    told = spoken(capsys, "watch", "bank", str(inbox), "--once", "--every", "0")
    assert "payments.csv: version 2: 3 payments new, 1 row left out" in told


def test_watchlist_is_kept_by_analyst(files: dict[str, Path], capsys) -> None:
    spoken(capsys, "watchlist", "-p", "bank", "--add", "A001", "A002", "--analyst", "bo")
    assert "A002" in spoken(capsys, "watchlist", "-p", "bank", "--analyst", "bo")
    assert spoken(capsys, "watchlist", "-p", "bank").strip() == "(none)"
    assert main(["watchlist", "-p", "bank", "--add", "nobody"]) == 1
    found = answer(capsys, "watchlist", "-p", "bank", "--remove", "A001", "--analyst", "bo")
    assert [node["node_id"] for node in found] == ["A002"]
