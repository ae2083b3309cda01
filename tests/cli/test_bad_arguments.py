"""Arguments and settings that mean nothing: one line on stderr, exit code 2, and nothing begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from gadcore.cli import main
from gadcore.settings import Settings
from gadcore.store import open_store


def mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and the one line that a command says."""
    try:
        code = main(list(arguments))
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    assert said.startswith("error: ")
    return code, said


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("queue -p x -n -3", "'-3' is not a count"),
        ("train -p x --seed -1", "'-1' is no seed"),
        ("export -p x --out a.csv --top 0", "'0' is not a count"),
        ("export -p x --out a.csv --min-score nan", "'nan' is out of range"),
        ("links -p x A --least inf", "'inf' is out of range"),
        ("label -p x A anomalous --weight nan", "'nan' is out of range"),
        ("run --port 99999", "'99999' is no port"),
        ("run --port -1", "'-1' is no port"),
        ("run --port http", "'http' is no port"),
        ("run --cert a.pem", "--cert and --key belong together"),
        ("run --cert a.pem --key b.pem", "cannot be used (No such file or directory)"),
        ("cluster --workers 0", "'0' is not a count"),
        ("cluster --port 65536", "'65536' is no port"),
        ("trail -n 0", "'0' is not a count"),
        ("user add eva --role boss", "invalid choice: 'boss'"),
        ("user dismiss eva", "invalid choice: 'dismiss'"),
        ("backup", "required: FILE"),
        ("doctor now", "unrecognized arguments: now"),
        ("fly", "invalid choice: 'fly'"),
        ("", "required: COMMAND"),
    ],
)
def test_an_argument_that_means_nothing(home: Path, capsys, command: str, words: str) -> None:
    code, said = mistake(capsys, *command.split())
    assert (code, words in said) == (2, True), said
    assert not home.exists()


@pytest.mark.parametrize(
    "setting",
    [
        "GAD_STORE=nonsense",
        "GAD_STORE=mysql://eva:hunter2@host/name",
        "GAD_ENGINE=abc",
        "GAD_DEVICE=foo",
        "GAD_THREADS=two",
        "GAD_LOG=xml",
        "GAD_LOGIN=never",
        "GAD_OIDC_ISSUER=https://login.example",
        "GAD_MAX_COLUMNS=-1",
    ],
)
def test_a_setting_that_means_nothing(home: Path, capsys, monkeypatch, setting: str) -> None:
    name, _, value = setting.partition("=")
    monkeypatch.setenv(name, value)
    code, said = mistake(capsys, "projects")
    assert (code, name in said) == (2, True), said
    assert "hunter2" not in said


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("queue -p nowhere", "There is no project 'nowhere'"),
        ("save-project -p nowhere a.zip", "There is no project 'nowhere'"),
        ("restore missing.zip", "there is no file missing.zip"),
        ("load-project {file}", "not a zip file"),
        ("import missing.csv -p new", "missing.csv"),
        ("import {file} -p new --format magic", "magic"),
        ("verify --anchors missing.txt", "there is no file missing.txt"),
        ("verify --anchors {folder}", "there is no file"),
        ("user remove nobody", "There is no user 'nobody'"),
        ("backup {file}/b.zip", "{file}"),
        ("trail --out {file}/t.csv", "{file}"),
    ],
)
def test_what_is_understood_and_not_possible_is_exit_code_1(
    settings: Settings, tmp_path: Path, capsys, command: str, words: str
) -> None:
    open_store(settings)
    file = tmp_path / "a.csv"
    file.write_text("no table")
    named = {"file": str(file), "folder": str(tmp_path)}
    code, said = mistake(capsys, *command.format(**named).split())
    assert (code, words.format(**named) in said) == (1, True), said
