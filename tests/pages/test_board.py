"""The server's side of the labelling screen: events are performed once, payloads say what they change."""

from __future__ import annotations

import pytest
from board_tab import Tab
from drawn import record_drawn
from page_project import make_project

from gadcore.errors import Unavailable
from gadcore.workspace import Workspace
from pages.label import board
from pages.label.tab_queue import ROWS


@pytest.fixture
def workspace(home) -> Workspace:
    return make_project(labels=False)


@pytest.fixture
def tab(workspace) -> Tab:
    return Tab(workspace)


def verdict_of(workspace: Workspace, node: str) -> str | None:
    event = workspace.verdicts.current().get(node)
    return event.verdict.value if event else None


def test_first_payload_has_rows_strategies_and_counts(tab, workspace) -> None:
    assert len(tab.payload["queue"]["rows"]) == ROWS
    assert {"name", "title"} <= set(tab.payload["project"]["strategies"][0])
    assert tab.payload["project"]["n_nodes"] == workspace.graph.n_nodes
    assert tab.payload["strip"]["counts"]["anomalous"] == 0
    assert tab.payload["labels"] == {"version": tab.payload["labels"]["version"], "base": None, "changes": {}}


def test_a_verdict_is_recorded_for_the_node_it_names(tab, workspace) -> None:
    tab.say(tab.event("verdict", node="n007", verdict="anomalous"))
    event = workspace.verdicts.current()["n007"]
    assert (event.verdict.value, event.analyst, event.strategy) == ("anomalous", "ana", "")
    assert tab.payload["ack"] == {"tab": 1}
    assert tab.payload["labels"]["changes"] == {"n007": "anomalous"}


def test_a_resent_event_is_performed_once(tab, workspace) -> None:
    tab.say(tab.event("verdict", node="n001", verdict="normal"))
    tab.again()
    assert tab.payload["ack"] == {"tab": 1}
    assert [e.kind for e in workspace.verdicts.history("n001")] == ["label"]


def test_a_verdict_that_cannot_be_stored_now_is_not_confirmed_and_kept_later(tab, workspace, monkeypatch):
    """The screen sends it again until it is stored; what came after it waits its turn."""
    database = workspace._project.store.database
    events = [tab.event("verdict", node=node, verdict="normal") for node in ("n001", "n002")]
    with monkeypatch.context() as patch:
        patch.setattr(database, "writing", _locked)
        tab.say(*events)
    assert tab.payload["ack"] == {"tab": 0}
    assert "Not stored yet" in tab.texts[-1]
    assert workspace.verdicts.current() == {}
    tab.say(*events)
    assert tab.payload["ack"] == {"tab": 2}
    assert set(workspace.verdicts.current()) == {"n001", "n002"}


def test_a_tab_keeps_what_it_shows_while_the_store_is_out_of_reach(tab, workspace, monkeypatch) -> None:
    """Also reading fails: the screen stays, says so, and its verdict waits in the outbox."""
    database, verdict = workspace._project.store.database, tab.event("verdict", node="n001", verdict="normal")
    rows = tab.payload["queue"]["rows"]
    with monkeypatch.context() as patch:
        patch.setattr(database, "writing", _locked)
        patch.setattr(database, "reading", _locked)
        tab.say(verdict)
    assert tab.payload["ack"] == {}
    assert tab.payload["reply"] == {"client": "tab", "n": tab.n}
    assert tab.payload["queue"]["rows"] == rows
    assert "Not stored yet" in tab.texts[-1]
    tab.say(verdict)
    assert tab.payload["ack"] == {"tab": 1}
    assert set(workspace.verdicts.current()) == {"n001"}


def _locked():
    raise Unavailable("The database does not answer (locked).")


def test_events_sent_again_by_a_reloaded_tab_are_not_done_twice(tab, workspace) -> None:
    tab.say(tab.event("verdict", node="n001", verdict="normal"), tab.event("undo"))
    reloaded = Tab(workspace, name="another")
    reloaded.say(*tab.sent)
    assert reloaded.payload["ack"] == {"tab": 2}
    assert verdict_of(workspace, "n001") is None
    assert len(workspace.verdicts.history("n001")) == 2


def test_later_events_of_a_message_go_on_after_a_wrong_one(tab, workspace) -> None:
    tab.say(
        tab.event("verdict", node="no such node", verdict="normal"),
        tab.event("verdict", node="n002", verdict="unsure"),
    )
    assert verdict_of(workspace, "n002") == "unsure"
    assert tab.payload["ack"] == {"tab": 2}
    assert "no such node" in tab.texts[-1]
    assert tab.payload["notices"][-1]["level"] == "error"


def test_undo_of_an_earlier_visit_names_the_node_to_open(tab, workspace) -> None:
    workspace.verdicts.record("n005", "normal", analyst="ana")
    tab.say(tab.event("undo", show=True))
    assert verdict_of(workspace, "n005") is None
    assert tab.payload["open"]["node"] == "n005"
    tab.say(tab.event("redo", show=True))
    assert verdict_of(workspace, "n005") == "normal"
    assert tab.payload["open"]["n"] == 2


def test_undo_with_nothing_to_take_back_says_so(tab) -> None:
    tab.say(tab.event("undo", show=True))
    assert "nothing of yours" in tab.texts[-1]
    assert tab.payload["open"] is None


def test_a_group_is_one_step_to_undo(tab, workspace) -> None:
    nodes = ["n010", "n011", "n012"]
    tab.say(tab.event("group", nodes=nodes, verdict="anomalous", source="selection"))
    assert {verdict_of(workspace, n) for n in nodes} == {"anomalous"}
    tab.say(tab.event("undo"))
    assert {verdict_of(workspace, n) for n in nodes} == {None}


def test_nodes_that_are_ticked_change_their_verdict(tab, workspace) -> None:
    workspace.verdicts.record("n011", "normal", analyst="bo")
    given = {"nodes": ["n010", "n011"], "verdict": "anomalous", "weight": "root", "judged": ["n010"]}
    tab.say(tab.event("group", source="ring", **given))
    assert [verdict_of(workspace, node) for node in ("n010", "n011")] == ["anomalous", "anomalous"]


def test_undo_of_a_group_that_wrote_nothing_leaves_the_step_before_it(tab, workspace) -> None:
    tab.say(tab.event("group", nodes=["n010", "n011"], verdict="normal", source="selection"))
    again = tab.event("group", nodes=["n010", "n011"], verdict="normal", source="selection")
    tab.say(again)
    assert "Nothing to change" in tab.texts[-1]
    tab.say(tab.event("undo", step=again["seq"]))
    assert verdict_of(workspace, "n010") == "normal"
    tab.say(tab.event("undo", step=again["seq"] - 1))
    assert verdict_of(workspace, "n010") is None


def test_a_group_counts_by_the_rule_that_the_tab_names(tab, workspace) -> None:
    nodes = ["n010", "n011", "n012", "n013", "n014"]
    tab.say(
        tab.event("group", nodes=nodes, verdict="anomalous", source="ring", weight="root", judged=["n010"])
    )
    assert [workspace.verdicts.current()[node].weight for node in nodes] == [1.0, 0.5, 0.5, 0.5, 0.5]
    tab.say(tab.event("group", nodes=nodes, verdict="normal", source="ring", weight="half"))
    assert "'half'" in tab.texts[-1]
    assert {verdict_of(workspace, node) for node in nodes} == {"anomalous"}


def test_labels_travel_as_a_difference_to_what_the_tab_has(tab, workspace) -> None:
    first = tab.payload["labels"]["version"]
    tab.say(tab.event("verdict", node="n001", verdict="normal"), labels=first)
    assert tab.payload["labels"]["base"] == first
    second = tab.payload["labels"]["version"]
    workspace.verdicts.record("n002", "anomalous", analyst="ben")
    tab.say(tab.event("undo"), labels=second)
    assert tab.payload["labels"]["changes"] == {"n002": "anomalous", "n001": None}
    tab.say(labels="of another session")
    assert tab.payload["labels"]["base"] is None
    assert tab.payload["labels"]["changes"] == {"n002": "anomalous"}


def test_two_tabs_see_each_others_labels(tab, workspace) -> None:
    other = Tab(workspace, name="other", analyst="ben")
    version = tab.payload["labels"]["version"]
    other.say(other.event("verdict", node="n020", verdict="anomalous"))
    tab.say(labels=version)
    assert tab.payload["labels"]["changes"] == {"n020": "anomalous"}
    assert tab.payload["strip"]["counts"]["anomalous"] == 1
    tab.say(tab.event("undo"))  # ben's verdict is not ana's to take back
    assert verdict_of(workspace, "n020") == "anomalous"


def test_rows_are_not_sent_again_to_a_tab_that_has_them(tab) -> None:
    queue = tab.payload["queue"]
    tab.say(queue=queue["key"], rows=queue["version"])
    assert tab.payload["queue"]["rows"] is None


def test_more_rows_come_behind_those_shown(tab) -> None:
    before = [row["node_id"] for row in tab.payload["queue"]["rows"]]
    key = tab.payload["queue"]["key"]
    tab.say(tab.event("verdict", node=before[0], verdict="normal"), tab.event("more"))
    after = [row["node_id"] for row in tab.payload["queue"]["rows"]]
    assert after[: len(before)] == before
    assert len(after) == 2 * ROWS
    assert len(set(after)) == len(after)
    assert tab.payload["queue"]["key"] == key


def test_a_filter_makes_a_new_order(tab, workspace) -> None:
    workspace.verdicts.record("n003", "unsure", analyst="ben")
    key = tab.payload["queue"]["key"]
    where = {
        "verdict": "unsure",
        "column": None,
        "value": None,
        "min_percentile": None,
        "max_percentile": None,
    }
    tab.say(tab.event("order", strategy="top", where=where))
    queue = tab.payload["queue"]
    assert [row["node_id"] for row in queue["rows"]] == ["n003"]
    assert queue["key"] != key
    assert queue["complete"]
    assert queue["where"]["verdict"] == "unsure"
    assert workspace.preference("strategy") == "top"


def test_a_case_comes_with_card_and_picture(tab) -> None:
    tab.say(want=[{"key": "case:n004", "kind": "case", "node": "n004"}])
    case = tab.payload["answers"]["case:n004"]
    assert case["card"]["row"]["node_id"] == "n004"
    assert case["view"]["centre"] == "n004"
    assert {node["case"]["node_id"] for node in case["view"]["nodes"]} >= {"n004"}


def test_a_question_about_an_unknown_node_is_answered_with_the_reason(tab) -> None:
    tab.say(want=[{"key": "case:zz", "kind": "case", "node": "zz"}, {"key": "odd", "kind": "odd"}])
    assert "zz" in tab.payload["answers"]["case:zz"]["error"]
    assert "odd" not in tab.payload["answers"]


def test_a_wider_view_is_capped(tab) -> None:
    question = {"key": "v", "kind": "view", "node": "n004", "hops": 9, "cap": 10_000, "expanded": []}
    tab.say(want=[question])
    view = tab.payload["answers"]["v"]
    assert view["hops"] == 3
    assert len(view["nodes"]) <= 300


def test_search_finds_by_id(tab) -> None:
    tab.say(want=[{"key": "s", "kind": "search", "text": "n123"}])
    assert [row["node_id"] for row in tab.payload["answers"]["s"]] == ["n123"]


def test_a_note_is_kept(tab, workspace) -> None:
    tab.say(tab.event("note", node="n006", text="see case 12"))
    assert workspace.cases.card("n006").note == "see case 12"


def test_the_name_given_in_the_tab_is_recorded(tab, workspace) -> None:
    tab.say({**tab.event("verdict", node="n009", verdict="normal"), "analyst": ""})
    assert workspace.verdicts.current()["n009"].analyst == "ana"


def test_leaving_is_asked_for_once(tab) -> None:
    tab.say(tab.event("leave", page="export"))
    assert tab.board.leave == "export"
    tab.board.leave = ""
    tab.again()
    assert tab.board.leave == ""


def test_settings_are_kept_for_the_project(tab, workspace) -> None:
    tab.say(tab.event("prefer", key="auto_retrain", value=10))
    assert workspace.preference("auto_retrain") == 10
    assert tab.payload["strip"]["auto_retrain"] == 10


def test_my_labels_are_those_of_the_name_in_the_tab(workspace) -> None:
    tab = Tab(workspace, analyst="ben")
    workspace.verdicts.record("n001", "normal", analyst="ana")
    workspace.verdicts.record("n002", "normal", analyst="ben")
    where = {"verdict": "mine", "column": None, "value": None, "min_percentile": None, "max_percentile": None}
    tab.say(tab.event("order", strategy="top", where=where))
    assert [row["node_id"] for row in tab.payload["queue"]["rows"]] == ["n002"]


def test_why_names_the_neighbours_it_speaks_of(workspace) -> None:
    workspace.runs.train("isolation-forest")
    tab = Tab(workspace)
    tab.say(want=[{"key": "why:n004", "kind": "why", "node": "n004"}])
    why = tab.payload["answers"]["why:n004"]
    assert why["node_id"] == "n004"
    assert set(why["names"]) <= {str(node) for node in workspace.graph.node_ids}


def test_why_before_the_first_run_says_that_there_are_no_scores(tab) -> None:
    tab.say(want=[{"key": "why:n004", "kind": "why", "node": "n004"}])
    assert "no scores yet" in tab.payload["answers"]["why:n004"]["error"]


def test_values_of_a_column_are_offered(tab) -> None:
    tab.say(want=[{"key": "values", "kind": "values", "column": "no such column"}])
    assert tab.payload["answers"]["values"] == []


def test_the_audit_is_told_with_every_payload_and_follows_the_labels(tab, workspace) -> None:
    assert tab.payload["audit"]["text"].startswith("no label yet · no estimate")
    tab.say(tab.event("verdict", node="n001", verdict="anomalous"))
    tab.say(tab.event("verdict", node="n002", verdict="normal"))
    assert tab.payload["audit"]["text"].startswith("1 label since the last hit")
    assert tab.payload["audit"]["hint"] == workspace.insight.audit().hint
    for i in range(20):
        record_drawn(workspace, f"n1{i:02d}", "normal", strategy="audit", inclusion_probability=0.2 / 15)
    tab.say()
    low, high = workspace.insight.audit().left_interval
    assert tab.payload["audit"]["text"] == f"21 labels since the last hit · {low:,.0f} to {high:,.0f} left"


def test_the_audit_is_worked_out_once_per_label_set_and_late_on_large_graphs(
    tab, workspace, monkeypatch
) -> None:
    asked: list[int] = []
    real = workspace.insight.audit
    monkeypatch.setattr(workspace.insight, "audit", lambda *given: asked.append(1) or real(*given))
    tab.say()
    assert not asked
    monkeypatch.setattr(board, "AT_ONCE", 10)
    tab.say(tab.event("verdict", node="n001", verdict="anomalous"))
    assert not asked
    tab.say()
    tab.say()
    assert len(asked) == 1
    assert tab.payload["audit"]["text"].startswith("the last label was a hit")


def test_what_was_taken_back_is_named_with_its_id_and_replaces_the_message_before(home) -> None:
    tab = Tab(make_project(labels=False, namesakes=True))
    tab.say(tab.event("verdict", node="n001", verdict="anomalous"))
    tab.say(tab.event("undo"))
    tab.say(tab.event("redo"))
    said = [(notice["text"], notice["about"]) for notice in tab.payload["notices"]]
    assert said == [
        ("Took back the verdict on Nora (n001).", "step"),
        ("Restored the verdict on Nora (n001).", "step"),
    ]


def test_a_ring_begins_with_the_case(tab) -> None:
    tab.say(want=[{"key": "ring", "kind": "ring", "node": "n004"}])
    ring = tab.payload["answers"]["ring"]
    assert ring["members"][0] == {"node_id": "n004", "name": "n004"}


def test_a_ring_says_why_it_is_one(tab, workspace) -> None:
    node = next(str(n) for n in workspace.graph.node_ids if len(workspace.cases.group(str(n)).node_ids) > 2)
    tab.say(want=[{"key": "ring", "kind": "ring", "node": node}])
    ring = tab.payload["answers"]["ring"]
    assert len(ring["members"]) > 2
    assert ring["reason"].endswith(f"closely linked to {node}")


def test_a_message_of_another_project_is_left_alone(tab, workspace) -> None:
    tab.say(tab.event("verdict", node="n001", verdict="normal"), project="another")
    assert verdict_of(workspace, "n001") is None
    assert tab.payload["ack"] == {}
    tab.say(*tab.sent, project=workspace.id)
    assert verdict_of(workspace, "n001") == "normal"


def test_a_dispute_is_told_with_the_case_and_settled(tab, workspace) -> None:
    workspace.verdicts.record("n001", "anomalous", analyst="ann")
    workspace.verdicts.record("n001", "normal", analyst="bob")
    want = [{"key": "case:n001", "kind": "case", "node": "n001"}]
    card = tab.say(want=want)["answers"]["case:n001"]["card"]
    assert card["disputed"] == {"ann": "anomalous", "bob": "normal"}
    assert card["judged_by"] == ["ann", "bob"]
    settled = tab.event("settle", node="n001", verdict="anomalous")
    card = tab.say(settled, want=want)["answers"]["case:n001"]["card"]
    assert (card["disputed"], card["row"]["verdict"]) == ({}, "anomalous")
    assert workspace.insight.agreement().settled == 1
    tab.say(tab.event("undo", step=settled["seq"]))
    assert workspace.insight.agreement().settled == 0


def test_cases_for_a_second_opinion_follow_the_analyst(tab, workspace) -> None:
    workspace.verdicts.record("n001", "anomalous", analyst="ana")
    workspace.verdicts.record("n002", "normal", analyst="bo")
    where = {"verdict": "others", "column": None, "value": None}
    queue = tab.say(tab.event("order", strategy="top", where=where))["queue"]
    assert [row["node_id"] for row in queue["rows"]] == ["n002"]
    tab.analyst = "bo"
    assert [row["node_id"] for row in tab.say()["queue"]["rows"]] == ["n001"]


def test_an_order_that_asks_again_is_a_review_of_cases_with_a_verdict(tab) -> None:
    where = {"verdict": "unlabelled"}
    assert not tab.say(tab.event("order", strategy="top", where=where))["queue"]["reviewing"]
    assert tab.say(tab.event("order", strategy="again", where=where))["queue"]["reviewing"]
