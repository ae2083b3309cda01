"""A team at work: cases that a lead assigns, second opinions asked for blind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from board_tab import Tab
from page_project import make_project

from gadcore.access import Role, Who
from gadcore.access.users import UserList
from gadcore.errors import InputError, NotAllowed
from gadcore.settings import ROOT
from gadcore.workspace import Filter, Workspace


@pytest.fixture
def workspace(home: Path) -> Workspace:
    return make_project(labels=False, models=("isolation-forest",))


def next_cases(workspace: Workspace, analyst: str, n: int = 20) -> list[str]:
    return [row.node_id for row in workspace.cases.queue(n=n, analyst=analyst)]


def decide(workspace: Workspace, analyst: str, n: int) -> list[str]:
    """The next cases of an analyst, judged one by one as they come."""
    nodes = []
    for _ in range(n):
        row = workspace.cases.queue(n=1, analyst=analyst, provisional=False)[0]
        workspace.verdicts.record(row.node_id, "normal", analyst=analyst, offer=row.offer)
        nodes.append(row.node_id)
    return nodes


# ---- second opinions --------------------------------------------------------------------------------


def test_without_overlap_nobody_is_asked_twice(workspace: Workspace) -> None:
    decided = decide(workspace, "ana", 8)
    assert workspace.cases.second_opinions(analyst="eva") == []
    assert not set(decided) & set(next_cases(workspace, "eva", 300))


def test_the_share_that_is_set_is_asked_of_one_other_analyst(workspace: Workspace) -> None:
    workspace.set_preference("overlap", 0.3)
    nodes = [str(node) for node in workspace.graph.node_ids[:200]]
    workspace.verdicts.record_each(nodes, "normal", analyst="ana")
    asked = workspace.cases.second_opinions(analyst="eva")
    assert 0.2 < len(asked) / len(nodes) < 0.4
    assert workspace.cases.second_opinions(analyst="ana") == []
    workspace.verdicts.record(asked[0], "anomalous", analyst="eva")
    assert workspace.cases.second_opinions(analyst="bo") == asked[1:]  # the first has its two
    workspace.verdicts.undo("eva")
    assert set(workspace.cases.second_opinions(analyst="bo")) == set(asked)
    workspace.set_preference("overlap", 1.0)
    assert set(workspace.cases.second_opinions(analyst="eva")) == set(nodes)  # a larger share has them all


def test_what_nobody_has_judged_or_decided_is_not_drawn(workspace: Workspace, tmp_path: Path) -> None:
    workspace.set_preference("overlap", 1.0)
    workspace.verdicts.record("n001", "unsure", analyst="ana")
    workspace.verdicts.record_group(["n002", "n003"], "normal", analyst="ana", weight="one")
    (tmp_path / "labels.csv").write_text("node_id,label\nn004,normal\n")
    workspace.verdicts.import_file(tmp_path / "labels.csv", analyst="ana")
    assert workspace.cases.second_opinions(analyst="eva") == []


def test_the_second_analyst_meets_the_case_as_any_other_until_it_is_judged(workspace: Workspace) -> None:
    workspace.set_preference("overlap", 1.0)
    ana, eva = Tab(workspace, name="a", analyst="ana"), Tab(workspace, name="e", analyst="eva")
    node = next_cases(workspace, "ana")[0]
    ana.say(
        ana.event("verdict", node=node, verdict="anomalous"),
        ana.event("reason", node=node, reason="mule account"),
        ana.event("note", node=node, text="looks bad"),
    )
    asked = [{"key": "case", "kind": "case", "node": node}, {"key": "s", "kind": "search", "text": node}]
    told = eva.say(eva.event("order", strategy="top", where={"verdict": "unlabelled"}), want=asked)
    row = next(row for row in told["queue"]["rows"] if row["node_id"] == node)
    assert (row["verdict"], row["offer"], row["provisional_rank"]) == (None, None, None)
    assert node not in told["labels"]["changes"]
    assert node not in told["queue"]["by"]
    card = told["answers"]["case"]["card"]
    assert (card["row"]["verdict"], card["events"], card["judged_by"], card["note"]) == (None, [], [], "")
    said = json.dumps(told["answers"])
    assert not [word for word in ("ana", "mule account", "looks bad") if f'"{word}"' in said]
    assert told["answers"]["s"][0]["verdict"] is None
    told = eva.say(
        eva.event("verdict", node=node, verdict="normal"), labels=told["labels"]["version"], want=asked
    )
    assert told["labels"]["changes"][node] == "normal"
    assert told["answers"]["case"]["card"]["disputed"] == {"ana": "anomalous", "eva": "normal"}
    assert workspace.insight.agreement().disputed[0].said == {
        "ana": "anomalous (mule account)",
        "eva": "normal",
    }


def test_second_opinions_have_their_turn(workspace: Workspace) -> None:
    workspace.set_preference("overlap", 0.25)
    decide(workspace, "ana", 24)
    asked = workspace.cases.second_opinions(analyst="eva")
    assert asked
    judged = decide(workspace, "eva", 4 * len(asked))
    assert set(asked) <= set(judged)
    assert sum(node in asked for node in judged[:8]) == min(2, len(asked))  # one in four, not all at once
    agreement = workspace.insight.agreement()
    assert agreement.nodes == agreement.agreed == len(asked)


def test_a_second_opinion_that_one_analyst_has_before_them_is_not_asked_of_a_third(
    workspace: Workspace,
) -> None:
    workspace.set_preference("overlap", 1.0)
    decided = next_cases(workspace, "ana", 12)
    workspace.verdicts.record_each(decided, "normal", analyst="ana")
    coming = []
    for name in ("eva", "bo"):
        tab = Tab(workspace, name=name, analyst=name)
        rows = [
            row.node_id for row in tab.board.queue.rows if row.node_id not in tab.payload["queue"]["taken"]
        ]
        coming.append(rows[:8])
    assert set(coming[0]) & set(decided)
    assert not set(coming[0]) & set(coming[1])


def test_processes_ask_for_the_same_second_opinions(workspace: Workspace) -> None:
    workspace.set_preference("overlap", 0.5)
    decide(workspace, "ana", 10)
    code = (
        "from gadcore.workspace import Workspace; import json; w = Workspace.open('planted');"
        "asked = w.cases.second_opinions(analyst='eva'); print(json.dumps(asked));"
        "w.verdicts.record(asked[0], 'anomalous', analyst='eva')"
    )
    expected = workspace.cases.second_opinions(analyst="eva")
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    assert json.loads(told.stdout) == expected
    assert workspace.cases.second_opinions(analyst="eva") == expected[1:]
    assert workspace.insight.agreement().pairs[0].analysts == ("ana", "eva")


def test_a_case_that_waits_for_a_second_opinion_is_not_listed_for_a_second_look(workspace: Workspace) -> None:
    for node in next_cases(workspace, "ana", 12):
        workspace.verdicts.record(node, "anomalous", analyst="ana")
    listed = [case.node_id for case in workspace.insight.second_look()]
    workspace.set_preference("overlap", 1.0)
    assert not workspace.insight.second_look(), listed


# ---- assigned cases ---------------------------------------------------------------------------------


def test_an_assigned_case_comes_first_for_its_analyst_and_for_nobody_else(workspace: Workspace) -> None:
    far = next_cases(workspace, "ana", 300)[-2:]
    assert workspace.cases.assign(far, "eva", analyst="lea") == far
    rows = workspace.cases.queue(n=10, analyst="eva")
    assert [row.node_id for row in rows[:2]] == far
    assert [row.assigned_by for row in rows[:3]] == ["lea", "lea", ""]
    assert not set(far) & set(next_cases(workspace, "ana", 300))
    assert workspace.cases.card(far[0]).assigned_to == "eva"
    workspace.verdicts.record(far[0], "normal", analyst="eva")
    assert [(each.analyst, each.open, each.done) for each in workspace.cases.assigned()] == [
        ("eva", [far[1]], 1)
    ]
    workspace.verdicts.undo("eva")
    assert next_cases(workspace, "eva")[:2] == far


def test_the_first_of_the_queue_are_assigned_but_for_those_that_somebody_has(workspace: Workspace) -> None:
    first = next_cases(workspace, "lea", 6)
    workspace.cases.take(first[:2], 2, analyst="bo")
    assert workspace.cases.assign(3, "eva", analyst="lea") == first[2:5]
    assert next_cases(workspace, "bo", 3) == [*first[:2], first[5]]
    assert workspace.cases.assign([first[3], first[4]], "bo", analyst="lea") == [first[3], first[4]]
    assert next_cases(workspace, "bo", 3) == [first[3], first[4], first[0]]


def test_assigned_cases_outlive_a_run_and_can_be_taken_back(workspace: Workspace) -> None:
    given = workspace.cases.assign(4, "eva", analyst="lea")
    assert workspace.runs.train("isolation-forest", seed=5).status == "done"
    assert next_cases(workspace, "eva")[:4] == given
    assert workspace.cases.take_back(given[:1], analyst="lea") == given[:1]
    assert workspace.cases.take_back(of="eva", analyst="lea") == given[1:]
    assert next_cases(workspace, "eva", 300) == next_cases(workspace, "ana", 300)
    assert workspace.cases.assigned() == []


def test_an_assigned_random_check_stays_one(workspace: Workspace) -> None:
    check = next(row for row in workspace.cases.queue(n=60) if row.inclusion_probability is not None)
    workspace.cases.assign([check.node_id], "eva")
    row = workspace.cases.queue(n=1, analyst="eva")[0]
    assert (row.offer, row.inclusion_probability) == (check.offer, check.inclusion_probability)


def test_assigned_cases_follow_a_filter_and_a_decided_one_is_left_out(workspace: Workspace) -> None:
    decided, *others = workspace.cases.queue(n=300, analyst="ana")
    high = next(row.node_id for row in others if row.percentile > 60)
    low = next(row.node_id for row in others if row.percentile < 40)
    workspace.verdicts.record(decided.node_id, "normal")
    assert workspace.cases.assign([decided.node_id, high, low], "eva") == [high, low]
    found = workspace.cases.queue(n=5, analyst="eva", where=Filter(max_percentile=50))
    assert [row.node_id for row in found if row.assigned_by] == [low]


def test_cases_are_assigned_before_the_first_run_too(home: Path) -> None:
    workspace = make_project(labels=False)
    workspace.cases.assign(["n200"], "eva")
    assert next_cases(workspace, "eva", 1) == ["n200"]
    assert "n200" not in next_cases(workspace, "ana", 300)


def test_an_open_tab_hears_of_an_assigned_case(workspace: Workspace) -> None:
    tab = Tab(workspace, name="e", analyst="eva")
    shown = {"queue": tab.payload["queue"]["key"], "rows": tab.payload["queue"]["version"]}
    far = next_cases(workspace, "ana", 300)[-1]
    workspace.cases.assign([far], "eva", analyst="lea")
    assert tab.say(**shown)["queue"]["rows"][0]["assigned_by"] == "lea"


def test_a_lead_lets_go_of_what_is_assigned_and_others_keep_what_they_look_at(workspace: Workspace) -> None:
    lea = Tab(workspace, name="l", analyst="lea")
    first, second = next_cases(workspace, "lea", 2)
    workspace.cases.take([far := next_cases(workspace, "lea", 300)[-1]], 1, analyst="bo")
    lea.say(lea.event("assign", nodes=[first, second, far], to="eva"), current=first)
    assert lea.texts == ["Assigned 3 cases to eva."]
    taken = workspace.cases.taken(analyst="eva")
    assert (taken.get(first), taken.get(second), taken.get(far)) == (None, None, "bo")


def test_only_leads_assign_and_only_to_those_who_may_label(workspace: Workspace) -> None:
    users = UserList(workspace.settings)
    users.add("eva", "analyst", None)
    users.add("vic", "viewer", None)
    lead = Workspace.open(workspace.id, who=Who("lea", Role.LEAD))
    with pytest.raises(NotAllowed, match="assign cases"):
        Workspace.open(workspace.id, who=Who("eva", Role.ANALYST)).cases.assign(3, "eva")
    for name in ("vic", "nobody", " "):
        with pytest.raises(InputError, match="the name of an analyst"):
            lead.cases.assign(3, name)
    assert len(lead.cases.assign(3, "eva")) == 3
    assert lead.cases.queue(n=1)[0].node_id not in lead.cases.assigned()[0].open
