"""Practice by a person: a copy without labels, scored against the known answers, marked as practice."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import planted_graph
from page_project import make_project

from gadcore.cli import main
from gadcore.errors import NotFound
from gadcore.ingest import Reading, Report
from gadcore.practice import simulated
from gadcore.practice.person import LEAST, base_of, begin, copies, copy_of, score
from gadcore.workspace import Workspace


def answers(workspace: Workspace) -> tuple[list[str], list[str]]:
    """Ids of normal and of anomalous nodes."""
    y, ids = workspace.data.truth().y, workspace.graph.node_ids
    return [str(i) for i in ids[y == 0]], [str(i) for i in ids[y == 1]]


def test_a_practice_is_a_copy_without_labels_that_is_marked(home) -> None:
    workspace = make_project(models=("isolation-forest",))
    before = workspace.verdicts.counts()
    copy = begin(workspace, "bo")
    info = copy.data.info()
    assert info.name == "Practice: planted (bo)"
    assert (info.owner, info.practice_of, info.has_truth) == ("bo", "planted", True)
    assert info.fingerprint == workspace.data.info().fingerprint
    assert copy.verdicts.counts() == {"normal": 0, "anomalous": 0, "unsure": 0, "fresh": 0}
    assert copy.runs.all() == []
    assert np.array_equal(copy.data.truth().y, workspace.data.truth().y)
    assert copy.data.report() == workspace.data.report()
    assert workspace.data.info().practice_of == ""
    assert workspace.verdicts.counts() == before


def test_each_analyst_has_one_practice_and_it_is_found_from_either_side(home) -> None:
    workspace = make_project()
    one = begin(workspace, "bo")
    assert begin(workspace, "bo").id == one.id
    assert begin(one, "bo").id == one.id
    other = begin(one, "ana")
    assert other.id != one.id
    assert {info.id for info in copies(workspace)} == {one.id, other.id}
    assert copy_of(workspace, "ana").id == other.id
    assert copy_of(workspace, "cy") is None
    assert base_of(one).id == workspace.id
    assert base_of(workspace).id == workspace.id


def test_verdicts_are_scored_in_the_order_they_were_given(home) -> None:
    copy = begin(make_project(), "bo")
    normal, anomalous = answers(copy)
    given = [
        (anomalous[0], "anomalous"),
        (normal[0], "normal"),
        (normal[1], "anomalous"),
        (anomalous[1], "normal"),
        (anomalous[2], "unsure"),
        (anomalous[3], "anomalous"),
    ]
    for node, verdict in given:
        copy.verdicts.record(node, verdict, analyst="bo")
    result = score(copy)
    assert result.found == [1, 1, 1, 1, 1, 2]
    assert result.mistakes == [0, 0, 1, 2, 2, 2]
    assert (result.missed, result.false_alarms, result.unsure, result.judged) == (1, 1, 1, 5)
    assert result.hit_rate == pytest.approx(2 / 6)
    assert result.wrong_share == pytest.approx(2 / 5)
    assert result.chance == pytest.approx(0.1)
    assert result.times_chance == pytest.approx(10 / 3)


def test_what_is_taken_back_or_corrected_counts_as_it_stands(home) -> None:
    copy = begin(make_project(), "bo")
    normal, anomalous = answers(copy)
    copy.verdicts.record(anomalous[0], "normal", analyst="bo")
    copy.verdicts.record(normal[0], "anomalous", analyst="bo")
    copy.verdicts.undo("bo")
    copy.verdicts.record(normal[1], "normal", analyst="bo")
    copy.verdicts.record(anomalous[0], "anomalous", analyst="bo")
    result = score(copy)
    assert result.found == [1, 1]
    assert result.mistakes == [0, 0]


def test_before_the_first_verdict_there_is_no_rate(home) -> None:
    result = score(begin(make_project(), "bo"))
    assert (result.verdicts, result.hit_rate, result.wrong_share, result.times_chance) == (
        0,
        None,
        None,
        None,
    )
    assert not result.enough


def test_a_practice_outlives_its_project_and_can_be_deleted(home) -> None:
    workspace = make_project()
    copy = begin(workspace, "bo")
    Workspace.delete(workspace.id)
    assert base_of(copy).id == copy.id
    assert [info.id for info in copies(copy)] == [copy.id]
    assert begin(copy, "bo").id == copy.id
    Workspace.delete(copy.id)
    assert Workspace.projects() == []


def test_without_known_answers_there_is_no_practice(home) -> None:
    graph, _ = planted_graph()
    report = Report("planted", "test", graph.n_nodes, graph.n_edges, graph.n_features)
    blind = Workspace.create("blind", Reading(graph, report, None))
    with pytest.raises(NotFound, match="no truth column"):
        begin(blind)
    assert len(Workspace.projects()) == 1


def test_the_command_begins_and_scores_a_practice(home, capsys) -> None:
    workspace = make_project()
    assert main(["practice", "-p", "planted", "--score"]) == 0
    assert "Nobody has practised" in capsys.readouterr().out
    assert main(["practice", "-p", "planted", "--yourself"]) == 0
    shown = capsys.readouterr().out
    copy = begin(workspace)
    assert "'Practice: planted (ana)'" in shown
    assert shown.index(f"train -p {copy.id}") < shown.index(f"queue -p {copy.id}")
    normal, anomalous = answers(copy)
    copy.verdicts.record(anomalous[0], "anomalous")
    assert main(["practice", "-p", copy.id, "--score"]) == 0
    assert f"has 1 verdict(s); its score is shown from {LEAST} on" in capsys.readouterr().out
    for node in normal[:10]:
        copy.verdicts.record(node, "normal")
    simulated.practise(workspace, ["top"], labels=20, model="sgc-lr")
    assert main(["practice", "-p", copy.id, "--score"]) == 0
    shown = capsys.readouterr().out
    assert "hit rate" in shown
    assert [line.split()[0] for line in shown.splitlines()[-2:]] == ["10", "11"]
    assert "top" in shown
    assert main(["practice", "-p", "planted", "--score", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["scores"]
    assert found["found"] == [1] * 11
    assert found["mistakes"] == [0] * 11
    assert found["hit_rate"] == pytest.approx(1 / 11)
