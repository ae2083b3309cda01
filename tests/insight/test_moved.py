"""What moved: who rose and fell, and the labels that lie behind it."""

from __future__ import annotations

import numpy as np
import pytest
from probe_detector import reading, register, unregister

from gadcore.errors import InputError
from gadcore.graph import make_graph
from gadcore.insight.moved import Change, Ranking, label_changes, movers, nearest_changes
from gadcore.workspace import Workspace


@pytest.fixture
def path():
    """a–b–c–d–e and a lonely f."""
    return make_graph("abcdef", np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))


@pytest.fixture
def project(settings, planted):
    register()
    yield Workspace.create("net", reading(*planted), settings=settings)
    unregister()


def full(labels: dict[str, str]) -> dict[str, tuple[str, float]]:
    """Labels that count 1 each."""
    return {node: (word, 1.0) for node, word in labels.items()}


def test_labels_that_are_new_changed_or_taken_back(path) -> None:
    before = full({"a": "anomalous", "b": "normal", "c": "normal", "gone": "normal"})
    after = full({"a": "anomalous", "b": "anomalous", "d": "normal"})
    found = label_changes(path, before, after)
    assert found == [
        Change(1, "anomalous", "normal"),
        Change(2, None, "normal", weight=0),
        Change(3, "normal", None, weight_before=0),
    ]
    assert [np.sign(change.push) for change in found] == [1, 1, -1]
    assert [change.words for change in found] == ["anomalous", "normal taken back", "normal"]


def test_a_label_that_counts_more_has_changed(path) -> None:
    before, after = (
        {"a": ("anomalous", 1 / 6), "b": ("normal", 0.5)},
        {"a": ("anomalous", 1.0), "b": ("normal", 0.5)},
    )
    found = label_changes(path, before, after)
    assert found == [Change(0, "anomalous", "anomalous", 1.0, 1 / 6)]
    assert found[0].push == pytest.approx(5 / 6)
    assert found[0].words == "anomalous, counts 1 instead of 0.17"


def test_a_riser_is_blamed_on_anomalous_labels_and_a_faller_on_normal_ones(path) -> None:
    before = Ranking(np.array([1, 2, 3, 4, 5, 6]), {})
    after = Ranking(np.array([1, 6, 4, 2, 3, 5]), full({"e": "anomalous", "a": "normal"}))
    risen, fallen = movers(path, before, after, None, 10)
    assert [mover.node_id for mover in risen] == ["d", "e", "f"]
    assert risen[0].places == 2
    assert [(cause.node_id, cause.link) for cause in risen[0].causes] == [("e", "a neighbour")]
    assert risen[1].causes[0].link == "its own label"
    assert [mover.node_id for mover in fallen] == ["b", "c"]
    assert all(cause.verdict == "normal" for mover in fallen for cause in mover.causes)
    assert fallen[1].causes[0].link == "1 shared neighbour"


def test_the_order_of_movers_favours_the_top(path) -> None:
    before = Ranking(np.array([4, 6, 1, 2, 3, 5]), {})
    after = Ranking(np.array([1, 3, 2, 4, 5, 6]), {})
    risen, fallen = movers(path, before, after, None, 1)
    assert [mover.node_id for mover in risen] == ["a"]  # 4 to 1 before 6 to 3
    assert len(fallen) == 1
    assert not risen[0].causes
    assert risen[0].remark == "no changed label near it: others fell behind it"
    assert fallen[0].remark == "no changed label near it: others moved past it"


def test_nearness_is_likeness_times_closeness(path) -> None:
    space = np.array([[2, 0], [2, 0.1], [-2, 0], [2, 0], [-2, 0], [-2, -0.1]], dtype=np.float32)
    changes = [Change(v, "anomalous", None) for v in (0, 2, 3, 5)]
    causes = nearest_changes(path, np.array([1]), changes, space)[0]
    assert [cause.node_id for cause in causes] == ["a", "d"]  # c is a neighbour, but looks different
    assert causes[0].nearness > causes[1].nearness > 0
    assert causes[1].link == "1 shared neighbour"


def test_a_new_label_moves_its_node_and_is_named(project: Workspace) -> None:
    assert "no finished run" in project.insight.moved().reason
    project.runs.train("probe")
    assert "only one finished run" in project.insight.moved().reason
    quiet = str(project.graph.node_ids[project.runs.result().order[-1]])
    project.verdicts.record(quiet, "anomalous")
    project.runs.train("probe")
    found = project.insight.moved(n=5)
    assert (found.before.number, found.after.number, found.changes) == (1, 2, 1)
    assert found.risen[0].node_id == quiet
    assert found.risen[0].causes[0].node_id == quiet
    assert found.risen[0].verdict == "anomalous"
    assert len(found.fallen) <= 5
    assert found.note == ""
    assert "first" in project.insight.moved("1").reason
    project.runs.train("probe", seed=1)
    assert "seed changed" in project.insight.moved().note


def test_a_wrong_number_of_movers_is_refused(project: Workspace) -> None:
    with pytest.raises(InputError, match="n = 0"):
        project.insight.moved(n=0)
