"""A run that does not rank its own verdicts is not put in use without a word."""

from __future__ import annotations

import json

import numpy as np
import pytest
from probe_detector import reading, register, unregister

from gadcore.cli import main
from gadcore.workspace import Workspace

DATABASES = ("sqlite",)  # nothing here depends on the database


@pytest.fixture
def project(settings, planted):
    register()
    yield Workspace.create("net", reading(*planted), settings=settings)
    unregister()


def label(project: Workspace, n: int = 10, first: int = 0) -> None:
    """So many verdicts of each kind."""
    ids = [str(node) for node in project.graph.node_ids[first : first + 2 * n]]
    project.verdicts.record_group(ids[:n], "normal")
    project.verdicts.record_group(ids[n:], "anomalous")


def test_a_run_no_better_than_chance_is_kept_aside(project: Workspace) -> None:
    first = project.runs.train("probe")
    label(project)
    run = project.runs.train("probe", params={"auc": 0.19})
    assert (run.status, run.in_use) == ("done", False)
    assert project.runs.in_use().id == first.id
    assert "no better than chance (out-of-fold AUC 0.19" in run.message
    assert "run 1 was kept in use" in run.message
    assert project.runs.latest().id == run.id
    assert project.runs.use(run.id).in_use  # whoever wants it may have it


def test_the_verdicts_that_contradict_each_other_are_named(project: Workspace) -> None:
    label(project)
    message = project.runs.train("probe", params={"auc": 0.4}).message
    named = message.split("contradict each other most: ")[1].split(". ")[0].removesuffix(" (anomalous)")
    pairs = [pair.split(" (normal) and ") for pair in named.split(" (anomalous), ")]
    words = {node: event.verdict.value for node, event in project.verdicts.current().items()}
    assert len(pairs) == 3
    assert all((words[a], words[b]) == ("normal", "anomalous") for a, b in pairs)


def test_second_look_does_not_say_that_all_agree_when_they_do_not(project: Workspace) -> None:
    project.runs.train("probe")
    label(project, 2)
    project.runs.train("probe", params={"auc": 0.19})
    listed = project.insight.second_look()
    assert [case.kinds[0] for case in listed] == ["pair"] * 4
    for case in listed:
        project.verdicts.settle(case.node_id, case.verdict)
    assert project.insight.second_look() == []
    assert "AUC of 0.00 (chance is 0.50)" in project.insight.nothing_in_doubt()
    assert "agree" not in project.insight.nothing_in_doubt()


def test_a_run_that_is_clearly_worse_on_the_same_verdicts_is_kept_aside(project: Workspace) -> None:
    label(project, 30)
    assert project.runs.train("probe", params={"auc": 0.95}).in_use
    run = project.runs.train("probe", params={"auc": 0.6})
    assert not run.in_use
    assert "clearly worse than run 1 did (out-of-fold AUC 0.60 after 0.95)" in run.message


def test_an_auc_that_falls_on_harder_verdicts_is_told_and_the_run_used(project: Workspace) -> None:
    label(project, 30)
    project.runs.train("probe", params={"auc": 0.99})
    run = project.runs.train("probe", params={"auc": 0.75})  # it ranks the same verdicts as well as run 1
    assert run.in_use
    assert "in use all the same" in run.message


def test_a_first_run_in_trouble_is_in_use_and_says_so(project: Workspace) -> None:
    label(project)
    run = project.runs.train("probe", params={"auc": 0.3})
    assert run.in_use
    assert "no better than chance" in run.message
    assert "in use all the same" in run.message
    better = project.runs.train("probe", params={"auc": 0.45})
    assert better.in_use  # the one before was no better


def test_the_command_line_warns_and_says_how_to_use_the_run_all_the_same(project: Workspace, capsys) -> None:
    project.runs.train("probe")
    label(project)
    assert main(["train", "-p", "net", "--model", "probe", "--set", "auc=0.3"]) == 0
    said = capsys.readouterr().out
    assert "Warning: It ranks verdicts that it had not seen no better than chance" in said
    assert "runs --project 'net' --use 2" in said
    assert main(["runs", "-p", "net", "--json"]) == 0
    assert [run["in_use"] for run in json.loads(capsys.readouterr().out)] == [False, True]


def test_two_nodes_that_look_alike_contradict_before_two_that_do_not() -> None:
    from gadcore.graph.labels import Labels
    from gadcore.insight.contradictions import contradictions

    space = np.array([[0.0, 1], [0, 1.1], [1, 0], [-1, -2], [0, -1]], dtype=np.float32)
    labels = Labels(np.array([0, 2]), np.array([1, 3]))
    held = np.array([0.9, 0.1, 0.8, 0.2, np.nan])
    found = contradictions(labels, held, space)
    assert [(pair.normal, pair.anomalous) for pair in found] == [(0, 1), (2, 3)]
    right_way = contradictions(labels, -held, space)
    assert right_way == []
