"""The command line of the insights: a journey in a subprocess, tables and JSON in this process."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from commands import answer, shell, spoken
from probe_detector import reading, register, unregister

from gadcore.cli import cases, main
from gadcore.cli.insight import behind
from gadcore.insight.moved import Cause, Mover
from gadcore.workspace import Workspace
from gadcore.workspace.queue_rows import VERDICT_FILTERS

COMMANDS = ("audit", "moved", "agreement", "second-look")


@pytest.fixture
def project(settings, planted):
    register()
    yield Workspace.create("net", reading(*planted), settings=settings)
    unregister()


def test_from_two_runs_to_what_moved_without_a_browser(project: Workspace, planted, capsys) -> None:
    graph, y = planted
    ids = [str(node) for node in graph.node_ids]
    normal, anomalous = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    project.verdicts.record_group([ids[i] for i in normal[:20]], "normal", analyst="ana")
    project.verdicts.record_group([ids[i] for i in anomalous[:6]], "anomalous", analyst="ana")
    assert shell("train", "-p", "net", "--model", "sgc-lr").returncode == 0
    project.verdicts.record_group([ids[i] for i in anomalous[6:12]], "anomalous", analyst="bo")
    assert answer(capsys, "train", "-p", "net", "--model", "sgc-lr")["status"] == "done"
    moved = shell("moved", "-p", "net", "-n", "5", "--json")
    assert moved.returncode == 0, moved.stderr
    found = json.loads(moved.stdout)
    assert (found["before"]["number"], found["after"]["number"], found["changes"]) == (1, 2, 6)
    causes = [cause for mover in found["risen"] for cause in mover["causes"]]
    assert causes
    assert all(0 < cause["share"] <= 1 for cause in causes)
    assert "of the push up" in spoken(capsys, "moved", "-p", "net", "-n", "5")
    assert main(["moved", "-p", "net", "--run", "9"]) == 1
    assert capsys.readouterr().err.startswith("error: There is no run '9'")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command: str, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command, "--help"])
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert f"ringfence {command}" in shown
    assert "--json" in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_an_empty_project_is_no_error(project: Workspace, command: str, capsys) -> None:
    assert spoken(capsys, command, "-p", "net").strip()
    answer(capsys, command, "-p", "net")


def test_an_empty_second_look_says_why(project: Workspace, capsys) -> None:
    assert "No verdict yet" in spoken(capsys, "second-look", "-p", "net")
    project.verdicts.record("n000", "normal")
    assert "a run trained on them" in spoken(capsys, "second-look", "-p", "net")
    project.runs.train("probe")
    assert "no model has ranked labels of both kinds" in spoken(capsys, "second-look", "-p", "net")
    project.verdicts.record_group([f"n{node:03d}" for node in range(5, 10)], "normal")
    project.verdicts.record_group([f"n{node:03d}" for node in range(10, 15)], "anomalous")
    project.runs.train("probe")
    assert "agree with the labels" in spoken(capsys, "second-look", "-p", "net")
    assert answer(capsys, "second-look", "-p", "net") == []


def test_audit_for_people_and_programs(project: Workspace, capsys) -> None:
    project.runs.train("probe")
    shown = spoken(capsys, "audit", "-p", "net", "-k", "10")
    assert "precision of the top 10" in shown
    assert "random checks" in shown
    project.verdicts.record_group(
        [str(project.graph.node_ids[i]) for i in project.runs.result().order[:10]], "anomalous", analyst="ana"
    )
    assert answer(capsys, "audit", "-p", "net", "-k", "10")["precision"] == 1.0
    assert "100%" in spoken(capsys, "audit", "-p", "net", "-k", "10")


@pytest.mark.parametrize(
    "command",
    [
        ("queue", "-n", "-5"),
        ("queue", "-n", "0"),
        ("audit", "-k", "0"),
        ("audit", "--recall", "1"),
        ("audit", "--recall", "x"),
        ("moved", "-n", "-1"),
        ("second-look", "-n", "0"),
        ("export", "--out", "x.csv", "--top", "-3"),
        ("practice", "--labels", "0"),
    ],
)
def test_counts_and_shares_that_make_no_sense_are_not_understood(command, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main([command[0], "-p", "net", *command[1:]])
    assert caught.value.code == 2
    assert "expected a" in capsys.readouterr().err


def test_the_recall_to_stop_at_is_kept_for_the_project(project: Workspace, capsys) -> None:
    assert answer(capsys, "audit", "-p", "net")["least_recall"] == 0.5
    assert answer(capsys, "audit", "-p", "net", "--recall", "0.8")["least_recall"] == 0.8
    assert project.insight.audit().least_recall == 0.8
    assert project.insight.audit(recall=0.3).least_recall == 0.3


def test_the_labels_behind_a_move_in_words() -> None:
    cause = Cause("a", "a", "anomalous", None, "anomalous", 0.0, "looks alike", share=0.6)
    mover = Mover("n1", "n1", 900, 40, None, [cause], 80)
    assert behind(mover) == (
        "a anomalous (looks alike: 60% of the push up); the linear model explains only part of this move"
    )
    alone = replace(cause, places=3)
    assert behind(replace(mover, causes=[alone], head=500)) == (
        "a anomalous (looks alike: 60% of the push up, would stand 3 places lower without it); "
        "without all changed labels: rank 540"
    )
    assert behind(Mover("n1", "n1", 900, 40, None, [])).endswith("others fell behind it")


def test_moved_for_people(project: Workspace, capsys) -> None:
    assert "Train first" in spoken(capsys, "moved", "-p", "net")
    project.runs.train("probe")
    quiet = str(project.graph.node_ids[project.runs.result().order[-1]])
    project.verdicts.record(quiet, "anomalous")
    project.runs.train("probe")
    shown = spoken(capsys, "moved", "-p", "net", "-n", "3")
    assert "Run 1 to run 2" in shown
    assert f"{quiet} anomalous (its own label: nearness 1.00)" in shown


def test_agreement_and_second_look_name_the_disputed_node(project: Workspace, capsys) -> None:
    for i in range(6):
        project.verdicts.record(f"n00{i}", "anomalous" if i < 3 else "normal", analyst="ana")
        project.verdicts.record(f"n00{i}", "anomalous" if 0 < i < 3 else "normal", analyst="bo")
    shown = spoken(capsys, "agreement", "-p", "net")
    assert "Cohen's kappa 0.67 (substantial)" in shown
    assert "ana: anomalous, bo: normal" in shown
    assert answer(capsys, "agreement", "-p", "net")["disputed"][0]["node_id"] == "n000"
    assert "bo says normal" in spoken(capsys, "second-look", "-p", "net")
    listed = answer(capsys, "second-look", "-p", "net", "-n", "1")
    assert [case["node_id"] for case in listed] == ["n000"]


def test_cases_for_a_second_opinion_are_those_of_others(project: Workspace, capsys) -> None:
    project.verdicts.record("n000", "anomalous", analyst="ana")
    project.verdicts.record("n001", "normal", analyst="ana")
    project.verdicts.record("n001", "unsure", analyst="bo")
    project.verdicts.record_group(["n002"], "normal", analyst="ana", weight=0.5)  # nobody has looked at it
    listed = answer(capsys, "queue", "-p", "net", "--verdict", "others", "--analyst", "bo")
    assert [row["node_id"] for row in listed] == ["n000"]
    assert answer(capsys, "queue", "-p", "net", "--verdict", "others", "--analyst", "ana") == []
    assert cases.VERDICTS == VERDICT_FILTERS


def test_a_dispute_is_settled_from_the_shell(project: Workspace, capsys) -> None:
    project.verdicts.record("n000", "anomalous", analyst="ana")
    project.verdicts.record("n000", "normal", analyst="bo")
    said = spoken(capsys, "label", "-p", "net", "n000", "n001", "a", "--settle", "--analyst", "cy")
    assert "n000 → anomalous (the dispute is settled)" in said
    assert "n001 → anomalous (nobody disputed it: kept as your verdict)" in said
    found = answer(capsys, "agreement", "-p", "net")
    assert (found["disputed"], found["settled"]) == ([], 1)
