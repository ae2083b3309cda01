"""Train, the team tab: what a lead gives to whom, and what an analyst sees of it."""

from __future__ import annotations

import pytest
from page_project import make_project, no_problem, page, texts

from gadcore.access import Role, Who
from gadcore.access.passes import Pass
from gadcore.errors import NotAllowed
from gadcore.workspace import Workspace
from pages.common import state

TRAIN = "pages/3_Train.py"
TAB = {"insight-tab": "Team"}


@pytest.fixture
def workspace(home) -> Workspace:
    return make_project(labels=False)


def test_a_lead_assigns_the_first_cases_and_takes_them_back(workspace: Workspace) -> None:
    app = page(TRAIN, workspace, **TAB)
    no_problem(app)
    assert "No case is assigned" in texts(app)
    workspace.verdicts.record("n000", "normal", analyst="eva")
    app.run()
    app.selectbox("assign-to").select("eva")
    app.number_input("assign-n").set_value(3)
    next(button for button in app.button if button.label == "Assign").click().run()
    no_problem(app)
    assert len(workspace.cases.assigned()[0].open) == 3
    assert "3 open, 0 decided" in texts(app)
    app.button("take-back-eva").click().run()
    assert workspace.cases.assigned() == []


def test_the_share_and_the_reasons_are_kept(workspace: Workspace) -> None:
    app = page(TRAIN, workspace, **TAB)
    app.number_input("team-overlap").set_value(20).run()
    app.text_area("team-reasons").set_value("whim\nmule account").run()
    no_problem(app)
    assert workspace.preference("overlap") == 0.2
    assert workspace.verdicts.reasons() == ["whim", "mule account"]


def test_an_analyst_looks_and_changes_nothing(workspace: Workspace, monkeypatch) -> None:
    monkeypatch.setattr(state, "read_pass", lambda _: Pass(Who("eva", Role.ANALYST), ""))
    app = page(TRAIN, workspace, **TAB)
    no_problem(app)
    assert app.number_input("team-overlap").disabled
    assert app.text_area("team-reasons").disabled
    assert "Assign" not in [button.label for button in app.button]
    with pytest.raises(NotAllowed):
        Workspace.open(workspace.id, who=Who("eva", Role.ANALYST)).cases.take_back()
