"""Verdicts and label sets."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from gadcore.errors import LabelError
from gadcore.graph import Graph, make_graph
from gadcore.graph.labels import GroupRule, LabelEvent, Labels, Verdict, checked_weight


@pytest.fixture
def graph() -> Graph:
    return make_graph("abcdef", np.array([[0, 1], [1, 2]]))


def event(node: str, verdict: Verdict | None, **more: object) -> LabelEvent:
    return LabelEvent(1, "label", "g", node, verdict, "ana", datetime.now(UTC), **more)


def test_labels_from_events_follow_ids_not_rows(graph: Graph) -> None:
    events = [
        event("f", Verdict.ANOMALOUS, inclusion_probability=0.2),
        event("a", Verdict.NORMAL, weight=0.5),
        event("c", Verdict.UNSURE),
        event("gone", Verdict.NORMAL),
        event("b", None),
    ]
    labels = Labels.from_events(graph, events)
    assert (list(labels.normal), list(labels.anomalous), list(labels.unsure)) == ([0], [5], [2])
    assert labels.inclusion == {5: 0.2}
    assert labels.weight == {0: 0.5}
    assert list(labels.weights) == [0.5, 1.0]
    assert len(labels) == 2


def test_a_verdict_that_is_changed_later_stays_the_draw_it_was(graph: Graph) -> None:
    first = {"f": event("f", Verdict.NORMAL, inclusion_probability=0.2), "a": event("a", Verdict.NORMAL)}
    settled = [event("f", Verdict.ANOMALOUS), event("a", Verdict.NORMAL, inclusion_probability=0.1)]
    labels = Labels.from_events(graph, settled, first)
    assert list(labels.anomalous) == [5]
    assert labels.inclusion == {5: 0.2}


def test_indices_targets_and_array(graph: Graph) -> None:
    labels = Labels.from_indices(graph, normal=[3, 1], anomalous=[2], unsure=[5])
    assert list(labels.indices) == [1, 3, 2]
    assert list(labels.targets) == [0, 0, 1]
    assert list(labels.as_array(6)) == [-1, 0, 1, 0, -1, -2]


def test_two_verdicts_for_a_node_are_refused(graph: Graph) -> None:
    with pytest.raises(LabelError, match="'b'"):
        Labels.from_indices(graph, normal=[1], anomalous=[1])


@pytest.mark.parametrize("row", [-1, 6])
def test_rows_outside_the_graph_are_refused(graph: Graph, row: int) -> None:
    with pytest.raises(LabelError, match="rows 0 to 5"):
        Labels.from_indices(graph, normal=[row])


def test_hash_depends_on_the_set_and_not_on_the_order(graph: Graph) -> None:
    one = Labels.from_indices(graph, normal=[1, 0], anomalous=[2])
    same = Labels.from_indices(graph, normal=[0, 1], anomalous=[2])
    other = Labels.from_indices(graph, normal=[0, 2], anomalous=[1])
    assert one.hash(graph) == same.hash(graph) != other.hash(graph)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [("Fraud", Verdict.ANOMALOUS), (" 0 ", Verdict.NORMAL), ("?", Verdict.UNSURE), ("A", Verdict.ANOMALOUS)],
)
def test_verdicts_are_read_from_usual_words(text: str, verdict: Verdict) -> None:
    assert Verdict.parse(text) is verdict


def test_an_unknown_verdict_names_the_known_ones() -> None:
    with pytest.raises(LabelError, match=r"'maybe'.*normal, anomalous or unsure"):
        Verdict.parse("maybe")


def test_hash_knows_weights_and_takes_a_weight_of_one_for_none(graph: Graph) -> None:
    plain = Labels.from_indices(graph, normal=[0, 1], anomalous=[2])
    ones = Labels(plain.normal, plain.anomalous, weight={0: 1.0})
    halves = Labels(plain.normal, plain.anomalous, weight={0: 0.5})
    assert plain.hash(graph) == ones.hash(graph) != halves.hash(graph)


@pytest.mark.parametrize(("rule", "total"), [("one", 1.0), ("root", 3.0), ("full", 9.0)])
def test_a_group_counts_by_its_rule(rule: str, total: float) -> None:
    assert 9 * GroupRule.parse(rule).weight(9) == pytest.approx(total)
    assert GroupRule.parse(rule).weight(1) == 1.0


def test_an_unknown_rule_or_weight_says_what_is_expected() -> None:
    with pytest.raises(LabelError, match=r"'half'.*one .*root .*full"):
        GroupRule.parse("half")
    for bad in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(LabelError, match="at most 1"):
            checked_weight(bad)


def test_labels_know_whether_a_query_chose_cases(graph: Graph) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    ids = [str(node_id) for node_id in graph.node_ids[:3]]

    def given(node_id: str, strategy: str, chance: float | None = None) -> LabelEvent:
        return LabelEvent(
            1,
            "label",
            "g",
            node_id,
            Verdict.NORMAL,
            "ann",
            at,
            strategy=strategy,
            inclusion_probability=chance,
        )

    opened, drawn, chosen = given(ids[0], ""), given(ids[1], "audit", 0.01), given(ids[2], "greedy-diverse")
    assert not Labels.from_events(graph, [opened, drawn]).chosen
    assert Labels.from_events(graph, [opened, drawn, chosen]).chosen
    assert Labels.from_events(graph, [given(ids[0], "")], first={ids[0]: given(ids[0], "top")}).chosen


def test_a_set_carried_on_is_the_set_of_all_events() -> None:
    graph = make_graph([f"n{i}" for i in range(9)], np.array([[0, 1], [1, 2]]), np.zeros((9, 1)))
    rng = np.random.default_rng(0)
    current: dict[str, LabelEvent] = {}
    first: dict[str, LabelEvent] = {}
    carried = Labels.none()
    for _ in range(60):
        node, verdict = f"n{rng.integers(9)}", list(Verdict)[rng.integers(3)]
        drawn = {"strategy": "audit", "inclusion_probability": 0.1} if rng.random() < 0.3 else {}
        given = event(node, verdict, weight=float(rng.choice([0.5, 1.0])), **drawn)
        current[node] = given
        first.setdefault(node, given)
        carried = carried.after(graph, [given], first)
        whole = Labels.from_events(graph, current.values(), first)
        assert carried.hash(graph) == whole.hash(graph)
        assert (carried.inclusion, carried.weight) == (whole.inclusion, whole.weight)
        assert carried.chosen == whole.chosen
