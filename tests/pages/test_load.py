"""A team on one server, as its browsers speak to it: nothing is lost, doubled or asked of two."""

from __future__ import annotations

from pathlib import Path

from page_project import make_project

from benchmarks.bench_load import Work, load
from benchmarks.page_tab import PageTab
from gadcore.workspace import Workspace
from pages.label.board import Board, answer

SLOW_MS = 1000.0  # CPU of a verdict that no machine needs: about 50 are usual


def opened(workspace: Workspace, number: int) -> PageTab:
    board = Board()
    name = f"analyst {number}"
    return PageTab(
        f"tab{number}", name, workspace.id, lambda message: answer(workspace, board, message, name)
    )


def test_verdicts_of_a_team_over_the_wire_are_all_stored_once(home: Path) -> None:
    project = make_project(labels=False, models=("isolation-forest",)).id
    found = load(home, project, Work(analysts=5, browsers=0, rate=2, seconds=4, retrain=0))
    assert found.errors == []
    assert (found.verdicts, found.lost, found.twice) == (40, 0, 0)
    assert found.server_ms < SLOW_MS


def test_tabs_of_a_team_never_bring_the_same_case_to_the_front(home: Path) -> None:
    workspace = make_project(labels=False, models=("isolation-forest",))
    tabs = [opened(workspace, number) for number in range(5)]
    judged = []
    for turn in range(40):
        tab = tabs[turn * 3 % 5]
        judged += [tab.judge("anomalous" if turn % 4 == 0 else "normal") for _ in range(1 + turn % 2)]
        tab.exchange()
    assert len(judged) == len(set(judged)) == 60
    assert [tab.errors for tab in tabs] == [[]] * 5


def test_cases_that_a_tab_has_left_are_free_again(home: Path) -> None:
    workspace = make_project(labels=False, models=("isolation-forest",))
    tab = opened(workspace, 0)
    for _ in range(30):
        tab.decide("normal")
    held = workspace.cases.taken(analyst="somebody else")
    assert tab.current in held
    assert len(held) < 20
