"""Users from the command line."""

from __future__ import annotations

import io

import pytest

from gadcore.access.logins import Logins
from gadcore.cli import main
from gadcore.errors import NotAllowed
from gadcore.settings import Settings


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch):
    """Puts lines on stdin."""
    return lambda text: monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_user_is_added_with_a_password_from_stdin_and_can_log_in(settings: Settings, typed, capsys) -> None:
    typed("correct horse battery\n")
    assert main(["user", "add", "ana", "--role", "lead"]) == 0
    assert main(["user", "list"]) == 0
    said = capsys.readouterr().out
    assert "lead" in said
    assert "correct horse" not in said
    assert Logins(settings).begin("ana", "correct horse battery", "here")


def test_password_role_and_removal(settings: Settings, typed, capsys) -> None:
    typed("correct horse battery\nanother password\n")
    assert main(["user", "add", "ana"]) == 0
    assert main(["user", "password", "ana"]) == 0
    assert main(["user", "role", "ana", "--role", "viewer"]) == 0
    with pytest.raises(NotAllowed):
        Logins(settings).begin("ana", "correct horse battery", "here")
    assert Logins(settings).begin("ana", "another password", "here")
    assert main(["user", "remove", "ana"]) == 0
    assert main(["user", "remove", "ana"]) == 1
    assert "There is no user 'ana'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["add", "a b"], "a user name 'a b'"),
        (["add", "eva"], "a password of 5 letters"),
        (["role", "eva"], "user role without --role"),
        (["remove"], "user remove without a name"),
    ],
)
def test_what_cannot_be_done_is_said(home, typed, capsys, command: list[str], said: str) -> None:
    typed("short\n")
    assert main(["user", *command]) == 1
    assert said in capsys.readouterr().err


def test_the_app_does_not_start_on_other_addresses_without_users(home, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--address", "0.0.0.0"])
    assert ended.value.code == 2
    assert "without users" in capsys.readouterr().err
