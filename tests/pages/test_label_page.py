"""Label: opens on a project, answers the messages of the browser, and says what to do without a project."""

from __future__ import annotations

import json
from itertools import count

import pytest
from page_project import make_project, no_problem, page, texts
from streamlit.testing.v1 import AppTest

from gadcore.workspace import Workspace
from pages.label import workbench
from pages.label.linked_map import all_verdicts, own_verdicts

LABEL = "pages/1_Label.py"
_tabs = count(1)


@pytest.fixture
def workspace(home, monkeypatch) -> Workspace:
    """A project without labels or runs; runs are queued, but no training process is started."""
    monkeypatch.setattr("gadcore.jobs.workers.start", lambda *_: None)
    return make_project(labels=False)


def payload(app: AppTest) -> dict:
    """What the page sent to the workbench in the browser."""
    found = [
        element.proto for element in app.get("bidi_component") if element.proto.component_name == "workbench"
    ]
    assert len(found) == 1
    return json.loads(found[0].json)


def say(app: AppTest, *events: dict, **parts) -> AppTest:
    """Send a message as a new tab of the browser does, and let the page answer."""
    tab = f"tab {next(_tabs)}"
    numbered = [{"client": tab, "seq": i + 1, **event} for i, event in enumerate(events)]
    app.session_state[workbench.KEY] = {"out": {"client": tab, "n": 1, "events": numbered, **parts}}
    return app.run()


def test_without_a_project_the_page_leads_home(home) -> None:
    app = page(LABEL)
    assert not app.exception
    assert "no project yet" in texts(app)


def test_an_unknown_project_is_named_and_others_are_offered(workspace) -> None:
    app = page(LABEL)
    app.query_params["project"] = "gone"
    app.session_state["project"] = "gone"
    app.run()
    assert not app.exception
    assert "gone" in app.warning[0].value
    assert any(workspace.name in button.label for button in app.button)


def test_the_page_opens_the_only_project(workspace) -> None:
    app = page(LABEL)
    no_problem(app)
    assert payload(app)["project"]["name"] == workspace.name


def test_opening_a_project_starts_its_first_ranking(workspace) -> None:
    app = page(LABEL, workspace)
    no_problem(app)
    assert workspace.runs.all()
    assert payload(app)["queue"]["rows"]


def test_a_verdict_from_the_browser_is_recorded(workspace) -> None:
    app = say(
        page(LABEL, workspace), {"kind": "verdict", "node": "n011", "verdict": "anomalous"}, analyst="eve"
    )
    no_problem(app)
    event = workspace.verdicts.current()["n011"]
    assert (event.verdict.value, event.analyst) == ("anomalous", "eve")
    assert list(payload(app)["ack"].values()) == [1]
    assert payload(app)["labels"]["changes"] == {"n011": "anomalous"}


def test_a_rerun_with_the_same_message_changes_nothing(workspace) -> None:
    app = say(page(LABEL, workspace), {"kind": "verdict", "node": "n011", "verdict": "normal"})
    app.run()
    assert len(workspace.verdicts.history("n011")) == 1


def test_undo_works_in_a_session_opened_later(workspace) -> None:
    say(page(LABEL, workspace), {"kind": "verdict", "node": "n011", "verdict": "normal"}, analyst="eve")
    assert workspace.verdicts.current()
    say(page(LABEL, workspace), {"kind": "undo", "show": True}, analyst="eve")
    assert not workspace.verdicts.current()


def test_a_case_in_the_address_is_opened(workspace) -> None:
    app = page(LABEL, workspace)
    app.query_params["case"] = "n042"
    app.run()
    assert payload(app)["open"]["node"] == "n042"


def test_two_sessions_share_what_was_labelled(workspace) -> None:
    first, second = page(LABEL, workspace), page(LABEL, workspace)
    say(first, {"kind": "verdict", "node": "n001", "verdict": "anomalous"}, analyst="ana")
    second.run()
    assert payload(second)["labels"]["changes"] == {"n001": "anomalous"}


def test_blind_mode_leaves_verdicts_of_others_off_the_map(workspace) -> None:
    mine, theirs = map(str, workspace.graph.node_ids[:2])
    workspace.verdicts.record(mine, "normal", analyst="ada")
    workspace.verdicts.record(theirs, "anomalous", analyst="bob")
    assert all_verdicts(workspace)[:3].tolist() == [0, 1, -1]
    assert own_verdicts(workspace, "ada")[:3].tolist() == [0, -1, -1]
