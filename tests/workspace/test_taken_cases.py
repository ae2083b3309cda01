"""Cases that an analyst has before them are not asked of another one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from board_tab import Tab
from page_project import make_project

from gadcore.access import Role, Who
from gadcore.store import taken
from gadcore.store.schema import now
from gadcore.workspace import Workspace
from gadcore.workspace.cases import TAKEN
from pages.label import tab_queue


@pytest.fixture
def workspace(home: Path) -> Workspace:
    return make_project(labels=False, models=("isolation-forest",))


def later(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    moment = now() + by
    monkeypatch.setattr(taken, "now", lambda: moment)


def waiting(tab: Tab) -> list[str]:
    """The cases that a tab would bring to the front, in order."""
    queue, labels = tab.payload["queue"], tab.workspace.verdicts.current()
    return [row.node_id for row in tab.board.queue.rows if row.node_id not in {*labels, *queue["taken"]}]


def test_a_case_is_one_analysts_until_its_time_is_over(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = workspace.cases
    assert cases.take(["n001", "n002", "n003"], 2, analyst="ana") == ["n001", "n002"]
    assert cases.take(["n001", "n002", "n003"], 2, analyst="eva") == ["n003"]
    assert cases.taken(analyst="eva") == {"n001": "ana", "n002": "ana"}
    later(monkeypatch, TAKEN + timedelta(seconds=1))
    assert cases.take(["n001"], 2, analyst="eva") == ["n001"]
    assert cases.taken(analyst="ana") == {"n001": "eva"}


def test_tabs_of_three_analysts_never_get_the_same_case(workspace: Workspace) -> None:
    tabs = [Tab(workspace, name=f"tab{i}", analyst=f"analyst {i}") for i in range(3)]
    judged: list[str] = []
    for _ in range(3):
        for tab in tabs:
            nodes = waiting(tab)[:3]  # quick keys travel together
            judged += nodes
            tab.say(*(tab.event("verdict", node=node, verdict="normal") for node in nodes))
    assert len(judged) == len(set(judged)) == 27


def test_a_tab_of_the_same_analyst_gets_the_same_cases(workspace: Workspace) -> None:
    one, two = Tab(workspace, name="one"), Tab(workspace, name="two")
    assert waiting(one) == waiting(two)


def test_a_tab_at_rest_keeps_no_case(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    resting, other = Tab(workspace, analyst="ana"), Tab(workspace, name="other", analyst="eva")
    first = waiting(resting)[0]
    assert first not in waiting(other)
    later(monkeypatch, TAKEN + timedelta(seconds=1))
    monkeypatch.setattr(tab_queue, "TAKEN_AGAIN", -1.0)
    resting.say()  # asks for news, as a tab does by itself
    other.say()
    assert first in waiting(other)


def test_a_viewer_takes_no_case(workspace: Workspace) -> None:
    Tab(Workspace.open(workspace.id, who=Who("vic", Role.VIEWER)), analyst="vic")
    assert workspace.cases.taken(analyst="ana") == {}


def test_a_case_opened_by_search_is_taken_too(workspace: Workspace) -> None:
    tab = Tab(workspace, analyst="ana")
    far = workspace.cases.queue(n=300)[-1].node_id
    tab.say(current=far, want=[{"key": "k", "kind": "case", "node": far}])
    assert workspace.cases.taken(analyst="eva")[far] == "ana"


def test_the_chip_of_a_row_tells_who_judged_it(workspace: Workspace) -> None:
    ana, eva = Tab(workspace, name="a", analyst="ana"), Tab(workspace, name="e", analyst="eva")
    node = waiting(ana)[0]
    ana.say(ana.event("verdict", node=node, verdict="anomalous"))
    assert eva.say()["queue"]["by"] == {node: "ana"}
