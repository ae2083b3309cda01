"""Every route, every method of the door, and every message of a tab, as nobody and as each role."""

from __future__ import annotations

import inspect
import io
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from asgi_client import Browser
from board_tab import Tab
from page_project import make_project
from streamlit.web.server.starlette.starlette_app import create_streamlit_routes

from gadcore.access import LOCAL, Role, Who, rights
from gadcore.access.users import UserList
from gadcore.api.dispatch import ABOUT
from gadcore.api.dispatch import ROUTES as API
from gadcore.errors import GadError, NotAllowed
from gadcore.gate.routes import CLOSED, OWN, PUBLIC, ROUTES, SHELL, least_role
from gadcore.settings import Settings
from gadcore.workspace import Workspace, uploads
from gadcore.workspace.cases import Cases
from gadcore.workspace.data import Data
from gadcore.workspace.insight import Insight
from gadcore.workspace.messages import Messages
from gadcore.workspace.runs import Runs
from gadcore.workspace.trail import ProjectTrail
from gadcore.workspace.verdicts import Verdicts
from pages.label import answers
from pages.label.events import KEPT, PASSING

SERVICES = {
    "data": Data, "cases": Cases, "verdicts": Verdicts, "runs": Runs, "insight": Insight,
    "messages": Messages, "trail": ProjectTrail,
}  # fmt: skip
# What is checked by a word of its own, not by the name of a method.
WORDS = (
    "projects.all projects.open projects.create projects.demo projects.delete practice export paths "
    "preference set_preference trail"
)
# Of each kind of event that a tab may send, the least role that gets it done.
EVENTS = {
    "verdict": Role.ANALYST, "group": Role.ANALYST, "undo": Role.ANALYST, "redo": Role.ANALYST,
    "note": Role.ANALYST, "reason": Role.ANALYST, "retrain": Role.ANALYST, "cancel": Role.ANALYST,
    "watch": Role.ANALYST, "settle": Role.LEAD, "prefer": Role.LEAD, "assign": Role.LEAD,
    "order": Role.VIEWER, "more": Role.VIEWER, "leave": Role.VIEWER,
}  # fmt: skip
# Everybody may ask everything; the file of all links is an export.
QUESTIONS = {"case", "view", "links", "why", "ring", "activity", "paths", "search", "values", "team"}


def served() -> set[str]:
    """Paths of every route of Streamlit, the gate and the API, with all that is a choice switched on."""
    from streamlit import config

    switched = ("server.enableStaticServing", "server.scriptHealthCheckEnabled")
    before = {name: config.get_option(name) for name in switched}
    for name in switched:
        config._set_option(name, True, "test")
    try:
        routes = create_streamlit_routes(MagicMock(_main_script_path="app.py"))
    finally:
        for name, value in before.items():
            config._set_option(name, value, "test")
    programs = {route.url for route in API} | set(ABOUT)  # each with its method and body: tests/api
    return {getattr(route, "path", "") for route in routes} | set(OWN) | programs


def filled(path: str) -> str:
    return path.replace("{session_id}", "s").replace("{file_id}", "f").split("{")[0] + "x" * path.endswith(
        "}"
    )


def test_every_route_is_in_the_table() -> None:
    found = {filled(path) for path in served()} - {"", "/"}
    missing = {path for path in found if least_role(path) == SHELL and not any(map(path.startswith, ROUTES))}
    assert len(found) > 10
    assert missing <= {"/x"}, "a path of Streamlit that is not in gate/routes.py"
    assert all(least_role(path) == CLOSED for path in found if "agent" in path)


@pytest.mark.parametrize("role", [None, *Role])
def test_a_route_is_open_from_its_role_on(settings: Settings, role: Role | None) -> None:
    """Walked with the header by which a trusted proxy names somebody: nobody has to log in for it."""
    browser = Browser(replace(settings, proxies=("10.0.0.1",)), peer="10.0.0.1")
    named = {}
    if role is not None:
        UserList(settings).add("eva", role.word, None)
        named = {"x-forwarded-user": "eva"}
    for path in sorted({filled(path) for path in served()} | {"/", "/Label", "/_stcore/new", "/any/thing"}):
        status = browser.ask(path or "/", **named).status
        least = least_role(path)
        if least == PUBLIC:
            assert status not in (401, 403), path
        elif role is None:
            assert status == 401, path
        else:
            assert (status == 403) == (role < least), path
    if role is not None and role < Role.ANALYST:
        put = {"origin": f"http://{browser.host}", **named}
        assert browser.ask("/_stcore/upload_file/s/f", "PUT", **put).status == 403


def test_every_method_of_the_door_is_in_the_table_and_nothing_else() -> None:
    methods = {
        f"{name}.{method}"
        for name, service in SERVICES.items()
        for method, _ in inspect.getmembers(service)
        if not method.startswith("_")
    }
    named = {name for names in rights.RIGHTS.values() for name in names.split()}
    assert named == methods | set(WORDS.split())
    assert sum(len(names.split()) for names in rights.RIGHTS.values()) == len(named)


def test_what_the_table_does_not_name_is_allowed_to_nobody() -> None:
    with pytest.raises(NotAllowed):
        rights.check(Who("adi", Role.ADMIN), "verdicts.something_new")
    rights.check(LOCAL, "verdicts.something_new")


@pytest.fixture
def workspace(home: Path) -> Workspace:
    return make_project(models=("isolation-forest",))


def event_of(tab: Tab, kind: str, workspace: Workspace) -> dict[str, Any]:
    role = tab.workspace.who.role
    values: dict[str, dict[str, Any]] = {
        "verdict": {"node": "n010", "verdict": "normal"},
        "group": {"nodes": [f"n2{role}0", f"n2{role}1"], "verdict": "normal"},
        "settle": {"node": "n010", "verdict": "normal"},
        "note": {"node": "n010", "text": "seen"},
        "watch": {"node": "n010", "on": True},
        "reason": {"node": "n010", "reason": "mule account"},
        "assign": {"nodes": ["n290"], "to": "eva"},
        "prefer": {"key": "auto_retrain", "value": 5},
        "order": {"strategy": "top", "where": {"verdict": "unlabelled"}},
        "cancel": {"run": workspace.runs.all()[0].id},
        "leave": {"page": "train"},
    }
    return tab.event(kind, **values.get(kind, {}))


def test_every_message_of_a_tab_is_done_from_its_role_on(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gadcore.workspace.runs.workers.call", lambda *_: None)
    monkeypatch.setattr("gadcore.workspace.runs.workers.start", lambda *_: None)
    assert set(EVENTS) == {*KEPT, *PASSING}, "an event that is not in this table"
    assert set(answers._KINDS) == QUESTIONS, "a question that is not in this table"
    for role in Role:
        tab = Tab(Workspace.open(workspace.id, who=Who("eva", role)), name=f"tab-{role.word}", analyst="ana")
        events = [event_of(tab, kind, workspace) for kind in EVENTS]
        tab.say(*events)
        expected = {kind for kind, least in EVENTS.items() if role < least}
        assert sum("may not" in text for text in tab.texts) == len(expected), (role, tab.texts)
        done = {event["kind"]: not tab.workspace.messages.refused(tab.name, event["seq"]) for event in events}
        assert {kind for kind in KEPT if not done[kind]} == expected & set(KEPT)
        assert tab.payload["ack"] == {tab.name: tab.seq}  # they are done with, in either case
    assert {event.analyst for event in workspace.verdicts.current().values()} == {"ana", "eva"}


def test_the_name_of_a_verdict_is_the_login_whatever_the_tab_says(workspace: Workspace) -> None:
    tab = Tab(Workspace.open(workspace.id, who=Who("eva", Role.ANALYST)), analyst="somebody else")
    tab.say(tab.event("verdict", node="n200", verdict="normal"), tab.event("note", node="n201", text="x"))
    assert workspace.verdicts.history("n200")[-1].analyst == "eva"
    assert workspace.verdicts.history("n201")[-1].analyst == "eva"
    assert tab.payload["analyst"] == "eva"
    assert {word for word, may in tab.payload["may"].items() if may} == {"label", "train"}
    tab.say(tab.event("undo"))
    assert "n200" not in workspace.verdicts.current()


def test_an_analyst_orders_the_own_queue_and_leaves_the_settings_alone(workspace: Workspace) -> None:
    tab = Tab(Workspace.open(workspace.id, who=Who("eva", Role.ANALYST)))
    tab.say(tab.event("order", strategy="uncertainty", where={"verdict": "unlabelled"}))
    assert tab.payload["queue"]["strategy"] == "uncertainty"
    assert workspace.preference("strategy") is None


def test_a_viewer_gets_no_file_of_links(workspace: Workspace) -> None:
    viewer = Workspace.open(workspace.id, who=Who("vic", Role.VIEWER))
    asked = [{"key": "k", "kind": "activity", "node": "n010", "csv": True}]
    assert "may not export" in answers.answers(viewer, asked)["k"]["error"]


def test_projects_are_deleted_by_leads_and_practice_copies_by_their_owner(workspace: Workspace) -> None:
    from gadcore.practice.person import begin

    eva = Who("eva", Role.ANALYST)
    copy = begin(Workspace.open(workspace.id, who=eva))
    assert copy.data.info().owner == "eva"
    for who in (eva, Who("vic", Role.VIEWER)):
        with pytest.raises(NotAllowed, match="delete a project"):
            Workspace.delete(workspace.id, who=who)
    with pytest.raises(NotAllowed):
        Workspace.delete(copy.id, who=Who("ana", Role.ANALYST))
    Workspace.delete(copy.id, who=eva)
    Workspace.delete(workspace.id, who=Who("lea", Role.LEAD))


def test_paths_of_the_server_are_for_admins_below_named_folders(settings: Settings, tmp_path: Path) -> None:
    inside, outside = tmp_path / "shared", tmp_path / "secret.csv"
    inside.mkdir()
    outside.write_text("root:hunter2\n")
    (inside / "way_out.csv").symlink_to(outside)
    (inside / "edges.csv").write_text("a,b\n1,2\n")
    admin, named = Who("adi", Role.ADMIN), replace(settings, folders=(inside,))
    for who in (Who("lea", Role.LEAD), Who("vic", Role.VIEWER)):
        with pytest.raises(NotAllowed, match="name files of the server"):
            uploads.name_source(str(inside / "edges.csv"), named, who)
    for path in (outside, inside / ".." / "secret.csv", inside / "way_out.csv", "/etc/passwd", "~/x", ""):
        with pytest.raises(NotAllowed, match="not below a folder"):
            uploads.name_source(str(path), named, admin)
    with pytest.raises(NotAllowed, match="GAD_FOLDERS"):
        uploads.name_source(str(inside / "edges.csv"), settings, admin)
    assert uploads.name_source(str(inside / "edges.csv"), named, admin).source
    assert uploads.name_source(str(outside), settings).source  # on this machine, as before


def test_a_viewer_uploads_nothing(settings: Settings) -> None:
    with pytest.raises(GadError, match="make a project"):
        uploads.receive([("a.csv", io.BytesIO(b"a,b\n"))], settings, Who("vic", Role.VIEWER))
