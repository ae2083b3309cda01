"""Verdicts of programs: under their name, once for each key, and never sent by another site."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from api_program import Program, program
from page_project import make_project

from gadcore.settings import Settings
from gadcore.store import close_stores, open_store
from gadcore.workspace import Workspace

GIVEN = {"node": "n200", "verdict": "anomalous", "note": "shares a device"}


@pytest.fixture
def workspace(home) -> Workspace:
    return make_project(labels=False)


@pytest.fixture
def caller(settings: Settings) -> Program:
    return program(settings, name="case-system")


def history(workspace: Workspace, node: str = "n200") -> list[Any]:
    return workspace.verdicts.history(node)


def test_a_verdict_has_the_name_of_its_token_also_in_the_trail(
    workspace: Workspace, caller: Program, settings: Settings
) -> None:
    event = caller.post("/projects/planted/verdicts", GIVEN)
    assert (event["analyst"], event["source"], event["note"]) == ("case-system", "api", "shares a device")
    assert [kept.analyst for kept in history(workspace)] == ["case-system"]
    assert open_store(settings).trail.newest(1)[0].who == "case-system"
    assert caller.get("/projects/planted/labels") == {"normal": 0, "anomalous": 1, "unsure": 0, "fresh": 1}


def test_the_same_key_gets_the_same_answer_and_is_stored_once_also_after_a_restart(
    workspace: Workspace, caller: Program, settings: Settings
) -> None:
    key = {"idempotency-key": "case-4711"}
    first = caller.post("/projects/planted/verdicts", GIVEN, **key)
    again = caller.post("/projects/planted/verdicts", GIVEN, **key)
    close_stores()
    later = Program(settings)
    later.shown = caller.shown
    assert first == again == later.post("/projects/planted/verdicts", GIVEN, **key)
    assert len(Workspace.open("planted").verdicts.history("n200")) == 1


def test_a_key_is_for_one_verdict_of_one_program_in_one_project(
    workspace: Workspace, caller: Program, settings: Settings
) -> None:
    key, path = {"idempotency-key": "k"}, "/projects/planted/verdicts"
    caller.post(path, GIVEN, **key)
    wrong = caller.post(path, {**GIVEN, "verdict": "normal"}, 422, **key)
    assert "was used for another verdict" in wrong["detail"]
    program(settings, name="another").post(path, GIVEN, **key)
    make_project("second", labels=False)
    caller.post("/projects/second/verdicts", GIVEN, **key)
    assert [event.analyst for event in history(workspace)] == ["case-system", "another"]
    assert caller.post(path, GIVEN, 400, **{"idempotency-key": "with space"})


def test_what_came_to_nothing_may_be_tried_again_with_its_key(workspace: Workspace, caller: Program) -> None:
    key, path = {"idempotency-key": "k"}, "/projects/planted/verdicts"
    assert caller.post(path, {**GIVEN, "node": "nobody"}, 404, **key)
    assert caller.post(path, GIVEN, **key)["node_id"] == "n200"
    assert len(history(workspace)) == 1


def test_many_at_once_with_one_key_are_stored_once(workspace: Workspace, caller: Program) -> None:
    key = {"idempotency-key": "k"}
    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(lambda _: caller.post("/projects/planted/verdicts", GIVEN, **key), range(12)))
    assert {event["id"] for event in told} == {history(workspace)[0].id}
    assert len(history(workspace)) == 1


def test_verdicts_are_read_from_where_one_left_off(workspace: Workspace, caller: Program) -> None:
    for node in ("n001", "n002", "n003"):
        caller.post("/projects/planted/verdicts", {"node": node, "verdict": "normal"})
    page = caller.get("/projects/planted/verdicts", limit=2)
    rest = caller.get("/projects/planted/verdicts", limit=2, after=page["next"])
    assert [event["node_id"] for event in page["items"] + rest["items"]] == ["n001", "n002", "n003"]
    assert (page["total"], rest["next"]) == (3, None)


def test_this_machine_needs_no_token_but_a_wrong_one_is_refused(
    workspace: Workspace, settings: Settings
) -> None:
    here = Program(settings, here=True)
    assert here.post("/projects/planted/verdicts", GIVEN)["analyst"] == "ana"
    assert here.get("/health")["name"] is None
    assert Program(settings, "rf_wrong", here=True).get("/health", 401)


@pytest.mark.parametrize(
    "sent",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"host": "evil.example"},
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "multipart/form-data; boundary=x"},
    ],
)
def test_another_site_cannot_have_a_browser_speak_for_this_machine(
    workspace: Workspace, settings: Settings, sent: dict[str, str]
) -> None:
    here = Program(settings, here=True)
    assert here.ask("POST", "/projects/planted/verdicts", GIVEN, **sent).status in (401, 403, 415)
    if "content-type" not in sent and "origin" not in sent:
        assert here.ask("GET", "/projects", **sent).status in (401, 403)
    assert history(workspace) == []


def test_a_login_of_a_browser_sends_nothing_from_elsewhere(workspace: Workspace, settings: Settings) -> None:
    from gadcore.access.users import UserList

    UserList(settings).add("eva", "analyst", "correct horse battery")
    browser = Program(settings)
    browser.browser.log_in("eva", "correct horse battery")
    path = "/projects/planted/verdicts"
    assert browser.get("/health")["name"] == "eva"
    assert browser.ask("POST", path, GIVEN).status == 403
    assert browser.ask("POST", path, GIVEN, origin="https://evil.example").status == 403
    assert browser.ask("POST", path, GIVEN, origin=f"http://{browser.browser.host}").status == 201
    assert browser.browser.ask("/api/v1/projects", "OPTIONS", origin="https://evil.example").status == 405
