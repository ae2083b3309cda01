"""What verdicts and settings do to the order of the queue, and how random checks and settings are kept."""

from __future__ import annotations

import pytest
from board_tab import Tab
from page_project import make_project

from gadcore.workspace import Workspace


@pytest.fixture
def workspace(home) -> Workspace:
    return make_project(labels=False)


@pytest.fixture
def tab(workspace) -> Tab:
    return Tab(workspace)


@pytest.fixture
def ranked_tab(home) -> Tab:
    """A tab on a project whose run has learnt from both kinds of verdict."""
    return Tab(make_project(models=("sgc-lr",)))


def test_a_verdict_ranks_the_open_rows_again_under_the_same_key(ranked_tab) -> None:
    tab, queue = ranked_tab, ranked_tab.payload["queue"]
    # A random check may be so plainly normal that its verdict moves nothing.
    first = next(row["node_id"] for row in queue["rows"] if row["inclusion_probability"] is None)
    rest = [row["node_id"] for row in queue["rows"] if row["node_id"] != first]
    assert queue["basis"]["verdicts"] == 0
    tab.say(tab.event("verdict", node=first, verdict="normal"), queue=queue["key"], rows=queue["version"])
    after = tab.payload["queue"]
    assert (after["key"], after["merge"], after["basis"]["verdicts"]) == (queue["key"], True, 1)
    nodes = [row["node_id"] for row in after["rows"]]
    assert first not in nodes
    assert nodes[: len(rest)] != rest
    tab.say(queue=after["key"], rows=after["version"])
    assert tab.payload["queue"]["rows"] is None
    tab.say()  # a tab that has nothing gets the decided row too
    assert tab.payload["queue"]["rows"][0]["node_id"] == first
    assert not tab.payload["queue"]["merge"]


def test_undo_and_the_switch_bring_the_order_of_the_run_back(ranked_tab) -> None:
    tab, queue = ranked_tab, ranked_tab.payload["queue"]
    own = [row["node_id"] for row in queue["rows"]]
    tab.say(tab.event("verdict", node=own[0], verdict="normal"))
    tab.say(tab.event("undo"))
    assert [row["node_id"] for row in tab.payload["queue"]["rows"]][: len(own)] == own
    assert tab.payload["queue"]["basis"]["verdicts"] == 0
    tab.say(tab.event("verdict", node=own[0], verdict="normal"))
    tab.say(tab.event("prefer", key="provisional", value=False))
    assert [row["node_id"] for row in tab.payload["queue"]["rows"]][: len(own)] == own
    assert not tab.payload["queue"]["basis"]["enabled"]


def test_a_verdict_of_another_analyst_reaches_the_order_too(ranked_tab) -> None:
    tab, queue = ranked_tab, ranked_tab.payload["queue"]
    tab.workspace.verdicts.record(queue["rows"][5]["node_id"], "normal", analyst="ben")
    tab.say(queue=queue["key"], rows=queue["version"])
    assert tab.payload["queue"]["merge"]
    assert tab.payload["queue"]["rows"][0]["provisional_rank"]


def test_tuning_changes_the_order_at_once_and_is_told_to_the_tab(workspace, tab):
    workspace.runs.train()
    before = tab.say()["queue"]
    assert before["choice"] == {
        "strategy": "greedy-diverse",
        "audit_share": 0.15,
        "dial": 0.5,
        "near_duplicates": False,
    }
    after = tab.say(tab.event("prefer", key="audit_share", value=0.5))["queue"]
    assert after["choice"]["audit_share"] == 0.5
    assert after["key"] != before["key"]

    def checks(queue):
        return sum(row["inclusion_probability"] is not None for row in queue["rows"])

    assert checks(after) > 2 * checks(before)
    assert checks(tab.say(tab.event("prefer", key="audit_share", value=0.0))["queue"]) == 0


def test_the_screen_knows_which_orders_the_dial_matters_to(tab):
    dialled = {each["name"] for each in tab.payload["project"]["strategies"] if each["dialled"]}
    assert dialled == {"greedy-diverse"}


def test_a_verdict_answers_the_offer_that_it_names(ranked_tab) -> None:
    tab, workspace = ranked_tab, ranked_tab.workspace
    row = next(row for row in tab.payload["queue"]["rows"] if row["inclusion_probability"] is not None)
    tab.say(tab.event("verdict", node=row["node_id"], verdict="anomalous", offer=row["offer"]))
    event = workspace.verdicts.current()[row["node_id"]]
    assert (event.verdict.value, event.analyst, event.strategy) == ("anomalous", "ana", "audit")
    assert event.inclusion_probability == row["inclusion_probability"]


def test_what_a_browser_says_of_probabilities_is_not_heard(ranked_tab) -> None:
    tab, workspace = ranked_tab, ranked_tab.workspace
    told = {"strategy": "audit", "inclusion_probability": 0.25, "drawn_after": 0}
    offer, other = tab.payload["queue"]["rows"][0]["offer"], tab.payload["queue"]["rows"][1]["node_id"]
    tab.say(tab.event("verdict", node="n090", verdict="anomalous", **told))
    event = workspace.verdicts.current()["n090"]
    assert (event.strategy, event.inclusion_probability, event.drawn_after) == ("", None, None)
    tab.say(tab.event("verdict", node=other, verdict="anomalous", offer=offer))
    assert f"Offer {offer} is of" in tab.texts[-1]
    assert other not in workspace.verdicts.current()


def test_a_random_check_answered_with_its_ring_stays_one(ranked_tab) -> None:
    tab, workspace = ranked_tab, ranked_tab.workspace
    row = next(row for row in tab.payload["queue"]["rows"] if row["inclusion_probability"] is not None)
    node, others = row["node_id"], [name for name in ("n090", "n091", "n092") if name != row["node_id"]][:2]
    group = {"nodes": [node, *others], "source": "ring", "weight": "root", "judged": [node]}
    tab.say(tab.event("group", verdict="anomalous", offers={node: row["offer"]}, **group))
    current = workspace.verdicts.current()
    found = {name: current[name].inclusion_probability for name in (node, *others)}
    assert found == {node: row["inclusion_probability"]} | dict.fromkeys(others)


@pytest.mark.parametrize(
    ("key", "value"), [("comparison", {}), ("nonsense", 1), ("dial", "x"), ("auto_retrain", -2)]
)
def test_only_known_settings_with_valid_values_are_kept(tab, workspace, key, value) -> None:
    tab.say(tab.event("prefer", key=key, value=value))
    assert workspace.preference(key) is None
    assert tab.payload["notices"][-1]["level"] == "error"


def test_a_tab_is_told_what_its_rows_do_not_say(ranked_tab) -> None:
    tab, where = ranked_tab, ranked_tab.payload["queue"]["where"]
    assert tab.payload["queue"]["remark"] == ""
    tab.say(tab.event("order", strategy="audit", where={**where, "min_percentile": 90}))
    assert "do not count for the audit" in tab.payload["queue"]["remark"]
    tab.workspace.verdicts.record_group(
        [str(node) for node in tab.workspace.graph.node_ids], "normal", overrule=True
    )
    tab.say(tab.event("order", strategy="top", where=where))
    assert tab.payload["queue"]["remark"] == "Every node has a verdict."


def test_the_hint_follows_whether_random_checks_are_switched_on(tab) -> None:
    assert "The queue mixes them in" in tab.payload["audit"]["hint"]
    tab.say(tab.event("prefer", key="audit_share", value=0.0))
    assert "switched off in the queue (Tune)" in tab.payload["audit"]["hint"]
