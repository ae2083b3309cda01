"""Tokens and webhooks from the command line."""

from __future__ import annotations

from datetime import timedelta

import pytest
from api_program import Program
from commands import answer, spoken
from page_project import make_project

from gadcore.access import tokens
from gadcore.access.users import UserList
from gadcore.cli import main
from gadcore.settings import Settings
from gadcore.store.schema import now


def test_a_token_is_shown_once_and_kept_as_its_hash(settings: Settings, capsys) -> None:
    made = answer(capsys, "token", "add", "case-system", "--role", "lead")
    assert Program(settings, made["token"]).get("/health")["role"] == "lead"
    kept = (settings.home / "ringfence.sqlite").read_bytes()
    kept += (settings.home / "ringfence.sqlite-wal").read_bytes()
    assert made["token"].encode() not in kept
    listed = spoken(capsys, "token", "list")
    assert "case-system" in listed
    assert made["token"] not in listed
    assert main(["token", "remove", "case-system"]) == 0
    assert Program(settings, made["token"]).get("/health", 401)
    assert main(["token", "remove", "case-system"]) == 1


def test_a_token_ends_when_it_was_said_to(settings: Settings, capsys, monkeypatch) -> None:
    made = answer(capsys, "token", "add", "robot", "--expires", "2h")
    robot, began = Program(settings, made["token"]), now()
    assert robot.get("/health")["name"] == "robot"
    monkeypatch.setattr(tokens, "now", lambda: began + timedelta(hours=2, seconds=9))
    assert robot.get("/health", 401)
    for_ever = answer(capsys, "token", "add", "old", "--expires", "never")
    monkeypatch.setattr(tokens, "now", lambda: began + timedelta(days=9999))
    assert Program(settings, for_ever["token"]).get("/health")["name"] == "old"


def test_a_name_is_either_a_user_or_a_program(settings: Settings, capsys) -> None:
    UserList(settings).add("ana", "analyst", None)
    assert main(["token", "add", "ana"]) == 1
    assert "There is a user 'ana'" in capsys.readouterr().err
    assert main(["token", "add", "robot"]) == 0
    assert main(["token", "add", "robot"]) == 1
    assert main(["user", "add", "robot", "--no-password"]) == 1
    assert "There is a token 'robot'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["token", "add"], "token add without a name"),
        (["token", "add", "a b"], "a user name 'a b'"),
        (["token", "add", "x", "--expires", "soon"], "an expiry of 'soon'"),
        (["webhook", "add", "https://host/"], "without an address or a project"),
        (["webhook", "remove", "first"], "the number of a webhook"),
        (["webhook", "remove", "7"], "no webhook 7"),
    ],
)
def test_what_cannot_be_done_is_said(home, capsys, command: list[str], said: str) -> None:
    assert main(command) == 1
    assert said in capsys.readouterr().err


def test_a_webhook_is_added_listed_and_removed(home, capsys) -> None:
    make_project(labels=False)
    made = answer(capsys, "webhook", "add", "https://case.example/hook", "-p", "planted")
    assert made["secret"].startswith("whsec_")
    listed = spoken(capsys, "webhook", "list")
    assert "https://case.example/hook" in listed
    assert made["secret"] not in listed
    assert "(none)" in spoken(capsys, "webhook", "log")
    assert main(["webhook", "remove", str(made["number"])]) == 0
    assert "(none)" in spoken(capsys, "webhook", "list")


def test_the_command_line_knows_the_events_there_are() -> None:
    from gadcore.cli.programs import EVENTS
    from gadcore.workspace import webhooks

    assert EVENTS == webhooks.EVENTS
