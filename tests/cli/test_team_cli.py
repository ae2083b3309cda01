"""The command line of a team: assign, team, label --reason."""

from __future__ import annotations

import pytest
from commands import answer, spoken
from probe_detector import reading

from gadcore.cli import main
from gadcore.workspace import Workspace


@pytest.fixture
def project(settings, planted) -> Workspace:
    return Workspace.create("net", reading(*planted), settings=settings)


def test_cases_are_assigned_and_taken_back(project: Workspace, capsys) -> None:
    project.verdicts.record("n003", "normal")
    said = spoken(capsys, "assign", "-p", "net", "n001", "n002", "n003", "--to", "eva")
    assert said.strip() == "2 case(s) assigned to eva. 1 had a verdict already."
    assert len(answer(capsys, "assign", "-p", "net", "--first", "4", "--to", "bo")["assigned"]) == 4
    assert answer(capsys, "queue", "-p", "net", "-n", "1", "--analyst", "eva")[0]["node_id"] == "n001"
    given = answer(capsys, "team", "-p", "net")["assigned"]
    assert [(each["analyst"], len(each["open"])) for each in given] == [("bo", 4), ("eva", 2)]
    assert answer(capsys, "assign", "-p", "net", "--back", "--of", "eva")["taken_back"] == ["n001", "n002"]
    assert len(answer(capsys, "assign", "-p", "net", "--back")["taken_back"]) == 4


@pytest.mark.parametrize("wrong", [["n001"], ["--to", "eva"], ["n001", "--to", "eva", "--back"], []])
def test_what_is_not_understood_is_said_in_one_line(project: Workspace, capsys, wrong) -> None:
    assert main(["assign", "-p", "net", *wrong]) == 2
    assert capsys.readouterr().err.startswith("error: N")


def test_the_settings_of_a_team_are_shown_and_kept(project: Workspace, capsys) -> None:
    said = spoken(capsys, "team", "-p", "net", "--overlap", "10", "--reasons", "whim", "mule account")
    assert "Second opinions: 10 % of decided cases." in said
    assert "Reasons: whim; mule account" in said
    assert project.preference("overlap") == 0.1
    with pytest.raises(SystemExit) as ended:
        main(["team", "-p", "net", "--overlap", "101"])
    assert ended.value.code == 2


def test_a_verdict_is_given_with_its_reason(project: Workspace, capsys) -> None:
    told = answer(capsys, "label", "-p", "net", "n001", "anomalous", "--reason", "mule account")
    assert told["events"][0]["reason"] == "mule account"
    assert main(["label", "-p", "net", "n001", "anomalous", "--reason", "whim"]) == 1
    assert "no reason of this project" in capsys.readouterr().err
