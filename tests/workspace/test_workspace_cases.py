"""The facade: queue, search, filters, node cards, maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from probe_detector import reading, register, unregister

from gadcore.errors import GadError, InputError, NotFound, RunError
from gadcore.graph import Graph, make_graph
from gadcore.loop.calibrate import band
from gadcore.records import as_json
from gadcore.settings import Settings
from gadcore.workspace import Filter, Workspace
from gadcore.workspace.runs import Request
from gadcore.workspace.search import SearchIndex


@pytest.fixture
def graph(planted) -> Graph:
    source = planted[0]
    i, j = source.adjacency.nonzero()
    table = pd.DataFrame(
        {
            "city": np.where(np.arange(300) % 3 == 0, "Paris", "Łódź"),
            "age": np.arange(300, dtype=float),
            "vip": np.arange(300) % 2 == 0,
            "tags": [["x", "y"] if k < 10 else [] for k in range(300)],
            "memo": [None if k % 2 else f"memo {k}" for k in range(300)],
        }
    )
    return make_graph(source.node_ids, np.vstack([i, j]), source.x, node_table=table, name="cities")


@pytest.fixture
def project(settings: Settings, graph: Graph):
    register()
    yield Workspace.create("cities", reading(graph), settings=settings)
    unregister()


@pytest.fixture
def ranked(project: Workspace) -> Workspace:
    project.runs.train("probe")
    return project


def ids(rows) -> list[str]:
    return [row.node_id for row in rows]


def test_before_a_run_the_queue_says_that_it_is_not_ranked(project: Workspace) -> None:
    rows = project.cases.queue(n=5)
    assert len(rows) == 5
    assert {row.rank for row in rows} == {0}
    assert {row.reason for row in rows} == {"not ranked yet: train first"}
    project.runs._queued(Request("probe", device="cpu", warm=False))
    assert {row.reason for row in project.cases.queue(n=5)} == {"not ranked yet: the first run is under way"}
    assert project.cases.card("n001").row.reason == "not ranked yet: the first run is under way"


def test_the_queue_holds_unlabelled_nodes_with_their_place(ranked: Workspace) -> None:
    rows = ranked.cases.queue(n=50)
    assert len(set(ids(rows))) == 50
    result = ranked.runs.result()
    for row in rows:
        node = ranked.graph.index_of(row.node_id)
        assert row.rank == result.rank[node]
        assert row.score == pytest.approx(float(result.scores[node]))
        assert row.percentile == pytest.approx(result.percentile[node])
        assert row.reason
        assert row.verdict is None
        assert row.moved is None
    as_json(rows)


def test_the_queue_keeps_still_while_labels_come_in_if_told_to(ranked: Workspace) -> None:
    ranked.set_preference("provisional", False)
    before = ids(ranked.cases.queue(n=40))
    for node in before[:5]:
        ranked.verdicts.record(node, "n")
    after = ids(ranked.cases.queue(n=40))
    assert after[:35] == before[5:]
    ranked.verdicts.undo()
    assert before[4] in ids(ranked.cases.queue(n=40))


def test_a_row_tells_why_it_was_chosen_besides_why_it_scores(ranked: Workspace) -> None:
    for node in ids(ranked.cases.queue(n=10)):
        ranked.verdicts.record(node, "n")
    ranked.runs.train("probe")
    rows = [row for row in ranked.cases.queue(n=20) if row.strategy == "greedy-diverse"]
    assert rows
    assert all(row.reason.endswith("ranks high and is unlike all cases so far") for row in rows)
    assert any("; " in row.reason for row in rows)
    assert not any("; rank" in row.reason for row in ranked.cases.queue(n=20, strategy="top"))


def test_audit_cases_carry_their_inclusion_probability(ranked: Workspace) -> None:
    rows = ranked.cases.queue(n=100)
    audit = [row for row in rows if row.inclusion_probability is not None]
    assert audit
    assert all(0 < row.inclusion_probability <= 1 for row in audit)
    assert {row.strategy for row in audit} == {"audit"}


def test_strategies_and_preferences_decide_the_order(ranked: Workspace) -> None:
    ranked.set_preference("audit_share", 0.0)
    top = ranked.cases.queue(n=20, strategy="top")
    assert [row.rank for row in top] == list(range(1, 21))
    ranked.set_preference("strategy", "top")
    assert ids(ranked.cases.queue(n=20)) == ids(top)


def test_a_preference_for_a_strategy_of_old_is_the_default(ranked: Workspace) -> None:
    usual = ids(ranked.cases.queue(n=20))
    ranked._project.store.projects.set_preference(
        ranked.id, "strategy", "disagreement"
    )  # of an older version
    assert ids(ranked.cases.queue(n=20)) == usual
    with pytest.raises(GadError, match="no query strategy 'disagreement'"):
        ranked.cases.queue(n=20, strategy="disagreement")


def test_the_queue_ends_when_every_node_has_a_label(ranked: Workspace) -> None:
    everything = [str(node) for node in ranked.graph.node_ids]
    ranked.verdicts.record_group(everything[:-3], "n")
    assert set(ids(ranked.cases.queue(n=50))) == set(everything[-3:])
    ranked.verdicts.record_group(everything[-3:], "n")
    assert ranked.cases.queue(n=50) == []


@pytest.mark.parametrize("tuning", [{"audit_share": 2.0}, {"dial": 5.0}, {"near_duplicates": "yes"}])
def test_tuning_out_of_range_is_refused(ranked: Workspace, tuning) -> None:
    with pytest.raises(InputError, match=next(iter(tuning))):
        ranked.cases.queue(**tuning)


def test_a_queue_without_cases_says_why(ranked: Workspace) -> None:
    def said(**given) -> str:
        return ranked.cases.remark(len(ranked.cases.queue(n=50, **given)), **given)

    assert said() == ""
    assert said(strategy="ring").startswith("No confirmed anomaly yet: ")
    assert said(where=Filter(verdict="unsure")) == "No node fits this filter. Choose another one."
    everything = [str(node) for node in ranked.graph.node_ids]
    ranked.verdicts.record_group(everything[:100], "n")
    ranked.verdicts.record(everything[-1], "a")
    assert said(strategy="ring") == ""
    young = Filter(column="age", value="17")
    assert said(where=young) == "No node without a verdict fits this filter. Choose another one."
    ranked.verdicts.record_group([node for node in everything[100:] if node != everything[-1]], "n")
    assert said() == said(strategy="ring") == said(where=young) == "Every node has a verdict."


def test_a_filter_that_narrows_has_no_random_checks_unless_asked_for(ranked: Workspace) -> None:
    """They would stand for no more than the filter lets through, in front of its best cases."""
    where = Filter(min_percentile=80, max_percentile=100)
    rows = ranked.cases.queue(n=200, where=where)
    assert len(rows) == 60
    assert "audit" not in {row.strategy for row in rows}
    assert ranked.cases.remark(len(rows), where=where) == ""
    drawn = ranked.cases.queue(n=20, where=where, strategy="audit")
    assert {(row.strategy, row.inclusion_probability) for row in drawn} == {("audit", None)}
    assert "do not count" in ranked.cases.remark(len(drawn), where=where, strategy="audit")


def test_moves_are_counted_from_the_run_before(ranked: Workspace) -> None:
    last = str(ranked.graph.node_ids[ranked.runs.result().order[-1]])
    ranked.verdicts.record(last, "a")
    ranked.runs.train("probe")
    row = ranked.cases.search(last)[0]
    assert row.rank == 1
    assert row.moved == ranked.graph.n_nodes - 1


def test_a_model_that_was_only_tried_counts_neither_as_the_run_before_nor_in_the_history(ranked) -> None:
    ranked.runs.train("isolation-forest", use=False)
    assert Workspace.projects(ranked.settings)[0].last_run.number == 1
    ranked.runs.train("probe")
    assert ranked.insight.moved().before.number == 1
    assert [number for number, _ in ranked.cases.card("n030").rank_history] == [1, 3]


def test_my_labels_are_all_that_i_judged(ranked: Workspace) -> None:
    for node, analyst in (("n000", "ana"), ("n001", "bo"), ("n002", "ana"), ("n002", "bo"), ("n003", "ana")):
        ranked.verdicts.record(node, "n", analyst=analyst)
    ranked.verdicts.undo(analyst="ana")
    assert set(ids(ranked.cases.queue(where=Filter(verdict="mine"), analyst="ana"))) == {"n000", "n002"}
    assert set(ids(ranked.cases.queue(where=Filter(verdict="mine"), analyst="bo"))) == {"n001", "n002"}


def test_filters_by_verdict_value_percentile_and_text(ranked: Workspace) -> None:
    ranked.verdicts.record("n000", "a", analyst="ana")
    ranked.verdicts.record("n001", "n", analyst="bo")
    ranked.verdicts.record("n002", "u", analyst="ana")
    assert ids(ranked.cases.queue(where=Filter(verdict="anomalous"))) == ["n000"]
    assert set(ids(ranked.cases.queue(where=Filter(verdict="mine"), analyst="ana"))) == {"n000", "n002"}
    assert ids(ranked.cases.queue(where=Filter(verdict="unsure"))) == ["n002"]
    everyone = ranked.cases.queue(n=300, where=Filter(verdict="any"))
    assert [row.rank for row in everyone] == list(range(1, 301))
    paris = ranked.cases.queue(n=300, where=Filter(column="city", value="Paris"))
    assert {int(node[1:]) % 3 for node in ids(paris)} == {0}
    assert len(paris) == 99  # 100 nodes, one of them labelled
    high = ranked.cases.queue(n=300, where=Filter(verdict="any", min_percentile=90))
    assert len(high) == 30
    low = ranked.cases.queue(n=300, where=Filter(verdict="any", max_percentile=10))
    assert not set(ids(high)) & set(ids(low))
    assert set(ids(ranked.cases.queue(n=300, where=Filter(verdict="any", text="memo 29")))) == {
        f"n{k:03d}" for k in (290, 292, 294, 296, 298)
    }


@pytest.mark.parametrize("where", [Filter(verdict="odd"), Filter(column="colour", value="red")])
def test_an_unknown_filter_is_a_clear_error(ranked: Workspace, where: Filter) -> None:
    with pytest.raises(InputError, match="Expected"):
        ranked.cases.queue(where=where)


def test_search_finds_ids_first_then_attributes(ranked: Workspace) -> None:
    assert ids(ranked.cases.search("N007"))[0] == "n007"
    assert ids(ranked.cases.search("n00")) == [f"n{k:03d}" for k in range(10)]
    assert len(ranked.cases.search("łódź", limit=5)) == 5
    assert ids(ranked.cases.search("age=17"))[0] == "n017"
    assert {int(n[1:]) % 3 for n in ids(ranked.cases.search("city:paris", limit=300))} == {0}
    assert ranked.cases.search("   ") == []
    assert ranked.cases.search("no such thing") == []


def test_search_does_not_join_neighbouring_lines(tmp_path: Path) -> None:
    graph = make_graph(["ab", "cd", "a", "b\nc"], np.array([[0], [1]]))
    index = SearchIndex(graph, tmp_path)
    assert list(index.find("a", 10)) == [2, 0]
    assert list(index.find("bc", 10)) == []
    assert list(index.find("cd", 10)) == [1]
    assert list(index.find("b c", 10)) == [3]


def test_the_card_of_a_node(ranked: Workspace) -> None:
    node = ranked.graph.index_of("n030")
    around = [str(ranked.graph.node_ids[i]) for i in ranked.graph.neighbours(node)[0]]
    ranked.verdicts.record(around[0], "a")
    ranked.verdicts.record("n030", "n", note="checked")
    ranked.verdicts.undo()
    ranked.verdicts.note("n030", "call the bank")
    ranked.runs.train("probe")
    card = ranked.cases.card("n030")
    assert card.degree == len(around)
    assert card.neighbour_verdicts == {
        "normal": 0, "anomalous": 1, "unsure": 0, "unlabelled": len(around) - 1,
    }  # fmt: skip
    assert card.note == "call the bank"
    assert [event["kind"] for event in card.events] == ["note", "undo", "label"]
    assert [number for number, _ in card.rank_history] == [1, 2]
    assert card.rank_history[-1][1] == card.row.rank
    assert card.band in ("high", "raised", "usual", "low")
    as_json(card)


def test_a_card_without_a_run(project: Workspace) -> None:
    card = project.cases.card("n030")
    assert card.row.rank == 0
    assert card.rank_history == []
    assert (card.probability, card.probability_band) == (None, "")
    assert "nothing is ranked" in card.probability_reason


def test_attributes_stand_against_their_peers(project: Workspace) -> None:
    seen = {a.column: a for a in project.cases.card("n299").attributes}
    assert seen["age"].value == "299"
    assert seen["age"].percentile == pytest.approx(100 * 299.5 / 300)
    assert seen["city"].share == pytest.approx(100 * 200 / 300)
    assert seen["vip"].value == "False"
    assert seen["vip"].share == pytest.approx(50)
    assert seen["memo"].value == ""
    assert seen["memo"].share is None
    assert {a.column: a.value for a in project.cases.card("n003").attributes}["tags"] == "x, y"


def test_an_unknown_node_is_named(ranked: Workspace) -> None:
    cases = ranked.cases
    for ask in (cases.card, cases.neighbourhood, ranked.insight.explain, cases.similar, cases.group):
        with pytest.raises(NotFound, match="n999"):
            ask("n999")


def test_the_neighbourhood_shows_scores_and_verdicts(ranked: Workspace) -> None:
    ranked.verdicts.record("n030", "a")
    view = ranked.cases.neighbourhood("n030", hops=1, cap=5)
    assert view.centre == "n030"
    centre = next(node for node in view.nodes if node.node_id == "n030")
    assert centre.verdict == "anomalous"
    assert centre.percentile == pytest.approx(ranked.runs.result().percentile[30])


def test_nothing_can_be_explained_or_drawn_before_a_run(project: Workspace) -> None:
    with pytest.raises(RunError, match="Train first"):
        project.insight.explain("n001")
    with pytest.raises(RunError, match="Train first"):
        project.runs.request_layout("umap")
    assert project.runs.layout("pca") is None
    assert project.runs.layout_state("umap") == ("none", "")


def test_an_unknown_kind_of_map_is_refused(ranked: Workspace) -> None:
    with pytest.raises(InputError, match="umap"):
        ranked.runs.request_layout("globe")


def test_similar_nodes_are_the_nearest_in_the_embedding(ranked: Workspace) -> None:
    embedding = ranked.runs.result().embedding
    far = np.square(embedding - embedding[30]).sum(axis=1)
    expected = [f"n{k:03d}" for k in np.argsort(far)[1:6]]
    assert ids(ranked.cases.similar("n030", 5)) == expected
    assert ids(ranked.cases.card("n030").similar)[:5] == expected
    assert "its embedding" in ranked.cases.card("n030").similar_space


def test_without_an_embedding_similar_nodes_come_from_the_graph(project: Workspace) -> None:
    assert project.cases.similar("n030") == []
    project.runs.train("probe", params={"plain": True})
    assert len(project.cases.similar("n030", 5)) == 5


def test_the_group_of_a_node_begins_with_the_node(ranked: Workspace) -> None:
    assert ranked.cases.group("n030").node_ids[0] == "n030"


def test_a_node_is_explained(ranked: Workspace) -> None:
    why = ranked.insight.explain("n030")
    assert why.node_id == "n030"
    assert why.score == pytest.approx(float(ranked.runs.result().scores[30]))
    assert why.reasons
    as_json(why)


def test_probabilities_come_with_their_basis(project: Workspace) -> None:
    project.runs.train("probe")
    assert project.cases.card("n001").probability is None
    assert project.cases.card("n001").probability_reason
    project.verdicts.record_group([f"n{k:03d}" for k in range(8)], "a")
    project.verdicts.record_group([f"n{k:03d}" for k in range(8, 30)], "n")
    project.runs.train("probe")
    card = project.cases.card("n001")
    assert 0 < card.probability < 1
    assert card.probability_band == band(card.probability)
    assert "8 anomalous and 22 normal" in card.probability_reason
    assert project.insight.probability_missing() == ""


def test_a_card_says_what_is_missing_for_a_probability_by_now(ranked: Workspace) -> None:
    assert "this run had 0 anomalous" in ranked.cases.card("n001").probability_reason
    ranked.verdicts.record_group([f"n{k:03d}" for k in range(10, 16)], "n")
    ranked.verdicts.record_group([f"n{k:03d}" for k in range(4)], "a")
    assert "needs 1 more anomalous verdict (5 of each kind)" in ranked.cases.card("n001").probability_reason
    assert ranked.insight.probability_missing() == ranked.cases.card("n001").probability_reason
    ranked.verdicts.record("n004", "a")
    assert ranked.cases.card("n001").probability_reason.endswith("enough verdicts now, retrain for one.")


def test_verdicts_of_a_group_count_for_a_probability_by_their_weight(ranked: Workspace) -> None:
    ranked.verdicts.record_group([f"n{k:03d}" for k in range(10, 16)], "n")
    ranked.verdicts.record_group([f"n{k:03d}" for k in range(8)], "a", weight="one", judged=["n000"])
    assert "needs 3 more anomalous verdicts (5 of each kind)" in ranked.cases.card("n001").probability_reason


def test_a_card_counts_the_marked_neighbours_as_they_are_now(project: Workspace) -> None:
    graph = project.graph
    node = int(np.argmax(graph.degree))
    near = [str(graph.node_ids[i]) for i in graph.neighbours(node)[0]]
    far = [str(i) for i in graph.node_ids if str(i) not in near]
    project.verdicts.record_group([near[0], *far[:3]], "a")
    project.verdicts.record_group(far[10:20], "n")
    assert project.runs.train("an+").status == "done"
    name = str(graph.node_ids[node])
    assert project.cases.card(name).row.reason == f"1 of {len(near)} neighbours marked anomalous"
    project.verdicts.record_group(near[1:3], "a")
    assert project.cases.card(name).neighbour_verdicts["anomalous"] == 3
    assert project.cases.card(name).row.reason == f"3 of {len(near)} neighbours marked anomalous"
    listed = {row.node_id: row.reason for row in project.cases.queue(strategy="top", n=graph.n_nodes)}
    assert listed[name] == project.cases.card(name).row.reason
