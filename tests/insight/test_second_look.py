"""Second look and the audit of a workspace: doubts with their reasons, settled by adjudication."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import record_drawn
from probe_detector import reading, register, unregister

from gadcore.errors import InputError
from gadcore.graph import make_graph
from gadcore.graph.labels import Labels
from gadcore.insight.agreement import Dispute
from gadcore.insight.second_look import doubts, model_doubts, neighbour_doubts
from gadcore.loop.audit import LEAST_TOP
from gadcore.workspace import Workspace


@pytest.fixture
def project(settings, planted):
    register()
    yield Workspace.create("net", reading(*planted), settings=settings)
    unregister()


def labels_of(normal, anomalous) -> Labels:
    return Labels(np.array(normal, dtype=np.int64), np.array(anomalous, dtype=np.int64))


def test_a_confident_model_that_did_not_see_the_verdict_may_disagree() -> None:
    held = np.full(30, np.nan)
    held[:10] = np.linspace(0, 0.3, 10)
    held[10:20] = np.linspace(0.7, 1, 10)
    held[3], held[12] = 0.95, 0.01
    found = {doubt.node: doubt for doubt in model_doubts(labels_of(range(10), range(10, 20)), held)}
    assert set(found) == {3, 12}
    assert "marked normal" in found[3].reason
    assert "above" in found[3].reason
    assert "below" in found[12].reason
    assert 0.5 <= found[3].strength <= 1


def test_nothing_is_claimed_from_few_labels_or_a_model_that_knows_nothing() -> None:
    assert model_doubts(labels_of(range(10), range(10, 20)), None) == []
    assert model_doubts(labels_of([0, 1], [2, 3]), np.array([0.9, 0, 0.1, 1])) == []
    rng = np.random.default_rng(0)
    assert model_doubts(labels_of(range(10), range(10, 20)), -np.sort(rng.random(20))) == []


def test_a_group_that_counts_as_one_verdict_is_not_enough_to_disagree() -> None:
    held = np.r_[np.linspace(0, 0.3, 10), np.linspace(0.7, 1, 6)]
    held[3] = 0.95
    every = labels_of(range(10), range(10, 16))
    assert [doubt.node for doubt in model_doubts(every, held)] == [3]
    for share, nodes in ((1 / 6, []), (5 / 6, [3])):
        grouped = Labels(every.normal, every.anomalous, weight=dict.fromkeys(range(10, 16), share))
        assert [doubt.node for doubt in model_doubts(grouped, held)] == nodes


def star(centres: int, leaves: int):
    """Centres with leaves of their own; also the first leaf of each."""
    edges, first, n = [], [], centres
    for centre in range(centres):
        first.append(n)
        edges += [(centre, n + i) for i in range(leaves)]
        n += leaves
    return make_graph([f"v{i}" for i in range(n)], np.array(edges).T), first


def test_a_verdict_against_most_labelled_neighbours() -> None:
    graph, first = star(1, 4)
    found = neighbour_doubts(graph, labels_of([0], range(first[0], first[0] + 4)))
    assert [doubt.node for doubt in found] == [0]
    assert "4 of 4 labelled neighbours are anomalous" in found[0].reason
    assert neighbour_doubts(graph, labels_of([0], [first[0], first[0] + 1])) == []  # too few around


def test_what_is_usual_for_a_verdict_is_no_doubt() -> None:
    graph, _ = star(6, 4)  # every anomaly sits among normal nodes: as it often is
    assert neighbour_doubts(graph, labels_of(range(6, graph.n_nodes), range(6))) == []
    assert neighbour_doubts(graph, labels_of([], [])) == []


def test_doubts_add_up_and_the_strongest_come_first() -> None:
    graph, first = star(1, 4)
    labels = labels_of([0], range(first[0], first[0] + 4))
    disputed = [
        Dispute("v1", {"ana": "normal", "bo": "anomalous"}),
        Dispute("v0", {"ana": "normal", "bo": "anomalous"}),
    ]
    found = doubts(graph, labels, None, [*disputed, Dispute("unknown", {})])
    assert list(found) == [0, 1]
    assert [doubt.kind for doubt in found[0]] == ["analysts", "neighbours"]
    assert "bo says anomalous" in found[1][0].reason


def test_a_case_is_listed_until_it_is_settled(project: Workspace) -> None:
    assert project.insight.second_look() == []
    project.verdicts.record("n001", "anomalous", analyst="ana")
    project.verdicts.record("n001", "normal", analyst="bo")
    listed = project.insight.second_look()
    assert [(case.node_id, case.verdict, case.analyst, case.rank) for case in listed] == [
        ("n001", "normal", "bo", 0)
    ]
    project.verdicts.settle("n001", "normal", analyst="cy")
    assert project.insight.second_look() == []


def test_a_doubt_about_a_node_labelled_with_a_group_says_so(project: Workspace) -> None:
    project.verdicts.record("n001", "anomalous", analyst="ana")
    project.verdicts.record("n001", "normal", analyst="bo")
    project.verdicts.record_group(
        ["n001", "n002", "n003"], "anomalous", analyst="cy", weight="root", overrule=True
    )
    listed = project.insight.second_look()
    assert [case.node_id for case in listed] == ["n001"]  # a group alone is no doubt
    assert listed[0].kinds == ["analysts", "group"]
    assert "not looked at" in listed[0].reasons[1]


def test_the_model_of_the_run_in_use_is_heard(project: Workspace, planted) -> None:
    graph, y = planted
    ids = [str(node) for node in graph.node_ids]
    wrong = ids[np.flatnonzero(y == 1)[20]]
    project.verdicts.record_group([ids[i] for i in np.flatnonzero(y == 0)[:40]] + [wrong], "normal")
    project.verdicts.record_group([ids[i] for i in np.flatnonzero(y == 1)[:20]], "anomalous")
    run = project.runs.train("sgc-lr")
    assert run.status == "done", run.message
    listed = {case.node_id: case for case in project.insight.second_look(50)}
    assert "model" in listed[wrong].kinds
    assert listed[wrong].rank > 0
    assert len(project.insight.second_look(1)) == 1
    project.verdicts.settle(wrong, "normal")
    assert wrong not in {case.node_id for case in project.insight.second_look(50)}
    project.verdicts.record(wrong, "normal", analyst="bo")
    assert wrong not in {case.node_id for case in project.insight.second_look(50)}


def test_the_audit_of_a_project_says_what_is_missing(project: Workspace) -> None:
    empty = project.insight.audit()
    assert (empty.precision, empty.left, empty.labelled) == (None, None, 0)
    assert "Train first" in empty.precision_reason
    assert "random checks" in empty.reason
    project.runs.train("probe")
    assert "random checks" in project.insight.audit().precision_reason
    with pytest.raises(InputError, match="k = 0"):
        project.insight.audit(0)


def test_the_audit_gives_the_precision_of_a_list(project: Workspace) -> None:
    project.runs.train("probe")
    top = [str(project.graph.node_ids[i]) for i in project.runs.result().order[:8]]
    for node in top[:4]:
        project.verdicts.record(node, "anomalous")
    project.verdicts.record_group(top[4:], "normal")
    report = project.insight.audit(8)  # every case of the list has a verdict: nothing to estimate
    assert (report.top, report.precision, report.precision_interval) == (8, 0.5, (0.5, 0.5))
    assert project.insight.audit(9).precision_interval == pytest.approx((4 / 9, 5 / 9))
    assert project.insight.audit(20).precision is None
    others = [str(project.graph.node_ids[i]) for i in project.runs.result().order[20:]]
    for i in range(LEAST_TOP):
        record_drawn(project, others[i], "anomalous" if i == 0 else "normal", inclusion_probability=0.2 / 15)
    report = project.insight.audit(10)
    assert report.precision == pytest.approx((4 + 2 * 1.5 / 6) / 10)
    low, high = report.precision_interval
    assert 0.4 <= low < report.precision < high <= 0.6


def test_a_settled_audit_case_stays_in_the_random_sample(project: Workspace) -> None:
    record_drawn(project, "n001", "normal", analyst="ana", inclusion_probability=0.01)
    project.verdicts.settle("n001", "anomalous", analyst="bo")
    report = project.insight.audit()
    assert (report.draws, report.hits, report.labelled) == (1, 1, 1)


def test_audit_and_calibration_know_the_same_draws(project: Workspace) -> None:
    record_drawn(project, "n001", "normal", analyst="ana", strategy="audit", inclusion_probability=0.002)
    project.verdicts.settle("n001", "anomalous", analyst="bo")
    project.verdicts.record("n002", "normal", analyst="ana")
    node = project.graph.index_of("n001")
    assert project.verdicts.labels().inclusion == {node: 0.002}
    assert project.verdicts.labels().anomalous.tolist() == [node]
    assert (project.insight.audit().draws, project.insight.audit().hits) == (1, 1)
    project.verdicts.undo("ana")
    project.verdicts.undo("ana")  # the draw itself: what is left was no draw
    assert project.verdicts.labels().inclusion == {}
    assert project.insight.audit().draws == 0
    project.verdicts.redo("ana")
    assert project.verdicts.labels().inclusion == {node: 0.002}
