"""The page of the trail: entries, filter, check."""

from __future__ import annotations

import pytest
from page_project import make_project, page
from sqlalchemy import update

from gadcore.settings import Settings
from gadcore.store import open_store
from gadcore.store.schema import trail
from gadcore.workspace import Workspace

TRAIL = "pages/6_Trail.py"


@pytest.fixture
def workspace(home) -> Workspace:
    made = make_project(labels=False)
    made.verdicts.record("n001", "normal", analyst="bo")
    made.verdicts.record("n002", "anomalous")
    return made


def test_entries_are_shown_newest_first_and_narrowed(workspace) -> None:
    app = page(TRAIL)
    assert list(app.dataframe[0].value["action"]) == ["verdict", "verdict", "project added"]
    app.selectbox(key="trail-who").select("bo").run()
    assert list(app.dataframe[0].value["details"]) == ["node: n001, verdict: normal, count: 1"]


def test_the_check_says_what_it_found(workspace, home) -> None:
    app = page(TRAIL)
    app.button(key="trail-check").click().run()
    assert "3 entries, nothing was changed" in app.success[0].value
    with open_store(Settings.from_env()).database.writing() as connection:
        connection.execute(update(trail).where(trail.c.number == 2).values(who="mallory"))
    app.button(key="trail-check").click().run()
    assert "Entry 2 (verdict) was changed" in app.error[0].value


def test_a_workspace_in_which_nothing_was_done_says_so(home) -> None:
    assert "No entry yet" in page(TRAIL).info[0].value
